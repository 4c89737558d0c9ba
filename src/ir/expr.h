// Formula expressions: immutable, typed, shared trees used by masks, scores, facts (loop bounds) and tile-IR maps.
//
// Semantics (every evaluator, analysis and emitter obeys them):
//  - Types: Bool, Int (64-bit), Real. Int `Div`/`Mod` are floor division and floor modulo, total: x / 0 == 0 and x % 0 == 0
//    (guard_divisors() in src/ir/rewrite.h makes a pair with a zero divisor masked, so the value is never seen).
//  - Int arithmetic wraps modulo 2^64; constants and parameters are int64.
//  - And, Or, Select have no side effects, so evaluation order never matters.
//  - Min and Max of Reals give NaN when either operand is NaN (as NumPy); which zero they give for -0.0 and 0.0 is unspecified.
//  - Real operations are IEEE; formulas are evaluated in float64 by the judges and in float32 by kernels.
//  - Real comparisons follow IEEE (NaN compares false, Ne true).
//  - A Read is the element of a table at its indices. Each index is clamped into the table, so a read never leaves its memory; a
//    dimension of extent 1 gives its one element whatever the index; a table without elements gives 0.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include "heddle/tensor.h"

namespace heddle::ir {

enum class Type : uint8_t { Bool, Int, Real };

// X(Name, arity, text) for every operation; the closed set. Leaves have arity 0.
#define HEDDLE_EXPR_OPS(X)                                                                                      \
  X(IntConst, 0, "int") X(RealConst, 0, "real") X(BoolConst, 0, "bool")                                        \
  X(Var, 0, "var")     /* b h q k, sizes B H Hkv Sq Sk, score s, loop variables qb kb NK NF ...: by name */     \
  X(Param, 0, "param") /* a dynamic parameter: a kernel argument, by name, Int or Real */                       \
  X(Arg, 0, "arg")     /* tile IR only: operand `integer` of a Map */                                           \
  X(Read, -1, "[]")    /* a table by name, read at 1 to kMaxTableRank Int indices */                            \
  X(ToReal, 1, "real")                                                                                          \
  X(Neg, 1, "-") X(Add, 2, "+") X(Sub, 2, "-") X(Mul, 2, "*") X(Div, 2, "/") X(Mod, 2, "%")                     \
  X(Abs, 1, "abs") X(Min, 2, "min") X(Max, 2, "max")                                                            \
  X(Lt, 2, "<") X(Le, 2, "<=") X(Gt, 2, ">") X(Ge, 2, ">=") X(Eq, 2, "==") X(Ne, 2, "!=")                       \
  X(And, 2, "&&") X(Or, 2, "||") X(Not, 1, "!") X(Select, 3, "?:")                                              \
  X(Exp, 1, "exp") X(Log, 1, "log") X(Tanh, 1, "tanh") X(Sigmoid, 1, "sigmoid") X(Sqrt, 1, "sqrt")              \
  X(Exp2, 1, "exp2") X(Log2, 1, "log2") /* made by lowering; not in the grammar */

enum class Op : uint8_t {
#define X(name, arity, text) name,
  HEDDLE_EXPR_OPS(X)
#undef X
};

const char* op_text(Op op);
int op_arity(Op op);  ///< -1: any number.

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

/// One node. Only the fields its op names are meaningful. Never mutated after construction.
struct ExprNode {
  Op op;
  Type type;
  int64_t integer = 0;          ///< IntConst value, BoolConst 0/1, Arg index, Read: its DType.
  double real = 0;              ///< RealConst value.
  std::string name;             ///< Var, Param, Read.
  std::vector<Expr> operands;
  uint64_t hash = 0;            ///< Structural: equal trees have equal hashes, the same in every process.
  int depth = 1;                ///< Nodes on the longest path down.
  int64_t size = 1;             ///< Nodes of the tree, shared ones counted once a use; saturates at 2^61.
};

/// Front doors refuse deeper or larger trees, so recursion over a tree is safe. A chain `a || b || c ...` is as deep as it is long.
inline constexpr int kMaxDepth = 6000;
inline constexpr int64_t kMaxSize = int64_t{1} << 17;

// Constructors. They check operand types (InternalError: front doors check first and report with spans) and fold nothing.
Expr int_const(int64_t value);
Expr real_const(double value);
Expr bool_const(bool value);
Expr var(std::string name, Type type = Type::Int);
Expr param(std::string name, Type type);
Expr arg(int index, Type type);
/// An element of a table. Float32 gives a Real; Int32, Int64, UInt8 and Bool give an Int.
Expr read(std::string table, DType element, std::vector<Expr> indices);
/// The same operation on other operands.
Expr with_operands(const ExprNode& node, std::vector<Expr> operands);
/// Any other op with operands. An Int operand beside a Real one is wrapped in ToReal; Div of Reals is true division.
Expr make(Op op, std::vector<Expr> operands);

/// True when tables may have elements of this type.
bool is_table_type(DType type);
inline DType element_type(const ExprNode& read) { return static_cast<DType>(read.integer); }

bool equal(const Expr& a, const Expr& b);  ///< Structural.

/// Text in the grammar of formulas (dsl/parser.h); parse(print(e)) equals e for every e a front door can build.
/// Minimal parentheses, one space around binary operators, reals with 17 significant digits at most and always a '.' or 'e'.
std::string print(const Expr& expr);

}  // namespace heddle::ir
