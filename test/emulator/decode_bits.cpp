// and or xor not shl shr shf bfe bfi brev popc clz prmt lop3, on data and, the first four, on predicates.
#include <bit>

#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

struct And {
  template <typename T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};

template <typename Operation>
void on_predicates(Warp& warp, const Instruction& in, uint32_t mask) {
  write_predicate(warp, in.slots[0], mask, Operation::apply(warp.predicate(in.slots[1]), warp.predicate(in.slots[2])));
}
void not_predicate(Warp& warp, const Instruction& in, uint32_t mask) {
  write_predicate(warp, in.slots[0], mask, ~warp.predicate(in.slots[1]));
}

/// Shifts take their amount from 32 bits and clamp it to the width.
template <typename T, bool kLeft>
void shift(Warp& warp, const Instruction& in, uint32_t mask) {
  const Carrier<T>* a = lanes_of<T>(warp, in.slots[1]);
  const uint32_t* by = warp.lanes(in.slots[2]);
  constexpr uint32_t kBits = 8 * sizeof(T);
  write_lanes<T>(warp, in.slots[0], mask, [a, by](int lane) {
    const T value = unpack<T>(a[lane]);
    if (by[lane] >= kBits) return static_cast<T>(!kLeft && value < T{0} ? -1 : 0);
    return static_cast<T>(kLeft ? value << by[lane] : value >> by[lane]);
  });
}

/// shf: the 64 bits b:a shifted, and their upper (left) or lower (right) half.
template <bool kLeft, bool kWrap>
void funnel(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t *a = warp.lanes(in.slots[1]), *b = warp.lanes(in.slots[2]), *c = warp.lanes(in.slots[3]);
  write_lanes<uint32_t>(warp, in.slots[0], mask, [=](int lane) {
    const uint64_t both = static_cast<uint64_t>(b[lane]) << 32 | a[lane];
    const uint32_t by = kWrap ? c[lane] & 31 : std::min(c[lane], 32u);
    return static_cast<uint32_t>(kLeft ? both << by >> 32 : both >> by);
  });
}

template <typename T>
void extract_field(Warp& warp, const Instruction& in, uint32_t mask) {
  const Carrier<T>* a = lanes_of<T>(warp, in.slots[1]);
  const uint32_t *position = warp.lanes(in.slots[2]), *length = warp.lanes(in.slots[3]);
  constexpr uint32_t kBits = 8 * sizeof(T);
  write_lanes<T>(warp, in.slots[0], mask, [=](int lane) {
    const T value = unpack<T>(a[lane]);
    const uint32_t from = position[lane] & 0xff, count = std::min(length[lane] & 0xff, kBits);
    if (count == 0) return T{0};
    const T sign = static_cast<T>(value < T{0} ? -1 : 0);
    const T shifted = from >= kBits ? sign : static_cast<T>(value >> from);
    if (count == kBits) return shifted;
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<T>(static_cast<U>(shifted) << (kBits - count)) >> (kBits - count));
  });
}

template <typename T>
void insert_field(Warp& warp, const Instruction& in, uint32_t mask) {
  const Carrier<T>*a = lanes_of<T>(warp, in.slots[1]), *b = lanes_of<T>(warp, in.slots[2]);
  const uint32_t *position = warp.lanes(in.slots[3]), *length = warp.lanes(in.slots[4]);
  constexpr uint32_t kBits = 8 * sizeof(T);
  write_lanes<T>(warp, in.slots[0], mask, [=](int lane) {
    const uint32_t from = position[lane] & 0xff, count = length[lane] & 0xff;
    if (from >= kBits || count == 0) return unpack<T>(b[lane]);
    const T ones = static_cast<T>((count >= kBits ? ~T{0} : static_cast<T>((T{1} << count) - 1)) << from);
    return static_cast<T>((b[lane] & ~ones) | (static_cast<T>(a[lane] << from) & ones));
  });
}

struct Reverse {
  static uint32_t apply(uint32_t x) {
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1) << (31 - bit);
    return reversed;
  }
};
struct CountBits {
  template <typename T>
  static uint32_t apply(T x) {
    return std::popcount(x);
  }
};
struct CountZeros {
  template <typename T>
  static uint32_t apply(T x) {
    return std::countl_zero(x);
  }
};

/// d has 32 bits whatever a has.
template <typename T, typename Operation>
void counted(Warp& warp, const Instruction& in, uint32_t mask) {
  const Carrier<T>* a = lanes_of<T>(warp, in.slots[1]);
  write_lanes<uint32_t>(warp, in.slots[0], mask, [a](int lane) { return Operation::apply(unpack<T>(a[lane])); });
}

/// prmt without mode: each nibble of c picks a byte of b:a; its upper bit spreads the sign of that byte.
struct Permute {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
    uint32_t result = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const uint32_t selector = c >> (4 * byte) & 0xf, value = both >> (8 * (selector & 7)) & 0xff;
      result |= (selector & 8 ? (value & 0x80 ? 0xffu : 0u) : value) << (8 * byte);
    }
    return result;
  }
};

/// lop3: bit i of the table is the result for the three bits of i = a, b, c (a the most significant).
void logic3(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t *a = warp.lanes(in.slots[1]), *b = warp.lanes(in.slots[2]), *c = warp.lanes(in.slots[3]);
  write_lanes<uint32_t>(warp, in.slots[0], mask, [=, &in](int lane) {
    uint32_t result = 0;
    for (int row = 0; row < 8; ++row) {
      if (!(in.immediate >> row & 1)) continue;
      result |= (row & 4 ? a[lane] : ~a[lane]) & (row & 2 ? b[lane] : ~b[lane]) & (row & 1 ? c[lane] : ~c[lane]);
    }
    return result;
  });
}

