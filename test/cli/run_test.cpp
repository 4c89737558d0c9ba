// `heddle run`: what it prints, what its options do, and what wrong input gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

const char* const kSpec = R"({
  "heddle": 1, "name": "small", "dims": {"S": 96, "E": 32},
  "masks": {"local": {"formula": "abs(q - k) <= w || k < 2", "params": {"w": 8}}},
  "inputs": [{"name": "tokens", "shape": [1, "S"], "dtype": "int64", "fill": {"mod": 256}}],
  "weights": [{"name": "table", "shape": [256, "E"], "init": {"normal": 1}},
              {"name": "w", "shape": ["E", "E"], "init": {"normal": 0.2}}],
  "nodes": [
    {"name": "x", "op": "Gather", "inputs": ["table", "tokens"]},
    {"name": "projected", "op": "MatMul", "inputs": ["x", "w"]},
    {"name": "attended", "op": "Attention", "inputs": ["projected", "x", "x"],
     "attrs": {"mask": "local", "q_num_heads": 2, "kv_num_heads": 2}}],
  "outputs": ["attended"]})";

/// A folder with a spec, two text files, and a kernel cache that all runs share.
class RunCommand : public testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_ / "spec.json", kSpec);
    write_file(folder_ / "one.txt", std::string(60, 'a'));
    write_file(folder_ / "two.txt", std::string(100, 'b') + '\xff');
  }
  Outcome run(std::vector<std::string> arguments, const std::string& spec = "spec.json") {
    arguments.insert(arguments.begin(), {"run", folder_ / spec});
    return heddle_command(arguments, {.environment = {{"HEDDLE_CACHE_DIR", folder_ / "cache"}}});
  }
  json run_json(std::vector<std::string> arguments, const std::string& spec = "spec.json") {
    arguments.insert(arguments.end(), {"--json", "--repeat", "1"});
    const Outcome outcome = run(arguments, spec);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out);
  }
  /// The message of a run that ends with status 2, the folder's name left out.
  std::string message(const std::vector<std::string>& arguments, const std::string& spec = "spec.json") {
    const Outcome outcome = run(arguments, spec);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    std::string text = outcome.err;
    for (size_t at; (at = text.find(folder_.path().string())) != std::string::npos;)
      text.erase(at, folder_.path().string().size() + 1);
    return text;
  }
  /// Writes the spec with one text put in place of another, as other.json.
  void edit(const std::string& from, const std::string& to) {
    std::string text = kSpec;
    ASSERT_NE(text.find(from), std::string::npos);
    write_file(folder_ / "other.json", text.replace(text.find(from), from.size(), to));
  }
  std::string input() { return "tokens=@" + (folder_ / "one.txt") + "," + (folder_ / "two.txt"); }

  Folder folder_;
};

