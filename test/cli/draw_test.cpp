// `heddle draw` as a user runs it.
#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "test/process.h"

namespace heddle::test {
namespace {

using nlohmann::json;

Outcome draw(std::vector<std::string> arguments, const ProcessOptions& options = {}) {
  arguments.insert(arguments.begin(), "draw");
  return heddle_command(arguments, options);
}

ProcessOptions locale(const std::string& name) { return {.environment = {{"LC_ALL", name}}}; }

const std::vector<std::string> kWindow = {"--mask", "k <= q && q - k < w", "--param", "w=6", "--sq", "12", "--tile", "4x4"};

TEST(DrawCommand, SmallWindowInTheTerminal) {
  const Outcome outcome = draw(kWindow, locale("C.UTF-8"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "k <= q && q - k < 6\n"
            "    k 0       4       8       12\n"
            "     ┌────────────────────────┐\n"
            "q  0 │▓▓      ················│\n"
            "     │▓▓▓▓    ················│\n"
            "     │▓▓▓▓▓▓  ················│\n"
            "     │▓▓▓▓▓▓▓▓················│\n"
            "   4 │▓▓▓▓▓▓▓▓▓▓      ········│\n"
            "     │▓▓▓▓▓▓▓▓▓▓▓▓    ········│\n"
            "     │  ▓▓▓▓▓▓▓▓▓▓▓▓  ········│\n"
            "     │    ▓▓▓▓▓▓▓▓▓▓▓▓········│\n"
            "   8 │      ▓▓▓▓▓▓▓▓▓▓▓▓      │\n"
            "     │        ▓▓▓▓▓▓▓▓▓▓▓▓    │\n"
            "     │          ▓▓▓▓▓▓▓▓▓▓▓▓  │\n"
            "     │            ▓▓▓▓▓▓▓▓▓▓▓▓│\n"
            "  12 └────────────────────────┘\n"
            "tiles 4x4: 0 full █, 6 partial ▓, 3 empty ·\n"
            "one cell: one pair; facts: symbolic\n"
            "57 of 12 x 12 pairs allowed (39.6%)\n");
}

TEST(DrawCommand, AsciiWhereTheLocaleIsNotUtf8) {
  const Outcome outcome = draw({"--mask", "k <= q", "--sq", "4", "--tile", "2x2"}, locale("C"));
  EXPECT_EQ(outcome.out,
            "k <= q\n"
            "   k 0 1 2 3 4\n"
            "    +--------+\n"
            "q 0 |**  ....|\n"
            "    |****....|\n"
            "  2 |####**  |\n"
            "    |####****|\n"
            "  4 +--------+\n"
            "tiles 2x2: 1 full #, 2 partial *, 1 empty .\n"
            "one cell: one pair; facts: symbolic\n"
            "10 of 4 x 4 pairs allowed (62.5%)\n");
}

TEST(DrawCommand, CellsAsJson) {
  const Outcome outcome = draw({"--mask", "k <= q", "--sq", "200", "--sk", "300", "--tile", "64x32", "--width", "40", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json found = json::parse(outcome.out);
  EXPECT_EQ(found["nnz"], 200 * 201 / 2);
  EXPECT_EQ(found["proof"], "symbolic");
  EXPECT_EQ(found["tiles"]["64x32"], (json{{"full", 12}, {"partial", 7}, {"empty", 21}}));
  const int64_t rows = found["cell"]["rows"], cols = found["cell"]["cols"];
  const json& cells = found["allowed"];
  ASSERT_EQ(static_cast<int64_t>(cells.size()), (200 + rows - 1) / rows);
  for (int64_t r = 0; r < static_cast<int64_t>(cells.size()); ++r) {
    ASSERT_EQ(static_cast<int64_t>(cells[r].size()), (300 + cols - 1) / cols);
    for (int64_t c = 0; c < static_cast<int64_t>(cells[r].size()); ++c) {
      int64_t wanted = 0;
      for (int64_t q = r * rows; q < std::min<int64_t>((r + 1) * rows, 200); ++q) {
        for (int64_t k = c * cols; k < std::min<int64_t>((c + 1) * cols, 300); ++k) wanted += k <= q;
      }
      EXPECT_EQ(cells[r][c], wanted) << r << " " << c;
    }
  }
}

TEST(DrawCommand, SvgIsWellFormed) {
  const Folder folder;
  for (const std::string mask : {"k <= q && (k < 4 || q - k < 20) && !(q == 7)", "q * k % 5 < 2"}) {
    const std::string file = folder / "mask.SVG";
    const Outcome outcome = draw({"--mask", mask, "--sq", "100", "--sk", "77", "-o", file});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const Outcome parsed = run_process("/usr/bin/env", {"python3", "-c", "import sys, xml.etree.ElementTree as t\n"
                                                        "root = t.parse(sys.argv[1]).getroot()\n"
                                                        "print(root.find('{http://www.w3.org/2000/svg}title').text)", file});
    EXPECT_EQ(parsed.status, 0) << parsed.err;
    EXPECT_NE(parsed.out, "");
    EXPECT_EQ(outcome.out.find(file), 0u) << outcome.out;
  }
}

TEST(DrawCommand, PngHasItsSignatureAndLeavesNothingElse) {
  const Folder folder;
  write_file(folder / "mask.png", "what was there");
  ASSERT_EQ(draw({"--mask", "k <= q", "--sq", "1000", "-o", folder / "mask.png"}).status, 0);
  EXPECT_EQ(read_file(folder / "mask.png").substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(DrawCommand, ExampleInTheDocumentsIsWhatItDraws) {
  const Folder folder;
  const Outcome outcome = draw({"--mask-file", HEDDLE_SOURCE_DIR "/docs/pictures/sinks_and_window.txt", "--sq", "1024", "-o", folder / "again.svg"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(read_file(folder / "again.svg") == read_file(HEDDLE_SOURCE_DIR "/docs/pictures/sinks_and_window.svg"))
      << "draw docs/pictures/sinks_and_window.svg again";
}

TEST(DrawCommand, NothingToDraw) {
  const Folder folder;
  const Outcome outcome = draw({"--mask", "k <= q", "--sq", "0", "--sk", "5"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "k <= q\n0 queries and 5 keys: there is no pair to draw\n");
  EXPECT_EQ(draw({"--mask", "k <= q", "--sq", "5", "--sk", "0", "-o", folder / "a.png"}).status, 0);
  EXPECT_EQ(draw({"--mask", "k <= q", "--sq", "0", "-o", folder / "a.svg"}).status, 0);
  EXPECT_NE(read_file(folder / "a.svg").find("0 queries and 0 keys: there is no pair to draw"), std::string::npos);
}

/// A million positions, whole process; the bound leaves room for a machine that does other things.
TEST(DrawCommand, AMillionPositions) {
  const Folder folder;
  for (const char* mask : {"k <= q", "abs(q - k) <= 256 || k < 16 || q < 16", "abs(q - k) % 100 == 0",
                           "(q - k) % 2 == 0 && abs(q - k) <= 128", "q / 1024 - k / 1024 < 7 && k / 1024 - q / 1024 < 7 && "
                           "q % 1024 - k % 1024 < 7 && k % 1024 - q % 1024 < 7"}) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = draw({"--mask", mask, "--sq", "1048576", "-o", folder / "big.svg"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 3) << mask;
    EXPECT_LT(std::filesystem::file_size(folder / "big.svg"), 100'000u) << mask;
  }
}

/// Masks without a closed form, or with thousands of strips a row, are sampled; the legend says so.
TEST(DrawCommand, WhatTakesTooLongIsEstimated) {
  for (const auto& [mask, share] : std::map<std::string, double>{{"q * k % 11 < 4", 1 / 11.0 + 10 / 11.0 * 4 / 11}, {"(q + 37 * (k % 4095)) % 41 < 20", 20 / 41.0},
                                                                 {"k % 10007 * 37 % 41 < 20", 20 / 41.0}}) {
    const Outcome outcome = draw({"--mask", mask, "--sq", "1048576", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json found = json::parse(outcome.out);
    EXPECT_GT(found["sampled"], 0) << mask;
    EXPECT_NEAR(found["nnz"].get<double>() / 0x1p40, share, 0.03) << mask;
    EXPECT_EQ(found["tiles"]["64x64"]["full"].get<int64_t>() + found["tiles"]["64x64"]["partial"].get<int64_t>() +
                  found["tiles"]["64x64"]["empty"].get<int64_t>(), int64_t{1} << 28) << mask;
  }
  const std::string text = draw({"--mask", "q * k % 11 < 4", "--sq", "1048576"}).out;
  EXPECT_NE(text.find(" of them sampled; estimated: an exact count takes too long\nabout "), std::string::npos) << text;
  EXPECT_NE(text.find("tiles 64x64: about 0 full"), std::string::npos) << text;
  EXPECT_EQ(json::parse(draw({"--mask", "(q - k) % 4093 == 0", "--sq", "1048576", "--json"}).out)["sampled"], 0);
}

TEST(DrawCommand, ColourOnTerminalsOnly) {
  const auto on_terminal = [](const std::map<std::string, std::string>& environment) {
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_TRUE(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    const winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
    ioctl(master, TIOCSWINSZ, &size);
    ProcessOptions options{.environment = environment, .output = ptsname(master)};
    const int keep = open(options.output.c_str(), O_RDWR | O_NOCTTY);
    EXPECT_EQ(draw({"--mask", "k <= q", "--sq", "8"}, options).status, 0);
    std::string text(1 << 16, '\0');
    const ssize_t got = read(master, text.data(), text.size());
    close(keep), close(master);
    return text.substr(0, static_cast<size_t>(std::max<ssize_t>(got, 0)));
  };
  EXPECT_NE(on_terminal({{"TERM", "xterm"}, {"NO_COLOR", ""}}).find("\x1b[38;5;"), std::string::npos);
  for (const auto& [name, value] : std::map<std::string, std::string>{{"NO_COLOR", "1"}, {"TERM", "dumb"}}) {
    std::map<std::string, std::string> environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}};
    environment[name] = value;
    const std::string text = on_terminal(environment);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << name;
  }
  EXPECT_EQ(draw({"--mask", "k <= q", "--sq", "8"}, {.environment = {{"TERM", "xterm"}}}).out.find('\x1b'), std::string::npos);
}

struct Wrong {
  std::vector<std::string> arguments;
  std::string message;
};

class DrawMistakes : public testing::TestWithParam<Wrong> {};

TEST_P(DrawMistakes, AreOneClearMessage) {
  const Outcome outcome = draw(GetParam().arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    DrawCommand, DrawMistakes,
    testing::Values(
        Wrong{{"--mask", "k <= q", "--sq", "8", "-o", "a.pdf"},
              "heddle: -o 'a.pdf': no kind of picture that can be written\n"
              "hint: expected a name that ends in .svg or .png; without -o the picture goes to the terminal\n"},
        Wrong{{"--mask", "k <= q", "--sq", "8", "-o", "/nowhere/at/all.svg"},
              "heddle: cannot write '/nowhere/at/all.svg': No such file or directory\n"
              "hint: the file is unchanged; give a name in a folder that can be written\n"},
        Wrong{{"--mask", "k <= q", "--sq", "-1"}, "heddle: --sq -1: expected 0 to 1073741824\n"},
        Wrong{{"--mask", "k <= q", "--sq", "8", "--tile", "8"},
              "heddle: --tile '8': expected ROWSxKEYS, each 1 to 1048576, for example 64x64\n"},
        Wrong{{"--mask", "k <= q + h", "--sq", "8"},
              "heddle: the mask depends on 'h', which has no value\nhint: give its value, for example h=1\n"}));

TEST(DrawCommand, NoFolderAndNoDeviceIsReplaced) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() / "a.svg");
  const Outcome outcome = draw({"--mask", "k <= q", "--sq", "8", "-o", folder / "a.svg"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("it is a folder"), std::string::npos) << outcome.err;
  std::filesystem::create_symlink("/dev/null", folder.path() / "null.svg");
  EXPECT_NE(draw({"--mask", "k <= q", "--sq", "8", "-o", folder / "null.svg"}).err.find("no regular file"), std::string::npos);
}

}  // namespace
}  // namespace heddle::test
