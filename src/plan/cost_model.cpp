#include "src/plan/cost_model.h"

#include <algorithm>

#include "src/ir/rewrite.h"

namespace heddle::plan {
namespace {

bool is_function(ir::Op op) {
  switch (op) {
    case ir::Op::Exp: case ir::Op::Log: case ir::Op::Tanh: case ir::Op::Sigmoid: case ir::Op::Sqrt:
    case ir::Op::Exp2: case ir::Op::Log2: case ir::Op::Div: case ir::Op::Mod: return true;
    default: return false;
  }
}

/// Bits of what an expression varies with: 1 the row, 2 the key, 4 the score.
int varies(const ir::Expr& expr) {
  if (expr->op == ir::Op::Var) return expr->name == "q" ? 1 : expr->name == "k" ? 2 : expr->name == "s" ? 4 : 0;
  int found = 0;
  for (const ir::Expr& operand : expr->operands) found |= varies(operand);
  return found;
}

double share_of_peak(const RegisterTile& tile, const CpuCosts& costs) {
  return tile.vectors == 1 ? costs.one_vector : tile.vectors == 2 ? costs.two_vectors : costs.more_vectors;
}

/// Dot products take two dims or keys at a time.
bool multiplies_pairs(const ir::AttentionProblem& problem) { return problem.dtype == DType::BFloat16 && problem.target.bfloat16_dots; }

/// Cycles a key and vector of rows that the products take beside multiply-adds: rows of 16 bits are staged once a row block.
double staging(const ir::AttentionProblem& problem, double vectors, const CpuCosts& costs) {
  if (problem.dtype == DType::Float32) return 0;
  const int64_t staged = multiplies_pairs(problem) ? problem.value_dim : problem.head_dim + problem.value_dim;
  return static_cast<double>(staged) / problem.target.lanes() * costs.stage / vectors;
}

}  // namespace

RegisterTile register_tile(const Target& target, int64_t rows) {
  const int64_t available = rows / target.lanes(), most = target.vector_registers() >= 32 ? 4 : 3;
  int64_t vectors = std::clamp<int64_t>(available, 1, most);
  while (available % vectors != 0) --vectors;
  int64_t keys = (target.vector_registers() - vectors - 1) / vectors;
  while (kKeysPerStep % keys != 0) --keys;
  return {keys, vectors};
}

CpuCosts CpuCosts::of(const Target& target) {
  CpuCosts costs;
  if (target.level == CpuLevel::Avx2) costs.one_vector = 0.85, costs.two_vectors = costs.more_vectors = 0.98;
  return costs;
}

double formula_cycles(const ir::Expr& formula, const CpuCosts& costs) {
  if (!formula) return 0;
  const int found = varies(formula);
  if (formula->operands.empty() || found == 0 || found == 1 || found == 2) return 0;
  double cycles = is_function(formula->op) ? costs.function : costs.operation;
  for (const ir::Expr& operand : formula->operands) cycles += formula_cycles(operand, costs);
  return cycles;
}

double price(const ir::AttentionProblem& problem, const GridWork& work, const CpuCosts& costs) {
  const RegisterTile tile = register_tile(problem.target, work.tile_rows);
  const double vectors = static_cast<double>(work.tile_rows) / problem.target.lanes(), keys = static_cast<double>(work.tile_keys);
  const double head_dim = static_cast<double>(problem.head_dim), value_dim = static_cast<double>(problem.value_dim);
  const double dims = head_dim + value_dim, fma = 1 / (costs.fmas_per_cycle * share_of_peak(tile, costs) * (multiplies_pairs(problem) ? 2 : 1));
  const double score = dims * fma + costs.softmax + formula_cycles(problem.score, costs) + staging(problem, vectors, costs);
  double cycles = costs.block * dims * static_cast<double>(work.blocks);
  for (size_t i = 0; i < work.passes.size(); ++i) {
    const PassWork& pass = work.passes[i];
    const auto full = static_cast<double>(pass.full.tiles), partial = static_cast<double>(pass.partial.tiles);
    const double predicate = formula_cycles(pass.mask, costs);
    cycles += (full + partial) * keys * score + partial * keys * (predicate + costs.mask_pass);
    cycles += static_cast<double>(pass.full.tail_keys + pass.partial.tail_keys) * head_dim * fma * costs.tail;
    cycles += static_cast<double>(pass.full.steps + pass.partial.steps) * value_dim * costs.step;
    cycles += static_cast<double>(pass.tested_tiles) * keys * predicate;
    if (i > 0) cycles += static_cast<double>(work.blocks) * costs.pass / vectors;
  }
  return cycles * vectors;
}

double price_three_kernels(const ir::AttentionProblem& problem, const GridWork& work, const CpuCosts& costs) {
  double extra = 0;
  for (const PassWork& pass : work.passes) {
    extra += static_cast<double>(pass.full.tiles) * costs.whole_columns + static_cast<double>(pass.partial.tiles) * costs.single_pairs;
    extra -= static_cast<double>(pass.full.steps + pass.partial.steps) * static_cast<double>(problem.value_dim) * costs.step /
             static_cast<double>(work.tile_keys);  // no output is rescaled
  }
  const double vectors = static_cast<double>(work.tile_rows) / problem.target.lanes();
  return price(problem, work, costs) + extra * static_cast<double>(work.tile_keys) * vectors;
}

}  // namespace heddle::plan
