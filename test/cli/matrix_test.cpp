#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

using Allowed = std::function<bool(int, int)>;

std::string npy_header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  const std::string header = "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01", 7) + '\0' + static_cast<char>(header.size()) + '\0' + header;
}

/// A .npy file of bool or uint8 with `one` where `allowed` holds.
std::string npy(int rows, int keys, const Allowed& allowed, const std::string& descr = "|u1", char one = 1) {
  std::string file = npy_header(descr, "(" + std::to_string(rows) + ", " + std::to_string(keys) + ")");
  for (int q = 0; q < rows; ++q) {
    for (int k = 0; k < keys; ++k) file += allowed(q, k) ? one : '\0';
  }
  return file;
}

bool window(int q, int k) { return k <= q && q - k < 32; }
bool scattered(int q, int k) { return (q * 7919 + k * k * 104729 + q * q * k) % 11 < 3; }

/// What a command prints of a matrix, which it must take.
std::string output(std::vector<std::string> arguments, const std::string& file) {
  arguments.insert(arguments.end(), {"--matrix", file});
  const Outcome outcome = heddle_command(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

std::string of_formula(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--mask", "k <= q && q - k <= 31"});
  return heddle_command(arguments).out;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(MatrixCommand, FindsTheFormulaOfAMatrix) {
  const Folder folder;
  write_file(folder / "window.npy", npy(200, 200, window));
  const Outcome outcome = heddle_command({"facts", "--matrix", folder / "window.npy", "--tile", "64x64", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  EXPECT_EQ(found["formula"], "k <= q && q - k <= 31");
  EXPECT_EQ(found["nnz"], 200 * 32 - 31 * 32 / 2);
  EXPECT_EQ(found["tiles"]["64x64"], (json{{"empty", 9}, {"full", 0}, {"partial", 7}}));
  const Outcome text = heddle_command({"facts", "--matrix", folder / "window.npy"});
  EXPECT_NE(text.out.find("formula: k <= q && q - k <= 31"), std::string::npos) << text.out;
}

TEST(MatrixCommand, TakesBoolAndIntegersAlike) {
  const Folder folder;
  write_file(folder / "bool.npy", npy(40, 50, window, "|b1"));
  write_file(folder / "odd.npy", npy(40, 50, window, "|u1", '\x80'));
  std::string wide = npy_header("<i4", "(40, 50)");
  for (int at = 0; at < 2000; ++at) wide += window(at / 50, at % 50) ? std::string("\0\0\1\0", 4) : std::string(4, '\0');
  write_file(folder / "wide.npy", wide);
  for (const char* name : {"bool.npy", "odd.npy", "wide.npy"}) {
    EXPECT_EQ(json::parse(output({"facts", "--json"}, folder / name))["formula"], "k <= q && q - k <= 31") << name;
  }
}

TEST(MatrixCommand, PlansAndEmitsTheKernelOfTheFormula) {
  const Folder folder;
  write_file(folder / "window.npy", npy(200, 200, window));
  EXPECT_EQ(output({"plan"}, folder / "window.npy"), of_formula({"plan"}));
  for (const char* stage : {"formula", "plan", "tile", "schedule", "source", "asm"}) {
    EXPECT_EQ(output({"emit", "--stage", stage}, folder / "window.npy"), of_formula({"emit", "--stage", stage})) << stage;
  }
  EXPECT_EQ(output({"emit", "--stage", "source", "--score", "softcap(s, 30)", "--head-dim", "32"}, folder / "window.npy"),
            of_formula({"emit", "--stage", "source", "--score", "softcap(s, 30)", "--head-dim", "32"}));
}

TEST(MatrixCommand, ExplainsWhatWasFoundAndSuggestsTheFormula) {
  const Folder folder;
  write_file(folder / "window.npy", npy(200, 300, window));
  const std::string text = output({"explain"}, folder / "window.npy");
  EXPECT_TRUE(contains(text, "matrix 200 x 300\nformula: k <= q && q - k <= 31\n")) << text;
  EXPECT_TRUE(contains(text, "affine components")) << text;
  EXPECT_TRUE(contains(text, "used as that formula, proven at 200 x 300, so launched at these lengths only")) << text;
  EXPECT_TRUE(contains(text, of_formula({"explain"}).substr(0, 40))) << text;
  const json object = json::parse(output({"explain", "--json"}, folder / "window.npy"));
  EXPECT_EQ(object["attentions"][0]["name"], "matrix");
}

TEST(MatrixCommand, ExplainAdvisesToRecognizeTablesOfPairs) {
  const auto explain = [](const std::string& mask) { return heddle_command({"explain", "--mask", mask, "--table", "m:uint8"}).out; };
  EXPECT_TRUE(contains(explain("m[q, k] == 1 && k <= q"), "the table 'm' is read at every pair"));
  EXPECT_FALSE(contains(explain("m[q, 0] == m[k, 0]"), "at every pair"));
}

TEST(MatrixCommand, AMatrixWithoutAPatternIsATable) {
  const Folder folder;
  write_file(folder / "scattered.npy", npy(90, 110, scattered));
  const std::string text = output({"explain"}, folder / "scattered.npy");
  EXPECT_TRUE(contains(text, "formula: none found\n")) << text;
  EXPECT_TRUE(contains(text, "used as a table: ")) << text;
  EXPECT_TRUE(contains(output({"emit", "--stage", "formula"}, folder / "scattered.npy"), "matrix[q, k] != 0"));
  int64_t pairs = 0;
  for (int at = 0; at < 90 * 110; ++at) pairs += scattered(at / 110, at % 110);
  EXPECT_EQ(json::parse(output({"draw", "--json"}, folder / "scattered.npy"))["nnz"], pairs);
}

TEST(MatrixCommand, DrawsThePictureOfTheFormula) {
  const Folder folder;
  write_file(folder / "window.npy", npy(64, 64, window));
  const std::vector<std::string> sizes = {"draw", "--tile", "16x16", "--width", "60"};
  const std::string text = output(sizes, folder / "window.npy");
  std::vector<std::string> same = sizes;
  same.insert(same.end(), {"--sq", "64"});
  const auto cells = [](const std::string& picture) { return picture.substr(picture.find('\n')); };  // The first line has the proof.
  EXPECT_EQ(cells(text), cells(of_formula(same)));
  output({"draw", "-o", folder / "window.svg"}, folder / "window.npy");
  EXPECT_TRUE(contains(read_file(folder / "window.svg"), "<svg"));
}

TEST(MatrixCommand, RefusesWhatIsNoMatrix) {
  const Folder folder;
  const auto refused = [&](const std::string& command, const std::string& file, const std::vector<std::string>& more = {}) {
    write_file(folder / "bad.npy", file);
    std::vector<std::string> arguments = {command, "--matrix", folder / "bad.npy"};
    if (command == "emit") arguments.insert(arguments.end(), {"--stage", "plan"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = heddle_command(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  const std::string whole = npy(20, 20, window);
  for (const std::string command : {"facts", "plan", "explain", "emit", "draw"}) {
    EXPECT_TRUE(contains(refused(command, whole.substr(0, whole.size() - 1)), "its header promises")) << command;
    EXPECT_TRUE(contains(refused(command, whole + "x"), "its header promises")) << command;
    EXPECT_TRUE(contains(refused(command, npy_header("<f4", "(1, 1)") + "0000"), "has elements of float32; expected bool or integers")) << command;
    EXPECT_TRUE(contains(refused(command, npy_header("|u1", "(4,)") + "0000"), "has 1 dimensions; expected 2: queries and keys")) << command;
    EXPECT_TRUE(contains(refused(command, npy_header("|u1", "(2, 2)", "True") + "0000"), "Fortran order")) << command;
    EXPECT_TRUE(contains(refused(command, npy_header("|u1", "(1, 1)") + "0", {"--mask", "k <= q"}), "--mask")) << command;
    EXPECT_TRUE(contains(refused(command, whole.substr(0, 30)), "ends inside its header")) << command;
  }
  EXPECT_TRUE(contains(refused("draw", whole, {"--sq", "21"}), "--sq"));
  EXPECT_TRUE(contains(heddle_command({"plan", "--matrix", folder / "missing.npy"}).err, "missing.npy"));
  EXPECT_TRUE(contains(heddle_command({"facts", "--mask", "k <= q"}).err, "facts: --sq is required"));
  EXPECT_TRUE(contains(heddle_command({"draw", "--mask", "k <= q"}).err, "draw: --sq is required"));
}

}  // namespace
}  // namespace heddle::test
