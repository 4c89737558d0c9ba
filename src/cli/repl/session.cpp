#include "src/cli/repl/session.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "dsl/names.h"
#include "heddle/error.h"
#include "src/cli/repl/statement.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle::cli::repl {
namespace {

using support::quote;
using Number = std::variant<int64_t, double>;

template <typename T>
std::optional<Number> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_same_v<T, double>) {
    if (!std::isfinite(value) || text.find_first_of(".eE") == std::string_view::npos) return std::nullopt;
  }
  return Number(value);
}

std::optional<Number> any_number(std::string_view text) {
  const std::optional<Number> integer = number<int64_t>(text);
  return integer ? integer : number<double>(text);
}

std::string to_string(const Number& value) {
  return std::visit([](auto number) { return fmt::format("{}", number); }, value);
}

template <typename Value>
std::vector<std::string> names_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

/// True for one word that can be a name and is nothing a formula may consist of.
bool only_a_name(std::string_view text) { return dsl::is_identifier(text) && dsl::reserved_as(text).empty(); }

std::string definition(const char* kind, const std::map<std::string, std::string>& formulas, std::string_view what) {
  const auto found = formulas.find(std::string(what));
  if (found != formulas.end()) return found->second;
  if (what.empty()) throw UserError(fmt::format("expected the name of a {} or a formula", kind));
  if (!only_a_name(what)) return std::string(what);
  const std::vector<std::string> known = names_of(formulas);
  const std::string near = support::nearest(what, known);
  throw UserError(fmt::format("unknown {} {}", kind, quote(what)),
                  !near.empty()    ? fmt::format("did you mean {}?", near)
                  : known.empty() ? fmt::format("define it: {} {} = FORMULA", kind, what)
                                  : fmt::format("known {}s: {}", kind, support::list(known)));
}

/// The origin of errors in a formula: its name, where it has one.
std::string origin_of(const char* kind, const std::map<std::string, std::string>& formulas, std::string_view what) {
  return formulas.contains(std::string(what)) ? fmt::format("{} {}", kind, what) : kind;
}

ParameterValue bound_value(const Parameter& parameter, bool values) {
  if (!parameter.value || (parameter.dynamic && !values)) return Dynamic{.real = parameter.real};
  if (const int64_t* integer = std::get_if<int64_t>(&*parameter.value); integer && !parameter.real) return *integer;
  return std::visit([](auto number) { return static_cast<double>(number); }, *parameter.value);
}

}  // namespace

ir::Tables Values::views() const {
  ir::Tables views;
  for (const auto& [name, table] : tables) views[name] = table.view;
  return views;
}

Parameter parse_parameter(std::string_view name, std::string_view text) {
  const auto [first, rest] = split_first(text);
  Parameter parameter;
  parameter.dynamic = first == "dynamic" || first == "dynamic-real";
  const std::string_view digits = parameter.dynamic ? rest : text;
  parameter.value = any_number(digits);
  parameter.real = first == "dynamic-real" || (parameter.value && std::holds_alternative<double>(*parameter.value));
  if (parameter.value || (parameter.dynamic && digits.empty())) return parameter;
  throw UserError(fmt::format("let {}: {} is no value", name, quote(text)),
                  "expected a 64-bit integer, a finite real (1.5, 1e-3), `dynamic` or `dynamic-real`, which are given at each launch, "
                  "or `dynamic 256`, with a value for facts and runs");
}

std::string to_string(const Parameter& parameter) {
  const std::string value = parameter.value ? to_string(*parameter.value) : "";
  if (!parameter.dynamic) return value;
  return fmt::format("dynamic{}{}{}", parameter.real ? "-real" : "", value.empty() ? "" : " ", value);
}

void Session::check_name(std::string_view kind, std::string_view name) const {
  if (!dsl::is_identifier(name)) {
    throw UserError(fmt::format("{} is no name for a {}", quote(name), kind), "use letters, digits and '_', a letter first");
  }
  const std::string reserved = dsl::reserved_as(name);
  if (!reserved.empty()) throw UserError(fmt::format("'{}' is {}", name, reserved), "choose another name");
  const std::string key(name);
  const char* taken = masks_.contains(key)        ? "mask"
                      : scores_.contains(key)     ? "score"
                      : parameters_.contains(key) ? "parameter"
                      : tables_.contains(key)     ? "table"
                                                  : nullptr;
  if (taken && kind != taken) throw UserError(fmt::format("'{}' is a {} already", name, taken), "choose another name");
}

void Session::define_mask(std::string_view name, std::string_view formula) {
  check_name("mask", name);
  Mask::parse(std::string(formula), bound(false), fmt::format("mask {}", name));
  masks_[std::string(name)] = formula;
}

void Session::define_score(std::string_view name, std::string_view formula) {
  check_name("score", name);
  Score::parse(std::string(formula), bound(false), fmt::format("score {}", name));
  scores_[std::string(name)] = formula;
}

void Session::let(std::string_view name, const Parameter& parameter) {
  check_name("parameter", name);
  parameters_[std::string(name)] = parameter;
}

void Session::define_table(std::string_view left, std::string_view right) {
  check_name("table", stripped(left.substr(0, left.find('['))));
  const Table table = Table::parse(left, right, numbers(true));
  tables_.insert_or_assign(table.name(), table);
}

Parameters Session::numbers(bool values) const {
  Parameters all;
  for (const auto& [name, parameter] : parameters_) all[name] = bound_value(parameter, values);
  return all;
}

Parameters Session::bound(bool values) const {
  Parameters all = numbers(values);
  const Parameters known = numbers(true);
  for (const auto& [name, table] : tables_) all[name] = table.declared(known);
  return all;
}

void Session::need_values(const ExprHandle& formula) const {
  for (const auto& [name, type] : ir::parameters(formula)) {
    if (parameters_.at(name).value) continue;
    throw UserError(fmt::format("the dynamic parameter '{}' has no value", name),
                    fmt::format("give it one: let {} = {}", name, type == ir::Type::Real ? "dynamic-real 1.5" : "dynamic 256"));
  }
}

Array Session::elements(const std::string& table) const { return tables_.at(table).array(numbers(true), settings); }

Values Session::values(const std::vector<ExprHandle>& formulas) const {
  Values values;
  for (const ExprHandle& formula : formulas) {
    need_values(formula);
    for (const auto& [name, type] : ir::parameters(formula)) {
      const ParameterValue value = bound_value(parameters_.at(name), true);
      if (type == ir::Type::Int) values.ints[name] = std::get<int64_t>(value);
      else values.reals[name] = std::get<double>(value);
    }
    for (const auto& [name, declared] : ir::tables(formula)) values.tables[name] = elements(name);
  }
  return values;
}

Mask Session::mask(std::string_view what, bool values) const {
  const Mask mask = Mask::parse(definition("mask", masks_, what), bound(values), origin_of("mask", masks_, what));
  if (values) need_values(mask.node());
  return mask;
}

Score Session::score(std::string_view what, bool values) const {
  const Score score = Score::parse(definition("score", scores_, what), bound(values), origin_of("score", scores_, what));
  if (values) need_values(score.node());
  return score;
}

std::vector<std::string> Session::mask_names() const { return names_of(masks_); }
std::vector<std::string> Session::score_names() const { return names_of(scores_); }

std::vector<std::string> Session::formula_names() const {
  std::vector<std::string> names = names_of(parameters_);
  for (const auto& [name, table] : tables_) names.push_back(name);
  return names;
}

}  // namespace heddle::cli::repl
