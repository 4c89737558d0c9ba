// Random tile programs that the tile verifier accepts: every statement, shared operands, carried values of any kind.
//
// Nests visit all tiles in order, those below NF as full ones, so that every implementation makes the same steps and results
// may depend on how keys are grouped. Maps keep values small enough for float32 to stay near float64.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "src/ir/tile_program.h"

namespace heddle::test {

class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {}

  ir::TileProgram make(int64_t tile_rows) {
    program_.name = "random";
    program_.tile_rows = tile_rows, program_.tile_keys = 8, program_.keys_per_step = 24, program_.head_dim = 12,
    program_.value_dim = 9;
    body_ = &program_.body;
    queries_ = value(ir::ValueKind::Tile, ir::Extent::BlockRows, ir::Extent::HeadDim, "q");
    emit(ir::Stage{queries_, ir::TensorId::Q, true, 0.7});
    for (int i = 0; i < 2; ++i) {
      for (ir::Extent cols : {ir::Extent::One, ir::Extent::ValueDim, ir::Extent::HeadDim}) fill(cols);
    }
    for (int i = 0; i < 3; ++i) outside();
    for (int loops = 1 + chance(0.4); loops > 0; --loops) loop();
    for (int i = 0; i < 4; ++i) outside();
    emit(ir::Store{ir::TensorId::O, any(ir::Extent::ValueDim)});
    emit(ir::Store{ir::TensorId::Lse, any(ir::Extent::One)});
    return program_;
  }

 private:
  using Id = ir::ValueId;
  static constexpr ir::Extent kColumns[] = {ir::Extent::One, ir::Extent::ValueDim, ir::Extent::HeadDim, ir::Extent::StepKeys};

  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(double p) { return static_cast<double>(below(1000)) < 1000 * p; }
  void emit(auto statement) { body_->push_back({std::move(statement)}); }

  Id value(ir::ValueKind kind, ir::Extent rows, ir::Extent cols, const std::string& name) {
    program_.values.push_back({kind, rows, cols, fmt::format("{}{}", name, program_.values.size())});
    return static_cast<Id>(program_.values.size()) - 1;
  }
  /// A Row (One) or a fragment.
  Id fresh(ir::Extent cols) {
    return value(cols == ir::Extent::One ? ir::ValueKind::Row : ir::ValueKind::Fragment, ir::Extent::BlockRows, cols, "x");
  }
  std::vector<Id>& pool(ir::Extent cols) { return pools_[static_cast<size_t>(cols)]; }
  Id any(ir::Extent cols) { return pool(cols)[below(pool(cols).size())]; }
  Id recent(ir::Extent cols) { return chance(0.6) ? pool(cols).back() : any(cols); }

  void fill(ir::Extent cols) {
    const Id out = fresh(cols);
    emit(ir::Fill{out, 0.25 * static_cast<double>(below(9)) - 1});
    pool(cols).push_back(out);
  }
  void outside() {
    const ir::Extent cols = kColumns[below(3)];
    if (chance(0.25)) return fill(cols);
    if (cols != ir::Extent::One && chance(0.3)) return reduce(cols);
    map(cols);
  }
  void reduce(ir::Extent cols) {
    const Id in = recent(cols), out = fresh(ir::Extent::One);
    emit(ir::RowReduce{out, in, chance(0.5) ? ir::Reduction::Max : ir::Reduction::Sum});
    const Id bounded = fresh(ir::Extent::One);
    emit(ir::Map{
        bounded, {out}, ir::make(ir::Op::Tanh, {ir::make(ir::Op::Mul, {ir::arg(0, ir::Type::Real), ir::real_const(0.1)})})});
    pool(ir::Extent::One).push_back(bounded);
  }

  void map(ir::Extent cols) {
    std::vector<Id> inputs;
    for (uint64_t n = 1 + below(3); n > 0; --n) inputs.push_back(chance(0.35) ? any(ir::Extent::One) : recent(cols));
    const bool partial = in_loop_ && cols == ir::Extent::StepKeys && chance(0.3);
    if (partial) inputs[0] = recent(cols);
    const Id out = fresh(cols);
    emit(ir::Map{out, inputs, expression(inputs.size(), cols == ir::Extent::StepKeys), partial});
    pool(cols).push_back(out);
  }
  ir::Expr expression(size_t inputs, bool keys) {
    using ir::Op;
    const ir::Expr a = ir::arg(0, ir::Type::Real), b = ir::arg(static_cast<int>(inputs) - 1, ir::Type::Real);
    const ir::Expr c = ir::arg(static_cast<int>(inputs / 2), ir::Type::Real);
    switch (below(8)) {
      case 0:
        return ir::make(Op::Mul, {a, b});
      case 1:
        return ir::make(Op::Tanh, {ir::make(Op::Add, {a, ir::make(Op::Mul, {b, c})})});
      case 2:
        return ir::make(Op::Max, {a, ir::make(Op::Min, {b, c})});
      case 3:
        return ir::make(Op::Select, {predicate(keys), a, ir::make(Op::Mul, {b, ir::real_const(0.5)})});
      case 4:
        return ir::make(Op::Sigmoid, {ir::make(Op::Sub, {a, b})});
      case 5:
        return ir::make(Op::Exp2, {ir::make(Op::Neg, {ir::make(Op::Abs, {ir::make(Op::Sub, {a, c})})})});
      case 6:
        return ir::make(Op::Tanh, {ir::make(Op::Mul, {a, ir::make(Op::Mul, {position(keys), ir::real_const(0.05)})})});
      default:
        return ir::make(Op::Mul, {ir::make(Op::Tanh, {a}), c});
    }
  }
  ir::Expr position(bool keys) { return keys ? ir::make(ir::Op::Sub, {ir::var("q"), ir::var("k")}) : ir::var("q"); }
  ir::Expr predicate(bool keys) {
    const ir::Expr row = ir::make(ir::Op::Lt, {ir::make(ir::Op::Mod, {ir::var("q"), ir::int_const(5)}), ir::int_const(3)});
    if (!keys) return row;
    const ir::Expr causal = ir::make(ir::Op::Le, {ir::var("k"), ir::var("q")});
    const ir::Expr key = ir::make(ir::Op::Ne, {ir::make(ir::Op::Mod, {ir::var("k"), ir::int_const(3)}), ir::var("h")});
    return chance(0.4) ? causal : chance(0.5) ? key : ir::make(ir::Op::And, {row, key});
  }

