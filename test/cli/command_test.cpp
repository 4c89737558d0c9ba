#include <gtest/gtest.h>

#include "test/process.h"

namespace heddle::test {
namespace {

const std::vector<std::vector<std::string>> kCommands = {{"run"},
                                                         {"facts"},
                                                         {"draw"},
                                                         {"plan"},
                                                         {"explain"},
                                                         {"emit"},
                                                         {"verify", "masks"},
                                                         {"cache", "list"},
                                                         {"cache", "stats"},
                                                         {"cache", "verify"},
                                                         {"cache", "clear"},
                                                         {"targets"}};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(Command, HelpNamesEveryCommand) {
  const Outcome help = heddle_command({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const auto& words : kCommands) EXPECT_NE(help.out.find("\n  " + words[0] + " "), std::string::npos) << words[0];
}

TEST(Command, EveryCommandHasHelpWithAnExampleAndJson) {
  for (std::vector<std::string> words : kCommands) {
    const std::string name = joined(words);
    words.push_back("--help");
    const Outcome help = heddle_command(words);
    EXPECT_EQ(help.status, 0) << name;
    EXPECT_EQ(help.err, "") << name;
    EXPECT_NE(help.out.find("Example"), std::string::npos) << name;
    EXPECT_NE(help.out.find("heddle " + name + " "), std::string::npos) << name << ": the example must show the command\n"
                                                                        << help.out;
    EXPECT_NE(help.out.find("--json"), std::string::npos) << name;
  }
}

TEST(Command, Version) {
  const Outcome version = heddle_command({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out, "heddle " HEDDLE_VERSION "\n");
}

struct Mistake {
  std::vector<std::string> words;
  std::string message;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << "heddle " << joined(mistake.words); }

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreOneClearMessageAndStatusTwo) {
  const Outcome outcome = heddle_command(GetParam().words);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, Mistakes,
    testing::Values(
        Mistake{{},
                "heddle: expected a command: facts, draw, plan, explain, emit, run, repl, verify, cache, targets\n"
                "hint: see `heddle --help`\n"},
        Mistake{{"fact"}, "heddle: unknown command 'fact'\nhint: did you mean facts?\n"},
        Mistake{{"weave"}, "heddle: unknown command 'weave'\nhint: `heddle --help` lists what there is\n"},
        Mistake{{"cache"},
                "heddle: cache: expected a command: list, stats, verify, clear\n"
                "hint: see `heddle cache --help`\n"},
        Mistake{{"cache", "lits"}, "heddle: cache: unknown command 'lits'\nhint: did you mean list?\n"},
        Mistake{{"targets", "--jsn"}, "heddle: targets: unknown option '--jsn'\nhint: did you mean --json?\n"},
        Mistake{{"targets", "more"},
                "heddle: targets: unknown argument 'more'\nhint: `heddle targets --help` lists what there is\n"},
        Mistake{{"emit", "--stag", "asm", "--mask", "k <= q"},
                "heddle: emit: unknown option '--stag'\nhint: did you mean --stage?\n"},
        Mistake{{"facts", "--mask", "k <= q"}, "heddle: facts: --sq is required\nhint: see `heddle facts --help`\n"},
        Mistake{{"facts", "--mask", "k <= q", "--sq", "many"},
                "heddle: facts: --sq = many: expected a number\nhint: see `heddle facts --help`\n"},
        Mistake{{"facts", "--mask", "k <= q", "--sq", "-4"}, "heddle: --sq -4: expected 0 to 1073741824\n"},
        Mistake{{"facts", "--mask", "k <= q", "--sq", "4", "--tile", "64"},
                "heddle: --tile '64': expected ROWSxKEYS, each 1 to 1048576, for example 64x64\n"},
        Mistake{{"facts", "--mask", "k <= q", "--sq", "4", "--tile", "0x64"},
                "heddle: --tile '0x64': expected ROWSxKEYS, each 1 to 1048576, for example 64x64\n"},
        Mistake{{"facts", "--mask", "k <= q + w", "--sq", "4", "--param", "w"}, "heddle: --param 'w': expected name=value\n"},
        Mistake{{"facts", "--mask", "k <= q + w", "--sq", "4", "--param", "w=1", "--param", "w=2"},
                "heddle: --param gives 'w' twice\n"},
        Mistake{{"facts", "--mask", "k <= q + w", "--sq", "4", "--param", "w=9223372036854775808"},
                "heddle: --param w: '9223372036854775808' is no value\n"
                "hint: expected a 64-bit integer, a finite real (1.5, 1e-3), `dynamic` (an integer given at launch) or "
                "`dynamic-real`\n"},
        Mistake{{"facts", "--mask", "k <= q", "--sq", "4", "--at", "h=x"}, "heddle: --at h: 'x' is no 64-bit integer\n"},
        Mistake{{"facts", "--sq", "4"},
                "heddle: no mask is given\n"
                "hint: give one formula, for example --mask 'k <= q && q - k < 256'\n"},
        Mistake{{"facts", "--sq", "4", "--mask", "k <= q", "--mask-file", "m.txt"},
                "heddle: --mask and --mask-file are both given\n"
                "hint: give one formula, for example --mask 'k <= q && q - k < 256'\n"},
        Mistake{{"facts", "--sq", "4", "--mask-file", "/no/such/file"},
                "heddle: cannot read '/no/such/file': No such file or directory\n"},
        Mistake{{"facts", "--sq", "4", "--mask-file", "/proc"}, "heddle: cannot read '/proc': Is a directory\n"},
        Mistake{{"plan", "--mask", "k <= q", "--head-dim", "0"}, "heddle: head_dim is 0; expected 1 to 256\n"},
        Mistake{{"plan", "--mask", "k <= q", "--value-dim", "257"},
                "heddle: value_dim is 257; expected 1 to 256, or 0 for head_dim\n"},
        Mistake{{"emit", "--mask", "k <= q", "--stage", "tiles"},
                "heddle: --stage 'tiles': expected one of formula, facts, plan, tile, schedule, source, asm\nhint: did you "
                "mean tile?\n"}));

TEST(Command, ReaderThatWentAwayIsNoCrash) {
  const Outcome outcome = heddle_command({"--help"}, {.closed_pipe = true});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST(Command, FullDiskIsReported) {
  const Outcome outcome = heddle_command({"--help"}, {.output = "/dev/full"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "heddle: cannot write to standard output: No space left on device\n");
}

}  // namespace
}  // namespace heddle::test
