// The operations of bind programs on lanes of 32-bit or 64-bit integers, with the meaning of the formula language: wrapping, floor
// division, x / 0 == x % 0 == 0; conditions are 0 and 1.
#pragma once
#include <cstdint>
#include <type_traits>
#include "heddle/bind_program.h"

namespace heddle::runtime {

/// Lanes are computed in groups of this many; counts are rounded up to it.
inline constexpr int64_t kLanes = 16;

/// An operand: a value for each lane, or one for all.
template <typename T>
struct LaneOperand {
  const T* values = nullptr;
  bool same = false;
};

namespace lanes {

template <typename T>
using Bits = std::make_unsigned_t<T>;

template <typename T>
T wrap(Bits<T> bits) {
  return static_cast<T>(bits);
}

template <typename T>
T floor_div(T a, T b) {
  if (b == 0) return 0;
  if (b == -1) return wrap<T>(Bits<T>{0} - static_cast<Bits<T>>(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

template <typename T>
T floor_mod(T a, T b) {
  if (b == 0 || b == -1) return 0;
  return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}

/// The constant inner trip count lets compilers use vectors.
template <typename T, class A, class B, class F>
void each(T* __restrict out, int64_t count, A a, B b, F f) {
  for (int64_t i = 0; i < count; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) out[i + j] = f(a(i + j), b(i + j));
  }
}

template <typename T, class F>
void binary(T* out, int64_t count, LaneOperand<T> a, LaneOperand<T> b, F f) {
  const T *left = a.values, *right = b.values, first_left = *left, first_right = *right;
  const auto lane_left = [left](int64_t i) { return left[i]; };
  const auto lane_right = [right](int64_t i) { return right[i]; };
  if (b.same) return each(out, count, lane_left, [first_right](int64_t) { return first_right; }, f);
  if (a.same) return each(out, count, [first_left](int64_t) { return first_left; }, lane_right, f);
  each(out, count, lane_left, lane_right, f);
}

}  // namespace lanes

template <typename T>
void fill_lanes(T* out, int64_t count, T value) {
  for (int64_t i = 0; i < count; ++i) out[i] = value;
}

/// Operations of one and two operands, of which at most one is the same for all lanes unless count == kLanes. `b` of an operation of one
/// is not looked at, but must be readable.
template <typename T>
void lane_operation(BindOp op, T* out, int64_t count, LaneOperand<T> a, LaneOperand<T> b) {
  using U = lanes::Bits<T>;
  const auto apply = [&](auto f) { lanes::binary(out, count, a, b, f); };
  const auto u = [](T value) { return static_cast<U>(value); };
  switch (op) {
    case BindOp::Neg: return apply([=](T x, T) { return static_cast<T>(U{0} - u(x)); });
    case BindOp::Abs: return apply([=](T x, T) { return x < 0 ? static_cast<T>(U{0} - u(x)) : x; });
    case BindOp::Not: return apply([](T x, T) { return static_cast<T>(x == 0); });
    case BindOp::Add: return apply([=](T x, T y) { return static_cast<T>(u(x) + u(y)); });
    case BindOp::Sub: return apply([=](T x, T y) { return static_cast<T>(u(x) - u(y)); });
    case BindOp::Mul: return apply([=](T x, T y) { return static_cast<T>(u(x) * u(y)); });
    case BindOp::Div: return apply([](T x, T y) { return lanes::floor_div(x, y); });
    case BindOp::Mod: return apply([](T x, T y) { return lanes::floor_mod(x, y); });
    case BindOp::Min: return apply([](T x, T y) { return x < y ? x : y; });
    case BindOp::Max: return apply([](T x, T y) { return x > y ? x : y; });
    case BindOp::Lt: return apply([](T x, T y) { return static_cast<T>(x < y); });
    case BindOp::Le: return apply([](T x, T y) { return static_cast<T>(x <= y); });
    case BindOp::Gt: return apply([](T x, T y) { return static_cast<T>(x > y); });
    case BindOp::Ge: return apply([](T x, T y) { return static_cast<T>(x >= y); });
    case BindOp::Eq: return apply([](T x, T y) { return static_cast<T>(x == y); });
    case BindOp::Ne: return apply([](T x, T y) { return static_cast<T>(x != y); });
    case BindOp::And: return apply([](T x, T y) { return static_cast<T>(x & y); });
    default: return apply([](T x, T y) { return static_cast<T>(x | y); });
  }
}

template <typename T>
void lane_select(T* out, int64_t count, LaneOperand<T> chosen, LaneOperand<T> yes, LaneOperand<T> no) {
  const auto at = [](LaneOperand<T> operand, int64_t i) { return operand.values[operand.same ? 0 : i]; };
  for (int64_t i = 0; i < count; ++i) out[i] = at(chosen, i) != 0 ? at(yes, i) : at(no, i);
}

}  // namespace heddle::runtime
