// Every mistake in a formula: the exact message.
#include <gtest/gtest.h>
#include <algorithm>
#include <limits>
#include <string>
#include "dsl/parser.h"
#include "heddle/error.h"

namespace heddle::dsl {
namespace {

std::string message(const std::string& text, ir::Type type = ir::Type::Bool, const Parameters& parameters = {}) {
  try {
    parse_formula(text, {type, parameters, "mask"});
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}
std::string score_message(const std::string& text) { return message(text, ir::Type::Real); }

struct Mistake {
  const char* text;
  const char* message;
};

class MaskMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(MaskMistakes, SayWhatWasFoundAndExpected) {
  EXPECT_EQ(message(GetParam().text, ir::Type::Bool, {{"w", int64_t{8}}, {"t", Dynamic{true}}, {"c", 0.5}}), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, MaskMistakes,
    ::testing::Values(
        Mistake{"k <= q && kk < 3",
                "unknown name 'kk'\nmask:1:11\n  k <= q && kk < 3\n            ^^\n"
                "hint: did you mean 'k'? known names: b, h, q, k, B, H, Hkv, Sq, Sk, c, t, w"},
        Mistake{"True", "unknown name 'True'\nmask:1:1\n  True\n  ^^^^\nhint: did you mean 'true'? known names: b, h, q, k, B, H, Hkv, Sq, Sk, c, t, w"},
        Mistake{"ab(q) == 1",
                "unknown function 'ab'\nmask:1:1\n  ab(q) == 1\n  ^^\n"
                "hint: did you mean 'abs'? known functions: abs, min, max, clamp, exp, log, tanh, sigmoid, sqrt, softcap, real"},
        Mistake{"q_idx >= kv_idx", "unknown name 'q_idx'\nmask:1:1\n  q_idx >= kv_idx\n  ^^^^^\nhint: did you mean 'q'? known names: b, h, q, k, B, H, Hkv, Sq, Sk, c, t, w"},
        Mistake{"q >= kv_idx", "unknown name 'kv_idx'\nmask:1:6\n  q >= kv_idx\n       ^^^^^^\nhint: did you mean 'k'? known names: b, h, q, k, B, H, Hkv, Sq, Sk, c, t, w"},
        Mistake{"k < absq", "unknown name 'absq'\nmask:1:5\n  k < absq\n      ^^^^\nhint: did you mean the function 'abs', as in abs(x)? known names: b, h, q, k, B, H, Hkv, Sq, Sk, c, t, w"},
        Mistake{"k < Q", "unknown name 'Q'\nmask:1:5\n  k < Q\n      ^\nhint: did you mean 'q'? known names: b, h, q, k, B, H, Hkv, Sq, Sk, c, t, w"},
        Mistake{"where(k < q, 1, 0) == 1", "unknown function 'where'\nmask:1:1\n  where(k < q, 1, 0) == 1\n  ^^^^^\nhint: write condition ? a : b"},
        Mistake{"mod(q, 3) == 1", "unknown function 'mod'\nmask:1:1\n  mod(q, 3) == 1\n  ^^^\nhint: write a % b"},
        Mistake{"q(k) == 1", "'q' is not a function\nmask:1:1\n  q(k) == 1\n  ^\nhint: a product needs '*'"},
        Mistake{"abs < 1", "'abs' is a function\nmask:1:1\n  abs < 1\n  ^^^\nhint: call it: abs(x)"},
        Mistake{"min(q) < 1", "'min' takes 2 arguments, not 1\nmask:1:1\n  min(q) < 1\n  ^^^^^^"},
        Mistake{"abs() < 1", "'abs' takes 1 argument, not 0\nmask:1:1\n  abs() < 1\n  ^^^^^"},
        Mistake{"q && 3", "'&&' needs conditions, but 'q' is an integer\nmask:1:1\n  q && 3\n  ^\nhint: compare it with something, as in `... != 0`"},
        Mistake{"!q", "'!' needs a condition, but 'q' is an integer\nmask:1:2\n  !q\n   ^\nhint: compare it with something, as in `... != 0`"},
        Mistake{"k + (q < 1) == 2",
                "'+' needs numbers, but '(q < 1)' is a condition\nmask:1:5\n  k + (q < 1) == 2\n      ^^^^^^^\n"
                "hint: `condition ? 1 : 0` makes a number of a condition"},
        Mistake{"(q < 1) == (k < 1)",
                "'==' needs numbers, but '(q < 1)' is a condition\nmask:1:1\n  (q < 1) == (k < 1)\n  ^^^^^^^\n"
                "hint: combine conditions with &&, || and !"},
        Mistake{"q ? k < 1 : k < 2", "'?:' needs a condition, but 'q' is an integer\nmask:1:1\n  q ? k < 1 : k < 2\n  ^\n"
                                     "hint: compare it with something, as in `... != 0`"},
        Mistake{"q < 1 ? 3 : k < 1",
                "the branches of '?:' differ: '3' is an integer, but 'k < 1' is a condition\nmask:1:9\n  q < 1 ? 3 : k < 1\n          ^^^^^^^^^\n"
                "hint: make both numbers, or both conditions"},
        Mistake{"k", "a mask must be a condition, but this formula is an integer\nmask:1:1\n  k\n  ^\nhint: compare it, as in `... != 0`"},
        Mistake{"s > 0", "a mask cannot read the score 's'\nmask:1:1\n  s > 0\n  ^\nhint: a mask is a condition on b, h, q, k, sizes and parameters"},
        Mistake{"q < 0.5", "a mask is an integer formula, but '0.5' is a real number\nmask:1:5\n  q < 0.5\n      ^^^\nhint: reals belong into the score"},
        Mistake{"exp(q) < 1",
                "a mask is an integer formula, but 'exp' is a function of reals\nmask:1:1\n  exp(q) < 1\n  ^^^\nhint: reals belong into the score"},
        Mistake{"q < t",
                "a mask is an integer formula, but the parameter 't' is a real number\nmask:1:5\n  q < t\n      ^\nhint: reals belong into the score"},
        Mistake{"q < c",
                "a mask is an integer formula, but the parameter 'c' is a real number\nmask:1:5\n  q < c\n      ^\nhint: reals belong into the score"},
        Mistake{"q < k < 3", "comparisons cannot be chained\nmask:1:1\n  q < k < 3\n  ^^^^^^^^^\nhint: write q < k && k < 3"},
        Mistake{"q == k < 3", "comparisons cannot be chained\nmask:1:1\n  q == k < 3\n  ^^^^^^^^^^\nhint: write q == k && k < 3"},
        Mistake{"q / 0 == k", "'/' by zero\nmask:1:5\n  q / 0 == k\n      ^\nhint: use a divisor that is not 0"},
        Mistake{"q % (w - 8) == k", "'%' by zero: '(w - 8)' is 0\nmask:1:5\n  q % (w - 8) == k\n      ^^^^^^^\nhint: use a divisor that is not 0"},
        Mistake{"q < 9223372036854775808",
                "'9223372036854775808' does not fit into a 64-bit integer\nmask:1:5\n  q < 9223372036854775808\n      ^^^^^^^^^^^^^^^^^^^\n"
                "hint: integers reach from -2^63 to 2^63 - 1"},
        Mistake{"q < 4611686018427387904 * 2",
                "'4611686018427387904 * 2' does not fit into a 64-bit integer\nmask:1:5\n  q < 4611686018427387904 * 2\n"
                "      ^^^^^^^^^^^^^^^^^^^^^^^\nhint: integers reach from -2^63 to 2^63 - 1"},
        Mistake{"doc[q] == doc[k]", "unknown table 'doc'\nmask:1:1\n  doc[q] == doc[k]\n  ^^^\nhint: known tables: none"},
        Mistake{"(q < 1", "'(' is never closed\nmask:1:1\n  (q < 1\n  ^\nhint: add the missing ')'"},
        Mistake{"q < 1)", "')' closes nothing\nmask:1:6\n  q < 1)\n       ^\nhint: remove it, or open a '(' before it"},
        Mistake{"(q < 1 k)", "expected an operator or ')', found 'k'\nmask:1:8\n  (q < 1 k)\n         ^"},
        Mistake{"q <", "expected a value, found the end of the formula\nmask:1:4\n  q <\n     ^"},
        Mistake{"q < 1 ? k < 2", "expected ':' and the other branch of '?', found the end of the formula\nmask:1:14\n  q < 1 ? k < 2\n               ^"},
        Mistake{"q = 1", "expected an operator, found '='\nmask:1:3\n  q = 1\n    ^\nhint: equality is written =="},
        Mistake{"q < 1 and k < 2", "expected an operator, found 'and'\nmask:1:7\n  q < 1 and k < 2\n        ^^^\nhint: write &&"},
        Mistake{"3q < 1", "malformed number\nmask:1:1\n  3q < 1\n  ^^\nhint: numbers look like 64, 0.5 or 1e-3; a product needs '*'"},
        Mistake{"q # 1", "unexpected character '#'\nmask:1:3\n  q # 1\n    ^"},
        Mistake{"q \xe2\x89\xa4 1", "unexpected character '\xe2\x89\xa4'\nmask:1:3\n  q \xe2\x89\xa4 1\n    ^"},
        Mistake{"q < 1\n  && kq < 2",
                "unknown name 'kq'\nmask:2:6\n    && kq < 2\n       ^^\nhint: did you mean 'q'? known names: b, h, q, k, B, H, Hkv, Sq, Sk, c, t, w"},
        Mistake{"", "mask: the formula is empty"}, Mistake{" ", "the formula is empty\nmask:1:2\n   \n   ^"}));

TEST(ScoreMistakes, SayWhatWasFoundAndExpected) {
  EXPECT_EQ(score_message("q < k"),
            "a score must be a number, but this formula is a condition\nmask:1:1\n  q < k\n  ^^^^^\n"
            "hint: make it the mask, or write `condition ? a : b`");
  EXPECT_EQ(score_message("s % 2"), "'%' needs integers, but 's' is a real number\nmask:1:1\n  s % 2\n  ^");
  EXPECT_EQ(score_message("s / 0.0"), "'/' by zero\nmask:1:5\n  s / 0.0\n      ^^^\nhint: use a divisor that is not 0");
  EXPECT_EQ(score_message("softcap(s, 0)"),
            "'softcap' by zero\nmask:1:12\n  softcap(s, 0)\n             ^\nhint: use a divisor that is not 0");
  EXPECT_EQ(score_message("softcap(q < k, 2)"),
            "'softcap' needs numbers, but 'q < k' is a condition\nmask:1:9\n  softcap(q < k, 2)\n          ^^^^^\n"
            "hint: `condition ? 1 : 0` makes a number of a condition");
  EXPECT_EQ(score_message("1e999"), "'1e999' does not fit into a double\nmask:1:1\n  1e999\n  ^^^^^\nhint: reals reach from 5e-324 to 1.7e308");
}

TEST(ParameterMistakes, SayWhatWasFoundAndExpected) {
  EXPECT_EQ(message("q < 1", ir::Type::Bool, {{"q", int64_t{1}}}),
            "mask: the parameter 'q' has the name of an index variable\nhint: choose another name");
  EXPECT_EQ(message("q < 1", ir::Type::Bool, {{"Sk", int64_t{1}}}), "mask: the parameter 'Sk' has the name of a size\nhint: choose another name");
  EXPECT_EQ(message("q < 1", ir::Type::Bool, {{"abs", int64_t{1}}}), "mask: the parameter 'abs' has the name of a function\nhint: choose another name");
  EXPECT_EQ(message("q < 1", ir::Type::Bool, {{"true", int64_t{1}}}), "mask: the parameter 'true' has the name of a literal\nhint: choose another name");
  EXPECT_EQ(message("q < 1", ir::Type::Bool, {{"score", 1.0}}), "mask: the parameter 'score' has the name of the score\nhint: choose another name");
  EXPECT_EQ(message("q < 1", ir::Type::Bool, {{"a b", int64_t{1}}}),
            "mask: 'a b' is no name for a parameter\nhint: use letters, digits and '_', a letter first");
  EXPECT_EQ(message("q < 1", ir::Type::Bool, {{"w", std::numeric_limits<double>::infinity()}}),
            "mask: the parameter 'w' is inf\nhint: give it a finite value");
}

TEST(LimitMistakes, SayTheLimit) {
  EXPECT_EQ(message(std::string(10'000'000, 'x')), "mask: the formula has 10000000 bytes, but at most 65536 are read\n"
                                                  "hint: state the pattern with /, %, min and max");
  EXPECT_EQ(message(std::string(1000, '(')).substr(0, 55), "the formula nests more than 200 levels deep\nmask:1:202\n");
  std::string sum = "q";
  for (int i = 0; i < 7000; ++i) sum += "+q";
  EXPECT_EQ(message(sum + " < 1").substr(0, 46), "the formula chains more than 6000 operations\nm");
}

TEST(Messages, HaveAtMostTenLinesWhateverTheText) {
  for (const std::string& text : {std::string(60'000, 'x'), std::string(60'000, '('), std::string(60'000, '\n') + "q", std::string(60'000, '\x01'),
                                  "q < " + std::string(60'000, '9'), "(" + std::string(60'000, '\n') + "q < 1) + 1"}) {
    const std::string found = message(text);
    EXPECT_FALSE(found.empty());
    EXPECT_LE(std::count(found.begin(), found.end(), '\n'), 9) << found;
    EXPECT_LT(found.size(), 1000u) << found.substr(0, 2000);
  }
}

}  // namespace
}  // namespace heddle::dsl
