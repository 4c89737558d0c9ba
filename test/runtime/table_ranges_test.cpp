#include "runtime/table_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "test/runtime/bind_masks.h"

namespace heddle::runtime {
namespace {

template <typename T>
std::vector<T> random_row(int64_t size, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> row(static_cast<size_t>(size));
  for (T& value : row) value = static_cast<T>(random());
  return row;
}

template <typename T>
void expect_every_range(DType dtype) {
  for (const int64_t size : {1, 15, 16, 17, 31, 48, 100, 257}) {
    const std::vector<T> low = random_row<T>(size, 1), other = random_row<T>(size, 2);
    std::vector<T> high(low.size());
    std::transform(low.begin(), low.end(), other.begin(), high.begin(), [](T a, T b) { return std::max(a, b); });
    RangePyramid pyramid;
    pyramid.build(low.data(), high.data(), dtype, size);
    for (int64_t first = 0; first < size; ++first) {
      Interval expected{low[static_cast<size_t>(first)], high[static_cast<size_t>(first)]};
      for (int64_t last = first; last < size; ++last) {
        expected = hull(expected, {low[static_cast<size_t>(last)], high[static_cast<size_t>(last)]});
        ASSERT_EQ(pyramid.query(first, last), expected) << size << ": " << first << " to " << last;
      }
    }
  }
}

TEST(RangePyramidTest, EveryRangeOfEveryTypeIsExact) {
  expect_every_range<int32_t>(DType::Int32);
  expect_every_range<int64_t>(DType::Int64);
  expect_every_range<uint8_t>(DType::UInt8);
}

TEST(RangePyramidTest, ABuildReplacesTheOneBefore) {
  const std::vector<int32_t> longer = random_row<int32_t>(1000, 3);
  const std::vector<uint8_t> shorter = {3, 1, 2};
  RangePyramid pyramid;
  pyramid.build(longer.data(), longer.data(), DType::Int32, 1000);
  pyramid.build(shorter.data(), shorter.data(), DType::UInt8, 3);
  EXPECT_EQ(pyramid.query(0, 2), (Interval{1, 3}));
}

/// A table of three dimensions that takes many ranges.
class ReadRangesTest : public testing::Test {
 protected:
  ReadRangesTest() : values_(random_row<int32_t>(4 * 20 * 90, 5)), table_(Tensor::dense(values_.data(), {4, 20, 90}, DType::Int32)) {
    for (int32_t& value : values_) value %= 1000;
  }

  /// By looking at every element of the box of clamped indices.
  static Interval exact(const Tensor& table, const std::vector<Interval>& box) {
    Interval found{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (int64_t i = box[0].low; i <= box[0].high; ++i) {
      for (int64_t j = box[1].low; j <= box[1].high; ++j) {
        for (int64_t k = box[2].low; k <= box[2].high; ++k) {
          const int64_t value = element(table, {i, j, k});
          found = hull(found, {value, value});
        }
      }
    }
    return found;
  }

  Interval range_of(int64_t extent) {
    const auto at = [&] { return static_cast<int64_t>(random_() % static_cast<uint64_t>(extent + 6)) - 3; };
    const int64_t a = at(), b = at();
    return {std::min(a, b), std::max(a, b)};
  }

  void expect_exact(const Tensor& table, const std::vector<bool>& varies) {
    const TableRanges ranges(table);
    ReadRanges read(ranges, varies);
    std::vector<Interval> box = {range_of(4), range_of(20), range_of(90)};
    for (int i = 0; i < 300; ++i) {
      const size_t d = random_() % (i % 10 == 0 ? 3 : 1);
      for (size_t e = 0; e < 3; ++e) {
        if (varies[e] || e == d) box[e] = range_of(table.shape[e]);
      }
      ASSERT_EQ(read.range(box.data()), exact(table, box)) << i;
    }
  }

  std::mt19937_64 random_{8};
  std::vector<int32_t> values_;
  Tensor table_;
};

TEST_F(ReadRangesTest, OneIndexThatVariesIsExactWhicheverItIs) {
  for (const std::vector<bool>& varies : {std::vector<bool>{false, false, true}, {false, true, false}, {true, false, false}, {false, false, false}}) {
    expect_exact(table_, varies);
  }
}

TEST_F(ReadRangesTest, StridesOfAnySignAreExact) {
  Tensor backward = table_, broadcast = table_, line = table_;
  backward.data = values_.data() + values_.size() - 1;
  for (int64_t& stride : backward.strides) stride = -stride;
  broadcast.strides[1] = 0;
  line.strides = {0, 0, 3};
  for (const Tensor& table : {backward, broadcast, line, table_.transposed({2, 0, 1}), table_.transposed({1, 2, 0})}) {
    expect_exact(table, {false, false, true});
  }
}

TEST_F(ReadRangesTest, SeveralIndicesThatVaryContainTheRange) {
  const TableRanges ranges(table_);
  ReadRanges read(ranges, {true, false, true});
  for (int i = 0; i < 300; ++i) {
    const std::vector<Interval> box = {range_of(4), range_of(20), range_of(90)};
    const Interval found = read.range(box.data()), expected = exact(table_, box);
    EXPECT_LE(found.low, expected.low);
    EXPECT_GE(found.high, expected.high);
  }
}

TEST_F(ReadRangesTest, ManyLeadingRowsContainTheRange) {
  std::vector<int32_t> tall = random_row<int32_t>(5000 * 3, 6);
  const Tensor table = Tensor::dense(tall.data(), {5000, 1, 3}, DType::Int32);
  const TableRanges ranges(table);
  ReadRanges read(ranges, {false, false, true});
  const std::vector<Interval> box = {{0, 4999}, {0, 0}, {1, 1}};
  EXPECT_EQ(read.range(box.data()), ranges.whole());
  EXPECT_EQ(ranges.whole(), (Interval{*std::ranges::min_element(tall), *std::ranges::max_element(tall)}));
}

TEST(TableRangesTest, DimensionsThatDoNotMatterAreLeftOut) {
  std::vector<uint8_t> bytes = {7, 9};
  const TableRanges scalar(Tensor{bytes.data(), DType::UInt8, {1, 50}, {5, 0}}), line(Tensor{bytes.data() + 1, DType::UInt8, {30, 1, 2}, {0, 1, -1}});
  ASSERT_EQ(scalar.dimensions().size(), 1u);
  EXPECT_EQ(scalar.dimensions()[0].extent, 1);
  EXPECT_EQ(scalar.whole(), (Interval{7, 7}));
  ASSERT_EQ(line.dimensions().size(), 1u);
  EXPECT_EQ(line.dimensions()[0].source, 2);
  ASSERT_NE(line.line(), nullptr);
  EXPECT_EQ(line.line()->query(0, 0), (Interval{9, 9}));
  EXPECT_EQ(line.line()->query(0, 1), (Interval{7, 9}));
}

TEST(TableRangesTest, EmptyTablesReadAsZeroAndFlagsAsOne) {
  std::vector<uint8_t> bytes = {0, 200, 3};
  const TableRanges empty(Tensor{bytes.data(), DType::UInt8, {3, 0}, {1, 1}}), flags(Tensor{bytes.data(), DType::Bool, {3}, {1}});
  const Interval box[] = {{0, 2}, {0, 2}}, set[] = {{1, 2}};
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(ReadRanges(empty, {false, true}).range(box), (Interval{0, 0}));
  EXPECT_EQ(ReadRanges(flags, {true}).range(box), (Interval{0, 1}));
  EXPECT_EQ(ReadRanges(flags, {true}).range(set), (Interval{1, 1}));
}

}  // namespace
}  // namespace heddle::runtime
