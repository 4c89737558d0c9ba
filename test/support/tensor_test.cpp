#include "heddle/tensor.h"
#include <gtest/gtest.h>
#include <functional>
#include "heddle/error.h"

namespace heddle {
namespace {

using Shape = std::vector<int64_t>;

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.message();
  }
  return "no error";
}

constexpr int64_t kHuge = int64_t{1} << 40;

TEST(DType, NamesParseBackInBothSpellings) {
  const std::vector<std::pair<std::string, std::string>> names = {{"float32", "f32"}, {"float64", "f64"},  {"int32", "i32"},
                                                                  {"int64", "i64"},   {"bool", "bool"},    {"uint8", "u8"},
                                                                  {"float16", "f16"}, {"bfloat16", "bf16"}};
  for (const auto& [name, alias] : names) {
    EXPECT_EQ(to_string(parse_dtype(name)), name);
    EXPECT_EQ(parse_dtype(alias), parse_dtype(name));
  }
  EXPECT_EQ(size_of(DType::Float32), 4);
  EXPECT_EQ(size_of(DType::BFloat16), 2);
  EXPECT_EQ(size_of(DType::Int64), 8);
  EXPECT_EQ(size_of(DType::Bool), 1);
}

TEST(DType, UnknownNameListsTheAcceptedOnes) {
  EXPECT_EQ(message([] { parse_dtype("float"); }),
            "unknown dtype 'float'; expected one of float32, float64, int32, int64, bool, uint8, float16, bfloat16");
}

TEST(Tensor, DenseStridesAreRowMajor) {
  EXPECT_EQ(dense_strides({2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(dense_strides({}), Shape{});
  float data[24];
  const Tensor tensor = Tensor::dense(data, {2, 3, 4});
  EXPECT_EQ(tensor.strides, (Shape{12, 4, 1}));
  EXPECT_EQ(tensor.elements(), 24);
  EXPECT_TRUE(tensor.contiguous());
}

TEST(Tensor, ElementsCountEmptyAndScalar) {
  EXPECT_EQ((Tensor{nullptr, DType::Float32, {}, {}}.elements()), 1);
  EXPECT_EQ(Tensor::dense(nullptr, {kHuge, 0, kHuge}).elements(), 0);
}

TEST(Tensor, SizesPast63BitsAreRefused) {
  const std::string expected = "shape [1099511627776, 1099511627776] has more than 2^63 - 1 elements";
  EXPECT_EQ(message([] { Tensor::dense(nullptr, {kHuge, kHuge}); }), expected);
  EXPECT_EQ(message([] { Tensor{nullptr, DType::Float32, {kHuge, kHuge}, {1, 1}}.elements(); }), expected);
  EXPECT_EQ(message([] { dense_strides({2, -1}); }), "shape [2, -1] has a negative dimension");
}

TEST(Tensor, ContiguousIgnoresStridesOfSingleElements) {
  EXPECT_TRUE((Tensor{nullptr, DType::Float32, {1, 3}, {77, 1}}.contiguous()));
  EXPECT_FALSE((Tensor{nullptr, DType::Float32, {2, 3}, {4, 1}}.contiguous()));
  EXPECT_FALSE((Tensor{nullptr, DType::Float32, {2, 3}, {3, -1}}.contiguous()));
  EXPECT_TRUE((Tensor{nullptr, DType::Float32, {0, 3}, {9, 9}}.contiguous()));
}

TEST(Tensor, TransposedReordersShapeAndStrides) {
  const Tensor tensor = Tensor::dense(nullptr, {2, 3, 4}).transposed({2, 0, 1});
  EXPECT_EQ(tensor.shape, (Shape{4, 2, 3}));
  EXPECT_EQ(tensor.strides, (Shape{1, 12, 4}));
  EXPECT_FALSE(tensor.contiguous());
}

TEST(Tensor, TransposedRefusesWhatIsNoPermutation) {
  const Tensor tensor = Tensor::dense(nullptr, {2, 3});
  for (const std::vector<int>& order : std::vector<std::vector<int>>{{0}, {0, 0}, {0, 2}, {-1, 0}, {0, 1, 1}}) {
    EXPECT_TRUE(message([&] { tensor.transposed(order); }).ends_with("is no permutation of the 2 dimensions"));
  }
}

}  // namespace
}  // namespace heddle
