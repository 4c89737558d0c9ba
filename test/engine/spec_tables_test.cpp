// Inputs and weights of a spec as tables of its masks and scores.
#include <gtest/gtest.h>

#include "heddle/error.h"
#include "src/engine/sources.h"
#include "test/engine/graph_fixture.h"

namespace heddle::test {
namespace {

constexpr const char* kPacked = R"json({"heddle": 1, "dims": {"S": 96, "H": 2, "E": 32},
 "masks": {"own": {"formula": "doc[q] == doc[k] && k <= q"}},
 "inputs": [{"name": "x", "shape": [1, "S", "E"]}, {"name": "bytes", "shape": ["S"], "dtype": "int32", "fill": {"mod": 256}},
            {"name": "doc", "shape": ["S"], "dtype": "int32", "documents": "bytes"}],
 "weights": [{"name": "bias", "shape": ["H", "S"], "init": {"normal": 1.0}}],
 "nodes": [{"op": "Attention", "inputs": ["x", "x", "x"], "outputs": ["y"],
            "attrs": {"mask": "own", "score": "s + bias[h, k]", "q_num_heads": "H", "kv_num_heads": "H"}}],
 "outputs": ["y"]})json";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string message(const std::string& json) {
  try {
    Spec::parse(json);
  } catch (const UserError& error) {
    return error.message();
  }
  return "no error";
}

double largest_difference(const Array& a, const Array& b) {
  double worst = 0;
  for (int64_t i = 0; i < a.view.elements(); ++i) worst = std::max(worst, std::abs(element(a, i) - element(b, i)));
  return worst;
}

TEST(SpecTables, PackedDocumentsAgreeWithTheReference) {
  Engine engine = quiet_engine();
  Model model(engine, Spec::parse(kPacked));
  std::vector<int32_t> ids(96, 4);
  std::fill_n(ids.begin(), 40, -1);
  const std::map<std::string, Array> inputs = {{"doc", array_of<int32_t>({96}, ids)}};
  const RunResult found = model.run(inputs), expected = model.run_reference(inputs), together = model.run({});
  EXPECT_LE(largest_difference(found.outputs.at("y"), expected.outputs.at("y")), 1e-5);
  EXPECT_GT(largest_difference(found.outputs.at("y"), together.outputs.at("y")), 1e-2);
  EXPECT_EQ(engine.compilations(), 1);
}

TEST(SpecTables, DocumentsNumberTheFiles) {
  const Array ids = engine::document_ids({{"a", 9, 3}, {"b", 2, 2}, {"c", 5, 0}, {"d", 5, 1}}, {DType::Int64, {2, 4}});
  EXPECT_EQ(elements(ids), (std::vector<double>{0, 0, 0, 1, 1, 3, 0, 0}));
}

TEST(SpecTables, MistakesAreNamed) {
  EXPECT_EQ(message(replaced(kPacked, "doc[q] ==", "dog[q] ==")), "unknown table 'dog'");
  EXPECT_EQ(message(replaced(kPacked, "bias[h, k]", "bias[k]")), "/nodes/0/attrs: the table 'bias' has shape [2, 96], but is read with 1 index");
  EXPECT_EQ(message(replaced(kPacked, "\"documents\": \"bytes\"", "\"documents\": \"byte\"")), "/inputs/2/documents: no earlier input is named 'byte'");
  EXPECT_EQ(message(replaced(kPacked, "\"documents\": \"bytes\"", "\"documents\": \"x\"")),
            "/inputs/2/documents: int32 [96] cannot number the files of float32 [1, 96, 32]");
}

}  // namespace
}  // namespace heddle::test
