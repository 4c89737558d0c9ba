// Formulas as C-like text, for every dialect: integers of 32 bits where interval analysis proves that they fit, else of 64; reals are f32.
#pragma once
#include <map>
#include <string>
#include <vector>
#include "src/ir/expr.h"
#include "src/ir/rewrite.h"

namespace heddle::codegen::clike {

/// How a variable or parameter is spelled, where it lies, and what it may be.
struct Leaf {
  std::string text;
  bool varying = false;      ///< Differs between the lanes of a warp.
  int bits = 32;             ///< Of an Int.
  ir::Interval range = ir::Interval::full();
};

/// A table: pointer, and per dimension the last index and the stride, all i64 but the pointer.
struct TableLeaf {
  std::string data;
  std::vector<std::string> last, stride;
};

/// Emitted text with what is needed to build on it.
struct Text {
  std::string text;
  int level = 0;         ///< Precedence of the outermost operator; larger binds tighter.
  bool varying = false;
  int bits = 32;         ///< Of Ints.
};

class ExprText {
 public:
  void define(const std::string& name, Leaf leaf);
  void define_table(const std::string& name, TableLeaf table) { tables_[name] = std::move(table); }
  /// Arg(index) is spelled so; it varies.
  void argument(int index, std::string text) { arguments_[index] = std::move(text); }

  /// Any expression. Throws InternalError on names that are not defined.
  Text text(const ir::Expr& expr) const;
  /// The same as an operand of `select`, an assignment or a condition of lanes: uniform values are spread.
  std::string varying(const ir::Expr& expr) const;
  /// An Int of 32 or 64 bits that is the same in all lanes, or a Bool for a branch.
  std::string uniform(const ir::Expr& expr) const;
  int bits(const ir::Expr& expr) const;  ///< Width that text() gives an Int.
  ir::Interval range(const ir::Expr& expr) const { return ir::range(expr, ranges_); }

 private:
  Text leaf(const ir::ExprNode& node) const;
  Text named(const ir::ExprNode& node) const;
  Text integer(const ir::Expr& expr) const;
  Text division(const ir::Expr& expr, int width) const;
  Text comparison(const ir::Expr& expr) const;
  Text logic(const ir::Expr& expr) const;
  Text choice(const ir::Expr& expr) const;
  Text real(const ir::Expr& expr) const;
  Text read(const ir::ExprNode& node) const;
  Text widened(const ir::Expr& expr, int width) const;

  std::map<std::string, Leaf> leaves_;
  std::map<std::string, ir::Interval> ranges_;
  std::map<std::string, TableLeaf> tables_;
  std::map<int, std::string> arguments_;
};

/// A real constant as an f32 literal.
std::string real_literal(double value);

}  // namespace heddle::codegen::clike
