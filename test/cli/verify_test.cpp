#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

const std::string kCases = HEDDLE_SOURCE_DIR "/test/cases/masks.json";

struct Summary {
  size_t plain = 0, with_tables = 0;
};

Summary summary_of(const json& file) {
  Summary summary;
  for (const char* list : {"cases", "huge"}) {
    for (const json& one : file[list]) ++(one.contains("tables") || one.contains("lcg_tables") ? summary.with_tables : summary.plain);
  }
  return summary;
}

/// A file of one case, 4 x 4 causal, with these results.
std::string one_case(const json& results) {
  return json{{"version", 1},
              {"cases", {{{"name", "causal"}, {"seq_q", 4}, {"seq_k", 4}, {"formula", "k <= q"}, {"results", results}}}}}
      .dump();
}

Outcome verify(const std::string& text, std::vector<std::string> arguments = {}) {
  const Folder folder;
  write_file(folder / "masks.json", text);
  arguments.insert(arguments.begin(), {"verify", "masks", "-"});
  return heddle_command(arguments, {.input = folder / "masks.json"});
}

TEST(VerifyMasks, TheWholeCaseFilePasses) {
  const Summary wanted = summary_of(json::parse(read_file(kCases)));
  ASSERT_GT(wanted.plain, 0u);
  const Outcome outcome = heddle_command({"verify", "masks", kCases});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "skipped " + std::to_string(wanted.with_tables) + ": uses tables\n" + std::to_string(wanted.plain) +
                             " passed, 0 failed, " + std::to_string(wanted.with_tables) + " skipped\n");
}

TEST(VerifyMasks, AWrongResultIsNamedAndStatusOne) {
  const std::string text = one_case({{"nnz", 11},
                                     {"affine_rows", 4},
                                     {"fnv1a64", "0123456789abcdef"},
                                     {"tiles", {{"2x2", {{"empty", 1}, {"full", 2}, {"partial", 2}}}}},
                                     {"sample_rows", json::array()}});
  const Outcome outcome = verify(text);
  EXPECT_EQ(outcome.status, 1);
  for (const char* line : {"causal: nnz: expected 11, found 10\n", "causal: tiles/2x2/full: expected 2, found 1\n",
                           "causal: fnv1a64: expected 0123456789abcdef, found ", "causal: sample_rows: expected [], found [{",
                           "\n0 passed, 1 failed, 0 skipped\n"}) {
    EXPECT_NE(outcome.out.find(line), std::string::npos) << line << "\n" << outcome.out;
  }
  EXPECT_EQ(outcome.out.find("affine_rows"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("partial"), std::string::npos) << outcome.out;
}

TEST(VerifyMasks, JsonAndOnly) {
  const Outcome outcome = heddle_command({"verify", "masks", kCases, "--only", "full_64", "--threads", "1", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  EXPECT_EQ(found["failed"], 0);
  ASSERT_EQ(found["passed"], found["cases"].size());
  for (const json& one : found["cases"]) {
    EXPECT_NE(one["name"].get<std::string>().find("full_64"), std::string::npos);
    EXPECT_EQ(one["status"], "passed");
  }
  const json failed = json::parse(verify(one_case({{"nnz", 9}}), {"--json"}).out);
  EXPECT_EQ(failed["cases"][0]["differences"], json::parse(R"([{"field": "nnz", "expected": "9", "found": "10"}])"));
}

TEST(VerifyMasks, WrongInputIsOneMessageAndStatusTwo) {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"nothing", "malformed JSON"},
      {"[]", "expected an object"},
      {R"({"version": 1})", "there are no cases"},
      {R"({"version": 2, "cases": []})", "expected version 1"},
      {R"({"version": 1, "cases": [{"name": "x"}]})", "is missing"},
      {one_case({{"nzn", 9}}), "unknown key 'nzn'"},
      {one_case({{"nnz", "ten"}}), "expected an integer"},
      {one_case(json::object()), "no results"},
      {one_case({{"tiles", {{"64", json::object()}}}}), "no tile shape"},
      {R"({"version": 1, "cases": [{"name": "x", "seq_q": -1, "seq_k": 2, "formula": "k <= q", "results": {"nnz": 1}}]})",
       "expected 0 to"},
      {R"({"version": 1, "cases": [{"name": "x", "seq_q": 1, "seq_k": 2, "formula": "k <= q +", "results": {"nnz": 1}}]})",
       "/cases/0/formula"}};
  for (const auto& [text, message] : mistakes) {
    const Outcome outcome = verify(text);
    EXPECT_EQ(outcome.status, 2) << text;
    EXPECT_EQ(outcome.out, "") << text;
    EXPECT_TRUE(outcome.err.starts_with("heddle: ")) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << text << "\n" << outcome.err;
  }
  EXPECT_EQ(heddle_command({"verify", "masks", "/no/such/file"}).err,
            "heddle: cannot read '/no/such/file': No such file or directory\n");
  EXPECT_EQ(heddle_command({"verify", "masks", kCases, "--only", "no such name"}).status, 2);
}

}  // namespace
}  // namespace heddle::test
