// Formulas as masks, scores and sizes: parsing never fails but by a UserError, what parses prints as text that parses to the same tree,
// and simplifying keeps its values.
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "dsl/parser.h"
#include "heddle/error.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"
#include "test/fuzz/target.h"

namespace heddle::fuzz {
namespace {

using ir::Expr;

const Parameters kParameters = {{"w", int64_t{5}},  {"x", 0.5}, {"off", Dynamic{}}, {"t", Dynamic{true}}, {"doc", TableOf{DType::Int32}},
                                {"bias", TableOf{DType::Float32}}};

/// Tables of any rank that a formula asks for: three elements along every dimension.
class TableMemory {
 public:
  ir::Tables tables_of(const Expr& expr) {
    ir::Tables tables;
    for (const auto& [name, use] : ir::tables(expr)) {
      void* data = use.dtype == DType::Float32 ? static_cast<void*>(reals_.data()) : static_cast<void*>(integers_.data());
      tables.emplace(name, Tensor::dense(data, std::vector<int64_t>(static_cast<size_t>(use.rank), use.rank > 4 ? 1 : 3), use.dtype));
    }
    return tables;
  }

 private:
  std::vector<int32_t> integers_ = std::vector<int32_t>(81, 2);
  std::vector<float> reals_ = std::vector<float>(81, 0.25F);
};

double value(const Expr& expr, const ir::Environment& environment) {
  if (expr->type == ir::Type::Bool) return ir::evaluate_bool(expr, environment);
  return ir::evaluate_real(expr, environment);
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void check_values(const Expr& expr) {
  TableMemory memory;
  ir::Environment environment;
  environment.tables = memory.tables_of(expr);
  const Expr simple = ir::simplify(expr);
  for (const auto& [q, k, off] : {std::array<int64_t, 3>{0, 0, 0}, {7, 3, -2}, {3, 8, int64_t{1} << 40}, {1023, 1000, 1}}) {
    environment.ints = {{"b", 1}, {"h", 2}, {"q", q}, {"k", k}, {"B", 2}, {"H", 4}, {"Hkv", 2}, {"Sq", 1024}, {"Sk", 1024}, {"off", off}};
    environment.reals = {{"s", 0.75}, {"t", -1.5}};
    require(same(value(expr, environment), value(simple, environment)), "simplify changes the value of " + ir::print(expr));
  }
}

Expr parse(const std::string& text, ir::Type type) { return dsl::parse_formula(text, {type, kParameters, "formula"}); }

void check(const std::string& text, ir::Type type) {
  Expr expr;
  try {
    expr = parse(text, type);
  } catch (const UserError&) {
    return;
  }
  const std::string printed = ir::print(expr);
  if (printed.size() > dsl::kMaxFormulaBytes || expr->depth > dsl::kMaxNesting) return;  // Its text need not be a legal formula.
  try {
    require(ir::equal(parse(printed, type), expr), "another tree after printing: " + printed);
  } catch (const UserError& error) {
    require(false, "printed text does not parse: " + printed + "\n" + error.what());
  }
  check_values(expr);
}

}  // namespace
}  // namespace heddle::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const heddle::ir::Type type : {heddle::ir::Type::Bool, heddle::ir::Type::Real, heddle::ir::Type::Int}) {
    heddle::fuzz::check(text, type);
  }
  return 0;
}
