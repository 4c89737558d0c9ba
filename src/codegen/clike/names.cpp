#include "src/codegen/clike/names.h"

#include <algorithm>

namespace heddle::codegen::clike {

const ir::RegisterArray& Names::home(ir::ValueId value) const {
  return program_.registers.at(static_cast<size_t>(program_.home.at(value)));
}

bool Names::is_row(ir::ValueId value) const { return program_.tile.values.at(static_cast<size_t>(value)).kind == ir::ValueKind::Row; }

int Names::chunks(ir::Extent columns) const { return static_cast<int>(program_.columns(columns) / layout().chunk); }

std::string Names::extents(const ir::RegisterArray& array) const {
  if (array.kind == ir::ValueKind::Row) return fmt::format("[{}]", layout().rows);
  return fmt::format("[{}][{}]", chunks(array.columns), layout().elements());
}

std::string Names::row_index() const {
  if (layout().rows == 1) return "0";
  return layout().rows == layout().elements() ? "j" : "j >> 1";
}

std::string Names::column_offset() const {
  const int most = *std::max_element(layout().column_of.begin(), layout().column_of.end());
  return most == 0 ? "" : most == 1 ? "(j & 1)" : "j";
}

std::string Names::element(ir::ValueId value) const {
  return is_row(value) ? fmt::format("{}[{}]", array(value), row_index()) : array(value) + "[n][j]";
}

}  // namespace heddle::codegen::clike
