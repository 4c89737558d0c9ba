#include "runtime/merge.h"
#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace heddle::runtime {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Random parts in dense arrays with wider strides, and merged rows that start out as garbage.
struct Merge {
  int64_t parts, rows, dims;
  int64_t o_stride = dims + 3, lse_stride = 2;
  std::vector<std::vector<float>> o, lse;
  std::vector<float> merged_o, merged_lse;

  Merge(int64_t part_count, int64_t row_count, int64_t dim_count, float spread) : parts(part_count), rows(row_count), dims(dim_count) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < parts; ++i) {
      o.emplace_back(static_cast<size_t>(rows * o_stride));
      lse.emplace_back(static_cast<size_t>(rows * lse_stride));
      for (float& x : o.back()) x = normal(random);
      for (float& x : lse.back()) x = spread * normal(random);
    }
    merged_o.assign(static_cast<size_t>(rows * o_stride), 12345.0f);
    merged_lse.assign(static_cast<size_t>(rows * lse_stride), 12345.0f);
  }
  float& lse_at(int64_t part, int64_t row) { return lse[static_cast<size_t>(part)][static_cast<size_t>(row * lse_stride)]; }
  float& o_at(int64_t part, int64_t row, int64_t d) { return o[static_cast<size_t>(part)][static_cast<size_t>(row * o_stride + d)]; }
  float merged(int64_t row, int64_t d) const { return merged_o[static_cast<size_t>(row * o_stride + d)]; }
  float merged_lse_at(int64_t row) const { return merged_lse[static_cast<size_t>(row * lse_stride)]; }

  std::vector<PartialRows> views() const {
    std::vector<PartialRows> all;
    for (size_t i = 0; i < o.size(); ++i) all.push_back({o[i].data(), lse[i].data(), o_stride, lse_stride});
    return all;
  }
  void run() { merge_partials(views(), rows, dims, {merged_o.data(), merged_lse.data(), o_stride, lse_stride}); }
};

double exact_lse(Merge& merge, int64_t row) {
  double sum = 0;
  for (int64_t i = 0; i < merge.parts; ++i) sum += std::exp(double{merge.lse_at(i, row)});
  return std::log(sum);
}

double exact_o(Merge& merge, int64_t row, int64_t d) {
  double sum = 0;
  for (int64_t i = 0; i < merge.parts; ++i) {
    if (merge.lse_at(i, row) != -kInf) sum += std::exp(double{merge.lse_at(i, row)} - exact_lse(merge, row)) * merge.o_at(i, row, d);
  }
  return sum;
}

void expect_exact(Merge& merge) {
  for (int64_t row = 0; row < merge.rows; ++row) {
    EXPECT_NEAR(merge.merged_lse_at(row), exact_lse(merge, row), 1e-5);
    for (int64_t d = 0; d < merge.dims; ++d) EXPECT_NEAR(merge.merged(row, d), exact_o(merge, row, d), 2e-6) << row << ' ' << d;
  }
}

TEST(MergePartials, MatchesDoublePrecision) {
  for (const int64_t parts : {1, 2, 3, 64}) {
    for (const int64_t dims : {1, 7, 64, 256, 300}) {
      for (const float spread : {0.1f, 5.0f, 30.0f}) {
        Merge merge(parts, 5, dims, spread);
        if (parts > 2) merge.lse_at(1, 3) = -kInf;
        merge.run();
        expect_exact(merge);
      }
    }
  }
}

TEST(MergePartials, WritesNothingBetweenTheRows) {
  Merge merge(3, 4, 5, 1.0f);
  merge.run();
  for (int64_t row = 0; row < 4; ++row) {
    for (int64_t d = 5; d < merge.o_stride; ++d) EXPECT_EQ(merge.merged(row, d), 12345.0f);
    EXPECT_EQ(merge.merged_lse[static_cast<size_t>(row * 2 + 1)], 12345.0f);
  }
}

TEST(MergePartials, RowsWithoutKeysAreZero) {
  Merge merge(3, 2, 4, 1.0f);
  for (int64_t i = 0; i < 3; ++i) {
    merge.lse_at(i, 1) = -kInf;
    merge.o_at(i, 1, 2) = kNan;
  }
  merge.run();
  EXPECT_EQ(merge.merged_lse_at(1), -kInf);
  for (int64_t d = 0; d < 4; ++d) EXPECT_EQ(merge.merged(1, d), 0.0f);
  EXPECT_TRUE(std::isfinite(merge.merged_lse_at(0)));
}

TEST(MergePartials, NoPartsMakeEmptyRows) {
  Merge merge(0, 2, 3, 1.0f);
  merge.run();
  for (int64_t row = 0; row < 2; ++row) {
    EXPECT_EQ(merge.merged_lse_at(row), -kInf);
    for (int64_t d = 0; d < 3; ++d) EXPECT_EQ(merge.merged(row, d), 0.0f);
  }
}

TEST(MergePartials, HugeScoresNeitherOverflowNorVanish) {
  Merge merge(2, 2, 3, 1.0f);
  merge.lse_at(0, 0) = 3e38f, merge.lse_at(1, 0) = -3e38f;
  merge.lse_at(0, 1) = -3e38f, merge.lse_at(1, 1) = -3e38f;
  merge.run();
  EXPECT_EQ(merge.merged_lse_at(0), 3e38f);
  EXPECT_EQ(merge.merged_lse_at(1), -3e38f);
  for (int64_t d = 0; d < 3; ++d) {
    EXPECT_EQ(merge.merged(0, d), merge.o_at(0, 0, d));
    EXPECT_NEAR(merge.merged(1, d), 0.5 * (merge.o_at(0, 1, d) + merge.o_at(1, 1, d)), 1e-6);
  }
}

TEST(MergePartials, NanPassesThrough) {
  Merge merge(3, 3, 2, 1.0f);
  merge.lse_at(1, 0) = kNan;
  merge.o_at(2, 1, 0) = kNan;
  merge.run();
  EXPECT_TRUE(std::isnan(merge.merged_lse_at(0)) && std::isnan(merge.merged(0, 0)) && std::isnan(merge.merged(0, 1)));
  EXPECT_TRUE(std::isnan(merge.merged(1, 0)) && std::isfinite(merge.merged(1, 1)) && std::isfinite(merge.merged_lse_at(1)));
  EXPECT_TRUE(std::isfinite(merge.merged(2, 0)) && std::isfinite(merge.merged(2, 1)));
}

TEST(MergePartials, MergesInPlace) {
  Merge merge(3, 4, 300, 2.0f);
  Merge same = merge;
  merge.run();
  merge_partials(same.views(), 4, 300, {same.o[0].data(), same.lse[0].data(), same.o_stride, same.lse_stride});
  for (int64_t row = 0; row < 4; ++row) {
    EXPECT_EQ(same.lse_at(0, row), merge.merged_lse_at(row));
    for (int64_t d = 0; d < 300; ++d) EXPECT_EQ(same.o_at(0, row, d), merge.merged(row, d));
  }
}

TEST(MergePartials, LseIsOptional) {
  Merge merge(2, 3, 8, 1.0f);
  merge.run();
  std::vector<float> o(24);
  merge_partials(merge.views(), 3, 8, {o.data(), nullptr, 8});
  for (int64_t row = 0; row < 3; ++row) EXPECT_EQ(o[static_cast<size_t>(row * 8)], merge.merged(row, 0));
}

}  // namespace
}  // namespace heddle::runtime
