#include "src/cli/table_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

using support::ArrayType;
using support::quote;

DType narrowest(const support::Array& array, const std::vector<int64_t>& values) {
  if (array.type == ArrayType::Bool) return DType::Bool;
  if (array.type == ArrayType::UInt8) return DType::UInt8;
  using Narrow = std::numeric_limits<int32_t>;
  const bool fits = std::ranges::all_of(values, [](int64_t value) { return value >= Narrow::min() && value <= Narrow::max(); });
  return fits ? DType::Int32 : DType::Int64;
}

template <typename Element, typename Value>
void store(const std::vector<Value>& values, void* memory) {
  std::ranges::transform(values, static_cast<Element*>(memory), [](Value value) { return static_cast<Element>(value); });
}

support::Array read_integers(const std::string& name, const std::string& path) {
  support::Array array = support::read_array(path);
  if (!array.is_integer()) {
    throw UserError(fmt::format("--table {}: {} has elements of {}", name, quote(path), to_string(array.type)), "masks read tables of integers or booleans");
  }
  if (array.shape.empty()) throw UserError(fmt::format("--table {}: {} has no dimension", name, quote(path)));
  return array;
}

void declare(Parameters& declared, const std::string& name, DType type) {
  if (!declared.emplace(name, TableOf{type}).second) throw UserError(fmt::format("--table gives {} twice", quote(name)));
}

}  // namespace

Array table_of(const support::Array& elements) {
  if (!elements.is_integer()) {
    Array table = Array::make(elements.shape, DType::Float32);
    store<float>(elements.reals(), table.view.data);
    return table;
  }
  const std::vector<int64_t> values = elements.integers();
  const DType type = narrowest(elements, values);
  Array table = Array::make(elements.shape, type);
  if (type == DType::Int64) store<int64_t>(values, table.view.data);
  if (type == DType::Int32) store<int32_t>(values, table.view.data);
  if (type == DType::Bool || type == DType::UInt8) store<uint8_t>(values, table.view.data);
  return table;
}

LoadedTables load_tables(const std::vector<std::string>& texts) {
  LoadedTables loaded;
  auto memory = std::make_shared<std::vector<Array>>();
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw UserError(fmt::format("--table {}: expected name=FILE", quote(text)), "FILE is .npy or white-spaced integers");
    }
    const std::string name = text.substr(0, equals);
    memory->push_back(table_of(read_integers(name, text.substr(equals + 1))));
    loaded.views[name] = memory->back().view;
    declare(loaded.declared, name, memory->back().view.dtype);
  }
  loaded.memory = std::move(memory);
  return loaded;
}

Parameters declared_tables(const std::vector<std::string>& texts) {
  Parameters declared;
  for (const std::string& text : texts) {
    const size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    if (name.empty() || text.find('=') != std::string::npos) {
      throw UserError(fmt::format("--table {}: expected name or name:DTYPE", quote(text)), "only the element type is needed here, not the contents");
    }
    declare(declared, name, colon == std::string::npos ? DType::Int32 : parse_dtype(text.substr(colon + 1)));
  }
  return declared;
}

Parameters with_tables(Parameters values, const Parameters& tables) {
  for (const auto& [name, table] : tables) {
    if (!values.emplace(name, table).second) throw UserError(fmt::format("{} is given by --param and by --table", quote(name)));
  }
  return values;
}

}  // namespace heddle::cli
