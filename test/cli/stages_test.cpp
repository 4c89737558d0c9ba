#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

const std::vector<std::string> kStages = {"formula", "facts", "plan", "tile", "schedule", "source", "asm"};
const std::vector<std::string> kMasks = {
    "k <= q",
    "k <= q && q - k < 256",
    "abs(q - k) <= 256 || k < 16 || q < 16",
    "k <= q && (q - k) % 32 == 0",
    "k <= q && (q / 128 == k / 128 || k % 128 >= 120)",
    "q / 64 == k / 64",
    "(q / 64 + k / 64) % 3 == 0",
    "true",
    "false",
};

class Stages : public testing::TestWithParam<std::string> {};

TEST_P(Stages, ShowTextForEveryMask) {
  for (const std::string& mask : kMasks) {
    const Outcome outcome = heddle_command({"emit", "--mask", mask, "--stage", GetParam()});
    EXPECT_EQ(outcome.status, 0) << mask << "\n" << outcome.err;
    EXPECT_GT(outcome.out.size(), 3u) << mask;
    EXPECT_EQ(outcome.err, "") << mask;
  }
}

TEST_P(Stages, ShowEveryExample) {
  std::vector<std::vector<std::string>> examples;
  for (const auto& file : std::filesystem::recursive_directory_iterator(HEDDLE_SOURCE_DIR "/examples")) {
    if (file.path().extension() == ".txt" && file.path().filename() != "CMakeLists.txt") {
      examples.push_back({"--mask-file", file.path()});
    }
    if (file.path().extension() == ".json") examples.push_back({file.path()});
  }
  ASSERT_GT(examples.size(), 10u);
  for (const std::vector<std::string>& example : examples) {
    std::vector<std::string> arguments = {"emit", "--stage", GetParam()};
    arguments.insert(arguments.end(), example.begin(), example.end());
    const Outcome outcome = heddle_command(arguments);
    EXPECT_EQ(outcome.status, 0) << example.back() << "\n" << outcome.err;
    EXPECT_GT(outcome.out.size(), 3u) << example.back();
  }
}

TEST_P(Stages, JsonHoldsTheSameText) {
  const Outcome text = heddle_command({"emit", "--mask", "k <= q", "--stage", GetParam()});
  const json object = json::parse(heddle_command({"emit", "--mask", "k <= q", "--stage", GetParam(), "--json"}).out);
  EXPECT_EQ(object["stage"], GetParam());
  ASSERT_EQ(object["attentions"].size(), 1u);
  if (GetParam() != "facts") {  // Facts carry times.
    EXPECT_EQ(object["attentions"][0]["text"], text.out);
  }
}

INSTANTIATE_TEST_SUITE_P(Emit, Stages, testing::ValuesIn(kStages), [](const auto& stage) { return stage.param; });

std::string emit(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "emit");
  const Outcome outcome = heddle_command(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

TEST(EmitCommand, TargetsDiffer) {
  const std::string wide = emit({"--mask", "k <= q", "--stage", "asm", "--target", "cpu:avx512"});
  const std::string narrow = emit({"--mask", "k <= q", "--stage", "asm", "--target", "cpu:avx2"});
  EXPECT_NE(wide.find("%zmm"), std::string::npos);
  EXPECT_EQ(narrow.find("%zmm"), std::string::npos);
  EXPECT_NE(narrow.find("%ymm"), std::string::npos);
}

TEST(EmitCommand, ConstantsAreInlinedAndDynamicParametersAreNot) {
  EXPECT_NE(emit({"--mask", "q - k < w", "--param", "w=77", "--stage", "formula"}).find("q - k < 77"), std::string::npos);
  EXPECT_NE(emit({"--mask", "q - k < w", "--param", "w=dynamic", "--stage", "formula"}).find("q - k < w"), std::string::npos);
}

TEST(EmitCommand, OptionsReachThePlan) {
  const std::vector<std::string> plan = {"--mask", "k <= q && q - k < 256", "--stage", "plan"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), plan.begin(), plan.end());
    return emit(more);
  };
  const std::string normal = with({});
  EXPECT_NE(with({"--no-nests"}), normal);
  EXPECT_NE(with({"--head-dim", "128"}), normal);
  EXPECT_NE(with({"--lse"}), normal);
  EXPECT_NE(with({"--score", "softcap(s, 30)"}), normal);
}

TEST(ExplainCommand, IsSentencesAboutThePlan) {
  const Outcome outcome = heddle_command({"explain", "--mask", "k <= q && q - k < 256"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GE(std::count(outcome.out.begin(), outcome.out.end(), '.'), 2) << outcome.out;
}

const char* const kSpec = R"({
  "heddle": 1, "name": "two", "dims": {"S": 64, "E": 64},
  "masks": {"local": {"formula": "abs(q - k) < w", "params": {"w": 8}}, "causal": {"formula": "k <= q"}},
  "inputs": [{"name": "x", "shape": [1, "S", "E"], "dtype": "float32"}],
  "nodes": [
    {"name": "first", "op": "Attention", "inputs": ["x", "x", "x"], "outputs": ["y"],
     "attrs": {"mask": "local", "q_num_heads": 2, "kv_num_heads": 2}},
    {"name": "second", "op": "Attention", "inputs": ["y", "y", "y"], "outputs": ["z"],
     "attrs": {"mask": "causal", "q_num_heads": 4, "kv_num_heads": 4}}],
  "outputs": ["z"]})";

TEST(EmitCommand, ShowsEveryAttentionOfASpec) {
  const Folder folder;
  write_file(folder / "spec.json", kSpec);
  const std::string text = emit({folder / "spec.json", "--stage", "formula"});
  EXPECT_NE(text.find("== first\n"), std::string::npos) << text;
  EXPECT_NE(text.find("== second\n"), std::string::npos) << text;
  EXPECT_NE(text.find("abs(q - k) < 8"), std::string::npos) << text;
  const json object = json::parse(emit({folder / "spec.json", "--stage", "plan", "--json"}));
  ASSERT_EQ(object["attentions"].size(), 2u);
  EXPECT_EQ(object["attentions"][1]["name"], "second");
}

TEST(EmitCommand, SpecAndFormulaExcludeEachOther) {
  const Outcome outcome = heddle_command({"emit", "spec.json", "--mask", "k <= q", "--stage", "plan"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "heddle: emit: SPEC excludes --mask\nhint: see `heddle emit --help`\n");
}

}  // namespace
}  // namespace heddle::test
