#include "src/cli/repl/table_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "heddle/bind_program.h"
#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::cli::repl {
namespace {

using nlohmann::json;
using support::ArrayType;

class ListReader {
 public:
  explicit ListReader(const std::string& table) : table_(table) {}

  support::Array read(std::string_view text) {
    const json list = json::parse(text, nullptr, false);
    if (list.is_discarded()) fail("is no list of numbers", "expected for example [0, 0, 1], or [[1, 2], [3, 4]]");
    for (const json* level = &list; level->is_array(); level = &level->front()) {
      if (shape_.size() == kMaxTableRank) fail(fmt::format("nests deeper than {} levels", kMaxTableRank), "tables have 1 to 4 dimensions");
      shape_.push_back(static_cast<int64_t>(level->size()));
      if (level->empty()) break;
    }
    take(list, 0);
    return array();
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& hint) const { throw UserError(fmt::format("table {}: the list {}", table_, what), hint); }

  void take(const json& value, size_t depth) {
    if (depth < shape_.size() ? !value.is_array() : value.is_array()) fail("mixes numbers and lists", "expected the same depth everywhere");
    if (!value.is_array()) return element(value);
    if (static_cast<int64_t>(value.size()) != shape_[depth]) {
      fail(fmt::format("has rows of {} and of {} elements", shape_[depth], value.size()), "expected rows of the same length");
    }
    for (const json& inner : value) take(inner, depth + 1);
  }

  void element(const json& value) {
    const bool wide = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    if (wide || !(value.is_number() || value.is_boolean())) {
      fail(fmt::format("has the element {}", support::shorten(value.dump(), 40)), "expected 64-bit integers, reals, or true and false");
    }
    elements_.push_back(&value);
    booleans_ += value.is_boolean();
    reals_ = reals_ || value.is_number_float();
  }

  template <typename Element, typename Value>
  void fill(support::Array& array) const {
    std::vector<Element> values;
    for (const json* one : elements_) values.push_back(static_cast<Element>(one->get<Value>()));
    array.bytes.resize(values.size() * sizeof(Element));
    if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  }

  support::Array array() const {
    support::Array array{ArrayType::Int64, shape_, {}};
    const bool all = booleans_ > 0 && booleans_ == elements_.size();
    if (booleans_ > 0 && !all) fail("mixes numbers with true and false", "write 1 and 0");
    if (all) array.type = ArrayType::Bool, fill<uint8_t, bool>(array);
    else if (reals_) array.type = ArrayType::Float64, fill<double, double>(array);
    else fill<int64_t, int64_t>(array);
    return array;
  }

  const std::string& table_;
  std::vector<int64_t> shape_;
  std::vector<const json*> elements_;
  size_t booleans_ = 0;
  bool reals_ = false;
};

}  // namespace

support::Array parse_list(const std::string& table, std::string_view text) { return ListReader(table).read(text); }

}  // namespace heddle::cli::repl
