#include "dsl/parser.h"
#include <gtest/gtest.h>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include "heddle/error.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"
#include "src/support/timer.h"

namespace heddle::dsl {
namespace {

ir::Expr mask(const std::string& text, const Parameters& parameters = {}) { return parse_formula(text, {ir::Type::Bool, parameters, "mask"}); }
ir::Expr score(const std::string& text, const Parameters& parameters = {}) { return parse_formula(text, {ir::Type::Real, parameters, "score"}); }

bool at(const ir::Expr& expr, int64_t q, int64_t k) {
  return evaluate_bool(expr, {.ints = {{"b", 0}, {"h", 0}, {"q", q}, {"k", k}}, .reals = {}, .args = {}});
}

TEST(Parser, OperatorsBindAsTheGrammarSays) {
  const auto same = [](const char* a, const char* b) { EXPECT_TRUE(equal(mask(a), mask(b))) << a << " | " << b; };
  same("q < k && k < 3 || q == 1", "((q < k) && (k < 3)) || (q == 1)");
  same("q + k * 2 < 3", "(q + (k * 2)) < 3");
  same("q - k - 1 == 0", "((q - k) - 1) == 0");
  same("q / 2 / 3 % 5 == 0", "(((q / 2) / 3) % 5) == 0");
  same("-q * k == 0", "(-q) * k == 0");
  same("!(q == k) || q < k", "(!(q == k)) || (q < k)");
  same("q < 1 ? k < 1 : q < 2 ? k < 2 : k < 3", "q < 1 ? (k < 1) : (q < 2 ? (k < 2) : (k < 3))");
  same("q\n<\t\r k", "q<k");
}

TEST(Parser, IntegerDivisionIsFloorDivision) {
  EXPECT_TRUE(at(mask("(q - 3) / 2 == -1 && (q - 3) % 2 == 1"), 2, 0));
  EXPECT_TRUE(at(mask("7 / -2 == -4 && 7 % -2 == -1"), 0, 0));
}

TEST(Parser, InlinesBoundParametersAndKeepsDynamicOnes) {
  EXPECT_EQ(print(mask("q - k < w", {{"w", int64_t{256}}})), "q - k < 256");
  EXPECT_EQ(print(mask("q - k < w", {{"w", int64_t{-3}}})), "q - k < -3");
  EXPECT_EQ(print(score("s * t", {{"t", 0.5}})), "s * 0.5");
  const auto types = parameters(score("s * t + off", {{"t", Dynamic{true}}, {"off", Dynamic{}}}));
  EXPECT_EQ(types, (std::map<std::string, ir::Type>{{"off", ir::Type::Int}, {"t", ir::Type::Real}}));
}

TEST(Parser, OnlyVariablesSizesFunctionsAndLiteralsAreReserved) {
  EXPECT_EQ(print(mask("q < len && k < end && pre == 1", {{"len", int64_t{1}}, {"end", int64_t{2}}, {"pre", int64_t{3}}})),
            "q < 1 && k < 2 && 3 == 1");
}

TEST(Parser, FoldsIntegerConstants) {
  EXPECT_EQ(print(mask("q + (512 - 64) >= k")), "q + 448 >= k");
  EXPECT_EQ(print(mask("q < min(abs(-3), 7) * 2 % 4")), "q < 2");
  EXPECT_EQ(print(mask("q == -(9223372036854775807) - 1")), "q == -9223372036854775808");
}

TEST(Parser, FunctionsDesugar) {
  EXPECT_EQ(print(score("softcap(s, 30)")), "30 * tanh(s / 30)");
  EXPECT_EQ(print(mask("clamp(q, 3, 9) == k")), "min(max(q, 3), 9) == k");
  EXPECT_EQ(print(score("clamp(s, -1, 1.5)")), "min(max(s, -1), 1.5)");
}

TEST(Parser, ScoreHasTwoSpellingsAndIntegersPromote) {
  EXPECT_TRUE(equal(score("s"), score("score")));
  EXPECT_EQ(score("q - k")->type, ir::Type::Real);
  EXPECT_EQ(score("s - (q - k)")->operands[1]->op, ir::Op::ToReal);
}

TEST(Parser, SizesAreFormulasOfParameters) {
  const Parameters dims = {{"B", int64_t{2}}, {"S", int64_t{512}}, {"q", int64_t{8}}};
  EXPECT_EQ(print(parse_formula("S * q / B", {ir::Type::Int, dims, "shape"})), "2048");
  EXPECT_THROW(parse_formula("k", {ir::Type::Int, dims, "shape"}), UserError);
}

TEST(Parser, ReadsEveryCaseFileFormulaWithoutTables) {
  std::ifstream file(std::string(HEDDLE_SOURCE_DIR) + "/test/cases/masks.json");
  const auto document = nlohmann::json::parse(file);
  int read = 0;
  for (const char* part : {"cases", "huge"}) {
    for (const auto& entry : document.at(part)) {
      if (entry.contains("tables") || entry.contains("lcg_tables")) continue;
      const std::string text = entry.at("formula");
      EXPECT_NO_THROW(EXPECT_TRUE(equal(mask(text), mask(print(mask(text)))))) << text;
      ++read;
    }
  }
  EXPECT_GT(read, 150);
}

TEST(Parser, LongChainsAreLegal) {
  std::string text = "k == 0";
  for (int i = 1; i < 5000; ++i) text += " || k == " + std::to_string(i);
  const ir::Expr expr = mask(text);
  EXPECT_EQ(print(expr), text);
  EXPECT_TRUE(at(expr, 0, 4999));
  EXPECT_FALSE(at(expr, 0, 5000));
  EXPECT_TRUE(equal(expr, simplify(expr)));
  EXPECT_TRUE(equal(expr, mask(text)));
  EXPECT_EQ(ir::CompiledExpr(expr, {"q", "k"}).run_int(std::array<int64_t, 2>{0, 4999}.data()), 1);
  EXPECT_EQ(ir::variables(expr), std::set<std::string>{"k"});
}

TEST(Parser, PermittedNestingIsLegal) {
  const std::string text = std::string(kMaxNesting, '(') + "q" + std::string(kMaxNesting, ')') + " < k";
  EXPECT_EQ(print(mask(text)), "q < k");
  std::string choices = "q < 0 ? k < 0 : ";
  for (int i = 1; i < 1000; ++i) choices += "q < " + std::to_string(i) + " ? k < 1 : ";
  EXPECT_TRUE(at(mask(choices + "k < 2"), 1000, 1));
}

TEST(Parser, HostileTextsFailFast) {
  const support::Timer timer;
  EXPECT_THROW(mask(std::string(10'000'000, '(')), UserError);
  EXPECT_THROW(mask(std::string(kMaxFormulaBytes, '(')), UserError);
  EXPECT_THROW(mask(std::string(kMaxFormulaBytes, '-')), UserError);
  EXPECT_THROW(mask(std::string(kMaxFormulaBytes, '9')), UserError);
  EXPECT_THROW(mask(std::string(kMaxFormulaBytes, 'x')), UserError);
  std::string sum = "q";
  while (sum.size() + 8 < kMaxFormulaBytes) sum += "+q";
  EXPECT_THROW(mask(sum + " < 1"), UserError);
  std::string caps = "s";
  for (int i = 0; i < 150; ++i) caps = "softcap(1.5, " + caps + ")";
  EXPECT_THROW(score(caps), UserError);
  EXPECT_LT(timer.milliseconds(), 1000);
}

}  // namespace
}  // namespace heddle::dsl
