#include "src/codegen/llvm/lane_sums.h"

namespace heddle::codegen {
namespace {

constexpr int kQuad = 4;

/// Picks four elements in every 128-bit group of x (0..3) and y (4..7).
Value* within_groups(IrBuilder& b, Value* x, Value* y, const int (&pick)[kQuad]) {
  llvm::SmallVector<int, 16> mask;
  for (int lane = 0; lane < b.lanes(); ++lane) {
    const int source = pick[lane % kQuad];
    mask.push_back(lane / kQuad * kQuad + source % kQuad + (source >= kQuad ? b.lanes() : 0));
  }
  return b.CreateShuffleVector(x, y, mask);
}

/// Concatenates 128-bit groups, counted through x and then y.
Value* groups(IrBuilder& b, Value* x, Value* y, llvm::ArrayRef<int> pick) {
  llvm::SmallVector<int, 16> mask;
  for (const int group : pick) {
    for (int i = 0; i < kQuad; ++i) mask.push_back(group * kQuad + i);
  }
  return b.CreateShuffleVector(x, y, mask);
}

/// Every lane combined with the one `distance` away, until all are.
template <class Combine>
Value* fold(IrBuilder& b, Value* vector, Combine combine) {
  for (int distance = b.lanes() / 2; distance > 0; distance /= 2) {
    llvm::SmallVector<int, 16> mask;
    for (int lane = 0; lane < b.lanes(); ++lane) mask.push_back(lane ^ distance);
    vector = combine(b.CreateShuffleVector(vector, mask), vector);
  }
  return b.CreateExtractElement(vector, uint64_t{0});
}

}  // namespace

Value* sum_quads(IrBuilder& b, const Values& v) {
  const auto pairs = [&](Value* x, Value* y) {  // x02, y02, x13, y13
    return b.CreateFAdd(within_groups(b, x, y, {0, 4, 1, 5}), within_groups(b, x, y, {2, 6, 3, 7}));
  };
  Value *first = pairs(v[0], v[1]), *second = pairs(v[2], v[3]);
  return b.CreateFAdd(within_groups(b, first, second, {0, 1, 4, 5}), within_groups(b, first, second, {2, 3, 6, 7}));
}

Value* sum_groups(IrBuilder& b, const Values& v) {
  if (v.size() == 1) return v[0];
  if (v.size() == 2) return b.CreateFAdd(groups(b, v[0], v[1], {0, 2}), groups(b, v[0], v[1], {1, 3}));
  const auto halves = [&](Value* x, Value* y) {  // x02, x13, y02, y13
    return b.CreateFAdd(groups(b, x, y, {0, 1, 4, 5}), groups(b, x, y, {2, 3, 6, 7}));
  };
  Value *first = halves(v[0], v[1]), *second = halves(v[2], v[3]);
  return b.CreateFAdd(groups(b, first, second, {0, 2, 4, 6}), groups(b, first, second, {1, 3, 5, 7}));
}

Value* sum_lanes(IrBuilder& b, Value* vector) {
  return fold(b, vector, [&](Value* x, Value* y) { return b.CreateFAdd(x, y); });
}

Value* largest_lane(IrBuilder& b, Value* vector) {
  return fold(b, vector, [&](Value* x, Value* y) { return b.maximum(x, y); });
}

}  // namespace heddle::codegen
