#include "src/cli/problem_options.h"

#include <fmt/format.h>

#include "heddle/error.h"
#include "heddle/formula.h"
#include "heddle/graph.h"
#include "src/cli/values.h"
#include "src/ir/graph.h"
#include "src/ir/rewrite.h"

namespace heddle::cli {
namespace {

Target target_of(const ProblemOptions& options) {
  return options.target.empty() ? Target::host() : Target::parse(options.target);
}

void check_head_dim(const char* option, int64_t value) {
  if (value < 1 || value > 256) throw UserError(fmt::format("{} {}: expected 1 to 256", option, value));
}

ir::AttentionProblem problem_of(const ProblemOptions& options, const ir::Expr& mask, const ir::Expr& score) {
  ir::AttentionProblem problem;
  problem.mask = ir::guard_divisors(mask ? mask : ir::bool_const(true), score);
  problem.score = score;
  problem.lse = options.lse;
  problem.target = target_of(options);
  problem.options.tile_rows = options.tile_rows;
  if (options.no_nests) problem.options.use_nests = false;
  return problem;
}

NamedProblem of_formula(const ProblemOptions& options) {
  const Mask mask = parse_mask(options.mask, options.mask_file, options.params);
  const Score score = options.score.empty() ? Score() : Score::parse(options.score, parse_parameters(options.params));
  const int64_t value_dim = options.value_dim == 0 ? options.head_dim : options.value_dim;
  check_head_dim("--head-dim", options.head_dim);
  check_head_dim("--value-dim", value_dim);
  ir::AttentionProblem problem = problem_of(options, mask.node(), score.node());
  problem.head_dim = options.head_dim;
  problem.value_dim = value_dim;
  return {"mask", problem};
}

/// Elements of one head in an input [B, S, heads * D] or [B, heads, S, D].
int64_t head_elements(const ir::TensorType& type, int64_t heads) {
  return type.shape.size() == 3 ? type.shape.back() / heads : type.shape.back();
}

NamedProblem of_node(const ProblemOptions& options, const ir::Graph& graph, const ir::Node& node) {
  const std::vector<ir::TensorType> inputs = graph.input_types(node);
  const int64_t heads = node.integer("q_num_heads", 1);
  ir::AttentionProblem problem = problem_of(options, node.mask, node.score);
  problem.head_dim = head_elements(inputs[0], heads);
  problem.value_dim = head_elements(inputs[2], node.integer("kv_num_heads", heads));
  return {node.name, problem};
}

std::vector<NamedProblem> of_spec(const ProblemOptions& options) {
  const Spec spec = Spec::load(options.spec, {.dims = parse_integers("--dim", options.dims), .allow_paths = options.allow_paths});
  std::vector<NamedProblem> found;
  for (const ir::Node& node : spec.graph().nodes) {
    if (node.op == ir::GraphOp::Attention) found.push_back(of_node(options, spec.graph(), node));
  }
  if (found.empty()) throw UserError(fmt::format("{} has no Attention node", options.spec));
  return found;
}

}  // namespace

void declare(CLI::App& command, ProblemOptions& options) {
  CLI::Option* spec = command.add_option("SPEC", options.spec, "model spec (JSON): every Attention node of it");
  const auto formula = [&](CLI::Option* option) { return option->excludes(spec); };
  formula(command.add_option("--mask", options.mask, "boolean formula over q, k, h, b and sizes: true means the pair takes part"));
  formula(command.add_option("--mask-file", options.mask_file, "file with the mask formula, - for standard input"));
  formula(command.add_option("--score", options.score, "real formula over s (the scaled dot product) and the variables"));
  formula(command.add_option("--param", options.params, "NAME=VALUE: integer, real, `dynamic` or `dynamic-real`; repeatable"))
      ->allow_extra_args(false);
  formula(command.add_option("--head-dim", options.head_dim, "elements of a query and key row")->capture_default_str());
  formula(command.add_option("--value-dim", options.value_dim, "elements of a value row; default the head dim"));
  formula(command.add_flag("--lse", options.lse, "the kernel also writes the log-sum-exp of each row"));
  const auto of_a_spec = [&](CLI::Option* option) { return option->needs(spec)->allow_extra_args(false); };
  of_a_spec(command.add_option("--dim", options.dims, "NAME=SIZE: another size of a dim of the spec; repeatable"));
  of_a_spec(command.add_option("--allow-path", options.allow_paths, "folder outside the spec's own that it may read; repeatable"));
  command.add_option("--target", options.target, "cpu:avx2 or cpu:avx512; default the best of this machine");
  command.add_option("--tile-rows", options.tile_rows, "forces the query rows of a block");
  command.add_flag("--no-nests", options.no_nests, "ignores the facts: every tile is tested in the kernel");
}

std::vector<NamedProblem> problems(const ProblemOptions& options) {
  return options.spec.empty() ? std::vector{of_formula(options)} : of_spec(options);
}

}  // namespace heddle::cli
