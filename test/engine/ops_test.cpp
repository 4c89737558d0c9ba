// Every graph operation against its definition, written out over indices, in float32 and in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "graph_fixture.h"
#include "heddle/error.h"

namespace heddle {
namespace {

using test::array_of;
using test::elements;
using test::judge_node;
using test::numbers;
using test::run_node;

using Shape = std::vector<int64_t>;
using At = std::vector<int64_t>;

int64_t count(const Shape& shape) {
  int64_t product = 1;
  for (int64_t size : shape) product *= size;
  return product;
}

Array reals(const Shape& shape, uint32_t seed = 1) { return array_of<float>(shape, numbers(count(shape), seed)); }

/// Index tuple of element i.
At unravel(int64_t i, const Shape& shape) {
  At at(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) at[d] = i % shape[d];
  return at;
}

/// The element at a tuple; tuples longer than the shape lose their front, sizes of 1 repeat (NumPy's broadcast).
double read(const Array& array, const At& at) {
  const Shape& shape = array.view.shape;
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t index = at[at.size() - shape.size() + d];
    offset = offset * shape[d] + (shape[d] == 1 ? 0 : index);
  }
  return test::element(array, offset);
}

/// Compares a node, in both precisions, with a formula of the output's index tuple.
void expect_node(const std::string& op, const std::string& attrs, const std::vector<Array>& inputs, const Shape& shape,
                 const std::function<double(const At&)>& definition, double tolerance = 1e-5) {
  SCOPED_TRACE(op + " {" + attrs + "}");
  const Array single = run_node(op, attrs, inputs), twice = judge_node(op, attrs, inputs);
  ASSERT_EQ(single.view.shape, shape);
  ASSERT_EQ(twice.view.shape, shape);
  const std::vector<double> y = elements(single), y64 = elements(twice);
  for (size_t i = 0; i < y.size(); ++i) {
    const double expected = definition(unravel(static_cast<int64_t>(i), shape));
    ASSERT_NEAR(y[i], expected, tolerance * std::max(1.0, std::abs(expected))) << "element " << i;
    ASSERT_NEAR(y64[i], expected, 1e-12 * std::max(1.0, std::abs(expected))) << "element " << i << " in float64";
  }
}

TEST(Ops, ArithmeticBroadcastsAsNumPy) {
  const std::vector<std::array<Shape, 3>> cases = {{{{2, 3}, {2, 3}, {2, 3}}},
                                                   {{{4, 1, 3}, {5, 1}, {4, 5, 3}}},
                                                   {{{}, {2, 2}, {2, 2}}},
                                                   {{{3}, {}, {3}}},
                                                   {{{700, 33}, {33}, {700, 33}}},
                                                   {{{0, 3}, {1, 3}, {0, 3}}},
                                                   {{{2, 1, 1, 4}, {3, 5, 1}, {2, 3, 5, 4}}}};
  for (const auto& [left, right, joined] : cases) {
    const Array a = reals(left, 1);
    Array b = reals(right, 2);
    for (int64_t i = 0; i < b.view.elements(); ++i) static_cast<float*>(b.view.data)[i] += 3;  // No divisor near 0.
    expect_node("Add", "", {a, b}, joined, [&](const At& at) { return read(a, at) + read(b, at); });
    expect_node("Sub", "", {a, b}, joined, [&](const At& at) { return read(a, at) - read(b, at); });
    expect_node("Mul", "", {a, b}, joined, [&](const At& at) { return read(a, at) * read(b, at); });
    expect_node("Div", "", {a, b}, joined, [&](const At& at) { return read(a, at) / read(b, at); });
  }
}

TEST(Ops, IntegersDivideTowardsZeroAndWrap) {
  const Array a = array_of<int64_t>({5}, {7, -7, INT64_MIN, INT64_MAX, 6}), b = array_of<int64_t>({5}, {2, 2, -1, 1, -3});
  EXPECT_EQ(static_cast<const int64_t*>(run_node("Div", "", {a, b}).view.data)[2], INT64_MIN);
  EXPECT_EQ(elements(run_node("Div", "", {a, b})), (std::vector<double>{3, -3, -0x1p63, 0x1p63, -2}));
  EXPECT_EQ(static_cast<const int64_t*>(run_node("Add", "", {a, array_of<int64_t>({}, {1})}).view.data)[3], INT64_MIN);
  EXPECT_EQ(static_cast<const int64_t*>(run_node("Neg", "", {a}).view.data)[1], 7);
}

TEST(Ops, UnaryFunctions) {
  const Array x = reals({3, 1000});
  const auto check = [&](const std::string& op, const std::string& attrs, double (*f)(double)) {
    expect_node(op, attrs, {x}, {3, 1000}, [&](const At& at) { return f(read(x, at)); });
  };
  check("Relu", "", [](double v) { return v > 0 ? v : 0; });
  check("Sigmoid", "", [](double v) { return 1 / (1 + std::exp(-v)); });
  check("Tanh", "", [](double v) { return std::tanh(v); });
  check("Neg", "", [](double v) { return -v; });
  check("Gelu", "", [](double v) { return v * std::erfc(-v / std::sqrt(2.0)) / 2; });
  check("Gelu", "\"approximate\": \"tanh\"",
        [](double v) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); });
}

