// add sub mul mad fma min max neg abs div rem: integers, floats, and pairs of 16-bit floats.
#include <algorithm>
#include <cmath>
#include <limits>

#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

/// Wrapping arithmetic, without the undefined overflow of signed integers.
template <typename T, typename F>
T wrapped(T a, T b, F operation) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(operation(static_cast<U>(a), static_cast<U>(b)));
}

/// Applies a function of floats to values of any type; integers wrap.
#define HEDDLE_BINARY(Name, expression)                                  \
  struct Name {                                                          \
    template <typename T>                                                \
    static T apply(T x, T y) {                                           \
      if constexpr (std::is_integral_v<T>) {                             \
        return wrapped(x, y, [](auto a, auto b) { return expression; }); \
      } else if constexpr (sizeof(T) == 2) {                             \
        const float a = widen(x), b = widen(y);                          \
        return narrow_to<T>(expression);                                 \
      } else {                                                           \
        const T a = x, b = y;                                            \
        return expression;                                               \
      }                                                                  \
    }                                                                    \
  };
HEDDLE_BINARY(Add, a + b)
HEDDLE_BINARY(Subtract, a - b)
HEDDLE_BINARY(Multiply, a* b)
#undef HEDDLE_BINARY

/// The value that is no NaN wins, as min.f32 and max.f32 do; with NaN qualifier a NaN wins.
template <bool kKeepNan, bool kMost>
struct Extreme {
  template <typename T>
  static T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      return (x < y) == kMost ? y : x;
    } else {
      const auto a = widen(x), b = widen(y);
      const bool first = (kMost ? a > b : a < b) || (a == b && std::signbit(a) != kMost);
      if (a != a) return kKeepNan ? x : y;
      if (b != b) return kKeepNan ? y : x;
      return first ? x : y;
    }
  }
};
using Least = Extreme<false, false>;
using Most = Extreme<false, true>;
using LeastOrNan = Extreme<true, false>;
using MostOrNan = Extreme<true, true>;

struct Negate {
  template <typename T>
  static T apply(T x) {
    if constexpr (std::is_integral_v<T>) {
      return wrapped(T{0}, x, [](auto a, auto b) { return a - b; });
    } else if constexpr (sizeof(T) == 2) {
      return {static_cast<uint16_t>(x.bits ^ 0x8000)};
    } else {
      return -x;
    }
  }
};

struct Absolute {
  template <typename T>
  static T apply(T x) {
    if constexpr (std::is_integral_v<T>) {
      return x < 0 ? Negate::apply(x) : x;
    } else if constexpr (sizeof(T) == 2) {
      return {static_cast<uint16_t>(x.bits & 0x7fff)};
    } else {
      return std::abs(x);
    }
  }
};

/// a * b + c: low half for integers, rounded once for floats.
struct MultiplyAdd {
  template <typename T>
  static T apply(T a, T b, T c) {
    if constexpr (std::is_integral_v<T>) {
      return Add::apply(Multiply::apply(a, b), c);
    } else if constexpr (sizeof(T) == 2) {
      return narrow_to<T>(std::fma(widen(a), widen(b), widen(c)));
    } else {
      return std::fma(a, b, c);
    }
  }
};

/// fma.rm.f32: rounded down from a sum in double, which holds the product exactly.
struct MultiplyAddDown {
  static float apply(float a, float b, float c) {
    const double exact = static_cast<double>(a) * b + c;
    const float near = static_cast<float>(exact);
    return near > exact ? std::nextafter(near, -std::numeric_limits<float>::infinity()) : near;
  }
};

/// Division by zero gives all ones, as the device does.
struct Divide {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(-1);
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return Negate::apply(a);
      }
    }
    return a / b;
  }
};

struct Remainder {
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return a % b;
  }
};

template <typename T>
using Wide = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                                std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

struct MultiplyHigh {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      using Huge = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return static_cast<T>(static_cast<Huge>(a) * static_cast<Huge>(b) >> 64);
    } else {
      return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b) >> (8 * sizeof(T)));
    }
  }
};

