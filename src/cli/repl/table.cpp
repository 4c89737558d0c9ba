#include "src/cli/repl/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dsl/parser.h"
#include "heddle/bind_program.h"
#include "heddle/error.h"
#include "src/cli/repl/statement.h"
#include "src/cli/repl/table_list.h"
#include "src/cli/table_options.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle::cli::repl {
namespace {

using support::quote;

constexpr const char* kSizes[] = {"B", "H", "Hkv", "Sq", "Sk"};

/// Values of kSizes.
std::vector<int64_t> sizes(const Settings& settings) {
  return {settings.batch, settings.heads, settings.key_heads(), settings.sq, settings.keys()};
}

int64_t extent(const std::string& index, const Settings& settings) {
  return index == "b" ? settings.batch : index == "h" ? settings.heads : index == "q" ? settings.sq : settings.keys();
}

/// The names between the brackets of `doc[q, k]`.
std::vector<std::string> index_list(const std::string& table, std::string_view text) {
  std::vector<std::string> names;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string name(stripped(text.substr(start, end - start)));
    const bool known = name == "b" || name == "h" || name == "q" || name == "k";
    if (!known || std::ranges::count(names, name) > 0) {
      throw UserError(fmt::format("table {}[{}]: expected different indices out of b, h, q, k", table, text),
                      fmt::format("their sizes are the set ones: table {}[k] = k / 512 has sk elements", table));
    }
    names.push_back(name);
    start = end + 1;
  }
  return names;
}

/// A formula as a table has it: reals, or without the promotion that a score's integers get.
ir::Expr parsed(const std::string& table, const std::string& text, const Parameters& numbers) {
  ir::Expr formula = dsl::parse_formula(text, {.type = ir::Type::Real, .parameters = numbers, .origin = "table " + table});
  return formula->op == ir::Op::ToReal ? formula->operands[0] : formula;
}

void check_names(const std::string& table, const ir::Expr& formula, const std::vector<std::string>& indices) {
  for (const std::string& name : ir::variables(formula)) {
    if (std::ranges::count(kSizes, name) > 0 || std::ranges::count(indices, name) > 0) continue;
    throw UserError(fmt::format("table {}: the formula reads '{}', which is no index of the table", table, name),
                    fmt::format("its indices are {}", support::list(indices)));
  }
  for (const auto& [name, type] : ir::parameters(formula)) {
    throw UserError(fmt::format("table {}: the dynamic parameter '{}' has no value", table, name), fmt::format("give it one: let {} = dynamic 256", name));
  }
}

/// The set sizes of the indices.
std::vector<int64_t> shape_of(const std::string& table, const std::vector<std::string>& indices, const Settings& settings) {
  std::vector<int64_t> shape;
  double elements = 1;
  for (const std::string& index : indices) {
    shape.push_back(extent(index, settings));
    elements *= static_cast<double>(shape.back());
  }
  if (elements <= static_cast<double>(kMaxFilledElements)) return shape;
  throw UserError(fmt::format("table {}: {:.0f} elements; a formula fills at most {}", table, elements, kMaxFilledElements),
                  "set smaller lengths, or use a file");
}

/// Calls see(i) for every element, values[0, rank) its indices.
template <typename See>
void for_each_index(const std::vector<int64_t>& shape, int64_t count, std::vector<int64_t>& values, See see) {
  for (int64_t i = 0; i < count; ++i) {
    see(i);
    for (size_t d = shape.size(); d-- > 0 && ++values[d] == shape[d];) values[d] = 0;
  }
}

int32_t narrow(const std::string& table, int64_t value) {
  if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) return static_cast<int32_t>(value);
  throw UserError(fmt::format("table {}: the formula gives {}, which does not fit into 32 bits", table, value), "use smaller numbers, or a file");
}

std::string element_text(const Tensor& table, int64_t i) {
  const Tensor flat = Tensor::dense(table.data, {table.elements()}, table.dtype);
  return table.dtype == DType::Float32 ? fmt::format("{:g}", ir::real_element(flat, &i)) : fmt::format("{}", ir::int_element(flat, &i));
}

}  // namespace

Table Table::parse(std::string_view left, std::string_view right, const Parameters& numbers) {
  Table table;
  const size_t bracket = std::min(left.find('['), left.size());
  table.name_ = stripped(left.substr(0, bracket));
  table.text_ = right;
  if (bracket < left.size()) {
    if (!left.ends_with(']')) throw UserError("expected `table NAME[INDEX, ...] = FORMULA`");
    table.indices_ = index_list(table.name_, left.substr(bracket + 1, left.size() - bracket - 2));
    check_names(table.name_, parsed(table.name_, table.text_, numbers), table.indices_);
    return table;
  }
  const support::Array elements = right.starts_with('[') ? parse_list(table.name_, right) : support::read_array(table.text_);
  if (elements.shape.empty() || elements.shape.size() > kMaxTableRank) {
    throw UserError(fmt::format("table {}: {} has {} dimensions", table.name_, quote(right), elements.shape.size()), "tables have 1 to 4");
  }
  table.elements_ = table_of(elements);
  return table;
}

TableOf Table::declared(const Parameters& numbers) const {
  if (indices_.empty()) return {elements_.view.dtype};
  return {parsed(name_, text_, numbers)->type == ir::Type::Int ? DType::Int32 : DType::Float32};
}

Array Table::array(const Parameters& numbers, const Settings& settings) const {
  if (indices_.empty()) return elements_;
  const ir::Expr formula = parsed(name_, text_, numbers);
  check_names(name_, formula, indices_);
  const std::vector<int64_t> shape = shape_of(name_, indices_, settings);
  std::vector<std::string> slots = indices_;
  slots.insert(slots.end(), std::begin(kSizes), std::end(kSizes));
  std::vector<int64_t> values(indices_.size(), 0);
  for (const int64_t size : sizes(settings)) values.push_back(size);
  const ir::CompiledExpr compiled(formula, slots);
  const bool integers = formula->type == ir::Type::Int;
  Array table = Array::make(shape, integers ? DType::Int32 : DType::Float32);
  for_each_index(shape, table.view.elements(), values, [&](int64_t i) {
    if (integers) static_cast<int32_t*>(table.view.data)[i] = narrow(name_, compiled.run_int(values.data()));
    else static_cast<float*>(table.view.data)[i] = static_cast<float>(compiled.run_real(values.data(), nullptr));
  });
  return table;
}

std::string Table::statement() const {
  const std::string indices = indices_.empty() ? "" : fmt::format("[{}]", fmt::join(indices_, ", "));
  std::string text = text_;
  std::ranges::replace(text, '\n', ' ');
  return fmt::format("table {}{} = {}", name_, indices, support::shorten(text, 80));
}

std::string summary(const Array& table) {
  constexpr int64_t kShown = 16;
  const int64_t count = table.view.elements();
  std::string text = fmt::format("{} [{}]:", to_string(table.view.dtype), fmt::join(table.view.shape, ", "));
  for (int64_t i = 0; i < std::min(count, kShown); ++i) text += (i == 0 ? " " : ", ") + element_text(table.view, i);
  return text + (count > kShown ? ", ..." : "");
}

}  // namespace heddle::cli::repl