TEST(Ops, ReluKeepsNotANumber) {
  const Array x = array_of<float>({2}, {NAN, -0.0f});
  EXPECT_TRUE(std::isnan(elements(run_node("Relu", "", {x}))[0]));
}

TEST(Ops, MatMulMultipliesStacksVectorsAndBroadcasts) {
  const std::vector<std::array<Shape, 3>> cases = {{{{4, 3}, {3, 5}, {4, 5}}},
                                                   {{{3}, {3, 5}, {5}}},
                                                   {{{4, 3}, {3}, {4}}},
                                                   {{{3}, {3}, {}}},
                                                   {{{2, 4, 3}, {3, 5}, {2, 4, 5}}},
                                                   {{{2, 4, 3}, {2, 3, 5}, {2, 4, 5}}},
                                                   {{{2, 1, 4, 3}, {6, 3, 5}, {2, 6, 4, 5}}},
                                                   {{{4, 3}, {2, 3, 5}, {2, 4, 5}}},
                                                   {{{3}, {2, 3, 5}, {2, 5}}},
                                                   {{{2, 4, 3}, {3}, {2, 4}}},
                                                   {{{0, 3}, {3, 5}, {0, 5}}},
                                                   {{{4, 0}, {0, 5}, {4, 5}}}};
  for (const auto& [left, right, joined] : cases) {
    const Array a = reals(left, 1), b = reals(right, 2);
    const int64_t inner = left.back();
    const bool row = left.size() == 1, column = right.size() == 1;
    expect_node("MatMul", "", {a, b}, joined, [&](const At& at) {
      double sum = 0;
      for (int64_t x = 0; x < inner; ++x) {
        At left_at = at, right_at = at;
        if (!column) left_at.pop_back();
        if (!row && column) left_at = at;
        left_at.push_back(x);
        if (row) left_at = {x};
        if (column) {
          right_at = {x};
        } else {
          const int64_t j = at.back();
          right_at.pop_back();
          if (!row) right_at.pop_back();
          right_at.push_back(x);
          right_at.push_back(j);
        }
        sum += read(a, left_at) * read(b, right_at);
      }
      return sum;
    });
  }
}

TEST(Ops, GemmTransposesScalesAndAdds) {
  for (const bool turn_a : {false, true}) {
    for (const bool turn_b : {false, true}) {
      for (const Shape& bias : {Shape{4, 5}, Shape{5}, Shape{4, 1}, Shape{}}) {
        const Array a = reals(turn_a ? Shape{3, 4} : Shape{4, 3}, 1), b = reals(turn_b ? Shape{5, 3} : Shape{3, 5}, 2),
                    c = reals(bias, 3);
        const std::string attrs =
            "\"alpha\": 0.5, \"beta\": 2, \"transA\": " + std::to_string(turn_a) + ", \"transB\": " + std::to_string(turn_b);
        expect_node("Gemm", attrs, {a, b, c}, {4, 5}, [&](const At& at) {
          double sum = 0;
          for (int64_t x = 0; x < 3; ++x) {
            sum += read(a, turn_a ? At{x, at[0]} : At{at[0], x}) * read(b, turn_b ? At{at[1], x} : At{x, at[1]});
          }
          return 0.5 * sum + 2 * read(c, at);
        });
      }
    }
  }
  const Array a = reals({4, 3}, 1), b = reals({3, 5}, 2);
  EXPECT_EQ(elements(run_node("Gemm", "", {a, b})), elements(run_node("MatMul", "", {a, b})));
}

TEST(Ops, LayerNormalizationFollowsItsFormula) {
  const Array x = reals({3, 4, 5}, 1);
  for (const auto& [axis, normalized] : std::vector<std::pair<int, Shape>>{{-1, {5}}, {2, {5}}, {1, {4, 5}}, {-3, {3, 4, 5}}}) {
    const Array scale = reals(normalized, 2), bias = reals({5}, 3);
    const int64_t width = count(normalized);
    const std::vector<double> all = elements(x);
    expect_node("LayerNormalization", "\"axis\": " + std::to_string(axis) + ", \"epsilon\": 0.01", {x, scale, bias}, {3, 4, 5},
                [&](const At& at) {
                  const int64_t begin = (at[0] * 20 + at[1] * 5 + at[2]) / width * width;
                  double mean = 0, variance = 0;
                  for (int64_t i = 0; i < width; ++i) mean += all[begin + i] / static_cast<double>(width);
                  for (int64_t i = 0; i < width; ++i)
                    variance += std::pow(all[begin + i] - mean, 2) / static_cast<double>(width);
                  return (read(x, at) - mean) / std::sqrt(variance + 0.01) * read(scale, at) + read(bias, at);
                });
  }
}