struct MultiplyHighAdd {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(MultiplyHigh::apply(a, b), c);
  }
};

/// mul.wide and mad.wide: d has twice the width of a and b.
template <typename T, bool kAdd>
void multiply_wide(Warp& warp, const Instruction& in, uint32_t mask) {
  const Carrier<T>*a = lanes_of<T>(warp, in.slots[1]), *b = lanes_of<T>(warp, in.slots[2]);
  const Carrier<Wide<T>>* c = kAdd ? lanes_of<Wide<T>>(warp, in.slots[3]) : nullptr;
  write_lanes<Wide<T>>(warp, in.slots[0], mask, [=](int lane) {
    const Wide<T> product = static_cast<Wide<T>>(unpack<T>(a[lane])) * static_cast<Wide<T>>(unpack<T>(b[lane]));
    return kAdd ? Add::apply(product, unpack<Wide<T>>(c[lane])) : product;
  });
}

/// Two 16-bit floats in one register.
template <typename T, typename Operation, int kOperands>
void paired(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t* operands[3] = {};
  for (int i = 0; i < kOperands; ++i) operands[i] = warp.lanes(in.slots[i + 1]);
  write_lanes<uint32_t>(warp, in.slots[0], mask, [&](int lane) {
    uint32_t joined = 0;
    for (int shift = 0; shift < 32; shift += 16) {
      const auto part = [&](int i) { return T{static_cast<uint16_t>(operands[i][lane] >> shift)}; };
      T value{};
      if constexpr (kOperands == 1) value = Operation::apply(part(0));
      if constexpr (kOperands == 2) value = Operation::apply(part(0), part(1));
      if constexpr (kOperands == 3) value = Operation::apply(part(0), part(1), part(2));
      joined |= static_cast<uint32_t>(value.bits) << shift;
    }
    return joined;
  });
}

#define HEDDLE_PICK_INTEGER(loop, Operation) \
  case Type::U16:                            \
    return loop<uint16_t, Operation>;        \
  case Type::S16:                            \
    return loop<int16_t, Operation>;         \
  case Type::U32:                            \
    return loop<uint32_t, Operation>;        \
  case Type::S32:                            \
    return loop<int32_t, Operation>;         \
  case Type::U64:                            \
    return loop<uint64_t, Operation>;        \
  case Type::S64:                            \
    return loop<int64_t, Operation>;
#define HEDDLE_PICK_FLOAT(loop, Operation, operands) \
  case Type::F16:                                    \
    return loop<Half, Operation>;                    \
  case Type::BF16:                                   \
    return loop<Bfloat, Operation>;                  \
  case Type::F16x2:                                  \
    return paired<Half, Operation, operands>;        \
  case Type::BF16x2:                                 \
    return paired<Bfloat, Operation, operands>;      \
  case Type::F32:                                    \
    return loop<float, Operation>;                   \
  case Type::F64:                                    \
    return loop<double, Operation>;

template <typename Operation>
Execute pick_unary(Type type) {
  switch (type) {
    HEDDLE_PICK_INTEGER(unary, Operation)
    HEDDLE_PICK_FLOAT(unary, Operation, 1)
    default:
      return nullptr;
  }
}

template <typename Operation>
Execute pick_binary(Type type) {
  switch (type) {
    HEDDLE_PICK_INTEGER(binary, Operation)
    HEDDLE_PICK_FLOAT(binary, Operation, 2)
    default:
      return nullptr;
  }
}

template <typename Operation>
Execute pick_integer_binary(Type type) {
  switch (type) {
    HEDDLE_PICK_INTEGER(binary, Operation)
    default:
      return nullptr;
  }
}

template <typename Operation>
Execute pick_ternary(Type type) {
  switch (type) {
    HEDDLE_PICK_INTEGER(ternary, Operation)
    HEDDLE_PICK_FLOAT(ternary, Operation, 3)
    default:
      return nullptr;
  }
}

Execute pick_divide(Type type) {
  if (type == Type::F32) return binary<float, Divide>;
  if (type == Type::F64) return binary<double, Divide>;
  return pick_integer_binary<Divide>(type);
}

