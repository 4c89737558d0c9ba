#include "src/cli/repl/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dsl/names.h"
#include "heddle/error.h"
#include "src/cli/repl/help.h"
#include "src/cli/repl/statement.h"
#include "src/cli/terminal.h"
#include "src/ir/expr.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle::cli::repl {
namespace {

using engine::StageText;
using support::quote;

constexpr std::array<std::pair<const char*, StageText>, 7> kStages = {{{"formula", StageText::Formula},
                                                                       {"facts", StageText::Facts},
                                                                       {"plan", StageText::Plan},
                                                                       {"tile", StageText::Tile},
                                                                       {"schedule", StageText::Schedule},
                                                                       {"source", StageText::Source},
                                                                       {"asm", StageText::Asm}}};

StageText parse_stage(std::string_view name) {
  for (const auto& [known, stage] : kStages) {
    if (name == known) return stage;
  }
  const std::string near = support::nearest(name, stage_names());
  throw UserError(fmt::format("unknown stage {}", quote(name)),
                  near.empty() ? "stages: " + support::list(stage_names()) : fmt::format("did you mean {}?", near));
}

[[noreturn]] void expected(const char* usage) { throw UserError(fmt::format("expected `{}`", usage)); }

std::pair<std::string_view, std::string_view> definition(std::string_view text, const char* usage) {
  const auto parts = split_equals(text);
  if (!parts || parts->first.empty() || parts->second.empty()) expected(usage);
  return *parts;
}

/// MASK and SCORE of "MASK with SCORE"; SCORE is empty without one.
std::pair<std::string_view, std::string_view> split_with(std::string_view text) {
  constexpr std::string_view kWith = " with ";
  const size_t at = text.find(kWith);
  if (at == std::string_view::npos) return {text, {}};
  return {stripped(text.substr(0, at)), stripped(text.substr(at + kWith.size()))};
}

/// The identifier that a text begins with.
std::string_view leading_name(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && dsl::is_identifier(text.substr(0, length + 1))) ++length;
  return text.substr(0, length);
}

std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// A definition as the user wrote it and, where that differs, as it is understood.
std::string understood(const char* kind, const std::string& name, const std::string& written, const std::string& formula) {
  const std::string line = fmt::format("{} {} = {}\n", kind, name, in_one_line(written));
  return in_one_line(written) == formula ? line : fmt::format("{}  {}\n", line, formula);
}

}  // namespace

struct Interpreter::Command {
  const char* name;
  Answer (Interpreter::*run)(std::string_view rest);
};

const Interpreter::Command* Interpreter::find(std::string_view name) {
  static constexpr std::array<Command, 14> kCommands = {{{"mask", &Interpreter::define_mask},
                                                         {"score", &Interpreter::define_score},
                                                         {"let", &Interpreter::let},
                                                         {"table", &Interpreter::define_table},
                                                         {"set", &Interpreter::set},
                                                         {"show", &Interpreter::show},
                                                         {"facts", &Interpreter::facts},
                                                         {"plan", &Interpreter::plan},
                                                         {"explain", &Interpreter::explain},
                                                         {"emit", &Interpreter::emit},
                                                         {"run", &Interpreter::run},
                                                         {"bench", &Interpreter::bench},
                                                         {"help", &Interpreter::help},
                                                         {"quit", &Interpreter::quit}}};
  const auto found = std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& one) { return name == one.name; });
  return found == kCommands.end() ? nullptr : &*found;
}

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const auto& [name, stage] : kStages) names.emplace_back(name);
  return names;
}

Answer Interpreter::execute(std::string_view statement) {
  if (statement.size() > kMaxStatementBytes) {
    throw UserError(fmt::format("the statement has {} bytes, but at most {} are read", statement.size(), kMaxStatementBytes));
  }
  const auto [name, rest] = split_first(statement);
  if (const Command* command = find(name)) return (this->*command->run)(rest);
  return formula(statement);
}

