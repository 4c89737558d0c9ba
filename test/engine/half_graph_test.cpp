// Graphs that hold bfloat16 and float16: sources, casts, movement, arithmetic and attention, against the float64 run.
#include <gtest/gtest.h>

#include <cmath>

#include "graph_fixture.h"
#include "heddle/error.h"
#include "src/engine/attention_measure.h"
#include "src/engine/model_measure.h"
#include "src/support/half.h"

namespace heddle {
namespace {

constexpr DType kHalves[] = {DType::BFloat16, DType::Float16};

Array half_array(DType dtype, const std::vector<int64_t>& shape, const std::vector<float>& values) {
  Array array = Array::make(shape, dtype);
  for (size_t i = 0; i < values.size(); ++i) support::set_element(dtype, array.view.data, static_cast<int64_t>(i), values[i]);
  return array;
}

std::vector<float> values_of(const Array& array) {
  std::vector<float> values;
  for (int64_t i = 0; i < array.view.elements(); ++i) values.push_back(support::element(array.view.dtype, array.view.data, i));
  return values;
}

TEST(HalfGraphs, CastRoundsToNearestEvenAndBack) {
  for (const DType dtype : kHalves) {
    const std::string to = "\"to\": \"" + to_string(dtype) + "\"";
    const std::vector<float> values = {0, -0.1f, 1 + 0x1p-9f, 3e38f, -65519, 65520, 0x1p-25f, INFINITY, NAN};
    const Array narrow = test::run_node("Cast", to, {test::array_of<float>({9}, values)});
    EXPECT_EQ(narrow.view.dtype, dtype);
    const std::vector<float> expected = values_of(half_array(dtype, {9}, values)), found = values_of(narrow);
    for (size_t i = 0; i < 9; ++i) EXPECT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && i == 8)) << values[i];
    const Array judged = test::judge_node("Cast", to, {test::array_of<float>({9}, values)});
    EXPECT_EQ(judged.view.dtype, DType::Float64);
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(static_cast<float>(static_cast<const double*>(judged.view.data)[i]), expected[i]);
    EXPECT_EQ(values_of(test::run_node("Cast", "\"to\": \"float32\"", {half_array(dtype, {2}, {1.5f, -0.3125f})})), (std::vector<float>{1.5f, -0.3125f}));
    const Array whole = test::run_node("Cast", "\"to\": \"int32\"", {half_array(dtype, {3}, {-2.75f, 7.5f, NAN})});
    EXPECT_EQ(test::elements(whole), (std::vector<double>{-2, 7, 0}));
  }
}

TEST(HalfGraphs, MoveAndAddElements) {
  for (const DType dtype : kHalves) {
    const Array a = half_array(dtype, {2, 3}, {1, 2, 3, 4, 5, 6}), b = half_array(dtype, {3}, {0.5f, 0.25f, -1});
    EXPECT_EQ(values_of(test::run_node("Transpose", "\"perm\": [1, 0]", {a})), (std::vector<float>{1, 4, 2, 5, 3, 6}));
    EXPECT_EQ(values_of(test::run_node("Add", "", {a, b})), (std::vector<float>{1.5f, 2.25f, 2, 4.5f, 5.25f, 5}));
    EXPECT_EQ(values_of(test::run_node("Concat", "\"axis\": 1", {a, a})), (std::vector<float>{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
    EXPECT_EQ(values_of(test::run_node("Neg", "", {b})), (std::vector<float>{-0.5f, -0.25f, 1}));
  }
}

std::string attention_spec(const char* dtype) {
  return std::string(R"({"inputs": [{"name": "x", "shape": [2, 96, 64], "dtype": "float32", "fill": {"scale": 4}}],
    "weights": [{"name": "v", "shape": [2, 96, 64], "dtype": ")") + dtype + R"(", "init": {"normal": 1}}],
    "nodes": [{"op": "Cast", "name": "q", "inputs": ["x"], "attrs": {"to": ")" + (std::string(dtype) == "bf16" ? "bfloat16" : "float16") + R"("}},
              {"op": "Attention", "name": "y", "inputs": ["q", "q", "v"],
               "attrs": {"mask": "k <= q && q - k < 20", "q_num_heads": 2, "kv_num_heads": 2}},
              {"op": "Cast", "name": "wide", "inputs": ["y"], "attrs": {"to": "float32"}}],
    "outputs": ["wide", "y"]})";
}

TEST(HalfGraphs, AttendAsTheJudgeSays) {
  for (const char* name : {"bf16", "f16"}) {
    SCOPED_TRACE(name);
    Engine engine = test::quiet_engine();
    Model model(engine, Spec::parse(attention_spec(name)));
    const engine::ModelMeasure measure = engine::measure_model(model, {}, 1);
    EXPECT_EQ(measure.last.outputs.at("y").view.dtype, parse_dtype(name));
    for (const engine::OutputCheck& check : engine::check_outputs(model, {}, measure.last.outputs)) {
      EXPECT_TRUE(check.accurate()) << check.name << " " << check.error << " " << check.bar;
      EXPECT_GT(check.error, 0) << "16 bits are not exact";
    }
    runtime::ThreadPool pool(2);
    const engine::AttentionMeasure attention = engine::measure_attention(engine, measure.last.attentions.at(0), 1, pool);
    EXPECT_TRUE(attention.accurate()) << attention.error << " " << attention.bar;
    EXPECT_GT(attention.error, 0);
  }
}

TEST(HalfGraphs, RefuseWhatTheyDoNotCompute) {
  const auto message = [](const std::string& op, const std::vector<Array>& inputs, const std::string& attrs = "") -> std::string {
    try {
      test::run_node(op, attrs, inputs);
    } catch (const UserError& error) {
      return error.message() + " | " + error.hint();
    }
    return "ran";
  };
  const Array a = half_array(DType::BFloat16, {2, 2}, {1, 2, 3, 4}), b = half_array(DType::Float16, {2, 2}, {1, 2, 3, 4});
  EXPECT_NE(message("Relu", {a}).find("expected float32, found bfloat16 | put a Cast node before it"), std::string::npos) << message("Relu", {a});
  EXPECT_NE(message("Add", {a, b}).find("the inputs are bfloat16 and float16"), std::string::npos) << message("Add", {a, b});
  const Array q = half_array(DType::BFloat16, {1, 1, 2, 2}, {1, 2, 3, 4}), k = half_array(DType::Float16, {1, 1, 2, 2}, {1, 2, 3, 4});
  EXPECT_NE(message("Attention", {q, k, q}).find("expected bfloat16, found float16"), std::string::npos) << message("Attention", {q, k, q});
}

}  // namespace
}  // namespace heddle
