// Formulas as C-like text, compiled for the host, against the evaluator.
#include "src/codegen/clike/expr_text.h"

#include <fmt/format.h>

#include <cmath>

#include "dsl/parser.h"
#include "src/ir/evaluate.h"
#include "test/clike/host_library.h"
#include "test/dsl/random_formula.h"

namespace heddle {
namespace {

using codegen::clike::ExprText;
using codegen::clike::Leaf;

constexpr const char* kInts[] = {"b", "h", "q", "k", "B", "H", "Hkv", "Sq", "Sk", "off"};
constexpr int kIntCount = 10;

/// Leaves as the functions of a library see them: 64-bit ones, or 32-bit ones within `range`.
ExprText leaves(bool wide, ir::Interval range) {
  ExprText text;
  for (const char* name : kInts) {
    const bool varying = std::string("qk").find(name) != std::string::npos;
    text.define(name, {fmt::format("v_{}", name), varying, wide ? 64 : 32, range});
  }
  text.define("s", {"v_s", true, 32, {}});
  text.define("t", {"v_t", false, 32, {}});
  return text;
}

std::string function(int number, const ExprText& leaves, const ir::Expr& expr, bool wide) {
  std::string text = fmt::format("extern \"C\" {} run{}(const long long* ints, const double* reals) {{\n",
                                 expr->type == ir::Type::Real ? "double" : "long long", number);
  for (int i = 0; i < kIntCount; ++i) text += fmt::format("  const {} v_{} = ints[{}];\n", wide ? "i64" : "i32", kInts[i], i);
  text += "  const f32 v_s = reals[0], v_t = reals[1];\n";
  return text + fmt::format("  return {};\n}}\n", leaves.varying(expr));
}

using IntFunction = long long(const long long*, const double*);
using RealFunction = double(const long long*, const double*);

struct Inputs {
  std::vector<long long> ints;
  std::vector<double> reals;
  explicit Inputs(const ir::Environment& from) : reals{from.reals.at("s"), from.reals.at("t")} {
    for (const char* name : kInts) ints.push_back(from.ints.at(name));
  }
};

int64_t value(const ir::Expr& expr, const ir::Environment& at) {
  return expr->type == ir::Type::Bool ? ir::evaluate_bool(expr, at) : ir::evaluate_int(expr, at);
}

void expect_equal(const std::vector<ir::Expr>& formulas, bool wide, ir::Interval range, testing::RandomFormula& random) {
  const ExprText names = leaves(wide, range);
  std::string text;
  for (size_t i = 0; i < formulas.size(); ++i) text += function(static_cast<int>(i), names, formulas[i], wide);
  const test::HostLibrary library(text);
  for (size_t i = 0; i < formulas.size(); ++i) {
    auto* run = library.find<IntFunction>(fmt::format("run{}", i));
    ASSERT_NE(run, nullptr);
    for (int repeat = 0; repeat < 40; ++repeat) {
      ir::Environment at = random.environment();
      if (!wide) {
        for (auto& [name, number] : at.ints) number = std::clamp(number, range.low, range.high);
      }
      const Inputs inputs(at);
      ASSERT_EQ(run(inputs.ints.data(), inputs.reals.data()), value(formulas[i], at)) << print(formulas[i]) << "\n" << names.varying(formulas[i]);
    }
  }
}

std::vector<ir::Expr> integer_formulas(testing::RandomFormula& random, int count) {
  std::vector<ir::Expr> formulas;
  for (int i = 0; i < count; ++i) formulas.push_back(i % 2 ? random.integer(5).node() : random.condition(5, false).node());
  return formulas;
}

TEST(ExprText, IntegersOf64BitsWrapAndDivideAsTheEvaluator) {
  testing::RandomFormula random(1);
  expect_equal(integer_formulas(random, 80), true, ir::Interval::full(), random);
}

TEST(ExprText, IntegersOf32BitsNeverLeaveTheirRange) {
  testing::RandomFormula random(2);
  expect_equal(integer_formulas(random, 80), false, {-(int64_t{1} << 30), (int64_t{1} << 30) - 1}, random);
}

TEST(ExprText, PositionsDivideAsTheEvaluator) {
  testing::RandomFormula random(3);
  std::vector<ir::Expr> formulas;
  for (const char* text : {"q / 7 == k / 7", "q % 32 == k % 32", "(q - k) % 12 == 0", "(q - k) / 8 < 3", "q / (k - 5) > 1", "q % (0 - k) == 2",
                           "abs(q / 32 - k / 32) <= 3 && abs(q % 32 - k % 32) <= 3", "(k - q) % (0 - 4) == 0", "(q * k) % 1000 < 500"}) {
    formulas.push_back(dsl::parse_formula(text, {ir::Type::Bool, {}, "mask"}));
  }
  expect_equal(formulas, false, {0, (int64_t{1} << 30) - 1}, random);
}

TEST(ExprText, RealsAreCloseToTheEvaluator) {
  const std::vector<std::string> texts = {"s - abs(q - k) * exp(-0.5 * (h + 1))", "softcap(s, 30.0)", "sigmoid(s) + tanh(s * 0.01)",
                                          "(k < q ? s : 0.5 * s) / 3",            "max(s, 0.0) - min(s, 1e-3)", "log(abs(s) + 1)",
                                          "sqrt(abs(s)) + q / 3",                 "clamp(s, -1.0, 1.0) * -2.5"};
  const ExprText names = leaves(false, {0, 1000});
  std::string text;
  std::vector<ir::Expr> formulas;
  for (const std::string& formula : texts) {
    formulas.push_back(dsl::parse_formula(formula, {ir::Type::Real, {}, "score"}));
    text += function(static_cast<int>(formulas.size()) - 1, names, formulas.back(), false);
  }
  const test::HostLibrary library(text);
  for (size_t i = 0; i < formulas.size(); ++i) {
    auto* run = library.find<RealFunction>(fmt::format("run{}", i));
    for (const double s : {-40.0, -3.0, -0.2, -0.1, 0.0, 0.15, 1.0, 20.0, 90.0}) {
      ir::Environment at{{}, {{"s", s}, {"t", 1}}, {}};
      for (const char* name : kInts) at.ints[name] = 3;
      at.ints["q"] = 17;
      const Inputs inputs(at);
      const double expected = ir::evaluate_real(formulas[i], at);
      EXPECT_NEAR(run(inputs.ints.data(), inputs.reals.data()), expected, 3e-7 * std::max(1.0, std::abs(expected)) * 8) << texts[i] << " at " << s;
    }
  }
}

TEST(ExprText, NanAndInfinityFollowTheEvaluator) {
  const double nan = std::nan("");
  ExprText names = leaves(false, {0, 10});
  const test::HostLibrary library(function(0, names, dsl::parse_formula("max(s, 1.0)", {ir::Type::Real, {}, "score"}), false) +
                                  function(1, names, dsl::parse_formula("min(1.0, s)", {ir::Type::Real, {}, "score"}), false) +
                                  function(2, names, dsl::parse_formula("q == 3 ? log(0.0) : s", {ir::Type::Real, {}, "score"}), false));
  const long long ints[kIntCount] = {0, 0, 3};
  const double reals[] = {nan, 0};
  EXPECT_TRUE(std::isnan(library.find<RealFunction>("run0")(ints, reals)));
  EXPECT_TRUE(std::isnan(library.find<RealFunction>("run1")(ints, reals)));
  EXPECT_EQ(library.find<RealFunction>("run2")(ints, reals), -INFINITY);
}

TEST(ExprText, ReadsClampTheirIndices) {
  ExprText names;
  names.define("q", {"q", true, 32, {-100, 100}});
  names.define_table("doc", {"doc", {"4"}, {"2"}});
  const ir::Expr read = ir::read("doc", DType::Int32, {ir::var("q")});
  const test::HostLibrary library("extern \"C\" int f(const i32* doc, i32 q) { return " + names.varying(read) + "; }");
  const int table[] = {10, 0, 11, 0, 12, 0, 13, 0, 14};
  auto* run = library.find<int(const int*, int)>("f");
  EXPECT_EQ(run(table, -7), 10);
  EXPECT_EQ(run(table, 3), 13);
  EXPECT_EQ(run(table, 99), 14);
}

TEST(ExprText, TextIsWhatAProgrammerWrites) {
  const ExprText names = leaves(false, {0, 1 << 30});
  const auto text = [&](const char* formula) { return names.text(dsl::parse_formula(formula, {ir::Type::Bool, {}, "mask"})).text; };
  EXPECT_EQ(text("q >= k && q - k < 256"), "v_q >= v_k & v_q - v_k < 256");
  EXPECT_EQ(text("q / 64 == k / 64 || h % 2 == 0"), "v_q >> 6 == v_k >> 6 | splat((v_h & 1) == 0)");
  EXPECT_EQ(text("(q - k) % 3 == 0 && !(k % 7 == 3)"), "floor_mod(v_q - v_k, 3) == 0 & !(v_k % 7 == 3)");
}

}  // namespace
}  // namespace heddle