TEST(Ops, SoftmaxAlongEveryAxis) {
  const Array x = reals({3, 4, 5}, 4);
  for (int64_t axis = -3; axis < 3; ++axis) {
    const size_t d = axis < 0 ? axis + 3 : axis;
    expect_node("Softmax", "\"axis\": " + std::to_string(axis), {x}, {3, 4, 5}, [&](const At& at) {
      double sum = 0;
      for (At other = at; int64_t i : {0, 1, 2, 3, 4}) {
        if (i >= x.view.shape[d]) break;
        other[d] = i;
        sum += std::exp(read(x, other));
      }
      return std::exp(read(x, at)) / sum;
    });
  }
  EXPECT_EQ(elements(run_node("Softmax", "", {array_of<float>({2}, {1e30f, 1e30f})})), (std::vector<double>{0.5, 0.5}));
}

TEST(Ops, ReshapeKeepsAndInfersSizes) {
  const Array x = reals({2, 3, 4});
  for (const auto& [wanted, found] : std::vector<std::pair<std::string, Shape>>{{"[6, 4]", {6, 4}},
                                                                                {"[0, -1]", {2, 12}},
                                                                                {"[-1]", {24}},
                                                                                {"[0, 0, 2, 2]", {2, 3, 2, 2}},
                                                                                {"[1, 24, 1]", {1, 24, 1}}}) {
    const Array y = run_node("Reshape", "\"shape\": " + wanted, {x});
    EXPECT_EQ(y.view.shape, found);
    EXPECT_EQ(elements(y), elements(x));
  }
}

TEST(Ops, TransposeMovesEveryDimension) {
  const Array x = reals({2, 3, 4, 5});
  for (const At& perm : std::vector<At>{{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}, {1, 3, 0, 2}}) {
    Shape shape;
    for (int64_t d : perm) shape.push_back(x.view.shape[d]);
    expect_node("Transpose", "\"perm\": " + test::json_list(perm), {x}, shape, [&](const At& at) {
      At from(4);
      for (size_t d = 0; d < 4; ++d) from[perm[d]] = at[d];
      return read(x, from);
    });
  }
  EXPECT_EQ(run_node("Transpose", "", {x}).view.shape, (Shape{5, 4, 3, 2}));
}

TEST(Ops, GatherTakesNegativeIndicesAlongAnyAxis) {
  const Array x = reals({4, 3, 5});
  const Array indices = array_of<int64_t>({2, 2}, {0, -1, 2, -3}), narrow = array_of<int32_t>({2, 2}, {0, -1, 2, -3});
  const std::vector<double> index = elements(indices);
  for (int64_t axis : {0, 1, -1}) {
    const size_t d = axis < 0 ? axis + 3 : axis;
    Shape shape = x.view.shape;
    shape.erase(shape.begin() + d);
    shape.insert(shape.begin() + d, {2, 2});
    for (const Array& which : {indices, narrow}) {
      expect_node("Gather", "\"axis\": " + std::to_string(axis), {x, which}, shape, [&](const At& at) {
        int64_t from = static_cast<int64_t>(index[at[d] * 2 + at[d + 1]]);
        if (from < 0) from += x.view.shape[d];
        At source(at.begin(), at.begin() + d);
        source.push_back(from);
        source.insert(source.end(), at.begin() + d + 2, at.end());
        return read(x, source);
      });
    }
  }
}

TEST(Ops, SliceStepsAndClampsAsNumPy) {
  const Array x = reals({10});
  const auto slice = [&](const std::string& attrs) { return elements(run_node("Slice", attrs, {x})); };
  const std::vector<double> all = elements(x);
  const auto expected = [&](std::vector<int> at) {
    std::vector<double> values;
    for (int i : at) values.push_back(all[i]);
    return values;
  };
  EXPECT_EQ(slice("\"starts\": [2], \"ends\": [5]"), expected({2, 3, 4}));
  EXPECT_EQ(slice("\"starts\": [-3], \"ends\": [1000]"), expected({7, 8, 9}));
  EXPECT_EQ(slice("\"starts\": [1], \"ends\": [8], \"steps\": [3]"), expected({1, 4, 7}));
  EXPECT_EQ(slice("\"starts\": [8], \"ends\": [2], \"steps\": [-3]"), expected({8, 5}));
  EXPECT_EQ(slice("\"starts\": [-1], \"ends\": [-11], \"steps\": [-4]"), expected({9, 5, 1}));
  EXPECT_EQ(slice("\"starts\": [5], \"ends\": [5]"), expected({}));
  EXPECT_EQ(slice("\"starts\": [7], \"ends\": [3]"), expected({}));
  EXPECT_EQ(slice("\"starts\": [1000], \"ends\": [-9223372036854775808], \"steps\": [-9223372036854775808]"), expected({9}));
  const Array wide = reals({4, 6});
  expect_node("Slice", "\"starts\": [1, 5], \"ends\": [3, 0], \"axes\": [0, -1], \"steps\": [1, -2]", {wide}, {2, 3},
              [&](const At& at) {
                return read(wide, {at[0] + 1, 5 - 2 * at[1]});
              });
}

