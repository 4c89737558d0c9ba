// Expressions at (query row, key) as vectors, split by what they depend on. One coordinate, q or k, lies in the lanes ("rows" below); the
// other may change from column to column.
//
// A sub-expression without rows is a scalar, broadcast at its first vector use; one without the column's coordinate and columns is
// emitted before the column loop (hoist); the rest is emitted once a column. Integers are 32 bits wide where interval analysis proves that every value
// fits for positions up to ir::kMaxPositions, else 64. Reals are f32.
#pragma once
#include <map>
#include <unordered_map>
#include "src/codegen/llvm/scalar_expr.h"
#include "src/codegen/llvm/vector_math.h"

namespace heddle::codegen {

/// Where the coordinate in the lanes is.
struct RowCoordinates {
  Value* first_row;   ///< i64: the coordinate of row 0.
  Value* last_row;    ///< i64: Sq - 1 (or Sk - 1), which rows beyond repeat.
  int vectors;        ///< Vectors of rows.
  const char* row = "q";     ///< The coordinate in the lanes.
  const char* column = "k";  ///< The coordinate that begin_column sets; empty where it is uniform.
};

class VectorExpr {
 public:
  /// `uniform` knows b, h, B, H, Hkv, Sq, Sk, the Int parameters and a coordinate that is neither row nor column; `reals` the Real parameters as f32.
  VectorExpr(IrBuilder& builder, VectorMath& math, const ScalarExpr& uniform, const Names& reals, const RowCoordinates& rows);

  /// Arg(index) stands for `value`; `fixed` values do not change with the column.
  void bind(int index, const Values& value, bool fixed);
  /// Emits here what does not depend on the column. Call before the column loop for every expression used in it.
  void hoist(const ir::Expr& expr);
  /// Starts a column whose coordinate is `key` (i64; null where columns have none).
  void begin_column(Value* key);

  Values real(const ir::Expr& expr);       ///< One f32 vector a row vector.
  Values predicate(const ir::Expr& expr);  ///< One i1 vector a row vector.
  Values index(const ir::Expr& expr) { return integer(expr, 64); }  ///< Of an Int expression: one i64 vector a row vector.

 private:
  bool varies(const ir::Expr& expr);       ///< Changes with the column.
  bool is_scalar(const ir::Expr& expr);    ///< Int or Bool, or a read of a table, the same for every row.
  unsigned bits(const ir::Expr& expr);     ///< Width of an Int expression: 32 or 64.
  Values eval(const ir::Expr& expr);       ///< Memoised; Ints have bits(expr).
  Values emit(const ir::Expr& expr);
  Values leaf(const ir::Expr& expr);
  Values row_numbers(unsigned width);
  Values integer(const ir::Expr& expr, unsigned width);
  Values real_operation(const ir::Expr& expr);
  Values integer_operation(const ir::Expr& expr);
  Values comparison(const ir::Expr& expr);
  Value* clamped_to_narrow(const ir::Expr& scalar);
  Values to_real(const ir::Expr& operand);
  Values table_elements(const ir::Expr& read);
  Values broadcast(Value* scalar);
  template <class F> Values each(F make);

  IrBuilder& b_;
  VectorMath& math_;
  ScalarExpr fixed_scalar_, column_scalar_;
  const Names& reals_;
  RowCoordinates rows_;
  std::map<int, Values> arguments_;
  std::map<int, bool> argument_fixed_;
  ExprMap<Values> fixed_, column_;
  ExprMap<bool> varies_, scalar_;
  ExprMap<unsigned> bits_;
};

}  // namespace heddle::codegen
