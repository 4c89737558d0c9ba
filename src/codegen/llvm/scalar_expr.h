// Integer and Bool expressions of scalars as i64 and i1 values: bounds and guards of loop nests, and the uniform parts of masks.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include "src/codegen/llvm/ir_builder.h"
#include "src/codegen/llvm/table_reader.h"
#include "src/ir/expr.h"

namespace heddle::codegen {

/// Hash and equality of expressions by structure, for memo tables.
struct ExprHash {
  size_t operator()(const ir::Expr& expr) const { return expr->hash; }
};
struct ExprEqual {
  bool operator()(const ir::Expr& a, const ir::Expr& b) const { return ir::equal(a, b); }
};
template <class T>
using ExprMap = std::unordered_map<ir::Expr, T, ExprHash, ExprEqual>;

using Names = std::map<std::string, Value*>;  ///< i64 values of variables and Int parameters.

/// Emits each distinct expression once; values stay valid while the point of emission dominates their uses, so a scope (a loop body)
/// takes its own copy of the emitter.
class ScalarExpr {
 public:
  ScalarExpr(IrBuilder& builder, Names names, TableReader tables = {})
      : b_(&builder), names_(std::move(names)), tables_(std::move(tables)) {}

  /// Defines or redefines a name; expressions that mention it are emitted anew.
  void define(const std::string& name, Value* value);
  bool knows(const std::string& name) const { return names_.contains(name); }
  const TableReader& tables() const { return tables_; }
  /// i64 for Int expressions, i1 for Bool ones, f32 for reads of real tables. Throws InternalError on other Real parts and unknown names.
  Value* operator()(const ir::Expr& expr);

 private:
  Value* leaf(const ir::ExprNode& node);
  Value* emit(const ir::Expr& expr);

  IrBuilder* b_;
  Names names_;
  TableReader tables_;
  ExprMap<Value*> memo_;
};

}  // namespace heddle::codegen