template <typename Operation>
Execute pick_logic(int bytes) {
  return bytes == 8 ? binary<uint64_t, Operation> : bytes == 4 ? binary<uint32_t, Operation> : binary<uint16_t, Operation>;
}

Execute pick_shift(bool left, Type type) {
  switch (type) {
    case Type::B16:
    case Type::U16:
      return left ? shift<uint16_t, true> : shift<uint16_t, false>;
    case Type::S16:
      return left ? shift<uint16_t, true> : shift<int16_t, false>;
    case Type::B32:
    case Type::U32:
      return left ? shift<uint32_t, true> : shift<uint32_t, false>;
    case Type::S32:
      return left ? shift<uint32_t, true> : shift<int32_t, false>;
    case Type::B64:
    case Type::U64:
      return left ? shift<uint64_t, true> : shift<uint64_t, false>;
    case Type::S64:
      return left ? shift<uint64_t, true> : shift<int64_t, false>;
    default:
      return nullptr;
  }
}

Execute pick_funnel(const Statement& s) {
  if (s.has("l")) return s.has("wrap") ? funnel<true, true> : funnel<true, false>;
  return s.has("wrap") ? funnel<false, true> : funnel<false, false>;
}

Execute pick_extract(Type type) {
  if (type == Type::U32) return extract_field<uint32_t>;
  if (type == Type::S32) return extract_field<int32_t>;
  return type == Type::U64 ? extract_field<uint64_t> : extract_field<int64_t>;
}

/// d and the first `same` sources have the type's width, later sources 32 bits.
void set_operands(Decoder& decoder, const Statement& s, Instruction& in, int bytes, int target_bytes, size_t same) {
  in.slots[0] = decoder.destination(s, s.operands[0], target_bytes);
  for (size_t i = 1; i < s.operands.size(); ++i) in.slots[i] = decoder.source(s, s.operands[i], i <= same ? bytes : 4);
}

bool decode_logic(Decoder& decoder, const Statement& s, Instruction& in, Type type) {
  const std::string& root = s.opcode[0];
  if (type == Type::Pred) {
    in.execute = root == "not"   ? not_predicate
                 : root == "and" ? on_predicates<And>
                 : root == "or"  ? on_predicates<Or>
                                 : on_predicates<Xor>;
    for (size_t i = 0; i < s.operands.size(); ++i) {
      if (s.operands[i].negated) Decoder::refuse(s, "negated predicate operand");
      in.slots[i] = decoder.predicate(s, s.operands[i].name);
    }
    return true;
  }
  const int bytes = bytes_of(type);
  if (root == "not") {
    in.execute = bytes == 8 ? unary<uint64_t, Not> : bytes == 4 ? unary<uint32_t, Not> : unary<uint16_t, Not>;
  } else {
    in.execute = root == "and" ? pick_logic<And>(bytes) : root == "or" ? pick_logic<Or>(bytes) : pick_logic<Xor>(bytes);
  }
  set_operands(decoder, s, in, std::max(bytes, 4), std::max(bytes, 4), 2);
  return true;
}

bool decode_field(Decoder& decoder, const Statement& s, Instruction& in, Type type) {
  const std::string& root = s.opcode[0];
  const int bytes = std::max(bytes_of(type), 4);
  const bool wide = bytes == 8;
  if (root == "bfe") {
    in.execute = pick_extract(type);
    set_operands(decoder, s, in, bytes, bytes, 1);
  } else if (root == "bfi") {
    in.execute = wide ? insert_field<uint64_t> : insert_field<uint32_t>;
    set_operands(decoder, s, in, bytes, bytes, 2);
  } else if (root == "popc") {
    in.execute = wide ? counted<uint64_t, CountBits> : counted<uint32_t, CountBits>;
    set_operands(decoder, s, in, bytes, 4, 1);
  } else if (root == "clz") {
    in.execute = wide ? counted<uint64_t, CountZeros> : counted<uint32_t, CountZeros>;
    set_operands(decoder, s, in, bytes, 4, 1);
  } else {
    return false;
  }
  return true;
}

bool decode_words(Decoder& decoder, const Statement& s, Instruction& in) {
  const std::string& root = s.opcode[0];
  if (root == "brev") {
    in.execute = unary<uint32_t, Reverse>;
  } else if (root == "prmt" && s.opcode.size() == 2) {
    in.execute = ternary<uint32_t, Permute>;
  } else if (root == "lop3") {
    Decoder::expect_operands(s, 5);
    in.execute = logic3;
    in.immediate = decoder.literal(s, s.operands[4]);
  } else if (root == "shf") {
    in.execute = pick_funnel(s);
  } else {
    return false;
  }
  set_operands(decoder, s, in, 4, 4, 4);
  return true;
}

}  // namespace

bool decode_bits(Decoder& decoder, const Statement& s, Instruction& in) {
  const std::string& root = s.opcode[0];
  if (root == "and" || root == "or" || root == "xor" || root == "not")
    return decode_logic(decoder, s, in, Decoder::last_type(s));
  if (root == "shl" || root == "shr") {
    const Type type = Decoder::last_type(s);
    in.execute = pick_shift(root == "shl", type);
    if (!in.execute) Decoder::refuse(s);
    set_operands(decoder, s, in, std::max(bytes_of(type), 4), std::max(bytes_of(type), 4), 1);
    return true;
  }
  if (decode_words(decoder, s, in)) return true;
  const bool field = root == "bfe" || root == "bfi" || root == "popc" || root == "clz";
  return field && decode_field(decoder, s, in, Decoder::last_type(s));
}

}  // namespace heddle::emulator