TEST(Ops, ConcatUndoesSplit) {
  const Array x = reals({4, 7, 3});
  const std::string spec = R"({"inputs": [{"name": "x", "shape": [4, 7, 3], "dtype": "f32"}],
    "nodes": [{"name": "s", "op": "Split", "inputs": ["x"], "attrs": {"axis": 1, ATTRIBUTE}},
              {"name": "y", "op": "Concat", "inputs": ["s:0", "s:1", "s:2"], "attrs": {"axis": -2}}],
    "outputs": ["y", "s:1", "s:2"]})";
  for (const auto& [attribute, last] :
       std::vector<std::pair<std::string, int64_t>>{{"\"split\": [2, 4, 1]", 1}, {"\"num_outputs\": 3", 1}}) {
    std::string text = spec;
    text.replace(text.find("ATTRIBUTE"), 9, attribute);
    Model model(test::quiet_engine(), Spec::parse(text));
    const RunResult result = model.run({{"x", x}});
    EXPECT_EQ(elements(result.outputs.at("y")), elements(x));
    EXPECT_EQ(result.outputs.at("s:2").view.shape, (Shape{4, last, 3}));
    EXPECT_EQ(read(result.outputs.at("s:2"), {2, 0, 1}), read(x, {2, 6, 1}));
  }
}

TEST(Ops, CastTruncatesAndSaturates) {
  const Array x = array_of<float>({6}, {1.9f, -1.9f, 1e30f, -1e30f, NAN, 0});
  EXPECT_EQ(elements(run_node("Cast", "\"to\": \"i32\"", {x})), (std::vector<double>{1, -1, 2147483647, -2147483648.0, 0, 0}));
  const Array integers = array_of<int64_t>({2}, {3, -4});
  const Array y = run_node("Cast", "\"to\": \"float32\"", {integers});
  EXPECT_EQ(y.view.dtype, DType::Float32);
  EXPECT_EQ(elements(y), (std::vector<double>{3, -4}));
  EXPECT_EQ(judge_node("Cast", "\"to\": \"float32\"", {integers}).view.dtype, DType::Float64);
}

std::string message(const std::function<void()>& work) {
  try {
    work();
  } catch (const UserError& error) {
    return error.message() + " | " + error.hint();
  }
  return "no error";
}

TEST(Ops, AnIndexOutsideIsAnError) {
  const Array x = reals({4, 3});
  const std::string expected =
      "node 'y': index 4 at position 1 is outside the 4 elements it selects from | indices go from -4 to 3";
  EXPECT_EQ(message([&] { run_node("Gather", "", {x, array_of<int64_t>({2}, {0, 4})}); }), expected);
  EXPECT_EQ(message([&] {
              run_node("Gather", "", {x, array_of<int64_t>({1}, {-5})});
            }),
            "node 'y': index -5 at position 0 is outside the 4 elements it selects from | indices go from -4 to 3");
}

TEST(Ops, AnIntegerDividedByZeroIsAnError) {
  const Array a = array_of<int32_t>({2}, {1, 2}), b = array_of<int32_t>({2}, {1, 0});
  EXPECT_EQ(message([&] { run_node("Div", "", {a, b}); }), "node 'y': an integer is divided by zero | ");
}

TEST(Ops, NoResultDependsOnTheNumberOfThreads) {
  const Array x = reals({70, 300}, 1), w = reals({300, 130}, 2), scale = reals({300}, 3);
  for (const auto& [op, inputs] : std::vector<std::pair<std::string, std::vector<Array>>>{{"MatMul", {x, w}},
                                                                                          {"LayerNormalization", {x, scale}},
                                                                                          {"Softmax", {x}},
                                                                                          {"Gelu", {x}},
                                                                                          {"Add", {x, scale}},
                                                                                          {"Transpose", {x}}}) {
    EXPECT_EQ(elements(run_node(op, "", inputs, 1)), elements(run_node(op, "", inputs, 3))) << op;
  }
}

}  // namespace
}  // namespace heddle
