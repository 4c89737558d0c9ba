#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

json facts(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "facts");
  arguments.push_back("--json");
  const Outcome outcome = heddle_command(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return json::parse(outcome.out);
}

TEST(FactsCommand, CausalByHand) {
  const json found = facts({"--mask", "k <= q", "--sq", "8", "--sk", "8", "--tile", "4x4"});
  EXPECT_EQ(found["nnz"], 36);
  EXPECT_EQ(found["empty_rows"], 0);
  EXPECT_EQ(found["row_nnz_max"], 8);
  EXPECT_EQ(found["contig_runs_total"], 8);
  EXPECT_EQ(found["tiles"]["4x4"], (json{{"empty", 1}, {"full", 1}, {"partial", 2}}));
}

TEST(FactsCommand, KeysDefaultToQueries) {
  EXPECT_EQ(facts({"--mask", "k < 3", "--sq", "5"})["nnz"], 15);
  EXPECT_EQ(facts({"--mask", "k < 3", "--sq", "5", "--sk", "2"})["nnz"], 10);
}

TEST(FactsCommand, ParametersAndValuesToCountAt) {
  EXPECT_EQ(facts({"--mask", "q - k < w && k <= q", "--param", "w=2", "--sq", "4"})["nnz"], 7);
  EXPECT_EQ(facts({"--mask", "k <= q + h", "--at", "h=1", "--sq", "4"})["nnz"], 13);
  EXPECT_EQ(facts({"--mask", "k <= q + off", "--param", "off=dynamic", "--at", "off=1", "--sq", "4"})["nnz"], 13);
}

TEST(FactsCommand, FormulaFromAFile) {
  const Folder folder;
  write_file(folder / "mask.txt", "k <= q\n  && k >= 1\n");
  EXPECT_EQ(facts({"--mask-file", folder / "mask.txt", "--sq", "4"})["nnz"], 6);
  const Outcome piped = heddle_command({"facts", "--mask-file", "-", "--sq", "4", "--json"}, {.input = folder / "mask.txt"});
  EXPECT_EQ(json::parse(piped.out)["nnz"], 6);
}

TEST(FactsCommand, WhatCannotBeCountedIsRefused) {
  const auto refused = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"facts", "--mask", "k <= q"});
    const Outcome outcome = heddle_command(arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_EQ(refused({"--sq", "4", "--at", "zz=4"}),
            "heddle: --at 'zz': no value of the mask that can be given\n"
            "hint: expected one of b, h, B, H, Hkv; --sq and --sk give the lengths\n");
  EXPECT_NE(refused({"--sq", "4", "--at", "Sq=7"}).find("--at 'Sq'"), std::string::npos);
  EXPECT_EQ(refused({"--sq", "4", "--sk", "65537", "--checksum"}),
            "heddle: --checksum at 4 x 65537: at most 65536 queries and keys\n"
            "hint: leave --checksum out, or use smaller lengths\n");
}

TEST(FactsCommand, EmptyLengths) {
  const json found = facts({"--mask", "k <= q", "--sq", "0", "--sk", "5", "--checksum"});
  EXPECT_EQ(found["nnz"], 0);
  EXPECT_EQ(found["empty_cols"], 5);
  EXPECT_EQ(found["fnv1a64"], "cbf29ce484222325");
  EXPECT_EQ(found["sample_rows"], json::array());
}

