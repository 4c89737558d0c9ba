#include "src/lower/lower_attention.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>

#include "src/ir/rewrite.h"

namespace heddle::lower {
namespace {

using ir::Expr;
using ir::Extent;
using ir::Op;
using ir::Type;
using ir::ValueId;
using ir::ValueKind;

Expr real(int index) { return ir::arg(index, Type::Real); }
Expr times(const Expr& a, double factor) { return ir::make(Op::Mul, {a, ir::real_const(factor)}); }
Expr exp2_of_difference() { return ir::make(Op::Exp2, {ir::make(Op::Sub, {real(0), real(1)})}); }
Expr when_positive(int sum, double otherwise, const Expr& then) {
  return ir::make(Op::Select, {ir::make(Op::Eq, {real(sum), ir::real_const(0)}), ir::real_const(otherwise), then});
}

/// The running state of the softmax: maximum, sum, unnormalised output.
struct Softmax {
  ValueId m, l, o;
};

class Lowering {
 public:
  explicit Lowering(const plan::KernelPlan& plan) : plan_(plan) {
    program_.name = plan.family == plan::Family::Fused ? "attention_fused" : "attention_three_kernels";
    program_.dtype = plan.problem.dtype;
    program_.tile_rows = plan.tile_rows;
    program_.tile_keys = plan.tile_keys;
    program_.keys_per_step = std::max(plan.keys_per_step, plan.tile_keys);
    program_.head_dim = plan.problem.head_dim;
    program_.value_dim = plan.problem.value_dim;
    const ir::ParameterOrder order = plan.parameters ? *plan.parameters : ir::parameter_order(plan.problem);
    program_.int_params = order.ints;
    program_.real_params = order.reals;
    program_.tables = ir::table_order(plan.problem);
  }

  ir::TileProgram run() {
    if (plan_.family == plan::Family::ThreeKernels) return three_kernels();
    const ValueId q = tile("q", Extent::BlockRows, Extent::HeadDim);
    emit(ir::Stage{q, ir::TensorId::Q, true, plan_.problem.score ? 1.0 : std::numbers::log2e});
    Softmax state = {row("m"), row("l"), fragment("o", Extent::ValueDim)};
    emit(ir::Fill{state.m, -FLT_MAX});
    emit(ir::Fill{state.l, 0});
    emit(ir::Fill{state.o, 0});
    each_pass([&](const plan::PassPlan& pass) { state = sweep(pass, q, state); });
    finish(state);
    return std::move(program_);
  }

  ir::TileProgram three_kernels() {
    const ValueId q = tile("q", Extent::BlockRows, Extent::HeadDim);
    emit(ir::Stage{q, ir::TensorId::Q, true, plan_.problem.score ? 1.0 : std::numbers::log2e});
    each_pass([&](const plan::PassPlan& pass) { store_scores(pass, q); });
    const ValueId lse = row("lse");
    emit(ir::SoftmaxValues{lse, plan_.values_count});
    ValueId o = fragment("o", Extent::ValueDim);
    emit(ir::Fill{o, 0});
    each_pass([&](const plan::PassPlan& pass) { o = add_product(pass, o); });
    emit(ir::Store{ir::TensorId::O, o});
    if (plan_.problem.lse) emit(ir::Store{ir::TensorId::Lse, lse});
    return std::move(program_);
  }

 private:
  void each_pass(auto visit) {
    for (size_t i = 0; i < plan_.passes.size(); ++i) {
      suffix_ = i == 0 ? "" : fmt::format(".{}", i);
      visit(plan_.passes[i]);
    }
    suffix_.clear();
  }

  static ir::KeyLoop loop_over(const plan::PassPlan& pass) {
    ir::KeyLoop loop;
    loop.source = source(pass.source);
    loop.full = pass.full;
    loop.partial = pass.partial;
    if (loop.source != ir::LoopSource::Nest) loop.predicate = pass.mask ? pass.mask : ir::bool_const(true);
    return loop;
  }

  /// SDDMM: the scores of a pass into their slots.
  void store_scores(const plan::PassPlan& pass, ValueId q) {
    ir::KeyLoop loop = loop_over(pass);
    body_ = &loop.body;
    emit(ir::StoreValues{plain_scores(q), pass.slot, pass.mask});
    body_ = &program_.body;
    emit(std::move(loop));
  }

  /// SpMM: o plus the probabilities of a pass times V.
  ValueId add_product(const plan::PassPlan& pass, ValueId before) {
    ir::KeyLoop loop = loop_over(pass);
    body_ = &loop.body;
    ValueId p = fragment("p", Extent::StepKeys);
    emit(ir::LoadValues{p, pass.slot, pass.mask});
    const ValueId inner = fragment("o_in", Extent::ValueDim), next = fragment("o_next", Extent::ValueDim);
    const ValueId v = tile("v", Extent::StepKeys, Extent::ValueDim);
    emit(ir::Stage{v, ir::TensorId::V});
    emit(ir::Mma{next, p, v, false, inner, pass.mask});
    body_ = &program_.body;
    const ValueId after = fragment("o_out", Extent::ValueDim);
    loop.carried = {{before, inner, next, after}};
    emit(std::move(loop));
    return after;
  }

