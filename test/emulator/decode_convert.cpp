// cvt between integers and floats of all widths, into pairs of 16-bit floats and into tf32; cvta.
#include <algorithm>
#include <cmath>
#include <limits>

#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

enum class Rounding : uint8_t { Nearest, Zero, Down, Up };

template <typename F>
F rounded(F value, Rounding rounding) {
  switch (rounding) {
    case Rounding::Zero:
      return std::trunc(value);
    case Rounding::Down:
      return std::floor(value);
    case Rounding::Up:
      return std::ceil(value);
    case Rounding::Nearest:
      break;
  }
  return std::nearbyint(value);
}

/// Conversion to integers saturates; NaN gives 0.
template <typename I, typename F>
I to_integer(F value, Rounding rounding) {
  const F whole = rounded(value, rounding);
  if (whole != whole) return 0;
  if (whole <= static_cast<F>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  if (whole >= static_cast<F>(std::numeric_limits<I>::max())) return std::numeric_limits<I>::max();
  return static_cast<I>(whole);
}

template <typename T>
constexpr bool kReal = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;

template <typename To, typename From>
To convert(From value, Rounding rounding, bool to_whole) {
  if constexpr (!kReal<To> && !kReal<From>) {
    return static_cast<To>(value);
  } else if constexpr (!kReal<To>) {
    return to_integer<To>(widen(value), rounding);
  } else if constexpr (!kReal<From>) {
    if constexpr (sizeof(To) == 2) {
      return narrow_to<To>(static_cast<float>(value));
    } else {
      return static_cast<To>(value);
    }
  } else {
    const auto wide = to_whole ? rounded(widen(value), rounding) : widen(value);
    if constexpr (std::is_same_v<To, double>) {
      return wide;
    } else {
      return narrow_to<To>(static_cast<float>(wide));
    }
  }
}

/// slots: d, a. `count` is the Rounding; `flag`: float to float rounds to whole numbers.
template <typename To, typename From>
void converted(Warp& warp, const Instruction& in, uint32_t mask) {
  const Carrier<From>* a = lanes_of<From>(warp, in.slots[1]);
  const auto rounding = static_cast<Rounding>(in.count);
  const bool whole = in.flag;
  write_lanes<To>(warp, in.slots[0], mask, [=](int lane) { return convert<To>(unpack<From>(a[lane]), rounding, whole); });
}

template <typename To>
Execute pick_from(Type from) {
  switch (from) {
    case Type::B8:
    case Type::U8:
      return converted<To, uint8_t>;
    case Type::S8:
      return converted<To, int8_t>;
    case Type::B16:
    case Type::U16:
      return converted<To, uint16_t>;
    case Type::S16:
      return converted<To, int16_t>;
    case Type::B32:
    case Type::U32:
      return converted<To, uint32_t>;
    case Type::S32:
      return converted<To, int32_t>;
    case Type::B64:
    case Type::U64:
      return converted<To, uint64_t>;
    case Type::S64:
      return converted<To, int64_t>;
    case Type::F16:
      return converted<To, Half>;
    case Type::BF16:
      return converted<To, Bfloat>;
    case Type::F32:
      return converted<To, float>;
    case Type::F64:
      return converted<To, double>;
    default:
      return nullptr;
  }
}

Execute pick(Type to, Type from) {
  switch (to) {
    case Type::B8:
    case Type::U8:
      return pick_from<uint8_t>(from);
    case Type::S8:
      return pick_from<int8_t>(from);
    case Type::B16:
    case Type::U16:
      return pick_from<uint16_t>(from);
    case Type::S16:
      return pick_from<int16_t>(from);
    case Type::B32:
    case Type::U32:
      return pick_from<uint32_t>(from);
    case Type::S32:
      return pick_from<int32_t>(from);
    case Type::B64:
    case Type::U64:
      return pick_from<uint64_t>(from);
    case Type::S64:
      return pick_from<int64_t>(from);
    case Type::F16:
      return pick_from<Half>(from);
    case Type::BF16:
      return pick_from<Bfloat>(from);
    case Type::F32:
      return pick_from<float>(from);
    case Type::F64:
      return pick_from<double>(from);
    default:
      return nullptr;
  }
}

/// cvt.rn.f16x2.f32 d, a, b: a in the upper half, b in the lower.
template <uint16_t (*Narrow)(float)>
void pack_pair(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t *a = warp.lanes(in.slots[1]), *b = warp.lanes(in.slots[2]);
  write_lanes<uint32_t>(warp, in.slots[0], mask, [a, b](int lane) {
    return static_cast<uint32_t>(Narrow(std::bit_cast<float>(a[lane]))) << 16 | Narrow(std::bit_cast<float>(b[lane]));
  });
}

/// cvt.sat: into [0, 1]; NaN gives 0.
struct Saturate {
  static float apply(float x) { return x > 0 ? std::min(x, 1.0f) : 0.0f; }
};

/// cvt.rna.tf32.f32: 10 bits of mantissa, ties away from zero.
struct ToTf32 {
  static uint32_t apply(uint32_t bits) { return (bits & 0x7f800000) == 0x7f800000 ? bits : (bits + 0x1000) & 0xffffe000u; }
};

Rounding rounding_of(const Statement& s) {
  if (s.has("rzi") || s.has("rz")) return Rounding::Zero;
  if (s.has("rmi") || s.has("rm")) return Rounding::Down;
  if (s.has("rpi") || s.has("rp")) return Rounding::Up;
  return Rounding::Nearest;
}

/// Directed rounding is emulated to integers only, saturation from float32 to float32 only.
void refuse_unknown_qualifiers(const Statement& s, Type to) {
  const bool directed = s.has("rz") || s.has("rm") || s.has("rp");
  if (directed && is_float(to)) Decoder::refuse(s, "directed rounding to a float");
  if ((s.has("sat") && to != Type::F32) || s.has("relu") || s.has("satfinite")) Decoder::refuse(s, "saturation");
}

bool decode_pair(Decoder& decoder, const Statement& s, Instruction& in, Type to) {
  if (to != Type::F16x2 && to != Type::BF16x2) return false;
  Decoder::expect_operands(s, 3);
  in.execute = to == Type::F16x2 ? pack_pair<float_to_half> : pack_pair<float_to_bfloat>;
  in.slots[0] = decoder.destination(s, s.operands[0], 4);
  in.slots[1] = decoder.source(s, s.operands[1], 4);
  in.slots[2] = decoder.source(s, s.operands[2], 4);
  return true;
}

void add_window(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint64_t* a = warp.wide_lanes(in.slots[1]);
  const uint64_t window = static_cast<uint64_t>(in.immediate);
  write_lanes<uint64_t>(warp, in.slots[0], mask, [=](int lane) { return a[lane] + window; });
}

/// cvta: global addresses are generic ones; shared addresses lie in a window.
void decode_address(Decoder& decoder, const Statement& s, Instruction& in) {
  Decoder::expect_operands(s, 2);
  if (!s.has("shared") && !s.has("global")) Decoder::refuse(s);
  const int64_t window = s.has("shared") ? static_cast<int64_t>(Warp::kSharedWindow) : 0;
  in.execute = add_window;
  in.immediate = s.has("to") ? -window : window;
  in.slots[0] = decoder.destination(s, s.operands[0], 8);
  in.slots[1] = decoder.source(s, s.operands[1], 8);
}

}  // namespace

bool decode_convert(Decoder& decoder, const Statement& s, Instruction& in) {
  if (s.opcode[0] == "cvta") {
    decode_address(decoder, s, in);
    return true;
  }
  if (s.opcode[0] != "cvt") return false;
  const std::vector<Type> types = Decoder::types(s);
  if (types.size() != 2) Decoder::refuse(s);
  const auto [to, from] = std::pair(types[0], types[1]);
  refuse_unknown_qualifiers(s, to);
  if (decode_pair(decoder, s, in, to)) return true;
  Decoder::expect_operands(s, 2);
  in.execute = to == Type::TF32 && from == Type::F32 ? unary<uint32_t, ToTf32> : pick(to, from);
  if (s.has("sat")) in.execute = from == Type::F32 ? unary<float, Saturate> : nullptr;
  if (!in.execute) Decoder::refuse(s);
  in.count = static_cast<uint8_t>(rounding_of(s));
  in.flag = s.has("rni") || s.has("rzi") || s.has("rmi") || s.has("rpi");
  in.slots[0] = decoder.destination(s, s.operands[0], std::max(bytes_of(to), 4));
  in.slots[1] = decoder.source(s, s.operands[1], std::max(bytes_of(from), 4));
  return true;
}

}  // namespace heddle::emulator