Execute pick_high_add(Type type) {
  switch (type) {
    HEDDLE_PICK_INTEGER(ternary, MultiplyHighAdd)
    default:
      return nullptr;
  }
}
#undef HEDDLE_PICK_INTEGER
#undef HEDDLE_PICK_FLOAT

Execute pick_wide(Type type, bool add) {
  switch (type) {
    case Type::U16:
      return add ? multiply_wide<uint16_t, true> : multiply_wide<uint16_t, false>;
    case Type::S16:
      return add ? multiply_wide<int16_t, true> : multiply_wide<int16_t, false>;
    case Type::U32:
      return add ? multiply_wide<uint32_t, true> : multiply_wide<uint32_t, false>;
    case Type::S32:
      return add ? multiply_wide<int32_t, true> : multiply_wide<int32_t, false>;
    default:
      return nullptr;
  }
}

/// The function of an opcode for a type, and how many operands it has; null when this is another category.
struct Choice {
  Execute execute = nullptr;
  size_t operands = 0;
};

Choice choose(const Statement& s, const std::string& root, Type type) {
  if (root == "add") return {pick_binary<Add>(type), 3};
  if (root == "sub") return {pick_binary<Subtract>(type), 3};
  if (root == "mul")
    return {s.has("wide") ? pick_wide(type, false)
            : s.has("hi") ? pick_integer_binary<MultiplyHigh>(type)
                          : pick_binary<Multiply>(type),
            3};
  if (root == "fma" && s.has("rm")) return {type == Type::F32 ? ternary<float, MultiplyAddDown> : nullptr, 4};
  if (root == "mad" || root == "fma")
    return {s.has("wide") ? pick_wide(type, true) : s.has("hi") ? pick_high_add(type) : pick_ternary<MultiplyAdd>(type), 4};
  if (root == "min") return {s.has("NaN") ? pick_binary<LeastOrNan>(type) : pick_binary<Least>(type), 3};
  if (root == "max") return {s.has("NaN") ? pick_binary<MostOrNan>(type) : pick_binary<Most>(type), 3};
  if (root == "neg") return {pick_unary<Negate>(type), 2};
  if (root == "abs") return {pick_unary<Absolute>(type), 2};
  if (root == "div") return {pick_divide(type), 3};
  if (root == "rem") return {pick_integer_binary<Remainder>(type), 3};
  return {};
}

/// Qualifiers that would change a result in a way that is not emulated.
void refuse_unknown_qualifiers(const Statement& statement) {
  const bool fused = statement.opcode[0] == "fma";
  for (const char* name : {"cc", "sat", "rz", "rm", "rp", "xorsign", "relu", "oob"}) {
    if (statement.has(name) && !(fused && std::string_view(name) == "rm"))
      Decoder::refuse(statement, std::string("qualifier .") + name);
  }
}

}  // namespace

bool decode_arithmetic(Decoder& decoder, const Statement& statement, Instruction& in) {
  static const std::vector<std::string> kRoots = {"add", "sub", "mul", "mad", "fma", "min", "max", "neg", "abs", "div", "rem"};
  const std::string& root = statement.opcode[0];
  if (std::find(kRoots.begin(), kRoots.end(), root) == kRoots.end()) return false;
  refuse_unknown_qualifiers(statement);
  const Type type = Decoder::last_type(statement);
  const Choice choice = choose(statement, root, type);
  if (!choice.execute) Decoder::refuse(statement);
  Decoder::expect_operands(statement, choice.operands);
  const int bytes = std::max(bytes_of(type), 4), wide = statement.has("wide") ? 2 * bytes_of(type) : bytes;
  in.execute = choice.execute;
  in.slots[0] = decoder.destination(statement, statement.operands[0], wide);
  for (size_t i = 1; i < choice.operands; ++i)
    in.slots[i] = decoder.source(statement, statement.operands[i], i == 3 ? wide : bytes);
  return true;
}

}  // namespace heddle::emulator
