// Lowered three-kernel programs, executed by the interpreter, against the float64 judge: outputs, and each probability in its slot.
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "heddle/error.h"
#include "src/codegen/reference/interpreter.h"
#include "src/codegen/reference/judge.h"
#include "src/ir/evaluate.h"
#include "src/lower/pipeline.h"
#include "test/lower/attention_data.h"

namespace heddle {
namespace {

using test::AttentionData;
using test::Shape;

constexpr double kTolerance = 1e-10;

ir::Environment row_names(const Shape& shape, int64_t b, int64_t h, int64_t q) {
  return {{{"b", b}, {"h", h}, {"q", q}, {"B", shape.batch}, {"H", shape.heads}, {"Hkv", shape.kv_heads}, {"Sq", shape.sq}, {"Sk", shape.sk}}, {}, {}};
}

/// The keys of a row in the order of their slots, by the components of the plan.
std::vector<int64_t> slots_of_row(const plan::KernelPlan& plan, const ir::Environment& names) {
  std::vector<int64_t> keys;
  for (const plan::RowComponent& c : plan.components) {
    const int64_t count = ir::evaluate_int(c.count, names), first = ir::evaluate_int(c.offset, names);
    for (int64_t i = 0; i < count; ++i) keys.push_back(first + i * c.stride);
  }
  return keys;
}

/// The definition, from the tensors.
double score(const AttentionData& data, int64_t b, int64_t h, int64_t q, int64_t k) {
  const AttentionArgs& args = data.args();
  const int64_t kv = h / (args.heads / args.kv_heads);
  const float* query = static_cast<const float*>(args.q) + b * args.q_stride[0] + h * args.q_stride[1] + q * args.q_stride[2];
  const float* key = static_cast<const float*>(args.k) + b * args.k_stride[0] + kv * args.k_stride[1] + k * args.k_stride[2];
  double sum = 0;
  for (int64_t d = 0; d < data.shape().head_dim; ++d) sum += static_cast<double>(query[d]) * static_cast<double>(key[d]);
  return sum * args.scale;
}

void check_row(const ir::AttentionProblem& problem, const AttentionData& data, const std::vector<int64_t>& keys, int64_t b, int64_t h,
               int64_t q, double lse, const double* values, int64_t width) {
  const Shape& shape = data.shape();
  ir::Environment names = row_names(shape, b, h, q);
  std::map<int64_t, int64_t> slot_of;
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_TRUE(slot_of.emplace(keys[i], static_cast<int64_t>(i)).second) << "key twice: " << keys[i];
  for (int64_t k = 0; k < shape.sk; ++k) {
    names.ints["k"] = k;
    const bool allowed = !problem.mask || ir::evaluate_bool(problem.mask, names);
    ASSERT_EQ(allowed, slot_of.contains(k)) << "q " << q << " k " << k;
    if (allowed) {
      EXPECT_NEAR(values[slot_of[k]], std::exp(score(data, b, h, q, k) - lse), kTolerance) << "q " << q << " k " << k;
    }
  }
  for (auto i = static_cast<int64_t>(keys.size()); i < width; ++i) EXPECT_EQ(values[i], 0) << "q " << q << " slot " << i;
}

void check(const std::string& mask, const Shape& shape, std::optional<int64_t> rows = {}) {
  AttentionData data(shape, 11);
  ir::AttentionProblem problem = test::problem(mask, "", shape);
  problem.probabilities = true;
  problem.options.tile_rows = rows;
  const lower::PipelineState state = lower::run_pipeline(problem).state;
  ASSERT_EQ(state.plan.family, plan::Family::ThreeKernels);
  AttentionArgs args = data.args();
  args.values_width = shape.sk + 3;
  const reference::AttentionResult expected = reference::judge(problem, args), actual = reference::interpret(state.tile, args);
  const std::string what = fmt::format("mask '{}' Sq {} Sk {}\n{}", mask, shape.sq, shape.sk, print(state.tile));
  EXPECT_EQ(test::difference(expected.o, actual.o, kTolerance), "") << what;
  EXPECT_EQ(test::difference(expected.lse, actual.lse, kTolerance), "") << what;
  int64_t row = 0;
  for (int64_t b = 0; b < shape.batch; ++b) {
    for (int64_t h = 0; h < shape.heads; ++h) {
      for (int64_t q = 0; q < shape.sq; ++q, ++row) {
        const std::vector<int64_t> keys = slots_of_row(state.plan, row_names(shape, b, h, q));
        check_row(problem, data, keys, b, h, q, expected.lse[static_cast<size_t>(row)], actual.values.data() + row * args.values_width,
                  args.values_width);
      }
    }
  }
  if (testing::Test::HasFailure()) FAIL() << what;
}

const std::vector<std::string> kMasks = {"", "false", "k <= q", "k <= q + (Sk - Sq)", "k <= q && q - k < 7", "abs(q - k) <= 5 || k < 3 || q < 2",
                                         "(q - k) % 4 == 0 && k <= q", "q / 8 == k / 8", "k < 10", "k > q + 1000", "k == q",
                                         "h % 2 == 0 || k <= q", "b == 0 && abs(k - q) < 4", "abs(q - k) < 20 || k % 16 == 0"};
const std::vector<Shape> kShapes = {{1, 1, 1, 1, 1, 8, 8}, {1, 1, 1, 33, 1, 8, 8}, {2, 4, 2, 35, 51, 7, 9}, {1, 1, 1, 130, 150, 4, 8}};

TEST(ThreeKernels, EveryMaskOnEveryShape) {
  for (const Shape& shape : kShapes) {
    for (const std::string& mask : kMasks) check(mask, shape);
  }
}

TEST(ThreeKernels, EveryBlockHeight) {
  for (int64_t rows : {16, 32, 64, 128}) check("k <= q && q - k < 33", {1, 1, 1, 150, 140, 8, 8}, rows);
}

TEST(ThreeKernels, AreChosenForTheProbabilitiesAndWeighedOtherwise) {
  const Shape shape = {1, 1, 1, 64, 64, 8, 8};
  ir::AttentionProblem problem = test::problem("k <= q && q - k < 33", "", shape);
  const auto verdict = [&](const std::string& begin) {
    for (const plan::Alternative& a : lower::run_pipeline(problem).state.plan.alternatives) {
      if (a.name.starts_with(begin)) return a.verdict;
    }
    return std::string("none");
  };
  EXPECT_NE(verdict("three kernels").find("x: every score goes to memory"), std::string::npos) << verdict("three kernels");
  problem.probabilities = true;
  EXPECT_EQ(verdict("three kernels"), "chosen: the probabilities are wanted");
  EXPECT_EQ(verdict("fused"), "keeps no probabilities");
}

TEST(ThreeKernels, MasksWithoutAffineRowsAreRefusedWithTheReason) {
  const Shape shape = {1, 1, 1, 8, 8, 8, 8};
  for (const char* mask : {"q * k % 7 == 3", "abs(q / 4 - k / 4) <= 1 && abs(q % 4 - k % 4) <= 1"}) {
    ir::AttentionProblem problem = test::problem(mask, "", shape);
    problem.probabilities = true;
    try {
      lower::run_pipeline(problem);
      FAIL() << mask << " was accepted";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("compressed rows"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace heddle
