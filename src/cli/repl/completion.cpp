#include "src/cli/repl/completion.h"

#include <algorithm>
#include <cctype>

#include "dsl/names.h"
#include "src/cli/repl/help.h"
#include "src/cli/repl/interpreter.h"
#include "src/cli/repl/statement.h"

namespace heddle::cli::repl {
namespace {

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

Words formula_words(const Session& session) {
  Words words = dsl::function_names();
  append(words, dsl::index_names());
  append(words, session.formula_names());
  return words;
}

Words shown_names(const Session& session) {
  Words words = session.mask_names();
  append(words, session.score_names());
  append(words, session.formula_names());
  return words;
}

/// After `facts`, `run` and the like: the mask, then `with`, then a score, then (of `emit`) a stage.
Words mask_use_words(const Session& session, std::string_view command, std::string_view before) {
  const bool with = std::string_view(before).ends_with(" with");
  if (with) return session.score_names();
  if (before.empty()) {
    Words words = session.mask_names();
    append(words, formula_words(session));
    return words;
  }
  Words words = command == "facts" ? Words{} : Words{"with"};
  if (command == "emit") append(words, stage_names());
  append(words, formula_words(session));
  return words;
}

/// All words that fit after `before`, which ends before the word at the cursor.
Words candidates(const Session& session, std::string_view before) {
  const auto [command, rest] = split_first(before);
  if (command.empty()) {
    Words words = command_names();
    append(words, session.mask_names());
    append(words, formula_words(session));
    return words;
  }
  if (command == "help") return rest.empty() ? topics() : Words{};
  if (command == "set") return rest.empty() ? setting_names() : Words{};
  if (command == "show") return rest.empty() ? shown_names(session) : Words{};
  if (command == "let") return split_equals(rest) ? Words{"dynamic", "dynamic-real"} : Words{};
  if (command == "mask" || command == "score" || command == "table") return split_equals(rest) ? formula_words(session) : Words{};
  for (const char* use : {"facts", "plan", "explain", "emit", "run", "bench"}) {
    if (command == use) return mask_use_words(session, command, rest.empty() ? rest : before);
  }
  return formula_words(session);
}

char after(const Session& session, std::string_view before, const std::string& word) {
  if (split_first(before).first == "show") return ' ';
  if (dsl::find_function(word)) return '(';
  return session.tables().contains(word) ? '[' : ' ';
}

}  // namespace

Completion complete(const Session& session, std::string_view line) {
  size_t start = line.size();
  while (start > 0 && is_word_character(line[start - 1])) --start;
  const std::string_view word = line.substr(start);
  std::string_view before = line.substr(0, start);
  while (!before.empty() && before.back() == ' ') before.remove_suffix(1);
  Completion completion{.typed = word.size(), .words = candidates(session, before)};
  std::erase_if(completion.words, [&](const std::string& one) { return !one.starts_with(word); });
  std::sort(completion.words.begin(), completion.words.end());
  completion.words.erase(std::unique(completion.words.begin(), completion.words.end()), completion.words.end());
  if (completion.words.size() == 1) completion.next = after(session, before, completion.words[0]);
  return completion;
}

std::string common_prefix(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const auto [least, most] = std::minmax_element(words.begin(), words.end());
  const auto end = std::mismatch(least->begin(), least->end(), most->begin(), most->end()).first;
  return {least->begin(), end};
}

}  // namespace heddle::cli::repl
