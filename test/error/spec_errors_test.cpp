// Mistakes in model specs, by their exact message, through the API and the command.
#include <gtest/gtest.h>

#include "heddle/error.h"
#include "heddle/graph.h"
#include "test/process.h"

namespace heddle::test {
namespace {

struct Case {
  const char* name;
  std::string spec, message, hint;
};

class SpecErrors : public testing::TestWithParam<Case> {};

TEST_P(SpecErrors, ThroughTheApiAndTheCommand) {
  const Folder folder;
  const std::string path = folder / "spec.json";
  write_file(path, GetParam().spec);
  try {
    Spec::load(path);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), GetParam().message);
    EXPECT_EQ(error.hint(), GetParam().hint);
    const Outcome outcome = heddle_command({"run", path});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, std::string("heddle: ") + error.what() + "\n");
    EXPECT_NE(outcome.err.find("^\n"), std::string::npos) << "no caret";
  }
}

std::string spec(const std::string& input, const std::string& nodes, const std::string& more = "") {
  return R"({"heddle": 1, "inputs": [{"name": "x", )" + input + R"(}], "nodes": [)" + nodes + R"(], "outputs": ["y"])" + more +
         "}";
}

const char* const kAdd = R"({"op": "Add", "inputs": ["x", "x"], "outputs": ["y"]})";

INSTANTIATE_TEST_SUITE_P(
    Specs, SpecErrors,
    testing::Values(
        Case{"UnknownKey", spec(R"("shape": [4])", kAdd, R"(, "colour": 1)"), "/: unknown key 'colour'",
             "known: heddle, name, dims, masks, inputs, weights, nodes, outputs"},
        Case{"UnknownOp", spec(R"("shape": [4])", R"({"op": "Adder", "inputs": ["x", "x"], "outputs": ["y"]})"),
             "/nodes/0/op: unknown op 'Adder'",
             "known: Attention, MatMul, Gemm, LayerNormalization, Softmax, Gelu, Relu, Sigmoid, Tanh, Neg, Add, Sub, "
             "Mul, Div, Cast, Reshape, Transpose, Gather, Slice, Concat, Split"},
        Case{"Cycle", spec(R"("shape": [4])", R"({"op": "Add", "inputs": ["x", "z"], "outputs": ["y"]},
                              {"op": "Add", "inputs": ["y", "x"], "outputs": ["z"]})"),
             "/nodes/0: the nodes form a cycle: y -> z -> y", "a node may only read what earlier nodes make"},
        Case{"WrongDtype", spec(R"("shape": [4], "dtype": "floof")", kAdd), "/inputs/0/dtype: unknown dtype 'floof'",
             "use float32, bfloat16, float16, int32 or int64 (f32, bf16, f16, i32, i64)"},
        Case{"PathEscape", spec(R"("shape": [4], "dtype": "int64", "text": ["/etc/passwd"])", kAdd),
             "/inputs/0/text/0: '/etc/passwd' is outside the spec's folder",
             "move the file there, or allow its folder: --allow-path /etc"},
        Case{"SizesPast63Bits", spec(R"("shape": [4294967296, 4294967296])", kAdd),
             "/inputs/0/shape: the bytes of 'x' [4294967296, 4294967296] pass 2^63 - 1", "make it smaller"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(SpecFiles, MissingFile) {
  const Outcome outcome = heddle_command({"run", "/no/such/spec.json"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "heddle: /no/such/spec.json: no such file\nhint: check the path\n");
}

}  // namespace
}  // namespace heddle::test
