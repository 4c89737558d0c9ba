// Checked construction of formula nodes: what every front door refuses (types, zero divisors, overflow, size) is refused here.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>
#include "heddle/error.h"
#include "heddle/tensor.h"
#include "src/ir/expr.h"

namespace heddle::dsl {

/// Bytes [offset, offset + length) of a formula's text.
struct Range {
  size_t offset = 0, length = 0;
  size_t end() const { return offset + length; }
};
/// From the start of `a` to the end of `b`.
inline Range join(Range a, Range b) { return {a.offset, b.end() - a.offset}; }

/// The text that messages point into; empty for formulas built in C++.
struct Source {
  std::string_view text;
  std::string_view origin;

  std::string_view at(Range range) const { return text.substr(range.offset, range.length); }
  [[noreturn]] void fail(const std::string& message, Range range, const std::string& hint = {}) const;
};

/// Where a node stands and where its operands do. Ranges are meaningless when the source is empty.
struct Place {
  const Source& source;
  Range node;
  std::array<Range, 3> operands{};
};

/// The node of an operation or function (`name` as the user writes it). Integers beside reals promote, operations on integer
/// constants are folded, and so is the negation of a real constant, which makes printed formulas parse back to the same tree.
/// Throws UserError: operands of a wrong type, a divisor that is 0 for every pair, a constant outside int64, a tree too large.
ir::Expr checked(ir::Op op, std::string_view name, std::vector<ir::Expr> operands, const Place& place);

/// The real version of an expression: itself, or ToReal of an integer one.
ir::Expr promoted(const ir::Expr& expr);

/// Reads of a table; `indices` stand where `places` say. Throws UserError for an index that is no integer and for too many indices.
ir::Expr read_node(const std::string& table, DType element, const std::vector<ir::Expr>& indices, const std::vector<Range>& places,
                   const Place& place);

/// min(max(x, low), high) and cap * tanh(x / cap).
ir::Expr clamp_node(const std::vector<ir::Expr>& operands, const Place& place);
ir::Expr softcap_node(const std::vector<ir::Expr>& operands, const Place& place);

/// "a condition", "an integer", "a real number".
const char* type_name(ir::Type type);

}  // namespace heddle::dsl
