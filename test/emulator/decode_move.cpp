// mov: registers, constants, addresses, predicates; packing halves into a register and taking them apart.
#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

struct Same {
  template <typename T>
  static T apply(T x) {
    return x;
  }
};

void move_predicate(Warp& warp, const Instruction& in, uint32_t mask) {
  write_predicate(warp, in.slots[0], mask, warp.predicate(in.slots[1]));
}

/// slots: d, parts from the lowest. `bytes` of a part.
template <typename T>
void join(Warp& warp, const Instruction& in, uint32_t mask) {
  const int bits = 8 * in.bytes;
  write_lanes<T>(warp, in.slots[0], mask, [&](int lane) {
    T joined = 0;
    for (int part = 0; part < in.count; ++part) {
      const T value = warp.lanes(in.slots[1 + part])[lane] & static_cast<T>((uint64_t{1} << bits) - 1);
      joined |= static_cast<T>(value << (bits * part));
    }
    return joined;
  });
}

/// slots: parts from the lowest, then the source.
template <typename T>
void take_apart(Warp& warp, const Instruction& in, uint32_t mask) {
  alignas(64) Carrier<T> whole[kWarp];
  std::memcpy(whole, lanes_of<T>(warp, in.slots[in.count]), sizeof whole);
  const int bits = 8 * in.bytes;
  for (int part = 0; part < in.count; ++part) {
    write_lanes<uint32_t>(warp, in.slots[part], mask, [&](int lane) {
      return static_cast<uint32_t>(whole[lane] >> (bits * part) & ((uint64_t{1} << bits) - 1));
    });
  }
}

void decode_parts(Decoder& decoder, const Statement& s, Instruction& in, int bytes) {
  const bool joins = !s.operands[1].elements.empty();
  const std::vector<Operand>& parts = s.operands[joins ? 1 : 0].elements;
  in.count = static_cast<uint8_t>(parts.size());
  if (in.count < 2 || in.count > 4 || bytes / in.count > 4) Decoder::refuse(s);
  in.bytes = static_cast<uint8_t>(bytes / in.count);
  if (joins) {
    in.execute = bytes == 8 ? join<uint64_t> : join<uint32_t>;
    in.slots[0] = decoder.destination(s, s.operands[0], bytes);
    for (int part = 0; part < in.count; ++part) in.slots[1 + part] = decoder.source(s, parts[part], 4);
  } else {
    in.execute = bytes == 8 ? take_apart<uint64_t> : take_apart<uint32_t>;
    for (int part = 0; part < in.count; ++part) in.slots[part] = decoder.destination(s, parts[part], 4);
    in.slots[in.count] = decoder.source(s, s.operands[1], bytes);
  }
}

}  // namespace

bool decode_move(Decoder& decoder, const Statement& s, Instruction& in) {
  if (s.opcode[0] != "mov") return false;
  Decoder::expect_operands(s, 2);
  const Type type = Decoder::last_type(s);
  if (type == Type::Pred) {
    in.execute = move_predicate;
    for (int i = 0; i < 2; ++i) in.slots[i] = decoder.predicate(s, s.operands[i].name);
    return true;
  }
  const int bytes = std::max(bytes_of(type), 4);
  if (!s.operands[0].elements.empty() || !s.operands[1].elements.empty()) {
    decode_parts(decoder, s, in, bytes);
    return true;
  }
  in.execute = bytes == 8 ? unary<uint64_t, Same> : unary<uint32_t, Same>;
  in.slots[0] = decoder.destination(s, s.operands[0], bytes);
  in.slots[1] = decoder.source(s, s.operands[1], bytes);
  return true;
}

}  // namespace heddle::emulator
