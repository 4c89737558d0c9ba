// What the commands of the REPL that may take long do: facts, stages of the compiler, runs and comparisons, each giving text.
//
// All of them run in a child process (job.h); none changes the session.
#pragma once
#include <string>
#include <vector>

#include "src/cli/repl/job.h"
#include "src/cli/repl/session.h"
#include "src/engine/attention_measure.h"
#include "src/engine/compiler.h"
#include "src/engine/picture/terminal.h"

namespace heddle::cli::repl {

/// A mask and score with the values that they name, as `run` and `bench` take them.
struct Subject {
  std::string title;  ///< "window with soft".
  AttentionSpec spec;
  Settings settings;
  Values values{};
};

JobResult facts_text(const engine::FactsRequest& request);
/// In two lines: pairs and tiles.
JobResult facts_summary(const engine::FactsRequest& request);
/// At most kPictureColumns wide.
JobResult picture_text(const engine::FactsRequest& request, const Settings& settings, const engine::TextStyle& style);
inline constexpr int kPictureColumns = 64;
JobResult stage_text(const AttentionSpec& spec, engine::StageText stage);
/// Random operands, N(0, 1): kernel, time, rate, sparsity efficiency, largest error. kCheckFailed when it is over the bar.
JobResult run_text(const Subject& subject);
/// One bar a contender, the slowest as long as the line allows.
JobResult bench_text(const Subject& subject);

/// Throws UserError when Q, K, V and O together do not fit in this machine's memory, or the heads do not go together.
void check_shape(const Settings& settings);

struct Bar {
  std::string name;
  double milliseconds;
};
std::string bars(const std::vector<Bar>& all);

}  // namespace heddle::cli::repl