TEST_F(RunCommand, PrintsEveryPartOfTheReport) {
  const Outcome outcome = run({"--input", input(), "--check", "--profile"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"small (",
                           "input tokens: int64 [1, 96], files\n",
                           "one.txt: 60 of 60 bytes\n",
                           "two.txt: 36 of 101 bytes\n",
                           "bytes of input read: 96\n",
                           "attention of node 'attended': batch 1, 2 heads (2 of keys), head dim 16",
                           "mask: abs(q - k) <= 8 || k < 2\n",
                           "plan, and why:\n",
                           "kernel: compiled (JIT) in ",
                           ".kernel\n",
                           "  time: ",
                           "densely with OpenBLAS",
                           "our kernel without the mask: ",
                           "allowed pairs: 3",
                           "sparsity efficiency: ",
                           "over all 96 query rows of every head; the bar is ",
                           "compiler: 2 kernels compiled\n",
                           "whole model, 3 nodes, 5 runs: ",
                           "  projected            MatMul",
                           "output attended: float32 [1, 96, 32], root mean square ",
                           "check: passed\n"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  EXPECT_EQ(outcome.err, "");
}

TEST_F(RunCommand, SecondProcessFindsTheKernelsWithoutTheCompiler) {
  const json first = run_json({}), second = run_json({});
  EXPECT_EQ(first["attentions"][0]["kernel"]["origin"], "compiled");
  EXPECT_EQ(first["compiler"], (json{{"compilations", 2}, {"loaded", true}}));
  EXPECT_GT(first["attentions"][0]["kernel"]["passes"].size(), 3u);
  EXPECT_EQ(second["attentions"][0]["kernel"]["origin"], "disk");
  EXPECT_EQ(second["attentions"][0]["dense_kernel"]["origin"], "disk");
  EXPECT_EQ(second["compiler"], (json{{"compilations", 0}, {"loaded", false}}));
  EXPECT_EQ(first["attentions"][0]["plan"], second["attentions"][0]["plan"]);
  EXPECT_EQ(first["outputs"], second["outputs"]);
  const Outcome text = run({});
  EXPECT_NE(text.out.find("kernel: cache hit: found on disk in "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("compiler: not loaded, every kernel came from the cache\n"), std::string::npos) << text.out;
}

TEST_F(RunCommand, JsonHoldsWhatTheTextSays) {
  const json report = run_json({"--check", "--profile"});
  for (const char* key :
       {"spec", "name", "target", "threads", "inputs", "bytes_read", "attentions", "compiler", "model", "outputs", "check"})
    EXPECT_TRUE(report.contains(key)) << key;
  EXPECT_EQ(report["name"], "small");
  EXPECT_EQ(report["check"], "passed");
  EXPECT_EQ(report["inputs"][0]["origin"], "generated");
  EXPECT_EQ(report["bytes_read"], 0);
  EXPECT_EQ(report["model"]["nodes"].size(), 3u);
  EXPECT_EQ(report["model"]["nodes"][2]["op"], "Attention");
  const json attention = report["attentions"][0];
  EXPECT_EQ(attention["node"], "attended");
  EXPECT_EQ(attention["shape"], (json{{"batch", 1},
                                      {"heads", 2},
                                      {"kv_heads", 2},
                                      {"sq", 96},
                                      {"sk", 96},
                                      {"head_dim", 16},
                                      {"value_dim", 16},
                                      {"scale", 0.25}}));
  EXPECT_TRUE(std::filesystem::exists(attention["kernel"]["path"].get<std::string>()));
  for (const char* time : {"attention", "without_mask", "openblas"}) {
    EXPECT_GT(attention["milliseconds"][time]["min"], 0) << time;
    EXPECT_LE(attention["milliseconds"][time]["min"], attention["milliseconds"][time]["median"]) << time;
  }
  EXPECT_EQ(attention["error"]["rows_judged"], 96);
  EXPECT_LE(attention["error"]["largest"], attention["error"]["bar"]);
}

TEST_F(RunCommand, CountsPairsAndDerivesTheEfficiency) {
  const json attention = run_json({})["attentions"][0];
  int64_t pairs = 0;
  for (int q = 0; q < 96; ++q) {
    for (int k = 0; k < 96; ++k) pairs += std::abs(q - k) <= 8 || k < 2;
  }
  EXPECT_EQ(attention["pairs"], (json{{"allowed", 2.0 * pairs}, {"all", 2.0 * 96 * 96}, {"rows_counted", 96}}));
  const json times = attention["milliseconds"];
  const double dense = times["without_mask"]["min"], sparse = times["attention"]["min"];
  EXPECT_NEAR(attention["efficiency"].get<double>(), dense / sparse * static_cast<double>(pairs) / (96 * 96), 1e-9);
}

TEST_F(RunCommand, LongAttentionsAreSampledAndTheReportSaysSo) {
  const Outcome outcome = run({"--dim", "S=20000", "--repeat", "1"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const int64_t pairs = 2 * (int64_t{20000} * (17 + 2) - 2 * 36 - 2 * 9 - 1);
  for (const std::string& part :
       {std::string("row blocks ran, scaled up)\n"), std::string(" (6710 of 20000 query rows ran, scaled up)\n"),
        "allowed pairs: " + std::to_string(pairs) + " of 800000000, 0.09",
        std::string(" over 3355 evenly spaced query rows of every head")}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
}

TEST_F(RunCommand, CountingPairsOfLongMasksLoadsTheCompilerAndCompilesNothing) {
  const std::vector<std::string> long_run = {"--dim", "S=9000", "--repeat", "1"};
  ASSERT_EQ(run(long_run).status, 0);
  const Outcome again = run(long_run);
  EXPECT_NE(again.out.find("compiler: loaded to count pairs, every kernel came from the cache\n"), std::string::npos)
      << again.out;
}

TEST_F(RunCommand, PairsOfLongMasksByHeadAreCounted) {
  edit("abs(q - k) <= w || k < 2", "k < 5 * h + w");
  const json pairs = run_json({"--dim", "S=20000"}, "other.json")["attentions"][0]["pairs"];
  EXPECT_EQ(pairs, (json{{"allowed", 20000.0 * (8 + 13)}, {"all", 8e8}, {"rows_counted", 20000}}));
}

TEST_F(RunCommand, WithoutOpenBlasTheAttentionIsMeasuredAlone) {
  write_file(folder_ / "libopenblas.so.0", "no library");
  write_file(folder_ / "alone.json",
             R"({"inputs": [{"name": "x", "shape": [1, 64, 32]}], "nodes": [{"name": "y", "op": "Attention",
    "inputs": ["x", "x", "x"], "attrs": {"mask": "k <= q", "q_num_heads": 2, "kv_num_heads": 2}}], "outputs": ["y"]})");
  const ProcessOptions broken{.environment = {{"LD_LIBRARY_PATH", folder_.path().string()}}};
  const Outcome alone = heddle_command({"run", folder_ / "alone.json", "--check"}, broken);
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_NE(alone.out.find("densely with OpenBLAS: not measured: OpenBLAS cannot be opened"), std::string::npos) << alone.out;
  const Outcome product = heddle_command({"run", folder_ / "spec.json"}, broken);
  EXPECT_EQ(product.status, 2);
  EXPECT_EQ(product.err.find("heddle: OpenBLAS cannot be opened; install it: apt install libopenblas0\n"), 0u) << product.err;
}

TEST_F(RunCommand, RepeatIsTheNumberOfRuns) {
  const Outcome outcome = run({"--repeat", "4", "--json", "--profile"});
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["model"]["milliseconds"]["runs"].size(), 4u);
  EXPECT_EQ(report["model"]["nodes"][0]["milliseconds"]["runs"].size(), 4u);
  for (const json& times : report["attentions"][0]["milliseconds"]) EXPECT_EQ(times["runs"].size(), 4u);
}

TEST_F(RunCommand, WithoutProfileThereAreNoNodes) {
  EXPECT_FALSE(run_json({})["model"].contains("nodes"));
  EXPECT_EQ(run({}).out.find("Gather"), std::string::npos);
}

TEST_F(RunCommand, DimChangesTheLength) {
  const json report = run_json({"--dim", "S=50", "--check"});
  EXPECT_EQ(report["attentions"][0]["shape"]["sq"], 50);
  EXPECT_EQ(report["outputs"][0]["shape"], (json{1, 50, 32}));
}

TEST_F(RunCommand, InputChangesTheResultAndOneByteIsOneElement) {
  const json first = run_json({"--input", input()});
  EXPECT_EQ(first["bytes_read"], 96);
  EXPECT_EQ(first["inputs"][0]["files"][1], (json{{"path", folder_ / "two.txt"}, {"size", 101}, {"used", 36}}));
  EXPECT_EQ(first["outputs"], run_json({"--input", input()})["outputs"]);
  EXPECT_NE(first["outputs"], run_json({})["outputs"]);
  write_file(folder_ / "high.txt", std::string(96, '\xff'));
  EXPECT_EQ(run_json({"--input", "tokens=@" + (folder_ / "high.txt"), "--check"})["check"], "passed");
}

TEST_F(RunCommand, ThreadsAndTargetAreTaken) {
  const json report = run_json({"--threads", "3", "--target", "cpu:avx2", "--check"});
  EXPECT_EQ(report["threads"], 3);
  EXPECT_EQ(report["target"], "cpu:avx2");
  EXPECT_EQ(report["check"], "passed");
  EXPECT_EQ(run_json({"--threads", "1", "--target", "cpu:avx2"})["outputs"][0]["rms"], report["outputs"][0]["rms"]);
}

TEST_F(RunCommand, SpecMayReadItsOwnFolderAndAllowedOnes) {
  const Folder other;
  write_file(other / "text", std::string(96, 'x'));
  edit(R"("fill": {"mod": 256})", "\"text\": [\"" + (other / "text") + "\"]");
  EXPECT_EQ(run({}, "other.json").status, 2);
  const json report = run_json({"--allow-path", other.path().string()}, "other.json");
  EXPECT_EQ(report["bytes_read"], 96);
  EXPECT_EQ(report["inputs"][0]["origin"], "files");
}

TEST_F(RunCommand, GraphWithoutAttentionRuns) {
  write_file(folder_ / "plain.json", R"({"inputs": [{"name": "x", "shape": [2, 3]}],
    "nodes": [{"name": "y", "op": "Relu", "inputs": ["x"]}], "outputs": ["y"]})");
  const json report = run_json({"--check"}, "plain.json");
  EXPECT_EQ(report["attentions"], json::array());
  EXPECT_EQ(report["check"], "passed");
}

TEST_F(RunCommand, ScoresThatAmplifyRoundingFailTheCheck) {
  edit(R"("mask": "local")", R"("mask": "local", "score": "1000 * s")");
  const Outcome checked = run({"--check"}, "other.json");
  EXPECT_EQ(checked.status, 1) << checked.out << checked.err;
  EXPECT_NE(checked.out.find(": OVER THE BAR\n"), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("check: FAILED\n"), std::string::npos);
  EXPECT_EQ(checked.err, "");
  EXPECT_EQ(run({}, "other.json").status, 0);
}

TEST_F(RunCommand, MasksWithoutPairsAndEmptyBatchesAreLegal) {
  edit("abs(q - k) <= w || k < 2", "q < 0 && k < w");
  const json none = run_json({"--check"}, "other.json");
  EXPECT_EQ(none["attentions"][0]["pairs"]["allowed"], 0.0);
  EXPECT_EQ(none["outputs"][0]["rms"], 0.0);
  EXPECT_EQ(none["check"], "passed");
  edit(R"("shape": [1, "S"])", R"("shape": [0, "S"])");
  EXPECT_EQ(run_json({"--check"}, "other.json")["check"], "passed");
}

TEST_F(RunCommand, WrongFormulaShowsACaret) {
  edit("abs(q - k) <= w", "abs(q - kk) <= w");
  const std::string text = message({}, "other.json");
  EXPECT_NE(text.find("kk"), std::string::npos) << text;
  EXPECT_NE(text.find("^^"), std::string::npos) << text;
  EXPECT_NE(text.find("/masks/local/formula"), std::string::npos) << text;
}

TEST_F(RunCommand, MessagesForWrongInputs) {
  const std::string one = folder_ / "one.txt";
  EXPECT_EQ(message({"--input", "tokens=text"}),
            "heddle: --input 'tokens=text': expected NAME=@FILE[,FILE...]\nhint: for example --input tokens=@LICENSE\n");
  EXPECT_EQ(message({"--input", "tokens=@a,,b"}), "heddle: --input 'tokens=@a,,b': a file name is empty\n");
  EXPECT_EQ(message({"--input", "token=@" + one}),
            "heddle: --input 'token': the spec has no such input\nhint: did you mean tokens?\n");
  EXPECT_EQ(message({"--input", "tokens=@" + one}),
            "heddle: --input 'tokens': the files hold 60 bytes, the input has 96 elements\n"
            "hint: name more files, or make the input smaller with --dim\n");
  EXPECT_EQ(message({"--input", input(), "--input", input()}), "heddle: --input gives 'tokens' twice\n");
  EXPECT_NE(message({"--input", "tokens=@" + (folder_ / "absent")}).find("absent"), std::string::npos);
}

TEST_F(RunCommand, InputsOfRealsTakeNoBytes) {
  write_file(folder_ / "plain.json", R"({"inputs": [{"name": "x", "shape": [60]}],
    "nodes": [{"name": "y", "op": "Relu", "inputs": ["x"]}], "outputs": ["y"]})");
  EXPECT_EQ(message({"--input", "x=@" + (folder_ / "one.txt")}, "plain.json"),
            "heddle: --input 'x': the bytes of files fit int32 and int64 inputs only, this one is float32 [60]\n");
}