/// A formula alone. A line that begins with a word no formula begins with was meant as a command.
Answer Interpreter::formula(std::string_view text) {
  const std::string_view name = leading_name(text);
  const bool value = name.empty() || !dsl::reserved_as(name).empty() || is_shown_as_text(std::string(name)) ||
                     session_.masks().contains(std::string(name));
  if (!value) {
    const std::string near = support::nearest(name, command_names());
    throw UserError(fmt::format("{} is no command, and no name that is known", quote(name)),
                    near.empty() ? "`help` lists the commands" : fmt::format("did you mean {}?", near));
  }
  std::string title(name);
  if (name.size() == text.size() && is_shown_as_text(title)) return {.text = shown(name)};
  if (name.size() != text.size() || !session_.masks().contains(title)) {
    session_.define_mask(kLastFormula, text);
    title = kLastFormula;
  }
  const engine::FactsRequest request = facts_request(title);
  Answer answer = job("facts of " + title, [request] { return facts_summary(request); });
  if (answer.status <= kCheckFailed && !answer.cancelled) answer.text = shown(title) + answer.text;
  return answer;
}

Answer Interpreter::job(const std::string& title, const Work& work) {
  JobResult result = run_job(title, work, jobs_);
  return {result.status, std::move(result.text), result.cancelled, false};
}

Answer Interpreter::define_mask(std::string_view rest) {
  const auto [name, formula] = definition(rest, "mask NAME = FORMULA");
  session_.define_mask(name, formula);
  return {};
}

Answer Interpreter::define_score(std::string_view rest) {
  const auto [name, formula] = definition(rest, "score NAME = FORMULA");
  session_.define_score(name, formula);
  return {};
}

Answer Interpreter::let(std::string_view rest) {
  const auto [name, value] = definition(rest, "let NAME = VALUE");
  session_.let(name, parse_parameter(name, value));
  return {};
}

Answer Interpreter::define_table(std::string_view rest) {
  const auto [left, right] = definition(rest, "table NAME = FILE, [LIST] or table NAME[INDEX] = FORMULA");
  session_.define_table(left, right);
  return {};
}

Answer Interpreter::set(std::string_view rest) {
  if (rest.empty()) return {.text = list(session_.settings)};
  const auto equals = split_equals(rest);
  const auto [name, value] = equals ? *equals : split_first(rest);
  if (name.empty() || value.empty()) expected("set NAME VALUE");
  change(session_.settings, name, value);
  return {};
}

std::string Interpreter::listing() const {
  std::string text;
  for (const auto& [name, parameter] : session_.parameters()) text += fmt::format("let {} = {}\n", name, to_string(parameter));
  for (const auto& [name, table] : session_.tables()) text += table.statement() + '\n';
  for (const auto& [name, formula] : session_.masks()) text += fmt::format("mask {} = {}\n", name, in_one_line(formula));
  for (const auto& [name, formula] : session_.scores()) text += fmt::format("score {} = {}\n", name, in_one_line(formula));
  return text.empty() ? "nothing is defined yet: mask NAME = FORMULA\n" : text;
}

std::string Interpreter::shown(std::string_view what) const {
  const std::string name(what);
  const auto score = session_.scores().find(name);
  if (score != session_.scores().end()) return understood("score", name, score->second, session_.score(name, false).text());
  const auto parameter = session_.parameters().find(name);
  if (parameter != session_.parameters().end()) return fmt::format("let {} = {}\n", name, to_string(parameter->second));
  const auto table = session_.tables().find(name);
  if (table != session_.tables().end()) return fmt::format("{}\n  {}\n", table->second.statement(), summary(session_.elements(name)));
  const std::string formula = session_.mask(name, false).text();
  const auto mask = session_.masks().find(name);
  return mask == session_.masks().end() ? formula + '\n' : understood("mask", name, mask->second, formula);
}

