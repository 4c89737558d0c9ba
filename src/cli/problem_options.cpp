#include "src/cli/problem_options.h"

#include <fmt/format.h>

#include <utility>

#include "heddle/engine.h"
#include "heddle/error.h"
#include "heddle/graph.h"
#include "src/cli/matrix_option.h"
#include "src/cli/table_options.h"
#include "src/cli/values.h"
#include "src/engine/matrix.h"
#include "src/engine/problem.h"
#include "src/ir/graph.h"

namespace heddle::cli {
namespace {

/// A processor: the problem of a GPU names this machine's, which nothing asks for.
Target target_of(const ProblemOptions& options) {
  return options.target.empty() || gpu_target(options) ? Target::host() : Target::parse(options.target);
}

/// What the options force on every attention.
AttentionSpec forced(const ProblemOptions& options) {
  AttentionSpec spec{.lse = options.lse, .tile_rows = options.tile_rows};
  if (options.no_nests) spec.use_nests = false;
  return spec;
}

NamedProblem of_matrix(const ProblemOptions& options, AttentionSpec spec) {
  const LoadedMatrix matrix = load_matrix(options.matrix);
  spec.matrix = recognize(matrix.view);
  return {"matrix", engine::problem_of(engine::with_matrix_mask(spec), target_of(options)), engine::matrix_text(spec)};
}

NamedProblem of_formula(const ProblemOptions& options) {
  AttentionSpec spec = forced(options);
  const Parameters params = with_tables(parse_parameters(options.params), declared_tables(options.tables));
  if (options.matrix.empty()) spec.mask = parse_mask(options.mask, options.mask_file, params);
  if (!options.score.empty()) spec.score = Score::parse(options.score, params);
  spec.head_dim = options.head_dim;
  spec.value_dim = options.value_dim;
  spec.dtype = parse_dtype(options.dtype);
  if (!options.matrix.empty()) return of_matrix(options, std::move(spec));
  return {"mask", engine::problem_of(spec, target_of(options)), engine::matrix_text(spec)};
}

/// Elements of one head in an input [B, S, heads * D] or [B, heads, S, D].
int64_t head_elements(const ir::TensorType& type, int64_t heads) {
  return type.shape.size() == 3 ? type.shape.back() / heads : type.shape.back();
}

NamedProblem of_node(const ProblemOptions& options, const ir::Graph& graph, const ir::Node& node) {
  const std::vector<ir::TensorType> inputs = graph.input_types(node);
  const int64_t heads = node.integer("q_num_heads", 1);
  AttentionSpec spec = forced(options);
  if (node.mask) spec.mask = Mask(Condition(node.mask));
  if (node.score) spec.score = Score(Real(node.score));
  spec.dtype = inputs[0].dtype;
  spec.head_dim = head_elements(inputs[0], heads);
  spec.value_dim = head_elements(inputs[2], node.integer("kv_num_heads", heads));
  return {node.name, engine::problem_of(spec, target_of(options)), engine::matrix_text(spec)};
}

std::vector<NamedProblem> of_spec(const ProblemOptions& options) {
  const Spec spec =
      Spec::load(options.spec, {.dims = parse_integers("--dim", options.dims), .allow_paths = options.allow_paths});
  std::vector<NamedProblem> found;
  for (const ir::Node& node : spec.graph().nodes) {
    if (node.op == ir::GraphOp::Attention) found.push_back(of_node(options, spec.graph(), node));
  }
  if (found.empty()) throw UserError(fmt::format("{} has no Attention node", options.spec));
  return found;
}

}  // namespace

std::optional<GpuTarget> gpu_target(const ProblemOptions& options) {
  if (!options.target.starts_with("cuda:") && !options.target.starts_with("hip:")) return std::nullopt;
  return GpuTarget::parse(options.target);
}

void declare(CLI::App& command, ProblemOptions& options) {
  CLI::Option* spec = command.add_option("SPEC", options.spec, "model spec (JSON): every Attention node of it");
  const auto formula = [&](CLI::Option* option) { return option->excludes(spec); };
  formula(
      command.add_option("--mask", options.mask, "boolean formula over q, k, h, b and sizes: true means the pair takes part"));
  formula(command.add_option("--mask-file", options.mask_file, "file with the mask formula, - for standard input"));
  formula(command.add_option("--matrix", options.matrix, kMatrixHelp))->excludes(command.get_option("--mask"))->excludes(command.get_option("--mask-file"));
  formula(command.add_option("--score", options.score, "real formula over s (the scaled dot product) and the variables"));
  formula(command.add_option("--param", options.params, "NAME=VALUE: integer, real, `dynamic` or `dynamic-real`; repeatable"))
      ->allow_extra_args(false);
  formula(command.add_option("--table", options.tables, "NAME or NAME:DTYPE: a table that the formulas read, bound at launch; default int32"))
      ->allow_extra_args(false);
  formula(command.add_option("--head-dim", options.head_dim, "elements of a query and key row")->capture_default_str());
  formula(command.add_option("--value-dim", options.value_dim, "elements of a value row; default the head dim"));
  formula(command.add_option("--dtype", options.dtype, "elements of Q, K, V and O: float32, bfloat16 or float16")->capture_default_str());
  formula(command.add_flag("--lse", options.lse, "the kernel also writes the log-sum-exp of each row"));
  const auto of_a_spec = [&](CLI::Option* option) { return option->needs(spec)->allow_extra_args(false); };
  of_a_spec(command.add_option("--dim", options.dims, "NAME=SIZE: another size of a dim of the spec; repeatable"));
  of_a_spec(
      command.add_option("--allow-path", options.allow_paths, "folder outside the spec's own that it may read; repeatable"));
  command.add_option("--target", options.target, "cpu:avx512, cuda:sm_80, hip:gfx90a, ...; default the best of this machine");
  command.add_option("--tile-rows", options.tile_rows, "forces the query rows of a block");
  command.add_flag("--no-nests", options.no_nests, "ignores the facts: every tile is tested in the kernel");
}

std::vector<NamedProblem> problems(const ProblemOptions& options) {
  return options.spec.empty() ? std::vector{of_formula(options)} : of_spec(options);
}

}  // namespace heddle::cli
