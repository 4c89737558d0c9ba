// Times of a model over runs and its outputs against float64, on graphs without attention.
#include "src/engine/model_measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "test/engine/graph_fixture.h"

namespace heddle::engine {
namespace {

const char* const kSpec = R"({
  "inputs": [{"name": "x", "shape": [4, 8]}, {"name": "i", "shape": [3], "dtype": "int64", "values": [1, 0, 3]}],
  "weights": [{"name": "w", "shape": [8, 8], "init": {"normal": 1}}],
  "nodes": [{"name": "product", "op": "MatMul", "inputs": ["x", "w"]}, {"name": "chosen", "op": "Gather", "inputs": ["product", "i"]}],
  "outputs": ["chosen", "i"]})";

TEST(MeasureModel, TimesEveryNodeInEveryRun) {
  Model model(test::quiet_engine(), Spec::parse(kSpec));
  const ModelMeasure measure = measure_model(model, {}, 3);
  EXPECT_EQ(measure.total.runs.size(), 3u);
  ASSERT_EQ(measure.nodes.size(), 2u);
  EXPECT_EQ(measure.nodes[0].name, "product");
  EXPECT_EQ(measure.nodes[1].op, "Gather");
  for (size_t run = 0; run < 3; ++run) {
    EXPECT_LE(measure.nodes[0].times.runs[run] + measure.nodes[1].times.runs[run], measure.total.runs[run]);
  }
  EXPECT_EQ(measure.last.outputs.at("chosen").view.shape, (std::vector<int64_t>{3, 8}));
}

TEST(CheckOutputs, PassesWhatTheModelComputed) {
  Model model(test::quiet_engine(), Spec::parse(kSpec));
  const ModelMeasure measure = measure_model(model, {}, 1);
  const std::vector<OutputCheck> checks = check_outputs(model, {}, measure.last.outputs);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].name, "chosen");
  EXPECT_TRUE(checks[0].accurate());
  EXPECT_LT(checks[0].error, 1e-5);
  EXPECT_NEAR(checks[0].bar, kOutputBar * root_mean_square(measure.last.outputs.at("chosen")), 1e-9);
  EXPECT_TRUE(checks[1].accurate());
  EXPECT_EQ(checks[1].bar, 0);
}

TEST(CheckOutputs, FailsOneWrongElement) {
  for (const char* name : {"chosen", "i"}) {
    Model model(test::quiet_engine(), Spec::parse(kSpec));
    std::map<std::string, Array> found = model.run().outputs;
    Array wrong = Array::make(found.at(name).view.shape, found.at(name).view.dtype);
    std::memcpy(wrong.view.data, found.at(name).view.data, wrong.view.elements() * size_of(wrong.view.dtype));
    if (wrong.view.dtype == DType::Float32) {
      static_cast<float*>(wrong.view.data)[5] += 0.01f;
    } else {
      static_cast<int64_t*>(wrong.view.data)[2] += 1;
    }
    found[name] = wrong;
    for (const OutputCheck& check : check_outputs(model, {}, found)) EXPECT_EQ(check.accurate(), check.name != name);
  }
}

TEST(RootMeanSquare, LeavesOutWhatIsNotFinite) {
  EXPECT_EQ(root_mean_square(test::array_of<float>({0}, {})), 0);
  EXPECT_EQ(root_mean_square(test::array_of<float>({3}, {1, -7, INFINITY})), 5);
  EXPECT_EQ(root_mean_square(test::array_of<int64_t>({2}, {3, 3})), 3);
}

}  // namespace
}  // namespace heddle::engine
