#include "dsl/name_scope.h"
#include <fmt/format.h>
#include <cmath>
#include "src/support/text.h"

namespace heddle::dsl {

namespace {

using ir::Type;
using support::quote;

const char* kind_name(Type type) { return type == Type::Bool ? "mask" : type == Type::Real ? "score" : "size"; }

bool is_reserved(const std::string& name, Type formula) {
  if (formula != Type::Int) return !reserved_as(name).empty();
  return find_function(name) || name == "true" || name == "false";
}

std::string suggestion(std::string_view name, const char* what, const std::vector<std::string>& known) {
  std::vector<std::string> candidates = known;
  candidates.insert(candidates.end(), {"true", "false"});
  const std::string near = support::nearest(name, candidates);
  const std::string all = fmt::format("known {}: {}", what, known.empty() ? "none" : support::list(known));
  return near.empty() ? all : fmt::format("did you mean '{}'? {}", near, all);
}

}  // namespace

void check_parameters(const Parameters& parameters, Type formula, const std::string& origin) {
  for (const auto& [name, value] : parameters) {
    if (!is_identifier(name)) {
      throw UserError(fmt::format("{}: {} is no name for a parameter", origin, quote(name)), "use letters, digits and '_', a letter first");
    }
    if (is_reserved(name, formula)) {
      throw UserError(fmt::format("{}: the parameter '{}' has the name of {}", origin, name, reserved_as(name)), "choose another name");
    }
    const TableOf* table = std::get_if<TableOf>(&value);
    if (table && !ir::is_table_type(table->element)) {
      throw UserError(fmt::format("{}: the table '{}' has elements of {}", origin, name, to_string(table->element)),
                      "expected int32, int64, uint8, bool or float32");
    }
    const double* real = std::get_if<double>(&value);
    if (real && !std::isfinite(*real)) throw UserError(fmt::format("{}: the parameter '{}' is {}", origin, name, *real), "give it a finite value");
  }
}

NameScope::NameScope(const Source& source, const ParseOptions& options) : source_(source), options_(options) {
  check_parameters(options.parameters, options.type, options.origin);
}

ir::Expr NameScope::resolve(const Token& token) const {
  const std::string name(token.text);
  if (name == "true" || name == "false") return ir::bool_const(name == "true");
  const auto found = options_.parameters.find(name);
  if (found != options_.parameters.end()) return parameter(token, found->second);
  if (options_.type != Type::Int && is_index_name(name)) return ir::var(name);
  if (options_.type == Type::Bool && is_score_name(name)) {
    source_.fail(fmt::format("a mask cannot read the score '{}'", name), token.range, "a mask is a condition on b, h, q, k, sizes and parameters");
  }
  if (options_.type == Type::Real && is_score_name(name)) return ir::var("s", Type::Real);
  if (const Function* f = find_function(name)) {
    source_.fail(fmt::format("'{}' is a function", name), token.range, fmt::format("call it: {}({})", name, f->arity == 1 ? "x" : "x, ..."));
  }
  unknown(token);
}

ir::Expr NameScope::parameter(const Token& token, const ParameterValue& value) const {
  const std::string name(token.text);
  if (const int64_t* integer = std::get_if<int64_t>(&value)) return ir::int_const(*integer);
  if (std::holds_alternative<TableOf>(value)) {
    source_.fail(fmt::format("'{}' is a table", name), token.range, fmt::format("read an element: {}[q]", name));
  }
  const Dynamic* dynamic = std::get_if<Dynamic>(&value);
  if (dynamic && !dynamic->real) return ir::param(name, Type::Int);
  require_reals(token, fmt::format("the parameter '{}' is a real number", name));
  return dynamic ? ir::param(name, Type::Real) : ir::real_const(std::get<double>(value));
}

DType NameScope::table(const Token& token) const {
  const std::string name(token.text);
  const auto found = options_.parameters.find(name);
  const TableOf* table = found == options_.parameters.end() ? nullptr : std::get_if<TableOf>(&found->second);
  if (table) {
    if (table->element == DType::Float32) require_reals(token, fmt::format("'{}' is a table of reals", name));
    return table->element;
  }
  std::vector<std::string> tables;
  for (const auto& [known, value] : options_.parameters) {
    if (std::holds_alternative<TableOf>(value)) tables.push_back(known);
  }
  const bool value = found != options_.parameters.end() || !reserved_as(name).empty();
  const std::string near = support::nearest(name, tables);
  source_.fail((value ? quote(name) + " is no table" : "unknown table " + quote(name)), token.range,
               near.empty() ? fmt::format("known tables: {}", tables.empty() ? "none" : support::list(tables))
                            : fmt::format("did you mean '{}'?", near));
}

const Function& NameScope::function(const Token& token) const {
  const Function* found = find_function(token.text);
  if (!found) {
    const bool value = options_.parameters.count(std::string(token.text)) || is_index_name(token.text) || is_score_name(token.text);
    if (value) source_.fail(quote(token.text) + " is not a function", token.range, "a product needs '*'");
    source_.fail("unknown function " + quote(token.text), token.range, suggestion(token.text, "functions", function_names()));
  }
  if (found->real) require_reals(token, fmt::format("'{}' is a function of reals", found->name));
  return *found;
}

void NameScope::require_reals(const Token& token, const std::string& what) const {
  if (options_.type == Type::Real) return;
  source_.fail(fmt::format("a {} is an integer formula, but {}", kind_name(options_.type), what), token.range,
               options_.type == Type::Bool ? "reals belong into the score" : "");
}

void NameScope::unknown(const Token& token) const {
  source_.fail("unknown name " + quote(token.text), token.range, suggestion(token.text, "names", known()));
}

std::vector<std::string> NameScope::known() const {
  std::vector<std::string> names;
  if (options_.type != Type::Int) names = index_names();
  if (options_.type == Type::Real) names.push_back("s");
  for (const auto& [name, value] : options_.parameters) names.push_back(name);
  return names;
}

}  // namespace heddle::dsl