TEST(FactsCommand, TextNamesTheCounts) {
  const Outcome outcome = heddle_command({"facts", "--mask", "k <= q", "--sq", "100"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("5050"), std::string::npos) << outcome.out;
}

TEST(FactsCommand, SharesOfPairsAndOfTiles) {
  const json found = facts({"--mask", "k <= q", "--sq", "10", "--sk", "9", "--tile", "4x4", "--tile", "16x16"});
  EXPECT_EQ(found["nnz"], 54);
  EXPECT_EQ(found["density"], 54.0 / 90);
  EXPECT_EQ(found["tile_pairs"]["4x4"], (json{{"density", 6.0 / 9}, {"full_pairs", 16 + 8 + 8 + 2}, {"partial_pairs", 16 + 16}, {"allowed_in_partial", 20}}));
  EXPECT_EQ(found["tile_pairs"]["16x16"], (json{{"density", 1.0}, {"full_pairs", 0}, {"partial_pairs", 90}, {"allowed_in_partial", 54}}));
  const Outcome text = heddle_command({"facts", "--mask", "k <= q", "--sq", "128"});
  EXPECT_NE(text.out.find("  tiles 64x64: 1 full, 2 partial, 1 empty\n    visited: 75% of the tiles, 12288 pairs, 67.19% of them allowed\n"),
            std::string::npos)
      << text.out;
  EXPECT_EQ(facts({"--mask", "k > q", "--sq", "1"})["tile_pairs"]["64x64"]["density"], 0.0);
}

/// Without a closed form, and of too many pairs to evaluate them all.
TEST(FactsCommand, WhatTakesTooLongIsEstimated) {
  const std::vector<std::string> arguments = {"--mask", "q * k % 11 < 4", "--sq", "1048576"};
  const json found = facts(arguments);
  EXPECT_EQ(found["exact"], false);
  EXPECT_FALSE(found.contains("nnz"));
  const json& density = found["sample"]["density"];
  EXPECT_NEAR(density["value"].get<double>(), 1 / 11.0 + 10 / 11.0 * 4 / 11, 2 * density["error"].get<double>());
  EXPECT_EQ(found["sample"]["tiles"]["64x64"]["partial"]["value"], 1.0);
  EXPECT_EQ(found["sample"]["tiles"]["64x64"]["of"], 1 << 28);
  std::vector<std::string> text = {"facts"};
  text.insert(text.end(), arguments.begin(), arguments.end());
  EXPECT_NE(heddle_command(text).out.find("estimated at 1048576 x 1048576, for an exact count takes too long (+-: 95% confidence):\n"), std::string::npos);
}

TEST(FactsCommand, HullsOfRowsAndColumns) {
  const json found = facts({"--mask", "k <= q && q - k < 256", "--sq", "512"});
  EXPECT_EQ(found["row_hulls"]["proof"], "symbolic");
  EXPECT_EQ(found["row_hulls"]["pieces"],
            json::parse(R"json([{"guards": ["q - 255 <= Sk - 1"], "first": "max(q - 255, 0)", "last": "min(q, Sk - 1)"}])json"));
  EXPECT_EQ(found["column_hulls"]["pieces"],
            json::parse(R"json([{"guards": ["k <= Sq - 1"], "first": "k", "last": "min(k + 255, Sq - 1)"}])json"));
  EXPECT_EQ(found["column_hulls"]["empty"], "k > Sq - 1");
  EXPECT_EQ(found["mentions_head"], false);
  EXPECT_EQ(facts({"--mask", "k <= q + h", "--at", "h=1", "--sq", "4"})["mentions_head"], true);
  EXPECT_EQ(facts({"--mask", "(q * k) % 7 < 3", "--sq", "4"})["row_hulls"], nullptr);
}

/// Every tenth case file mask without tables gives the counts that brute force gave.
TEST(FactsCommand, AgreesWithTheCaseFile) {
  const json cases = json::parse(read_file(HEDDLE_SOURCE_DIR "/test/cases/masks.json"))["cases"];
  int checked = 0;
  for (size_t i = 0; i < cases.size(); i += 10) {
    const json& one = cases[i];
    if (one.contains("tables") || one.contains("lcg_tables")) continue;
    const json found = facts({"--mask", one["formula"], "--sq", std::to_string(one["seq_q"].get<int64_t>()), "--sk",
                              std::to_string(one["seq_k"].get<int64_t>()), "--tile", "16x16", "--tile", "64x64", "--tile",
                              "128x64", "--checksum"});
    for (const auto& [key, wanted] : one["results"].items()) EXPECT_EQ(found[key], wanted) << one["name"] << ": " << key;
    ++checked;
  }
  EXPECT_GE(checked, 5);
}

}  // namespace
}  // namespace heddle::test
