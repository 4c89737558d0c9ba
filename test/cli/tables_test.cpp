// The option --table of the commands: contents from files, declarations, and mistakes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

/// A .npy file of version 1.0, C order.
std::string npy(const std::string& descr, const std::string& shape, const std::string& bytes) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  const char size[] = {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + std::string(size, 2) + header + bytes;
}

Outcome facts(const std::string& mask, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"facts", "--mask", mask, "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return heddle_command(arguments);
}

TEST(TableOption, DocumentsFromText) {
  const Folder folder;
  write_file(folder / "doc.txt", "0 0 0\n7 7\t7 7 9\n");
  const Outcome outcome = facts("doc[q] == doc[k] && k <= q", {"--sq", "8", "--table", "doc=" + (folder / "doc.txt")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  EXPECT_EQ(found["nnz"], 6 + 10 + 1);
  EXPECT_EQ(found["proof"], "enumerated");
  EXPECT_EQ(found["row_hulls"], nullptr);
  const Outcome text = heddle_command({"facts", "--mask", "doc[q] == doc[k]", "--sq", "8", "--table", "doc=" + (folder / "doc.txt")});
  EXPECT_NE(text.out.find("reads tables: counted with their contents\n"), std::string::npos) << text.out;
}

TEST(TableOption, MatricesAndWideIntegersFromNpy) {
  const Folder folder;
  write_file(folder / "m.npy", npy("|u1", "(2, 3)", std::string("\x01\x00\x01\x00\x00\x01", 6)));
  EXPECT_EQ(json::parse(facts("m[q, k] == 1", {"--sq", "2", "--sk", "3", "--table", "m=" + (folder / "m.npy")}).out)["nnz"], 3);
  write_file(folder / "wide.txt", "5000000000 1 -5000000000");
  EXPECT_EQ(json::parse(facts("t[k] > 4999999999", {"--sq", "2", "--sk", "3", "--table", "t=" + (folder / "wide.txt")}).out)["nnz"], 2);
}

/// Documents of more pairs than can be evaluated one by one: exact, from ranges of equal ids.
TEST(TableOption, AMillionTokensOfDocuments) {
  const Folder folder;
  constexpr int64_t kTokens = 1 << 20;
  std::string ids;
  int64_t pairs = 0;
  for (int64_t first = 0, doc = 0; first < kTokens; ++doc) {
    const int64_t size = std::min<int64_t>(kTokens - first, 1 + doc * 7919 % 3000);
    for (int64_t i = 0; i < size; ++i) {
      const auto id = static_cast<int32_t>(doc);
      ids.append(reinterpret_cast<const char*>(&id), sizeof id);
    }
    pairs += size * (size + 1) / 2, first += size;
  }
  write_file(folder / "doc.npy", npy("<i4", "(1048576,)", ids));
  const json found = json::parse(facts("doc[q] == doc[k] && k <= q", {"--sq", "1048576", "--table", "doc=" + (folder / "doc.npy")}).out);
  EXPECT_EQ(found["exact"], true);
  EXPECT_EQ(found["nnz"], pairs);
  EXPECT_EQ(found["empty_rows"], 0);
  EXPECT_EQ(found["contig_runs_total"], kTokens);
  EXPECT_EQ(found["tiles"]["64x64"]["full"].get<int64_t>() + found["tiles"]["64x64"]["partial"].get<int64_t>() +
                found["tiles"]["64x64"]["empty"].get<int64_t>(), int64_t{1} << 28);
}

/// Ranges decide all but a few of 40,000,000,000 pairs.
TEST(TableOption, FewPairsOfMany) {
  const Folder folder;
  write_file(folder / "t.txt", "1 2 3");
  const json found = json::parse(facts("q * k == 7 || t[0] == 9", {"--sq", "200000", "--table", "t=" + (folder / "t.txt")}).out);
  EXPECT_EQ(found["exact"], true);
  EXPECT_EQ(found["nnz"], 2);
  EXPECT_EQ(found["tiles"]["64x64"]["partial"], 1);
}

TEST(TableOption, MistakesAreOneMessage) {
  const Folder folder;
  write_file(folder / "t.txt", "1 2 3");
  write_file(folder / "f.npy", npy("<f4", "(1,)", std::string(4, '\0')));
  const std::string good = "t=" + (folder / "t.txt");
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{"--sq", "4", "--table", good}, "the table 't' has shape [3]; expected [4]"},
      {{"--sq", "3"}, "'t'"},
      {{"--sq", "3", "--table", "t"}, "expected name=FILE"},
      {{"--sq", "3", "--table", good, "--table", good}, "--table gives 't' twice"},
      {{"--sq", "3", "--table", good, "--param", "t=3"}, "by --param and by --table"},
      {{"--sq", "3", "--table", good, "--table", "u=" + (folder / "t.txt")}, "unknown table 'u'"},
      {{"--sq", "3", "--table", "t=" + (folder / "f.npy")}, "has elements of float32"},
      {{"--sq", "3", "--table", "t=/no/such/file"}, "/no/such/file"}};
  for (const auto& [arguments, message] : mistakes) {
    const Outcome outcome = facts("t[q] == 1", arguments);
    EXPECT_EQ(outcome.status, 2) << message;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << message << "\n" << outcome.err;
  }
}

TEST(TableOption, PlansDeclareTables) {
  const auto plan = [](const std::string& table) {
    return heddle_command({"plan", "--mask", "doc[q] == doc[k]", "--score", "s + bias[h]", "--table", table, "--table", "bias:float32"});
  };
  EXPECT_EQ(plan("doc").status, 0) << plan("doc").err;
  EXPECT_EQ(plan("doc:int64").status, 0) << plan("doc:int64").err;
  EXPECT_NE(plan("doc=x").err.find("expected name or name:DTYPE"), std::string::npos);
  EXPECT_EQ(plan("doc:float16").status, 2);
}

}  // namespace
}  // namespace heddle::test
