// The meaning of every operation of Expr on plain values, shared by the evaluators and constant folding.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include "src/ir/evaluate.h"
#include "src/ir/expr.h"

namespace heddle::ir {

inline int64_t wrap_add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
inline int64_t wrap_sub(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
inline int64_t wrap_mul(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
inline int64_t wrap_neg(int64_t a) { return wrap_sub(0, a); }

/// NaN when either is NaN.
inline double real_min(double a, double b) { return a < b || std::isnan(a) ? a : b; }
inline double real_max(double a, double b) { return a > b || std::isnan(a) ? a : b; }
/// Accurate on both sides: never overflows.
inline double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

/// Comparison operations.
template <typename T>
bool compare(Op op, T a, T b) {
  switch (op) {
    case Op::Lt: return a < b;
    case Op::Le: return a <= b;
    case Op::Gt: return a > b;
    case Op::Ge: return a >= b;
    case Op::Eq: return a == b;
    default: return a != b;
  }
}

/// Unary operations on Int.
inline int64_t apply(Op op, int64_t a) { return op == Op::Abs && a >= 0 ? a : wrap_neg(a); }

/// Binary operations on Int.
inline int64_t apply(Op op, int64_t a, int64_t b) {
  switch (op) {
    case Op::Add: return wrap_add(a, b);
    case Op::Sub: return wrap_sub(a, b);
    case Op::Mul: return wrap_mul(a, b);
    case Op::Div: return floor_div(a, b);
    case Op::Mod: return floor_mod(a, b);
    case Op::Min: return a < b ? a : b;
    default: return a > b ? a : b;
  }
}

/// Unary operations on Real.
inline double apply(Op op, double a) {
  switch (op) {
    case Op::Neg: return -a;
    case Op::Abs: return std::fabs(a);
    case Op::Exp: return std::exp(a);
    case Op::Log: return std::log(a);
    case Op::Tanh: return std::tanh(a);
    case Op::Sigmoid: return sigmoid(a);
    case Op::Sqrt: return std::sqrt(a);
    case Op::Exp2: return std::exp2(a);
    default: return std::log2(a);
  }
}

/// Binary operations on Real.
inline double apply(Op op, double a, double b) {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::Min: return real_min(a, b);
    default: return real_max(a, b);
  }
}

}  // namespace heddle::ir
