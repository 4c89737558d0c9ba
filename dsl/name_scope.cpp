#include "dsl/name_scope.h"
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>
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

/// The word for what other tools' users write.
std::string translation(std::string_view name) {
  constexpr std::pair<std::string_view, const char*> kForeign[] = {
      {"q_idx", "q"}, {"query", "q"}, {"i", "q"}, {"row", "q"}, {"kv_idx", "k"}, {"k_idx", "k"}, {"key", "k"}, {"j", "k"}, {"col", "k"},
      {"batch", "b"}, {"head", "h"},  {"seq_len", "Sk"}};
  for (const auto& [theirs, ours] : kForeign) {
    if (name == theirs) return ours;
  }
  return {};
}

/// How to say what a function of other languages does.
std::string idiom(std::string_view name) {
  constexpr std::pair<std::string_view, const char*> kIdioms[] = {
      {"mod", "write a % b"},        {"floor", "integer / rounds down"}, {"floordiv", "write a / b, which rounds down"},
      {"where", "write condition ? a : b"}, {"select", "write condition ? a : b"}, {"pow", "there is no power: multiply, or exp(y * log(x))"},
      {"not", "write !"}};
  for (const auto& [theirs, ours] : kIdioms) {
    if (name == theirs) return ours;
  }
  return {};
}

std::string known_list(const char* what, const std::vector<std::string>& known) {
  return fmt::format("known {}: {}", what, known.empty() ? "none" : support::list(known));
}

std::string call_of(const Function& f) { return fmt::format("{}({})", f.name, f.arity == 1 ? "x" : "x, ..."); }

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
    source_.fail(fmt::format("'{}' is a function", name), token.range, fmt::format("call it: {}", call_of(*f)));
  }
  std::vector<std::string> candidates = known();
  candidates.insert(candidates.end(), {"true", "false"});
  source_.fail("unknown name " + quote(token.text), token.range, guess(token.text, candidates) + known_list("names", known()));
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
  if (const Function* f = find_function(name)) {
    source_.fail(fmt::format("'{}' is a function", name), token.range, fmt::format("call it: {}", call_of(*f)));
  }
  const bool value = found != options_.parameters.end() || !reserved_as(name).empty();
  source_.fail((value ? quote(name) + " is no table" : "unknown table " + quote(name)), token.range,
               (value ? "" : guess(name, tables())) + known_list("tables", tables()));
}

const Function& NameScope::function(const Token& token) const {
  const Function* found = find_function(token.text);
  if (!found) {
    const std::string name(token.text), meant = idiom(name);
    if (std::ranges::count(tables(), name) > 0) source_.fail(quote(name) + " is a table", token.range, fmt::format("read an element: {}[q]", name));
    const bool value = options_.parameters.contains(name) || is_index_name(name) || is_score_name(name);
    if (value) source_.fail(quote(name) + " is not a function", token.range, "a product needs '*'");
    source_.fail("unknown function " + quote(name), token.range,
                 meant.empty() ? guess(name, function_names()) + known_list("functions", function_names()) : meant);
  }
  if (found->real) require_reals(token, fmt::format("'{}' is a function of reals", found->name));
  return *found;
}

void NameScope::require_reals(const Token& token, const std::string& what) const {
  if (options_.type == Type::Real) return;
  source_.fail(fmt::format("a {} is an integer formula, but {}", kind_name(options_.type), what), token.range,
               options_.type == Type::Bool ? "reals belong into the score" : "");
}

std::string NameScope::guess(std::string_view name, const std::vector<std::string>& fitting) const {
  const std::string word = options_.type == Type::Int ? "" : translation(name);
  if (!word.empty() && std::ranges::count(fitting, word) > 0) return fmt::format("did you mean '{}'? ", word);
  if (const std::string near = support::nearest(name, fitting); !near.empty()) return fmt::format("did you mean '{}'? ", near);
  if (const std::string near = support::nearest(name, tables()); !near.empty()) return fmt::format("did you mean the table '{0}', as in {0}[q]? ", near);
  const std::string near = support::nearest(name, function_names());
  return near.empty() ? "" : fmt::format("did you mean the function '{}', as in {}? ", near, call_of(*find_function(near)));
}

std::vector<std::string> NameScope::tables() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : options_.parameters) {
    if (std::holds_alternative<TableOf>(value)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> NameScope::known() const {
  std::vector<std::string> names;
  if (options_.type != Type::Int) names = index_names();
  if (options_.type == Type::Real) names.push_back("s");
  for (const auto& [name, value] : options_.parameters) names.push_back(name);
  return names;
}

}  // namespace heddle::dsl
