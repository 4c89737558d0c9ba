// `heddle repl` with statements from a file or a pipe.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "src/support/timer.h"
#include "test/process.h"

namespace heddle::test {
namespace {

const std::string kGolden = HEDDLE_SOURCE_DIR "/test/golden/repl/";

/// `heddle repl` reading these statements from standard input.
Outcome repl(const std::string& statements) {
  const Folder folder;
  write_file(folder / "script", statements);
  return heddle_command({"repl"}, {.input = folder / "script"});
}

/// Without what differs from machine to machine and from run to run.
std::string masked(std::string text) {
  const std::vector<std::pair<const char*, const char*>> rules = {{R"(\d+\.\d+ ms)", "T ms"},
                                                                  {R"(ms, \d+\.\dx)", "ms, Nx"},
                                                                  {R"( +T ms)", " T ms"},
                                                                  {R"(cpu:[-\w]+, \d+ threads)", "TARGET"},
                                                                  {R"(#+ +T ms)", "# T ms"},
                                                                  {R"(\d+\.\d GFLOP)", "R GFLOP"},
                                                                  {R"(efficiency  \d+\.\d+)", "efficiency  E"},
                                                                  {R"(error       \S+ at)", "error       X at"}};
  for (const auto& [pattern, shown] : rules) text = std::regex_replace(text, std::regex(pattern), shown);
  return text;
}

TEST(ReplScript, AnswersAsInTheGoldenSession) {
  const Outcome outcome = heddle_command({"repl", kGolden + "session.heddle"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(masked(outcome.out), read_file(kGolden + "session.txt"));
}

TEST(ReplScript, TablesAreAsInTheGoldenSession) {
  const Outcome outcome = heddle_command({"repl", kGolden + "tables.heddle"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(masked(outcome.out), read_file(kGolden + "tables.txt"));
}

TEST(ReplScript, StandardInputIsTheSameAsAFile) {
  const Outcome piped = heddle_command({"repl"}, {.input = kGolden + "session.heddle"});
  const Outcome dash = heddle_command({"repl", "-"}, {.input = kGolden + "session.heddle"});
  EXPECT_EQ(masked(piped.out), read_file(kGolden + "session.txt"));
  EXPECT_EQ(masked(dash.out), read_file(kGolden + "session.txt"));
}

TEST(ReplScript, HelpIsTheGoldenText) { EXPECT_EQ(repl("help\nhelp formulas\nhelp let\nhelp table\nhelp keys\n").out, read_file(kGolden + "help.txt")); }

TEST(ReplScript, FactsAreCountedAsSet) {
  const Outcome outcome = repl("let w = dynamic 100\nset sq 1024\nset sk 512\nset tile 32x32\nfacts k <= q && q - k < w");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* line : {"counts at 1024 x 512 (symbolic):\n", "allowed pairs: 51200 ", "tiles 32x32: 32 full, 48 partial, 432 empty\n"}) {
    EXPECT_NE(outcome.out.find(line), std::string::npos) << line << outcome.out;
  }
  EXPECT_NE(repl("set h 3\nset sq 64\nfacts h == 3").out.find("allowed pairs: 4096 "), std::string::npos);
}

TEST(ReplScript, ShowDrawsAMask) {
  const Outcome outcome = repl("let w = 8\nset sq 32\nset tile 8x8\nmask window = k <= q && q - k < w\nshow window");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("mask window = k <= q && q - k < w\nk <= q && q - k < 8\n", 0), 0u) << outcome.out;
  EXPECT_GT(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 16) << outcome.out;
  EXPECT_EQ(repl("set sq 4\nshow k <= q").out.rfind("k <= q\n   k", 0), 0u);
  EXPECT_EQ(repl("table t = [1, 2]\nlet w = 3\nscore c = s * w\nt\nw\nc\n").out,
            "table t = [1, 2]\n  int32 [2]: 1, 2\nlet w = 3\nscore c = s * w\n  s * 3\n");
  EXPECT_EQ(repl("let w = dynamic\nshow q - k < w").out,
            "q - k < w\nno picture: the dynamic parameter 'w' has no value\nhint: give it one: let w = dynamic 256\n");
}

TEST(ReplScript, EveryStageIsShown) {
  for (const char* stage : {"formula", "facts", "plan", "tile", "schedule", "source", "asm"}) {
    const Outcome outcome = repl(std::string("mask a = k <= q\nemit a ") + stage + "\n");
    EXPECT_EQ(outcome.status, 0) << stage << outcome.err;
    EXPECT_GT(outcome.out.size(), 3u) << stage;
  }
  EXPECT_NE(repl("explain k <= q").out.find("The mask is `k <= q`."), std::string::npos);
  EXPECT_NE(repl("let c = 30.0\nscore t = softcap(s, c)\nplan k <= q with t").out.find("pass 0"), std::string::npos);
}

TEST(ReplScript, EveryExampleRuns) {
  int examples = 0;
  for (const auto& file : std::filesystem::directory_iterator(HEDDLE_SOURCE_DIR "/examples/repl")) {
    const Outcome outcome = heddle_command({"repl", file.path()});
    EXPECT_EQ(outcome.status, 0) << file.path() << outcome.err;
    EXPECT_EQ(outcome.err, "") << file.path();
    EXPECT_GT(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 5) << file.path();
    ++examples;
  }
  EXPECT_GE(examples, 3);
}

struct Mistake {
  const char *script, *message;
};

class ReplMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(ReplMistakes, EndAScriptWithTheirLine) {
  const Outcome outcome = repl(GetParam().script);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, std::string("heddle: standard input:") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Statements, ReplMistakes,
    testing::Values(
        Mistake{"\n# nothing\nfacst a\nshow\n", "3: 'facst' is no command, and no name that is known\nhint: did you mean facts?\n"},
        Mistake{"weave", "1: 'weave' is no command, and no name that is known\nhint: `help` lists the commands\n"},
        Mistake{"mask a = k <=\n\nshow\n", "1: expected a value, found the end of the formula\nmask a:1:5\n  k <=\n      ^\n"},
        Mistake{"let w = 3\n\nmask a = k <= q &&\n  q - k < v\nshow\n",
                "3: unknown name 'v'\nmask a:2:9\n  q - k < v\n          ^\nhint: known names: b, h, q, k, B, H, Hkv, Sq, Sk, w\n"},
        Mistake{"mask a k <= q", "1: 'a k <' is no name for a mask\nhint: use letters, digits and '_', a letter first\n"},
        Mistake{"mask a", "1: expected `mask NAME = FORMULA`\n"}, Mistake{"facts", "1: expected `facts MASK`\n"},
        Mistake{"run", "1: expected `run MASK [with SCORE]`\n"}, Mistake{"set sq", "1: expected `set NAME VALUE`\n"},
        Mistake{"quit now", "1: expected `quit`\n"},
        Mistake{"table", "1: expected `table NAME = FILE, [LIST] or table NAME[INDEX] = FORMULA`\n"},
        Mistake{"table t = [1,\n 2, x]", "1: table t: the list is no list of numbers\nhint: expected for example [0, 0, 1], or [[1, 2], [3, 4]]\n"},
        Mistake{"table doc = [1, 2, 3]\nrun doc[q] == doc[k]",
                "2: the table 'doc' has shape [3]; expected [at least 4096]\nhint: dimension 0 is indexed by k and q; an extent of 1 is broadcast\n"},
        Mistake{"table doc = [1]\nmask a = dco[q] == doc[k]",
                "2: unknown table 'dco'\nmask a:1:1\n  dco[q] == doc[k]\n  ^^^\nhint: did you mean 'doc'? known tables: doc\n"},
        Mistake{"mask window = k <= q\nrun windw", "2: unknown mask 'windw'\nhint: did you mean window?\n"},
        Mistake{"run k <= q with sof", "1: unknown score 'sof'\nhint: define it: score sof = FORMULA\n"},
        Mistake{"emit k <= q asmm", "1: unknown stage 'asmm'\nhint: did you mean asm?\n"},
        Mistake{"emit asm", "1: expected `emit MASK [with SCORE] STAGE`\nhint: stages: formula, facts, plan, tile, schedule, source, asm\n"},
        Mistake{"set sq -1", "1: set sq '-1': expected an integer from 0 to 1073741824\n"},
        Mistake{"help mak", "1: no help on 'mak'\nhint: did you mean mask?\n"},
        Mistake{"set head_dim 256\nset value_dim 300", "2: set value_dim '300': expected an integer from 0 to 256\n"}));

TEST(ReplScript, StopsAtTheFirstErrorAfterItsAnswers) {
  const Outcome outcome = repl("let w = 3\nshow\nfacst\nshow\n");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "let w = 3\n");
}

TEST(ReplScript, AnErrorInsideAJobHasItsLineToo) {
  const Outcome outcome = heddle_command({"repl", kGolden + "session.heddle"}, {.output = "/dev/full"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "heddle: cannot write to standard output: No space left on device\n");
}

TEST(ReplScript, QuitEndsIt) {
  const Outcome outcome = repl("quit\nfacst\n");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST(ReplScript, FilesThatCannotBeRead) {
  const Outcome missing = heddle_command({"repl", "/no/such"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.err, "heddle: cannot read '/no/such': No such file or directory\n");
  EXPECT_EQ(heddle_command({"repl", "/proc"}).status, 2);
}

TEST(ReplScript, LongLinesAndBinaryInputAreRefused) {
  const Outcome large = repl(std::string(1 << 20, 'k'));
  EXPECT_EQ(large.status, 2);
  EXPECT_EQ(large.err, "heddle: standard input:1: the line has more than 66560 bytes\nhint: state the pattern with /, %, min and max\n");
  const Outcome binary = repl(std::string("\0\x01\xff\n", 4));
  EXPECT_EQ(binary.status, 2);
  EXPECT_NE(binary.err.find("standard input:1:"), std::string::npos) << binary.err;
}

/// Opening and closing loads no compiler; the fastest of a few, since other tests run beside this one.
TEST(ReplScript, OpensInLessThanATenthOfASecond) {
  double fastest = 1e9;
  for (int i = 0; i < 5; ++i) {
    const support::Timer timer;
    EXPECT_EQ(repl("quit\n").status, 0);
    fastest = std::min(fastest, timer.milliseconds());
  }
  EXPECT_LT(fastest, 100);
}

TEST(ReplScript, HelpOfTheCommandHasAnExample) {
  const Outcome help = heddle_command({"repl", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("heddle repl examples/repl/window.heddle"), std::string::npos) << help.out;
}

}  // namespace
}  // namespace heddle::test
