#include <gtest/gtest.h>

#include "heddle/error.h"
#include "heddle/formula.h"
#include "test/process.h"

namespace heddle::test {
namespace {

struct Case {
  const char* name;
  std::string formula;
  std::string message;
};

const Parameters kParameters = {{"window", int64_t{4}}, {"cap", 1.5}, {"step", Dynamic{}}};
const std::vector<std::string> kParameterOptions = {"--param", "window=4", "--param", "cap=1.5", "--param", "step=dynamic"};
const char* const kKnownNames = "known names: b, h, q, k, B, H, Hkv, Sq, Sk, cap, step, window";

template <typename Parse>
std::string message_of(Parse parse) {
  try {
    parse();
  } catch (const UserError& error) {
    return error.what();
  }
  return "(no error)";
}

/// The command prints the same message and ends with status 2, whatever subcommand reads the formula.
void expect_command_says(std::vector<std::string> arguments, const std::string& message) {
  arguments.insert(arguments.end(), kParameterOptions.begin(), kParameterOptions.end());
  const Outcome outcome = heddle_command(arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "heddle: " + message + "\n");
}

class MaskErrors : public testing::TestWithParam<Case> {};

TEST_P(MaskErrors, ThroughTheApi) {
  EXPECT_EQ(message_of([] { Mask::parse(GetParam().formula, kParameters); }), GetParam().message);
}

TEST_P(MaskErrors, ThroughTheCommand) {
  expect_command_says({"facts", "--mask", GetParam().formula, "--sq", "4"}, GetParam().message);
  expect_command_says({"plan", "--mask", GetParam().formula}, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Formulas, MaskErrors,
    testing::Values(
        Case{"UnknownName", "k <= q && q - k < width",
             std::string("unknown name 'width'\nmask:1:19\n  k <= q && q - k < width\n                    ^^^^^\nhint: ") +
                 kKnownNames},
        Case{"MisspeltName", "k <= q && q - k < windw",
             std::string("unknown name 'windw'\nmask:1:19\n  k <= q && q - k < windw\n                    ^^^^^\n"
                         "hint: did you mean 'window'? ") +
                 kKnownNames},
        Case{"WrongCase", "Q < k",
             std::string("unknown name 'Q'\nmask:1:1\n  Q < k\n  ^\nhint: did you mean 'q'? ") + kKnownNames},
        Case{"SecondLine", "k <= q &&\n  q - k < width",
             std::string("unknown name 'width'\nmask:2:11\n    q - k < width\n            ^^^^^\nhint: ") + kKnownNames},
        Case{"UnknownFunction", "foo(q) < 3",
             "unknown function 'foo'\nmask:1:1\n  foo(q) < 3\n  ^^^\n"
             "hint: known functions: abs, min, max, clamp, exp, log, tanh, sigmoid, sqrt, softcap, real"},
        Case{"IntegerAsCondition", "q && 3",
             "'&&' needs conditions, but 'q' is an integer\nmask:1:1\n  q && 3\n  ^\n"
             "hint: compare it with something, as in `... != 0`"},
        Case{"NotOfAnInteger", "!q",
             "'!' needs a condition, but 'q' is an integer\nmask:1:2\n  !q\n   ^\n"
             "hint: compare it with something, as in `... != 0`"},
        Case{"ConditionAsInteger", "(q < k) + 1 > 0",
             "'+' needs numbers, but '(q < k)' is a condition\nmask:1:1\n  (q < k) + 1 > 0\n  ^^^^^^^\n"
             "hint: `condition ? 1 : 0` makes a number of a condition"},
        Case{"IntegerMask", "k - q",
             "a mask must be a condition, but this formula is an integer\nmask:1:1\n  k - q\n  ^^^^^\n"
             "hint: compare it, as in `... != 0`"},
        Case{"BranchesDiffer", "(k <= q) ? q : k < 3",
             "the branches of '?:' differ: 'q' is an integer, but 'k < 3' is a condition\nmask:1:12\n  (k <= q) ? q : k < 3\n"
             "             ^^^^^^^^^\nhint: make both numbers, or both conditions"},
        Case{"RealLiteral", "q < 1.5",
             "a mask is an integer formula, but '1.5' is a real number\nmask:1:5\n  q < 1.5\n      ^^^\n"
             "hint: reals belong into the score"},
        Case{"RealParameter", "q < cap",
             "a mask is an integer formula, but the parameter 'cap' is a real number\nmask:1:5\n  q < cap\n      ^^^\n"
             "hint: reals belong into the score"},
        Case{"ScoreInAMask", "s > 0",
             "a mask cannot read the score 's'\nmask:1:1\n  s > 0\n  ^\n"
             "hint: a mask is a condition on b, h, q, k, sizes and parameters"},
        Case{"NeverClosed", "(k <= q", "'(' is never closed\nmask:1:1\n  (k <= q\n  ^\nhint: add the missing ')'"},
        Case{"NeverOpened", "k <= q)",
             "')' closes nothing\nmask:1:7\n  k <= q)\n        ^\nhint: remove it, or open a '(' before it"},
        Case{"CutOff", "k <=", "expected a value, found the end of the formula\nmask:1:5\n  k <=\n      ^"},
        Case{"Blank", "   ", "the formula is empty\nmask:1:4\n     \n     ^"},
        Case{"Chained", "q < k < 3",
             "comparisons cannot be chained\nmask:1:1\n  q < k < 3\n  ^^^^^^^^^\nhint: write q < k && k < 3"},
        Case{"HalfAChoice", "k <= q ? true",
             "expected ':' and the other branch of '?', found the end of the formula\nmask:1:14\n  k <= q ? true\n             "
             "  ^"},
        Case{"SingleEquals", "k = q",
             "expected an operator, found '='\nmask:1:3\n  k = q\n    ^\nhint: equality is written =="},
        Case{"Word", "q < k and k < 5",
             "expected an operator, found 'and'\nmask:1:7\n  q < k and k < 5\n        ^^^\nhint: write &&"},
        Case{"StrangeCharacter", "q # k", "unexpected character '#'\nmask:1:3\n  q # k\n    ^"},
        Case{"NumberBesideName", "3q < k",
             "malformed number\nmask:1:1\n  3q < k\n  ^^\nhint: numbers look like 64, 0.5 or 1e-3; a product needs '*'"},
        Case{"TooManyArguments", "abs(q, k) < 3", "'abs' takes 1 argument, not 2\nmask:1:1\n  abs(q, k) < 3\n  ^^^^^^^^^"},
        Case{"TooFewArguments", "min(q) < 3", "'min' takes 2 arguments, not 1\nmask:1:1\n  min(q) < 3\n  ^^^^^^"},
        Case{"LiteralTooLarge", "q - k < 9223372036854775808",
             "'9223372036854775808' does not fit into a 64-bit integer\nmask:1:9\n  q - k < 9223372036854775808\n"
             "          ^^^^^^^^^^^^^^^^^^^\nhint: integers reach from -2^63 to 2^63 - 1"},
        Case{"ConstantOverflows", "9223372036854775807 + 1 > k",
             "'9223372036854775807 + 1' does not fit into a 64-bit integer\nmask:1:1\n  9223372036854775807 + 1 > k\n"
             "  ^^^^^^^^^^^^^^^^^^^^^^^\nhint: integers reach from -2^63 to 2^63 - 1"},
        Case{"DivisionByZero", "q / 0 == k", "'/' by zero\nmask:1:5\n  q / 0 == k\n      ^\nhint: use a divisor that is not 0"},
        Case{"ModuloByZero", "q % (window - 4) == k",
             "'%' by zero: '(window - 4)' is 0\nmask:1:5\n  q % (window - 4) == k\n      ^^^^^^^^^^^^\n"
             "hint: use a divisor that is not 0"},
        Case{"Table", "doc[q] == doc[k]",
             "unknown table 'doc'\nmask:1:1\n  doc[q] == doc[k]\n  ^^^\nhint: known tables: none"}),
    [](const auto& one) { return std::string(one.param.name); });

class ScoreErrors : public testing::TestWithParam<Case> {};

TEST_P(ScoreErrors, ThroughTheApi) {
  EXPECT_EQ(message_of([] { Score::parse(GetParam().formula, kParameters); }), GetParam().message);
}

TEST_P(ScoreErrors, ThroughTheCommand) {
  expect_command_says({"explain", "--mask", "k <= q", "--score", GetParam().formula}, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Formulas, ScoreErrors,
    testing::Values(Case{"UnknownName", "s + slope",
                         std::string("unknown name 'slope'\nscore:1:5\n  s + slope\n      ^^^^^\nhint: known names: "
                                     "b, h, q, k, B, H, Hkv, Sq, Sk, s, cap, step, window")},
                    Case{"Condition", "k <= q",
                         "a score must be a number, but this formula is a condition\nscore:1:1\n  k <= q\n  ^^^^^^\n"
                         "hint: make it the mask, or write `condition ? a : b`"},
                    Case{"TooFewArguments", "softcap(s)",
                         "'softcap' takes 2 arguments, not 1\nscore:1:1\n  softcap(s)\n  ^^^^^^^^^^"},
                    Case{"RealTooLarge", "1e999 * s",
                         "'1e999' does not fit into a double\nscore:1:1\n  1e999 * s\n  ^^^^^\n"
                         "hint: reals reach from 5e-324 to 1.7e308"}),
    [](const auto& one) { return std::string(one.param.name); });

/// A text too large for an argument reaches the command as a file.
void expect_file_says(const std::string& formula, const std::string& message) {
  EXPECT_EQ(message_of([&] { Mask::parse(formula); }), message);
  const Folder folder;
  write_file(folder / "mask.txt", formula);
  const Outcome outcome = heddle_command({"facts", "--mask-file", folder / "mask.txt", "--sq", "4"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "heddle: " + message + "\n");
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(FormulaBombs, TenMegabytes) {
  expect_file_says("k <= q" + repeated(" && k <= q", 1 << 20),
                   "mask: the formula has 10485766 bytes, but at most 65536 are read\n"
                   "hint: state the pattern with /, %, min and max");
}

TEST(FormulaBombs, NestedParentheses) {
  expect_file_says(repeated("(", 30000) + "k" + repeated(")", 30000) + " <= q",
                   "the formula nests more than 200 levels deep\nmask:1:202\n  ..." + repeated("(", 100) + "...\n  " +
                       repeated(" ", 23) + "^\nhint: take it apart");
}

TEST(FormulaBombs, Negations) {
  const std::string message = message_of([] { Mask::parse(repeated("!", 60000) + "(k <= q)"); });
  EXPECT_TRUE(message.starts_with("the formula nests more than 200 levels deep\nmask:1:")) << message;
}

TEST(FormulaBombs, LongChains) {
  const std::string message = message_of([] { Mask::parse("q" + repeated("+k", 30000) + " > 0"); });
  EXPECT_TRUE(message.starts_with("the formula chains more than 6000 operations\nmask:1:1\n")) << message;
  EXPECT_LT(message.size(), 600u);
}

/// The same mistakes made with C++ operators: no text to show, the same words.
TEST(FormulaErrors, BuiltInCpp) {
  EXPECT_EQ(message_of([] { mask([](Index q, Index k) { return q / (k - k) == q % 0; }); }),
            "'%' by zero\nhint: use a divisor that is not 0");
}

TEST(FormulaErrors, SpanIsTheFieldOfTheError) {
  try {
    Mask::parse("k <= q &&\n  q - k < width", {}, "local");
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "unknown name 'width'");
    EXPECT_EQ(error.span().origin, "local");
    EXPECT_EQ(error.span().line(), 2u);
    EXPECT_EQ(error.span().column(), 11u);
    EXPECT_EQ(error.span().offset, 20u);
    EXPECT_EQ(error.span().length, 5u);
  }
}

TEST(FormulaErrors, ParameterNames) {
  EXPECT_EQ(message_of([] {
              Mask::parse("k <= q", {{"q", int64_t{1}}});
            }),
            "mask: the parameter 'q' has the name of an index variable\nhint: choose another name");
  EXPECT_EQ(message_of([] {
              Mask::parse("k <= q", {{"two words", int64_t{1}}});
            }),
            "mask: 'two words' is no name for a parameter\nhint: use letters, digits and '_', a letter first");
}

}  // namespace
}  // namespace heddle::test
