// Index maps against brute force: every operation, pointwise, on many small random maps.
#include "src/analysis/index_map.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "heddle/error.h"

namespace heddle::analysis {
namespace {

using Shape = std::vector<int64_t>;

Shape coordinates(int64_t number, const Shape& shape) {
  Shape x(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    x[i] = number % shape[i];
    number /= shape[i];
  }
  return x;
}

int64_t at(const IndexMap& map, int64_t number) { return map(coordinates(number, map.shape())); }

std::vector<int64_t> offsets(const IndexMap& map) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < map.elements(); ++i) all.push_back(at(map, i));
  return all;
}

class Random {
 public:
  explicit Random(int seed) : engine_(seed) {}
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }

  Shape factors(int64_t product) {
    Shape shape;
    while (product > 1 && shape.size() < 4) {
      int64_t factor = pick(1, product);
      while (product % factor != 0) --factor;
      shape.push_back(factor);
      product /= factor;
    }
    if (product > 1 || shape.empty()) shape.push_back(product);
    return shape;
  }

  std::vector<int> order(size_t rank) {
    std::vector<int> all(rank);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), engine_);
    return all;
  }

  /// A map reached by a random walk of representable steps from an identity.
  IndexMap map(int64_t elements) {
    IndexMap map = IndexMap::identity(factors(elements));
    for (int step = 0; step < 4; ++step) {
      map = map.transpose(order(map.shape().size()));
      map = map.reshape(factors(elements)).value_or(map);
    }
    return map;
  }

 private:
  std::mt19937 engine_;
};

constexpr int64_t kSizes[] = {1, 2, 12, 24, 30, 36, 48, 60};

TEST(IndexMap, HeaderExampleByHand) {
  const IndexMap flat = *IndexMap::identity({12}).reshape({4, 3})->transpose({1, 0}).reshape({12});
  EXPECT_EQ(flat.digits(0), (Digits{{3, 1}, {4, 3}}));
  EXPECT_EQ(at(flat, 5), 4);
  EXPECT_EQ(flat.print(), "{12}: base 0, [3:1 4:3]");
}

TEST(IndexMap, ResidueClassesAreADigitMap) {
  const IndexMap classes = IndexMap::identity({12}).reshape({4, 3})->transpose({1, 0});
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t j = 0; j < 4; ++j) EXPECT_EQ(classes(Shape{c, j}), j * 3 + c);
}

TEST(IndexMap, TransposeAndReshapeMoveNothing) {
  Random random(1);
  int represented = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const IndexMap map = random.map(kSizes[trial % 8]);
    const std::vector<int> order = random.order(map.shape().size());
    const IndexMap turned = map.transpose(order);
    for (int64_t i = 0; i < map.elements(); ++i) {
      const Shape y = coordinates(i, turned.shape());
      Shape x(y.size());
      for (size_t d = 0; d < y.size(); ++d) x[order[d]] = y[d];
      ASSERT_EQ(turned(y), map(x)) << map.print();
    }
    if (const auto reshaped = map.reshape(random.factors(map.elements()))) {
      ++represented;
      ASSERT_EQ(offsets(*reshaped), offsets(map)) << map.print() << " to " << reshaped->print();
    }
  }
  EXPECT_GT(represented, 200);
}

TEST(IndexMap, ReshapeThatCutsADigitIsNotRepresentable) {
  const IndexMap turned = IndexMap::identity({2, 3}).transpose({1, 0});
  EXPECT_FALSE(turned.reshape({2, 3}).has_value());
  EXPECT_TRUE(turned.reshape({6}).has_value());
}

TEST(IndexMap, SlicesWithAnyStep) {
  Random random(2);
  int represented = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const IndexMap map = random.map(kSizes[trial % 8]);
    const size_t d = random.pick(0, map.shape().size() - 1);
    const int64_t extent = map.shape()[d], start = random.pick(0, extent - 1), step = random.pick(1, 3) * (trial % 2 ? 1 : -1);
    const int64_t room = (step > 0 ? extent - 1 - start : start) / std::abs(step) + 1, count = random.pick(0, room);
    const auto cut = map.slice(d, start, count, step);
    if (!cut) continue;
    ++represented;
    ASSERT_EQ(cut->shape()[d], count);
    for (int64_t i = 0; i < cut->elements(); ++i) {
      Shape x = coordinates(i, cut->shape());
      const int64_t got = (*cut)(x);
      x[d] = start + x[d] * step;
      ASSERT_EQ(got, map(x)) << map.print() << " slice " << start << " " << count << " " << step;
    }
  }
  EXPECT_GT(represented, 300);
}

TEST(IndexMap, ASliceOfOneDigitIsAlwaysRepresentable) {
  EXPECT_EQ(offsets(*IndexMap::identity({10}).slice(0, 7, 3, -3)), (std::vector<int64_t>{7, 4, 1}));
  EXPECT_EQ(offsets(*IndexMap::strided({10}, {-2}, 18).slice(0, 1, 4, 2)), (std::vector<int64_t>{16, 12, 8, 4}));
}

