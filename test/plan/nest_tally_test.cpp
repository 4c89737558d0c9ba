// Closed-form counts of nests against visiting them value by value.
#include "src/plan/nest_tally.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::plan {
namespace {

using ir::Expr;
using ir::int_const;
using ir::make;
using ir::Op;
using ir::var;

/// Counts by visiting: maximal runs of adjacent values inside a piece, cut into steps.
NestTally visited(const ir::LoopNest& nest, const std::map<std::string, int64_t>& names, const StepShape& shape) {
  NestTally found;
  for (const ir::NestPiece& piece : nest.pieces) {
    std::vector<int64_t> values;
    ir::visit({{piece}}, names, [&](int64_t value) { values.push_back(value); });
    for (size_t i = 0; i < values.size();) {
      size_t in_step = 1;
      const auto most = static_cast<size_t>(shape.keys_per_step / shape.tile_keys);
      while (i + in_step < values.size() && in_step < most && values[i + in_step] == values[i + in_step - 1] + 1) ++in_step;
      found.tiles += static_cast<int64_t>(in_step);
      found.steps += 1;
      found.tail_keys += static_cast<int64_t>(in_step) * shape.tile_keys % shape.register_keys;
      i += in_step;
    }
  }
  return found;
}

ir::Loop loop(const char* variable, Expr lower, Expr upper, int64_t stride = 1, Expr offset = nullptr) {
  return {variable, {std::move(lower)}, {std::move(upper)}, stride, std::move(offset)};
}

std::vector<ir::LoopNest> nests() {
  const Expr kb = var("kb"), qb = var("qb"), last = make(Op::Sub, {var("NK"), int_const(1)});
  const Expr grid = make(Op::Add, {make(Op::Mul, {var("ky"), int_const(8)}), var("kx")});
  const Expr even = make(Op::Eq, {make(Op::Mod, {kb, int_const(3)}), int_const(0)});
  ir::LoopNest run{{{{}, {loop("kb", int_const(0), make(Op::Min, {qb, last}))}, {}, kb}}};
  ir::LoopNest strided{{{{}, {loop("kb", int_const(1), last, 4, qb)}, {}, kb}}};
  ir::LoopNest guarded{{{{make(Op::Gt, {qb, int_const(2)})}, {loop("kb", int_const(0), last)}, {}, kb}}};
  ir::LoopNest digits{{{{}, {loop("ky", int_const(0), int_const(2)), loop("kx", int_const(1), qb)}, {}, grid}}};
  ir::LoopNest wide{{{{}, {loop("ky", int_const(0), int_const(3)), loop("kx", int_const(0), int_const(7))}, {}, grid}}};
  ir::LoopNest inner{{{{}, {loop("kb", int_const(0), last)}, {even}, kb}}};
  ir::LoopNest reversed{{{{}, {loop("kb", int_const(0), last)}, {}, make(Op::Sub, {last, kb})}}};
  ir::LoopNest squares{{{{}, {loop("kb", int_const(0), int_const(5))}, {}, make(Op::Mul, {kb, kb})}}};
  ir::LoopNest both = run;
  both.pieces.push_back(strided.pieces[0]);
  return {run, strided, guarded, digits, wide, inner, reversed, squares, both, {}};
}

TEST(NestTally, AgreesWithVisiting) {
  for (const ir::LoopNest& nest : nests()) {
    for (int64_t qb = 0; qb < 9; ++qb) {
      for (const StepShape& shape : {StepShape{16, 96, 6}, StepShape{8, 96, 12}, StepShape{16, 16, 24}, StepShape{1, 1, 1}}) {
        const std::map<std::string, int64_t> names = {{"qb", qb}, {"NK", 30}};
        const NestTally counted = tally(nest, names, shape), expected = visited(nest, names, shape);
        EXPECT_EQ(counted.tiles, expected.tiles) << print(nest, "F");
        EXPECT_EQ(counted.steps, expected.steps) << print(nest, "F");
        EXPECT_EQ(counted.tail_keys, expected.tail_keys) << print(nest, "F");
      }
    }
  }
}

TEST(NestTally, CostsNothingForLongLoops) {
  const ir::LoopNest nest{{{{}, {loop("kb", int_const(0), int_const(int64_t{1} << 40))}, {}, var("kb")}}};
  EXPECT_EQ(tally(nest, {}, {16, 96, 6}).tiles, (int64_t{1} << 40) + 1);
}

TEST(NestTally, Adds) {
  NestTally sum{1, 2, 3};
  sum += {10, 20, 30};
  EXPECT_EQ(sum, (NestTally{11, 22, 33}));
}

}  // namespace
}  // namespace heddle::plan
