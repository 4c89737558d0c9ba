// Loops over the 32 lanes of a warp: how the functions that execute instructions read and write lane arrays.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "test/emulator/matrix_ops.h"
#include "test/emulator/warp.h"

namespace heddle::emulator {

/// 16-bit floats as types of their own; arithmetic happens in float.
struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};

/// The array element that carries a value: 32 bits for all but 64-bit types.
template <typename T>
using Carrier = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
T unpack(Carrier<T> raw) {
  if constexpr (sizeof(T) == sizeof(Carrier<T>)) {
    return std::bit_cast<T>(raw);
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(static_cast<uint16_t>(raw));
  } else {
    return std::bit_cast<T>(static_cast<uint8_t>(raw));
  }
}

/// Narrow integers are kept sign or zero extended, so that the upper half never differs between equal values.
template <typename T>
Carrier<T> pack(T value) {
  if constexpr (sizeof(T) == sizeof(Carrier<T>)) {
    return std::bit_cast<Carrier<T>>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<uint32_t>(static_cast<int32_t>(value));
  } else {
    return std::bit_cast<uint16_t>(value);
  }
}

/// Value as float for types that compute in float.
inline float widen(Half value) { return half_to_float(value.bits); }
inline float widen(Bfloat value) { return bfloat_to_float(value.bits); }
inline float widen(float value) { return value; }
inline double widen(double value) { return value; }
template <typename T>
T narrow_to(float value) {
  if constexpr (std::is_same_v<T, Half>) {
    return {float_to_half(value)};
  } else if constexpr (std::is_same_v<T, Bfloat>) {
    return {float_to_bfloat(value)};
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
Carrier<T>* lanes_of(Warp& warp, Slot slot) {
  if constexpr (sizeof(T) == 8) {
    return warp.wide_lanes(slot);
  } else {
    return warp.lanes(slot);
  }
}

/// target[lane] = value(lane) for the lanes of the mask. `value` must be safe for all lanes.
template <typename T, typename Value>
void write_lanes(Warp& warp, Slot slot, uint32_t mask, const Value& value) {
  Carrier<T>* target = lanes_of<T>(warp, slot);
  alignas(64) Carrier<T> fresh[kWarp];
  for (int lane = 0; lane < kWarp; ++lane) fresh[lane] = pack<T>(value(lane));
  if (mask == kAllLanes) {
    std::memcpy(target, fresh, sizeof fresh);
    return;
  }
  for (int lane = 0; lane < kWarp; ++lane) target[lane] = mask >> lane & 1 ? fresh[lane] : target[lane];
}

/// predicate[lane] = value(lane) for the lanes of the mask.
template <typename Value>
uint32_t lane_bits(const Value& value) {
  uint32_t bits = 0;
  for (int lane = 0; lane < kWarp; ++lane) bits |= static_cast<uint32_t>(value(lane)) << lane;
  return bits;
}
inline void write_predicate(Warp& warp, Slot slot, uint32_t mask, uint32_t bits) {
  uint32_t& target = warp.predicate(slot);
  target = (target & ~mask) | (bits & mask);
}

/// Addresses of all lanes as Decoder::address laid them down: a register of 4 (`flag`) or 8 bytes plus the immediate.
inline void addresses_of(Warp& warp, const Instruction& in, Slot slot, uint64_t (&addresses)[kWarp]) {
  for (int lane = 0; lane < kWarp; ++lane) {
    const uint64_t base = in.flag ? warp.lanes(slot)[lane] : warp.wide_lanes(slot)[lane];
    addresses[lane] = base + static_cast<uint64_t>(in.immediate);
  }
}

/// slots: d, a. Operation::apply(T) -> T.
template <typename T, typename Operation>
void unary(Warp& warp, const Instruction& in, uint32_t mask) {
  const Carrier<T>* a = lanes_of<T>(warp, in.slots[1]);
  write_lanes<T>(warp, in.slots[0], mask, [a](int lane) { return Operation::apply(unpack<T>(a[lane])); });
}

/// slots: d, a, b.
template <typename T, typename Operation>
void binary(Warp& warp, const Instruction& in, uint32_t mask) {
  const Carrier<T>*a = lanes_of<T>(warp, in.slots[1]), *b = lanes_of<T>(warp, in.slots[2]);
  write_lanes<T>(warp, in.slots[0], mask,
                 [a, b](int lane) { return Operation::apply(unpack<T>(a[lane]), unpack<T>(b[lane])); });
}

/// slots: d, a, b, c.
template <typename T, typename Operation>
void ternary(Warp& warp, const Instruction& in, uint32_t mask) {
  const Carrier<T>*a = lanes_of<T>(warp, in.slots[1]), *b = lanes_of<T>(warp, in.slots[2]), *c = lanes_of<T>(warp, in.slots[3]);
  write_lanes<T>(warp, in.slots[0], mask,
                 [a, b, c](int lane) { return Operation::apply(unpack<T>(a[lane]), unpack<T>(b[lane]), unpack<T>(c[lane])); });
}

}  // namespace heddle::emulator