TEST_F(RunCommand, MessagesNameTheNode) {
  edit(R"("shape": [256, "E"])", R"("shape": [100, "E"])");
  EXPECT_EQ(message({"--input", "tokens=@" + (folder_ / "two.txt"), "--dim", "S=101"}, "other.json"),
            "heddle: node 'x': index 255 at position 100 is outside the 100 elements it selects from\nhint: indices go from "
            "-100 to 99\n");
  write_file(folder_ / "divide.json", R"({"inputs": [{"name": "a", "shape": [2], "dtype": "int64", "values": [1, 0]}],
    "nodes": [{"name": "ratio", "op": "Div", "inputs": ["a", "a"]}], "outputs": ["ratio"]})");
  EXPECT_EQ(message({}, "divide.json"), "heddle: node 'ratio': an integer is divided by zero\n");
  EXPECT_EQ(message({"--dim", "E=1024"}).find("heddle: /nodes/2: the head width is 512, supported are 1 to 256\n"), 0u);
}

TEST_F(RunCommand, MessagesForWrongOptions) {
  EXPECT_EQ(message({"--dim", "T=4"}).find("heddle: "), 0u);
  EXPECT_NE(message({"--dim", "S=many"}).find("--dim S: 'many' is no 64-bit integer"), std::string::npos);
  EXPECT_NE(message({"--target", "cpu:mmx"}).find("cpu:avx2"), std::string::npos);
  EXPECT_NE(message({"--repeat", "0"}).find("--repeat"), std::string::npos);
  EXPECT_NE(message({"--treads", "2"}).find("hint: did you mean --threads?"), std::string::npos);
  EXPECT_NE(message({}, "absent.json").find("absent.json"), std::string::npos);
  EXPECT_EQ(heddle_command({"run"}).status, 2);
}

TEST(RunExamples, LessonThreePassesItsCheck) {
  const Outcome outcome =
      heddle_command({"run", HEDDLE_SOURCE_DIR "/examples/03_spec_file/attention.json", "--check", "--repeat", "1"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("check: passed\n"), std::string::npos);
}

TEST(RunExamples, LongformerBlockRunsOverTextAtASmallerLength) {
  const Outcome outcome =
      heddle_command({"run", HEDDLE_SOURCE_DIR "/examples/models/longformer_block.json", "--check", "--repeat", "1", "--dim",
                      "S=600", "--input", "tokens=@" HEDDLE_SOURCE_DIR "/LICENSE", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["bytes_read"], 600);
  EXPECT_EQ(report["attentions"][0]["shape"]["heads"], 12);
  EXPECT_EQ(report["attentions"][0]["error"]["rows_judged"], 600);
}

}  // namespace
}  // namespace heddle::test
