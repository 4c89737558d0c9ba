// Carries out the statements of a session.
#pragma once
#include <string>
#include <string_view>

#include "src/cli/repl/jobs.h"
#include "src/cli/repl/session.h"

namespace heddle::cli::repl {

struct Answer {
  int status = kDone;      ///< As exit statuses; beyond kCheckFailed, `text` is a message instead of output.
  std::string text{};
  bool cancelled = false;  ///< By Ctrl-C; then there is no text.
  bool quit = false;
};

class Interpreter {
 public:
  explicit Interpreter(const JobOptions& jobs) : jobs_(jobs) {}
  /// One statement (statement.h), not empty. Throws UserError for what is wrong with it; then nothing was changed.
  Answer execute(std::string_view statement);
  const Session& session() const { return session_; }

 private:
  struct Command;
  static const Command* find(std::string_view name);
  Answer formula(std::string_view text);
  Answer job(const std::string& title, const Work& work);
  Answer define_mask(std::string_view rest);
  Answer define_score(std::string_view rest);
  Answer let(std::string_view rest);
  Answer define_table(std::string_view rest);
  Answer set(std::string_view rest);
  Answer show(std::string_view rest);
  Answer facts(std::string_view rest);
  Answer plan(std::string_view rest);
  Answer explain(std::string_view rest);
  Answer emit(std::string_view rest);
  Answer run(std::string_view rest);
  Answer bench(std::string_view rest);
  Answer help(std::string_view rest);
  Answer quit(std::string_view rest);
  Answer stage(const char* command, std::string_view rest, engine::StageText stage);
  AttentionSpec spec(std::string_view what) const;
  Subject subject(std::string_view what) const;
  engine::FactsRequest facts_request(std::string_view what) const;
  std::string listing() const;
  std::string shown(std::string_view name) const;
  bool is_shown_as_text(const std::string& name) const;  ///< Scores, parameters and tables; masks have pictures.

  Session session_;
  JobOptions jobs_;
};

/// Stages that `emit` knows.
std::vector<std::string> stage_names();

}  // namespace heddle::cli::repl
