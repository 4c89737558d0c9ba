#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

/// A .npy file of uint8 with 1 where `allowed` holds.
template <typename Allowed>
std::string npy(int rows, int keys, const Allowed& allowed) {
  const std::string header =
      "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " + std::to_string(keys) + "), }\n";
  std::string file = std::string("\x93NUMPY\x01", 7) + '\0' + static_cast<char>(header.size()) + '\0' + header;
  for (int q = 0; q < rows; ++q) {
    for (int k = 0; k < keys; ++k) file += static_cast<char>(allowed(q, k) ? 1 : 0);
  }
  return file;
}

TEST(MatrixCommand, FindsTheFormulaOfAMatrix) {
  const Folder folder;
  write_file(folder / "window.npy", npy(200, 200, [](int q, int k) { return k <= q && q - k < 32; }));
  const Outcome outcome = heddle_command({"facts", "--matrix", folder / "window.npy", "--tile", "64x64", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  EXPECT_EQ(found["formula"], "k <= q && q - k <= 31");
  EXPECT_EQ(found["nnz"], 200 * 32 - 31 * 32 / 2);
  EXPECT_EQ(found["tiles"]["64x64"], (json{{"empty", 9}, {"full", 0}, {"partial", 7}}));
  const Outcome text = heddle_command({"facts", "--matrix", folder / "window.npy"});
  EXPECT_NE(text.out.find("formula: k <= q && q - k <= 31"), std::string::npos) << text.out;
}

TEST(MatrixCommand, RefusesWhatIsNoMatrix) {
  const Folder folder;
  write_file(folder / "numbers.txt", "1 2 3");
  const Outcome flat = heddle_command({"facts", "--matrix", folder / "numbers.txt"});
  EXPECT_EQ(flat.status, 2);
  EXPECT_NE(flat.err.find("has 1 dimensions; expected 2: queries and keys"), std::string::npos) << flat.err;
  EXPECT_EQ(heddle_command({"facts", "--matrix", folder / "missing.npy"}).status, 2);
  EXPECT_EQ(heddle_command({"facts", "--matrix", folder / "numbers.txt", "--mask", "k <= q"}).status, 2);
}

}  // namespace
}  // namespace heddle::test
