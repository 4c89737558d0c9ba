#include "src/engine/reference_attention.h"

#include <algorithm>
#include <cmath>

#include "src/codegen/reference/judge.h"
#include "src/engine/difference.h"
#include "src/engine/mask_rows.h"
#include "src/engine/problem.h"
#include "src/ir/rewrite.h"
#include "src/support/half.h"

namespace heddle::engine {
namespace {

constexpr double kBar = 2e-6;

/// The problem of one query row: the same formulas where q is that row and Sq what it was.
ir::AttentionProblem at_row(const ir::AttentionProblem& problem, int64_t row, int64_t sq) {
  const auto fixed = [&](const ir::Expr& formula) {
    if (!formula) return formula;
    return ir::substitute(formula, [&](const ir::ExprNode& leaf) -> ir::Expr {
      if (leaf.op != ir::Op::Var) return nullptr;
      return leaf.name == "q" ? ir::int_const(row) : leaf.name == "Sq" ? ir::int_const(sq) : nullptr;
    });
  };
  ir::AttentionProblem one = problem;
  one.mask = fixed(problem.mask);
  one.score = fixed(problem.score);
  return one;
}

/// [batch, heads, value_dim] of one query row.
std::vector<double> reference_row(const ir::AttentionProblem& problem, const AttentionUse& use, int64_t row) {
  const UseArguments arguments(use, ir::table_order(problem));
  AttentionArgs args = arguments.args;
  args.q = static_cast<const float*>(args.q) + row * args.q_stride[2];
  args.sq = 1;
  return reference::judge(at_row(problem, row, use.sq), args).o;
}

double row_error(const ir::AttentionProblem& problem, const AttentionUse& use, int64_t row) {
  const std::vector<double> expected = reference_row(problem, use, row);
  const Tensor& o = use.o.view;
  const int64_t width = o.shape[3];
  double worst = 0;
  for (int64_t head = 0; head < use.batch * use.heads; ++head) {
    const int64_t first = head / use.heads * o.strides[0] + head % use.heads * o.strides[1] + row * o.strides[2];
    for (int64_t d = 0; d < width; ++d) {
      const double found = support::element(o.dtype, o.data, first + d);
      worst = std::max(worst, difference(found, expected[head * width + d]));
    }
  }
  return worst;
}

/// Of the finite elements of a view.
struct Spread {
  double rms = 0, largest = 0;
};
Spread spread_of(const Tensor& view) {
  double sum = 0, largest = 0;
  int64_t count = 0;
  const int64_t rows = view.shape[0] * view.shape[1] * view.shape[2];
  for (int64_t i = 0; i < rows; ++i) {
    const float* row = static_cast<const float*>(view.data) + i / view.shape[2] / view.shape[1] * view.strides[0] +
                       i / view.shape[2] % view.shape[1] * view.strides[1] + i % view.shape[2] * view.strides[2];
    for (int64_t d = 0; d < view.shape[3]; ++d) {
      if (!std::isfinite(row[d])) continue;
      sum += static_cast<double>(row[d]) * static_cast<double>(row[d]);
      largest = std::max(largest, std::abs(static_cast<double>(row[d])));
      ++count;
    }
  }
  return {count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0, largest};
}

/// A dense copy of a 4-D view in float32.
Array in_float32(const Array& array) {
  const Tensor& view = array.view;
  if (view.dtype == DType::Float32) return array;
  Array copy = Array::make(view.shape, DType::Float32);
  auto* to = static_cast<float*>(copy.view.data);
  for (int64_t i = 0; i < view.shape[0] * view.shape[1] * view.shape[2]; ++i) {
    const int64_t head = i / view.shape[2];
    const int64_t first = head / view.shape[1] * view.strides[0] + head % view.shape[1] * view.strides[1] + i % view.shape[2] * view.strides[2];
    for (int64_t d = 0; d < view.shape[3]; ++d) *to++ = support::element(view.dtype, view.data, first + d);
  }
  return copy;
}

}  // namespace

AttentionUse with_float32_inputs(const AttentionUse& use) {
  AttentionUse wide = use;
  for (Array* input : {&wide.q, &wide.k, &wide.v}) *input = in_float32(*input);
  return wide;
}

std::vector<double> reference_attention(const ir::Expr& mask, const ir::Expr& score, const AttentionUse& use, int threads) {
  AttentionSpec spec;
  if (mask) spec.mask = Mask(Condition(mask));
  if (score) spec.score = Score(Real(score));
  spec.head_dim = use.q.view.shape[3];
  spec.value_dim = use.v.view.shape[3];
  const ir::AttentionProblem problem = problem_of(spec, Target{});
  return reference::judge(problem, UseArguments(use, ir::table_order(problem)).args, threads).o;
}

double largest_error(const ir::AttentionProblem& problem, const AttentionUse& use, const std::vector<int64_t>& rows,
                     runtime::ThreadPool& pool) {
  std::vector<double> worst(static_cast<size_t>(pool.threads()), 0);
  pool.run([&](int thread) {
    for (size_t i = thread; i < rows.size(); i += pool.threads()) {
      worst[thread] = std::max(worst[thread], row_error(problem, use, rows[i]));
    }
  });
  return *std::max_element(worst.begin(), worst.end());
}

double accuracy_bar(const AttentionUse& use) {
  const double root = std::sqrt(static_cast<double>(use.q.view.shape[3]));
  const Spread v = spread_of(use.v.view);
  const double scores = spread_of(use.q.view).rms * spread_of(use.k.view).rms * std::abs(use.scale) * root;
  const DType dtype = use.o.view.dtype;
  const double rounding = dtype == DType::Float32 ? 0 : 2 * support::unit_roundoff(dtype) * v.largest;
  return kBar * root * std::max(1.0, v.rms) * std::max(1.0, scores) + rounding;
}

}  // namespace heddle::engine