Answer Interpreter::show(std::string_view rest) {
  if (rest.empty()) return {.text = listing()};
  const std::string name(rest), text = shown(rest);
  if (is_shown_as_text(name)) return {.text = text};
  engine::FactsRequest request;
  if (const auto failure = attempt([&] { request = facts_request(rest); })) {
    return {.text = fmt::format("{}no picture: {}\n", text, failure->message)};
  }
  const engine::TextStyle style = terminal_style();
  Answer answer = job("show", [=, settings = session_.settings] { return picture_text(request, settings, style); });
  const bool named = session_.masks().contains(name);  // The picture begins with the formula as it is understood.
  if (answer.status == kDone && !answer.cancelled && named) answer.text = text.substr(0, text.find('\n') + 1) + answer.text;
  return answer;
}

bool Interpreter::is_shown_as_text(const std::string& name) const {
  return session_.scores().contains(name) || std::ranges::count(session_.formula_names(), name) > 0;
}

engine::FactsRequest Interpreter::facts_request(std::string_view what) const {
  const Settings& settings = session_.settings;
  engine::FactsRequest request;
  request.mask = ir::guard_divisors(session_.mask(what, true).node());
  const auto values = std::make_shared<const Values>(session_.values({request.mask}));
  request.tables = values->views();
  request.table_memory = values;
  request.sq = settings.sq;
  request.sk = settings.keys();
  request.tiles = {{settings.tile_rows, settings.tile_keys}};
  request.ints = {{"b", settings.b}, {"h", settings.h}, {"B", settings.batch}, {"H", settings.heads}, {"Hkv", settings.key_heads()}};
  request.threads = settings.cores();
  return request;
}

Answer Interpreter::facts(std::string_view rest) {
  if (rest.empty()) expected("facts MASK");
  const engine::FactsRequest request = facts_request(rest);
  return job("facts", [request] { return facts_text(request); });
}

AttentionSpec Interpreter::spec(std::string_view what) const {
  const auto [mask, score] = split_with(what);
  AttentionSpec spec;
  spec.mask = session_.mask(mask, false);
  if (!score.empty()) spec.score = session_.score(score, false);
  spec.head_dim = session_.settings.head_dim;
  spec.value_dim = session_.settings.value_dim;
  return spec;
}

Answer Interpreter::stage(const char* command, std::string_view rest, StageText stage) {
  const AttentionSpec wanted = spec(rest);
  return job(command, [=] { return stage_text(wanted, stage); });
}

Answer Interpreter::plan(std::string_view rest) {
  if (rest.empty()) expected("plan MASK [with SCORE]");
  return stage("plan", rest, StageText::Plan);
}

Answer Interpreter::explain(std::string_view rest) {
  if (rest.empty()) expected("explain MASK [with SCORE]");
  return stage("explain", rest, StageText::Explain);
}

Answer Interpreter::emit(std::string_view rest) {
  const auto [what, name] = split_last(rest);
  if (what.empty()) throw UserError("expected `emit MASK [with SCORE] STAGE`", "stages: " + support::list(stage_names()));
  return stage("emit", what, parse_stage(name));
}

Subject Interpreter::subject(std::string_view what) const {
  check_shape(session_.settings);
  AttentionSpec wanted = spec(what);
  Values values = session_.values({wanted.mask.node(), wanted.score.node()});
  return {support::shorten(what, 60), std::move(wanted), session_.settings, std::move(values)};
}

Answer Interpreter::run(std::string_view rest) {
  if (rest.empty()) expected("run MASK [with SCORE]");
  const Subject wanted = subject(rest);
  return job("run", [wanted] { return run_text(wanted); });
}

Answer Interpreter::bench(std::string_view rest) {
  if (rest.empty()) expected("bench MASK [with SCORE]");
  const Subject wanted = subject(rest);
  return job("bench", [wanted] { return bench_text(wanted); });
}

Answer Interpreter::help(std::string_view rest) { return {.text = repl::help(rest)}; }

Answer Interpreter::quit(std::string_view rest) {
  if (!rest.empty()) expected("quit");
  return {.quit = true};
}

}  // namespace heddle::cli::repl
