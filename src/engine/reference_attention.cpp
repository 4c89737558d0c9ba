#include "src/engine/reference_attention.h"

#include <algorithm>
#include <cmath>

#include "src/codegen/reference/judge.h"
#include "src/engine/difference.h"
#include "src/engine/mask_rows.h"
#include "src/engine/problem.h"
#include "src/ir/rewrite.h"

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
    const float* found = static_cast<const float*>(o.data) + head / use.heads * o.strides[0] + head % use.heads * o.strides[1] +
                         row * o.strides[2];
    for (int64_t d = 0; d < width; ++d) worst = std::max(worst, difference(found[d], expected[head * width + d]));
  }
  return worst;
}

/// Root mean square of the finite elements of a 4-D float32 view.
double rms(const Tensor& view) {
  double sum = 0;
  int64_t count = 0;
  const int64_t rows = view.shape[0] * view.shape[1] * view.shape[2];
  for (int64_t i = 0; i < rows; ++i) {
    const float* row = static_cast<const float*>(view.data) + i / view.shape[2] / view.shape[1] * view.strides[0] +
                       i / view.shape[2] % view.shape[1] * view.strides[1] + i % view.shape[2] * view.strides[2];
    for (int64_t d = 0; d < view.shape[3]; ++d) {
      if (!std::isfinite(row[d])) continue;
      sum += static_cast<double>(row[d]) * static_cast<double>(row[d]);
      ++count;
    }
  }
  return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

}  // namespace

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
  const double spread = rms(use.q.view) * rms(use.k.view) * std::abs(use.scale) * root;
  return kBar * root * std::max(1.0, rms(use.v.view)) * std::max(1.0, spread);
}

}  // namespace heddle::engine