TEST(IndexMap, ComposeIsApplicationInOrder) {
  Random random(3);
  int represented = 0;
  for (int trial = 0; trial < 800; ++trial) {
    const IndexMap outer = random.map(kSizes[trial % 8]), whole = random.map(kSizes[trial % 8]);
    const int64_t count = random.pick(1, whole.shape()[0]), start = random.pick(0, whole.shape()[0] - count);
    const IndexMap inner = whole.slice(0, start, count).value_or(whole);
    const auto both = compose(outer, inner);
    if (!both) continue;
    ++represented;
    for (int64_t i = 0; i < inner.elements(); ++i) {
      ASSERT_EQ(at(*both, i), at(outer, at(inner, i))) << outer.print() << " after " << inner.print();
    }
  }
  EXPECT_GT(represented, 250);
}

TEST(IndexMap, ComposeRefusesCarries) {
  const IndexMap outer = *IndexMap::identity({2, 3}).transpose({1, 0}).reshape({6});
  EXPECT_FALSE(compose(outer, IndexMap::strided({3}, {1}, 1)).has_value());
  EXPECT_THROW(compose(outer, IndexMap::strided({7}, {1})), UserError);
  EXPECT_THROW(compose(outer, IndexMap::strided({3}, {-1}, 1)), UserError);
}

TEST(IndexMap, InverseUndoesTheMap) {
  Random random(4);
  for (int trial = 0; trial < 400; ++trial) {
    const IndexMap map = random.map(kSizes[trial % 8]);
    ASSERT_TRUE(map.one_to_one()) << map.print();
    const auto back = map.inverse();
    ASSERT_TRUE(back.has_value()) << map.print();
    for (int64_t i = 0; i < map.elements(); ++i) ASSERT_EQ(at(*back, at(map, i)), i) << map.print();
  }
}

TEST(IndexMap, OneToOneIsNeverClaimedWrongly) {
  Random random(5);
  int proved = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const IndexMap map = IndexMap::strided({random.pick(1, 4), random.pick(1, 4)}, {random.pick(-6, 6), random.pick(-6, 6)}, 40);
    const std::vector<int64_t> all = offsets(map);
    const bool distinct = std::set<int64_t>(all.begin(), all.end()).size() == all.size();
    ASSERT_TRUE(distinct || !map.one_to_one()) << map.print();
    proved += map.one_to_one();
    ASSERT_TRUE(distinct || !map.inverse()) << map.print();
  }
  EXPECT_GT(proved, 500);
  EXPECT_FALSE(IndexMap::strided({4, 4}, {0, 1}).one_to_one());
  EXPECT_FALSE(IndexMap::strided({2, 4}, {8, 1}).inverse().has_value());
}

TEST(IndexMap, ContiguousRunsCoverTheMapInOrder) {
  Random random(6);
  for (int trial = 0; trial < 300; ++trial) {
    const IndexMap map = random.map(kSizes[trial % 8]);
    const ContiguousRuns runs = map.contiguous_runs();
    std::vector<int64_t> all;
    for (int64_t start : offsets(runs.starts))
      for (int64_t i = 0; i < runs.length; ++i) all.push_back(start + i);
    ASSERT_EQ(all, offsets(map)) << map.print();
  }
  EXPECT_EQ(IndexMap::identity({4, 8}).contiguous_runs().length, 32);
  EXPECT_EQ(IndexMap::strided({4, 8}, {16, 1}).contiguous_runs().length, 8);
}

TEST(IndexMap, EmptyTensorsAndScalars) {
  EXPECT_EQ(IndexMap::identity({3, 0, 2}).elements(), 0);
  EXPECT_EQ(IndexMap::identity({3, 0, 2}).reshape({0})->elements(), 0);
  EXPECT_EQ(IndexMap::identity({}).elements(), 1);
  EXPECT_EQ(IndexMap::identity({})(Shape{}), 0);
}

TEST(IndexMap, BadInputIsNamed) {
  const auto message = [](auto&& action) -> std::string {
    try {
      action();
    } catch (const UserError& error) {
      return error.message();
    }
    return "no error";
  };
  EXPECT_EQ(message([] { IndexMap::identity({4}).reshape({5}); }), "index map: {4} has 4 elements, {5} has 5");
  EXPECT_EQ(message([] { IndexMap::identity({4, 2}).transpose({0, 0}); }), "index map: {0, 0} is no permutation of 2 dimensions");
  EXPECT_EQ(message([] { IndexMap::identity({4}).slice(0, 2, 3); }),
            "index map: slice 2 + i * 1 for 3 elements leaves dimension 0 of extent 4");
  EXPECT_EQ(message([] { IndexMap::identity({-1}); }), "index map: shape {-1} has a negative extent");
  EXPECT_EQ(message([] { IndexMap::identity({int64_t{1} << 40, int64_t{1} << 40}); }),
            "index map: 1099511627776 * 1099511627776 passes 2^63");
}

}  // namespace
}  // namespace heddle::analysis
