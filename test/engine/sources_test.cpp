// The generators of inputs and weights: bits that every machine makes, and the distribution they are meant to have.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "graph_fixture.h"

namespace heddle {
namespace {

using test::elements;

Array made(const std::string& inputs, const std::string& weights, const std::string& output, int threads = 2,
           const SpecOptions& options = {}) {
  const std::string text =
      "{\"inputs\": [" + inputs + "], \"weights\": [" + weights + "], \"nodes\": [], \"outputs\": [\"" + output + "\"]}";
  Model model(test::quiet_engine(threads), Spec::parse(text, options));
  return model.run().outputs.at(output);
}

TEST(Sources, TheStreamOfTheCaseFilesBitForBit) {
  const std::string first =
      R"({"name": "a", "shape": [3]}, {"name": "b", "shape": [6], "dtype": "int64", "fill": {"mod": 100}},)";
  const std::string third = R"({"name": "c", "shape": [4], "dtype": "float32", "fill": {"scale": 2.0, "offset": 1}})";
  EXPECT_EQ(elements(made(first + third, "", "c")),
            (std::vector<double>{0x1.7ad74e0000000p-1, 0x1.96df080000000p+0, 0x1.cac1820000000p+0, 0x1.9f44e00000000p-1}));
  EXPECT_EQ(elements(made(first + third, "", "b")), (std::vector<double>{27, 23, 79, 7, 4, 22}));
}

TEST(Sources, CounterBasedWordsBitForBit) {
  EXPECT_EQ(elements(made("", R"({"name": "w", "shape": [3], "init": {"uniform": 0.5}, "seed": 7})", "w")),
            (std::vector<double>{-0x1.c341f00000000p-4, -0x1.8598a00000000p-5, -0x1.7685000000000p-2}));
  EXPECT_EQ(elements(made("", R"({"name": "w", "shape": [3], "init": {"normal": 0.02}, "seed": 7})", "w")),
            (std::vector<double>{-0x1.5609680000000p-7, 0x1.953b0a0000000p-10, -0x1.ae9aec0000000p-8}));
}

TEST(Sources, NormalHasTheMomentsOfANormal) {
  const std::vector<double> values = elements(made("", R"({"name": "w", "shape": [400, 500], "init": {"normal": 3}})", "w"));
  double sum = 0, squares = 0, within = 0;
  for (double value : values) sum += value, squares += value * value, within += std::abs(value) < 3;
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0, 0.03);
  EXPECT_NEAR(std::sqrt(squares / n), 3, 0.03);
  EXPECT_NEAR(within / n, 0.6827, 0.01);
}

TEST(Sources, WeightsDifferByNameAndSeedAndAgreeAcrossThreads) {
  const auto weight = [](const std::string& name, const std::string& more, int threads) {
    return elements(
        made("", "{\"name\": \"" + name + "\", \"shape\": [40000], \"init\": {\"normal\": 1}" + more + "}", name, threads));
  };
  EXPECT_EQ(weight("w", "", 1), weight("w", "", 3));
  EXPECT_NE(weight("w", "", 1), weight("v", "", 1));
  EXPECT_NE(weight("w", "", 1), weight("w", ", \"seed\": 1", 1));
  EXPECT_EQ(weight("w", ", \"seed\": 1", 1), weight("v", ", \"seed\": 1", 1));
}

TEST(Sources, ListsConstantsAndCounts) {
  EXPECT_EQ(elements(made(R"({"name": "a", "shape": [2, 1], "values": [1.5, -2]})", "", "a")), (std::vector<double>{1.5, -2}));
  EXPECT_EQ(elements(made(R"({"name": "a", "shape": [3], "dtype": "i32", "fill": {"iota": -1}})", "", "a")),
            (std::vector<double>{-1, 0, 1}));
  const Array big = made("", R"({"name": "w", "shape": [1], "dtype": "i64", "init": {"constant": 9007199254740993}})", "w");
  EXPECT_EQ(*static_cast<const int64_t*>(big.view.data), 9007199254740993);
  EXPECT_EQ(elements(made("", R"({"name": "w", "shape": [2], "init": "ones"})", "w")), (std::vector<double>{1, 1}));
  EXPECT_EQ(elements(made("", R"({"name": "w", "shape": [2], "dtype": "i32", "init": "ones"})", "w")),
            (std::vector<double>{1, 1}));
  EXPECT_EQ(elements(made("", R"({"name": "w", "shape": [2], "init": "zeros"})", "w")), (std::vector<double>{0, 0}));
}

TEST(Sources, TextIsTheBytesOfFilesInOrder) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "heddle_sources_text";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "one.txt") << "ab\xff";
  std::ofstream(folder / "two.txt") << "cdef";
  std::ofstream(folder / "spec.json")
      << R"({"inputs": [{"name": "t", "shape": [5], "dtype": "int64", "text": ["one.txt", "two.txt"]}],
    "nodes": [], "outputs": ["t"]})";
  const Spec spec = Spec::load(folder / "spec.json");
  Model model(test::quiet_engine(), spec);
  EXPECT_EQ(elements(model.run().outputs.at("t")), (std::vector<double>{'a', 'b', 255, 'c', 'd'}));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace heddle
