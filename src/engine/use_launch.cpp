#include "src/engine/use_launch.h"

#include "src/ir/rewrite.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

using ir::Expr;

/// What the formulas of a kernel name, taken from the use.
BindOptions bind_options(const AttentionUse& use, const AttentionSpec& spec) {
  BindOptions options{.tables = {}, .batch = use.batch, .heads = use.heads, .kv_heads = use.kv_heads, .sq = use.sq, .sk = use.sk};
  for (const Expr& formula : {spec.mask.node(), spec.score.node()}) {
    for (const auto& [name, table] : ir::tables(formula)) options.tables[name] = use.tables.at(name).view;
    for (const auto& [name, type] : ir::parameters(formula)) {
      if (type == ir::Type::Int) options.ints[name] = use.ints.at(name);
    }
  }
  return options;
}

std::map<std::string, double> reals(const AttentionUse& use, const Expr& score) {
  std::map<std::string, double> named;
  for (const auto& [name, type] : ir::parameters(score)) {
    if (type == ir::Type::Real) named[name] = use.reals.at(name);
  }
  return named;
}

}  // namespace

UseLaunch::UseLaunch(const AttentionUse& use, const Attention& kernel) : use_(use), kernel_(kernel) {
  const BindOptions bound = bind_options(use, kernel.spec());
  if (!bound.tables.empty()) binding_ = kernel.bind(bound);
  options_.scale = use.scale;
  options_.ints = bound.ints;
  options_.reals = reals(use, kernel.spec().score.node());
}

double UseLaunch::run(const Tensor& o) const {
  LaunchOptions options = options_;
  if (binding_.state()) options.binding = &binding_;
  const support::Timer timer;
  kernel_.run(use_.q.view, use_.k.view, use_.v.view, o, nullptr, options);
  return timer.milliseconds();
}

ir::AttentionProblem with_values(ir::AttentionProblem problem, const AttentionUse& use) {
  const auto value = [&](const ir::ExprNode& leaf) -> Expr {
    if (leaf.op != ir::Op::Param) return nullptr;
    return leaf.type == ir::Type::Int ? ir::int_const(use.ints.at(leaf.name)) : ir::real_const(use.reals.at(leaf.name));
  };
  for (Expr* formula : {&problem.mask, &problem.score}) {
    if (*formula) *formula = ir::simplify(ir::substitute(*formula, value));
  }
  return problem;
}

}  // namespace heddle::engine
