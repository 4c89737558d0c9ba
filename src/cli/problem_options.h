// The options that say which attention is meant, shared by `plan`, `explain` and `emit`: a formula, or every attention of a
// spec.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/ir/attention_problem.h"
#include "src/support/gpu_target.h"

namespace heddle::cli {

struct ProblemOptions {
  std::string spec;                    ///< Path of a model spec; then no formula option may be given.
  std::string mask, mask_file, score;  ///< Texts of formulas.
  std::string matrix;                  ///< File of a matrix, instead of a mask.
  std::vector<std::string> params, tables, dims, allow_paths;
  int64_t head_dim = 64, value_dim = 0;
  std::string dtype = "float32";
  bool lse = false, no_nests = false;
  std::string target;  ///< Empty: this machine.
  std::optional<int64_t> tile_rows;
};

/// An attention and what to call it: the node's name in a spec, "mask" for a formula.
struct NamedProblem {
  std::string name;
  ir::AttentionProblem problem;
  std::string matrix;                  ///< As KernelReport::matrix.
};

/// The target where it is a GPU ("cuda:sm_80").
std::optional<GpuTarget> gpu_target(const ProblemOptions& options);

void declare(CLI::App& command, ProblemOptions& options);

/// At least one. Throws UserError on options that contradict each other and on whatever the formulas or the spec get wrong.
std::vector<NamedProblem> problems(const ProblemOptions& options);

}  // namespace heddle::cli
