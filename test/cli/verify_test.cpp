#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

const std::string kCases = HEDDLE_SOURCE_DIR "/test/cases/masks.json";

/// A file of one case, 3 x 3, with tables, formula and nnz.
std::string table_case(const json& tables, const std::string& formula, int nnz) {
  json one = {{"name", "tables"}, {"seq_q", 3}, {"seq_k", 3}, {"formula", formula}, {"results", {{"nnz", nnz}}}};
  one.update(tables);
  return json{{"version", 1}, {"cases", {one}}}.dump();
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
  const json file = json::parse(read_file(kCases));
  const Outcome outcome = heddle_command({"verify", "masks", kCases});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, std::to_string(file["cases"].size() + file["huge"].size()) + " passed, 0 failed\n");
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
                           "\n0 passed, 1 failed\n"}) {
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

TEST(VerifyMasks, TablesOfCases) {
  const auto out = [](const json& tables, const std::string& formula, int nnz) { return verify(table_case(tables, formula, nnz)).out; };
  const std::string passed = "1 passed, 0 failed\n";
  EXPECT_EQ(out({{"tables", {{"t", {4, 5, 4}}}}}, "t[q] == t[k]", 5), passed);
  EXPECT_EQ(out({{"tables", {{"t", {{1, 0, 1}, {0, 0, 0}, {7, 1, 1}}}}}}, "t[q][k] == 1", 4), passed);
  EXPECT_EQ(out({{"lcg_tables", {{"t", {{"length", 3}, {"seed", 1}, {"per_mille", 1000}}}}}}, "t[q] == 1", 9), passed);
  EXPECT_EQ(out({{"lcg_tables", {{"t", {{"length", 3}, {"seed", 0}, {"per_mille", 500}}}}}}, "t[q] == 1", 6), passed);
  EXPECT_NE(out({{"tables", {{"t", {4, 5}}}}}, "t[q] == 4", 3).find("facts: expected no error, found "), std::string::npos);
}

TEST(VerifyMasks, WrongTablesAreRefused) {
  const std::vector<std::pair<json, std::string>> mistakes = {
      {{{"tables", {{"t", 5}}}}, "/cases/0/tables/t"},
      {{{"tables", {{"t", {1, 2.5, 3}}}}}, "expected an integer"},
      {{{"tables", {{"t", json::parse("[[1, 2], [3]]")}}}}, "a row of 1 elements"},
      {{{"tables", {{"t", {1, 2, 3}}}}, {"lcg_tables", {{"t", {{"length", 3}, {"seed", 1}, {"per_mille", 1}}}}}}, "given twice"},
      {{{"lcg_tables", {{"t", {{"length", -3}, {"seed", 1}, {"per_mille", 1}}}}}}, "expected 0 to"},
      {{{"lcg_tables", {{"t", {{"length", 3}, {"seed", 1}, {"per_mile", 1}}}}}}, "per_mille"}};
  for (const auto& [tables, message] : mistakes) {
    const Outcome outcome = verify(table_case(tables, "t[q] == 1", 0));
    EXPECT_EQ(outcome.status, 2) << tables;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  }
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
