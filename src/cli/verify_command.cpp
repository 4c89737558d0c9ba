#include "src/cli/verify_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/thread_pool.h"
#include "src/cli/values.h"
#include "src/engine/verify_masks.h"

namespace heddle::cli {
namespace {

using engine::MaskCaseOutcome;
using Json = nlohmann::ordered_json;
using Status = MaskCaseOutcome::Status;
using Outcomes = std::vector<MaskCaseOutcome>;

struct Settings {
  std::string file, only;
  int threads = 0;
  bool json = false;
};

void declare(CLI::App& command, Settings& settings) {
  command.add_option("FILE", settings.file, "case file (JSON), - for standard input")->required();
  command.add_option("--only", settings.only, "only cases with this in their name");
  command.add_option("--threads", settings.threads, "cases at a time; default all cores")->check(CLI::Range(0, 1024));
  command.add_flag("--json", settings.json, "print one JSON object");
}

int64_t count(const Outcomes& outcomes, Status status) { return std::ranges::count(outcomes, status, &MaskCaseOutcome::status); }

std::string failures_text(const Outcomes& outcomes) {
  std::string text;
  for (const MaskCaseOutcome& one : outcomes) {
    for (const auto& [field, expected, found] : one.differences) {
      text += fmt::format("{}: {}: expected {}, found {}\n", one.name, field, expected, found);
    }
  }
  return text;
}

Json to_json(const MaskCaseOutcome& one) {
  Json json = {{"name", one.name}, {"status", to_string(one.status)}, {"milliseconds", one.milliseconds}};
  for (const auto& [field, expected, found] : one.differences) {
    json["differences"].push_back({{"field", field}, {"expected", expected}, {"found", found}});
  }
  return json;
}

int masks(const Settings& settings) {
  const std::string origin = settings.file == "-" ? "standard input" : settings.file;
  const Outcomes outcomes = engine::verify_masks(read_text(settings.file), origin,
                                                 {.only = settings.only, .threads = runtime::thread_count(settings.threads)});
  const int64_t passed = count(outcomes, Status::Passed), failed = count(outcomes, Status::Failed);
  if (settings.json) {
    Json json = {{"passed", passed}, {"failed", failed}, {"cases", Json::array()}};
    for (const MaskCaseOutcome& one : outcomes) json["cases"].push_back(to_json(one));
    write(json.dump(2) + '\n');
  } else {
    write(failures_text(outcomes) + fmt::format("{} passed, {} failed\n", passed, failed));
  }
  return failed == 0 ? kDone : kCheckFailed;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  CLI::App* verify = app.add_subcommand("verify", "runs case files: masks");
  verify->require_subcommand(1);
  verify->footer("Example:\n  heddle verify masks test/cases/masks.json");
  add_command<Settings>(*verify, action,
                        {"masks", "facts and counts of masks against a case file; status 1 when one differs",
                         "heddle verify masks test/cases/masks.json --only natten"},
                        declare, masks);
}

}  // namespace heddle::cli
