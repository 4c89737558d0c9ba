// Model specs from JSON: the documented example loads, sizes are formulas of dims, and each mistake is named with its place.
#include "dsl/spec.h"

#include <gtest/gtest.h>

#include "heddle/error.h"

namespace heddle {
namespace {

constexpr const char* kBlock = R"json({"heddle": 1, "name": "longformer-attention",
 "dims": {"B": 1, "S": 4096, "E": 768, "H": 12},
 "masks": {"local": {"formula": "abs(q - k) <= w || k < g || q < g", "params": {"w": 256, "g": 16}}},
 "inputs": [{"name": "x", "shape": ["B", "S", "E"], "dtype": "float32"}],
 "weights": [{"name": "wq", "shape": ["E", "E"], "init": {"normal": 0.02}}, {"name": "wk", "shape": ["E", "E"], "init": {"normal": 0.02}},
             {"name": "wv", "shape": ["E", "E"], "init": {"normal": 0.02}}],
 "nodes": [{"op": "MatMul", "inputs": ["x", "wq"], "outputs": ["q"]}, {"op": "MatMul", "inputs": ["x", "wk"], "outputs": ["k"]},
           {"op": "MatMul", "inputs": ["x", "wv"], "outputs": ["v"]},
           {"op": "Attention", "inputs": ["q", "k", "v"], "outputs": ["y"],
            "attrs": {"mask": "local", "score": "softcap(s, 30)", "q_num_heads": "H", "kv_num_heads": "H"}}],
 "outputs": ["y"]})json";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string message(const std::string& json, const SpecOptions& options = {}) {
  try {
    Spec::parse(json, options);
  } catch (const UserError& error) {
    return error.message();
  }
  return "no error";
}

TEST(Spec, TheDocumentedExampleLoads) {
  const Spec spec = Spec::parse(kBlock);
  EXPECT_EQ(spec.graph().dims.at("S"), 4096);
}

TEST(Spec, DimsOfTheCommandLineReplaceThoseOfTheSpec) {
  SpecOptions options;
  options.dims = {{"S", 512}};
  EXPECT_EQ(Spec::parse(kBlock, options).graph().dims.at("S"), 512);
  options.dims = {{"T", 512}};
  EXPECT_EQ(message(kBlock, options), "the spec has no dim 'T'");
}

TEST(Spec, SizesAreFormulasOfDims) {
  EXPECT_EQ(message(replaced(kBlock, "[\"B\", \"S\", \"E\"]", "[\"B\", \"S\", \"E * 2 / 2\"]")), "no error");
  EXPECT_NE(message(replaced(kBlock, "[\"B\", \"S\", \"E\"]", "[\"B\", \"S\", \"E / 2\"]")), "no error");
}

struct Mistake {
  const char* from;
  const char* to;
  const char* expected;  ///< Part of the message.
};

class SpecMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(SpecMistakes, AreNamedWithTheirPlace) {
  const std::string found = message(replaced(kBlock, GetParam().from, GetParam().to));
  EXPECT_NE(found.find(GetParam().expected), std::string::npos) << found;
}

INSTANTIATE_TEST_SUITE_P(
    Every, SpecMistakes,
    testing::Values(Mistake{"\"name\": \"longformer", "\"nmae\": \"longformer", "/: unknown key 'nmae'"},
                    Mistake{"\"op\": \"Attention\"", "\"op\": \"Atention\"", "/nodes/3/op"},
                    Mistake{"\"mask\": \"local\"", "\"mask\": \"locl\"", "/nodes/3/attrs/mask"},
                    Mistake{"[\"x\", \"wq\"]", "[\"xx\", \"wq\"]", "/nodes/0/inputs/0: nothing is named 'xx'"},
                    Mistake{"[\"x\", \"wq\"]", "[\"y\", \"wq\"]", "/nodes"},
                    Mistake{"\"H\": 12", "\"H\": 7", "/nodes/3"},
                    Mistake{"\"name\": \"wk\", \"shape\": [\"E\", \"E\"]", "\"name\": \"wk\", \"shape\": [\"S\", \"E\"]", "/nodes/1"},
                    Mistake{"\"dtype\": \"float32\"", "\"dtype\": \"floof\"", "/inputs/0/dtype"},
                    Mistake{"\"S\": 4096", "\"S\": 9223372036854775807", "2^63"},
                    Mistake{"\"S\": 4096", "\"S\": -4", "/dims/S: the size is -4, expected 0 or more"},
                    Mistake{"\"outputs\": [\"y\"]", "\"outputs\": [\"z\"]", "/outputs/0"},
                    Mistake{"abs(q - k) <= w", "abs(q - k) <= ww", "unknown name 'ww'"}));

}  // namespace
}  // namespace heddle