  void contract_dims() {
    const bool values = chance(0.3);
    const Id lhs = values ? any(ir::Extent::ValueDim) : chance(0.5) ? queries_ : any(ir::Extent::HeadDim);
    const Id out = fresh(ir::Extent::StepKeys);
    emit(ir::Mma{out, lhs, values ? values_ : keys_, true, ir::kNoValue, nullptr});
    pool(ir::Extent::StepKeys).push_back(out);
    if (chance(0.5)) map(ir::Extent::StepKeys);
  }
  /// A sum over keys, made small.
  void contract_keys() {
    const ir::Extent cols = chance(0.7) ? ir::Extent::ValueDim : ir::Extent::HeadDim;
    const Id lhs = recent(ir::Extent::StepKeys), out = fresh(cols);
    const Id accumulate = chance(0.7) ? recent(cols) : ir::kNoValue;
    emit(ir::Mma{out, lhs, cols == ir::Extent::ValueDim ? values_ : keys_, false, accumulate,
                 chance(0.5) ? predicate(true) : nullptr});
    const Id bounded = fresh(cols);
    emit(ir::Map{
        bounded, {out}, ir::make(ir::Op::Tanh, {ir::make(ir::Op::Mul, {ir::arg(0, ir::Type::Real), ir::real_const(0.3)})})});
    pool(cols).push_back(chance(0.3) ? out : bounded);
  }
  void inside() {
    switch (below(8)) {
      case 0:
        return contract_dims();
      case 1:
      case 2:
        return contract_keys();
      case 3:
        return reduce(ir::Extent::StepKeys);
      case 4:
        return reduce(kColumns[1 + below(2)]);
      case 5:
        return map(kColumns[below(3)]);
      default:
        return map(ir::Extent::StepKeys);
    }
  }

  static ir::LoopNest tiles(const ir::Expr& first, const char* count) {
    const ir::Expr last = ir::make(ir::Op::Sub, {ir::var(count), ir::int_const(1)});
    return {{{{}, {{"kb", {first}, {last}, 1, nullptr}}, {}, ir::var("kb")}}};
  }
  void loop() {
    ir::KeyLoop loop;
    loop.source = ir::LoopSource::Nest;
    const bool full = chance(0.7);
    if (full) loop.full = tiles(ir::int_const(0), "NF");
    loop.partial = tiles(full ? ir::var("NF") : ir::int_const(0), "NK");
    const auto outer = pools_;
    std::vector<ir::Extent> kinds;
    for (uint64_t n = 2 + below(4); n > 0; --n) kinds.push_back(kColumns[below(3)]);
    for (ir::Extent cols : kinds) loop.carried.push_back({any(cols), fresh(cols), ir::kNoValue, fresh(cols)});
    for (size_t i = 0; i < kinds.size(); ++i) pool(kinds[i]).push_back(loop.carried[i].inner);
    ir::Body* before = std::exchange(body_, &loop.body);
    in_loop_ = true;
    fill_body(loop, kinds, outer);
    in_loop_ = false;
    body_ = before;
    emit(loop);
    pools_ = outer;
    for (size_t i = 0; i < kinds.size(); ++i) pool(kinds[i]).push_back(loop.carried[i].out);
  }
  void fill_body(ir::KeyLoop& loop, const std::vector<ir::Extent>& kinds, const auto& outer) {
    keys_ = value(ir::ValueKind::Tile, ir::Extent::StepKeys, ir::Extent::HeadDim, "k");
    values_ = value(ir::ValueKind::Tile, ir::Extent::StepKeys, ir::Extent::ValueDim, "v");
    emit(ir::Stage{keys_, ir::TensorId::K, chance(0.3), 0.5});
    emit(ir::Stage{values_, ir::TensorId::V, false, chance(0.5) ? 1.0 : 0.3});
    contract_dims();
    for (uint64_t n = 3 + below(8); n > 0; --n) inside();
    for (size_t i = 0; i < kinds.size(); ++i) {  // what the body made, states of other carried values included
      const size_t first = outer[static_cast<size_t>(kinds[i])].size(), made = pool(kinds[i]).size() - first;
      loop.carried[i].yield = pool(kinds[i])[first + below(made)];
    }
  }

  std::mt19937_64 random_;
  ir::TileProgram program_;
  ir::Body* body_ = nullptr;
  bool in_loop_ = false;
  Id queries_ = ir::kNoValue, keys_ = ir::kNoValue, values_ = ir::kNoValue;
  std::vector<std::vector<Id>> pools_ = std::vector<std::vector<Id>>(5);
};

}  // namespace heddle::test
