#include "src/engine/overlap.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <map>
#include <random>

namespace heddle::engine {
namespace {

/// Addresses of the elements of a view, with how many index tuples reach each.
std::map<uintptr_t, int> elements_of(const Tensor& view) {
  std::map<uintptr_t, int> found;
  std::vector<int64_t> index(view.shape.size());
  for (int64_t i = 0; i < view.elements(); ++i) {
    int64_t rest = i, offset = 0;
    for (size_t d = view.shape.size(); d-- > 0; rest /= view.shape[d]) offset += rest % view.shape[d] * view.strides[d];
    ++found[reinterpret_cast<uintptr_t>(view.data) + static_cast<uintptr_t>(offset * 4)];
  }
  return found;
}

bool brute_share(const Tensor& a, const Tensor& b) {
  const auto of_a = elements_of(a), of_b = elements_of(b);
  return std::ranges::any_of(of_a, [&](const auto& one) { return of_b.contains(one.first); });
}

bool brute_self(const Tensor& view) {
  return std::ranges::any_of(elements_of(view), [](const auto& one) { return one.second > 1; });
}

Tensor random_view(std::mt19937& random, float* middle) {
  const auto pick = [&](int low, int high) { return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)); };
  Tensor view{middle + pick(-20, 20), DType::Float32, {}, {}};
  for (int d = 0; d < 4; ++d) {
    view.shape.push_back(pick(0, 20) == 0 ? 0 : pick(1, 4));
    view.strides.push_back(d == 3 ? 1 : pick(-14, 14) * (d == 0 ? 3 : 1));
  }
  return view;
}

TEST(Overlap, AgreesWithBruteForce) {
  std::vector<float> memory(4096);
  std::mt19937 random(7);
  int shared = 0, own = 0;
  for (int round = 0; round < 20000; ++round) {
    const Tensor a = random_view(random, memory.data() + 2048), b = random_view(random, memory.data() + 2048);
    const bool expected = brute_share(a, b), self = brute_self(a);
    ASSERT_EQ(share_memory(a, b), expected) << "round " << round;
    ASSERT_EQ(share_memory(b, a), expected) << "round " << round;
    ASSERT_EQ(overlaps_itself(a), self) << "round " << round;
    shared += expected, own += self;
  }
  EXPECT_GT(shared, 2000);
  EXPECT_LT(shared, 18000);
  EXPECT_GT(own, 2000);
  EXPECT_LT(own, 18000);
}

/// Slice `slot` of a packed buffer [B, S, slots, H, D], seen as [B, H, S, D].
Tensor packed(float* data, int64_t slot, int64_t slots, int64_t batch, int64_t rows, int64_t heads, int64_t dim) {
  return {data + slot * heads * dim, DType::Float32, {batch, heads, rows, dim}, {rows * slots * heads * dim, dim, slots * heads * dim, 1}};
}

TEST(Overlap, SlicesOfAPackedBufferAreApart) {
  std::vector<float> memory(4);  // Views are never read: sizes may be real ones.
  const auto slice = [&](int64_t slot) { return packed(memory.data(), slot, 4, 8, 65536, 12, 64); };
  for (int64_t a = 0; a < 4; ++a) {
    EXPECT_FALSE(overlaps_itself(slice(a)));
    for (int64_t b = 0; b < 4; ++b) EXPECT_EQ(share_memory(slice(a), slice(b)), a == b);
  }
  Tensor moved = slice(3);
  moved.data = static_cast<float*>(moved.data) - 1;
  EXPECT_TRUE(share_memory(slice(2), moved));
}

TEST(Overlap, OneElementTooCloseIsSeen) {
  std::vector<float> memory(64);
  const Tensor a = Tensor::dense(memory.data(), {1, 1, 2, 8});
  EXPECT_FALSE(share_memory(a, Tensor::dense(memory.data() + 16, {1, 1, 2, 8})));
  EXPECT_TRUE(share_memory(a, Tensor::dense(memory.data() + 15, {1, 1, 2, 8})));
  EXPECT_TRUE(share_memory(a, Tensor::dense(reinterpret_cast<float*>(reinterpret_cast<char*>(memory.data()) + 63), {1, 1, 1, 1})));
}

TEST(Overlap, EmptyViewsShareNothing) {
  std::vector<float> memory(64);
  const Tensor full = Tensor::dense(memory.data(), {1, 1, 2, 8}), empty = Tensor::dense(memory.data(), {1, 0, 2, 8});
  EXPECT_FALSE(share_memory(full, empty));
  EXPECT_FALSE(share_memory(empty, full));
  EXPECT_FALSE(overlaps_itself(empty));
}

TEST(Overlap, OutputRowsOfStrideZeroOrLessThanARowOverlap) {
  std::vector<float> memory(64);
  EXPECT_TRUE(overlaps_itself({memory.data(), DType::Float32, {1, 2, 3, 8}, {0, 0, 8, 1}}));
  EXPECT_TRUE(overlaps_itself({memory.data(), DType::Float32, {1, 1, 3, 8}, {0, 0, 7, 1}}));
  EXPECT_FALSE(overlaps_itself({memory.data(), DType::Float32, {1, 1, 3, 8}, {0, 0, -8, 1}}));
  EXPECT_FALSE(overlaps_itself({memory.data(), DType::Float32, {1, 1, 1, 8}, {0, 0, 0, 1}}));
}

TEST(Overlap, HugeStridesDoNotOverflow) {
  const Tensor a{reinterpret_cast<void*>(uintptr_t{1} << 46), DType::Float32, {2, 2, 2, 8}, {INT64_MAX / 16, INT64_MAX / 32, 64, 1}};
  Tensor b = a;
  for (int64_t& stride : b.strides) stride = -stride;
  b.strides[3] = 1;
  EXPECT_TRUE(share_memory(a, b));
  b.data = reinterpret_cast<void*>((uintptr_t{1} << 46) - 64);
  EXPECT_FALSE(share_memory(a, b));
  EXPECT_FALSE(overlaps_itself(a));
}

TEST(Overlap, UndecidedViewsCountAsOverlapping) {
  // Even strides of similar size and an odd distance never meet, but the search would have to try very many combinations.
  const Tensor a{reinterpret_cast<void*>(uintptr_t{1} << 40), DType::Float32, {3000, 3000, 3000, 1}, {3000018, 3000000, 2999958, 1}};
  Tensor b = a;
  b.data = reinterpret_cast<void*>((uintptr_t{1} << 40) + 4);
  EXPECT_TRUE(share_memory(a, b));
  const Tensor few{b.data, DType::Float32, {3, 3, 3, 1}, b.strides};
  EXPECT_FALSE(share_memory(few, {a.data, DType::Float32, {3, 3, 3, 1}, a.strides}));
}

}  // namespace
}  // namespace heddle::engine