  /// One key loop: the tiles of a pass update the state.
  Softmax sweep(const plan::PassPlan& pass, ValueId q, const Softmax& before) {
    ir::KeyLoop loop = loop_over(pass);
    const Softmax inner = {row("m_in"), row("l_in"), fragment("o_in", Extent::ValueDim)};
    body_ = &loop.body;
    const Softmax next = step(pass, q, inner);
    body_ = &program_.body;
    const Softmax after = {row("m_out"), row("l_out"), fragment("o_out", Extent::ValueDim)};
    loop.carried = {{before.m, inner.m, next.m, after.m}, {before.l, inner.l, next.l, after.l}, {before.o, inner.o, next.o, after.o}};
    emit(std::move(loop));
    return after;
  }

  static ir::LoopSource source(plan::TileSource tiles) {
    switch (tiles) {
      case plan::TileSource::Nest: return ir::LoopSource::Nest;
      case plan::TileSource::Tested: return ir::LoopSource::Tested;
      case plan::TileSource::Listed: break;
    }
    return ir::LoopSource::Listed;
  }

  Softmax step(const plan::PassPlan& pass, ValueId q, const Softmax& in) {
    const ValueId s = scores(pass, q);
    const ValueId top = row("m_step"), m = row("m_next");
    emit(ir::RowReduce{top, s, ir::Reduction::Max});
    emit(ir::Map{m, {in.m, top}, ir::make(Op::Max, {real(0), real(1)})});
    const ValueId p = fragment("p", Extent::StepKeys), c = row("c");
    emit(ir::Map{p, {s, m}, exp2_of_difference()});
    emit(ir::Map{c, {in.m, m}, exp2_of_difference()});
    const ValueId sum = row("l_step"), l = row("l_next");
    emit(ir::RowReduce{sum, p, ir::Reduction::Sum});
    emit(ir::Map{l, {in.l, c, sum}, ir::make(Op::Add, {ir::make(Op::Mul, {real(0), real(1)}), real(2)})});
    const ValueId rescaled = fragment("o_scaled", Extent::ValueDim), o = fragment("o_next", Extent::ValueDim);
    emit(ir::Map{rescaled, {in.o, c}, ir::make(Op::Mul, {real(0), real(1)})});
    const ValueId v = tile("v", Extent::StepKeys, Extent::ValueDim);
    emit(ir::Stage{v, ir::TensorId::V});
    emit(ir::Mma{o, p, v, false, rescaled, pass.mask});
    return {m, l, o};
  }

  /// Scores of a step in units of log2.
  ValueId plain_scores(ValueId q) {
    const ValueId k = tile("k", Extent::StepKeys, Extent::HeadDim);
    emit(ir::Stage{k, ir::TensorId::K});
    ValueId s = fragment("s", Extent::StepKeys);
    emit(ir::Mma{s, q, k, true, ir::kNoValue, nullptr});
    if (!plan_.problem.score) return s;
    const ValueId scored = fragment("s_scored", Extent::StepKeys);
    emit(ir::Map{scored, {s}, times(score_of_argument(), std::numbers::log2e)});
    return scored;
  }

  /// The same, masked pairs at -inf.
  ValueId scores(const plan::PassPlan& pass, ValueId q) {
    const ValueId s = plain_scores(q);
    if (!pass.mask) return s;
    const ValueId masked = fragment("s_masked", Extent::StepKeys);
    const Expr minus_infinity = ir::real_const(-std::numeric_limits<double>::infinity());
    emit(ir::Map{masked, {s}, ir::make(Op::Select, {pass.mask, real(0), minus_infinity}), true});
    return masked;
  }

  Expr score_of_argument() const {
    return ir::substitute(plan_.problem.score, [](const ir::ExprNode& leaf) -> Expr {
      return leaf.op == Op::Var && leaf.name == "s" ? real(0) : nullptr;
    });
  }

  void finish(const Softmax& state) {
    const ValueId r = row("r"), result = fragment("result", Extent::ValueDim);
    emit(ir::Map{r, {state.l}, when_positive(0, 0, ir::make(Op::Div, {ir::real_const(1), real(0)}))});
    emit(ir::Map{result, {state.o, r}, ir::make(Op::Mul, {real(0), real(1)})});
    ValueId lse = ir::kNoValue;
    if (plan_.problem.lse) {
      lse = row("lse");
      const Expr natural = times(ir::make(Op::Add, {real(0), ir::make(Op::Log2, {real(1)})}), std::numbers::ln2);
      emit(ir::Map{lse, {state.m, state.l}, when_positive(1, -std::numeric_limits<double>::infinity(), natural)});
    }
    emit(ir::Store{ir::TensorId::O, result});
    if (lse != ir::kNoValue) emit(ir::Store{ir::TensorId::Lse, lse});
  }

  void emit(auto statement) { body_->push_back(ir::Statement{std::move(statement)}); }
  ValueId value(ValueKind kind, Extent rows, Extent cols, const char* name) {
    program_.values.push_back({kind, rows, cols, name + suffix_});
    return static_cast<ValueId>(program_.values.size()) - 1;
  }
  ValueId tile(const char* name, Extent rows, Extent cols) { return value(ValueKind::Tile, rows, cols, name); }
  ValueId fragment(const char* name, Extent cols) { return value(ValueKind::Fragment, Extent::BlockRows, cols, name); }
  ValueId row(const char* name) { return value(ValueKind::Row, Extent::BlockRows, Extent::One, name); }

  const plan::KernelPlan& plan_;
  ir::TileProgram program_;
  ir::Body* body_ = &program_.body;
  std::string suffix_;
};

}  // namespace

ir::TileProgram lower_attention(const plan::KernelPlan& plan) { return Lowering(plan).run(); }

}  // namespace heddle::lower
