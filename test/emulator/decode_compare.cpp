// setp and selp: comparisons into predicates, and selection by one.
#include <array>
#include <functional>

#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

/// Comparisons; those ending in u are also true when a side is NaN. For unsigned integers lo, ls, hi, hs are lt, le, gt, ge.
enum class Relation : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class Joined : uint8_t { None, And, Or, Xor };

struct RelationName {
  const char* name;
  Relation relation;
};

constexpr std::array kRelations = {
    RelationName{"eq", Relation::Eq},   RelationName{"ne", Relation::Ne},   RelationName{"lt", Relation::Lt},
    RelationName{"le", Relation::Le},   RelationName{"gt", Relation::Gt},   RelationName{"ge", Relation::Ge},
    RelationName{"lo", Relation::Lt},   RelationName{"ls", Relation::Le},   RelationName{"hi", Relation::Gt},
    RelationName{"hs", Relation::Ge},   RelationName{"equ", Relation::Equ}, RelationName{"neu", Relation::Neu},
    RelationName{"ltu", Relation::Ltu}, RelationName{"leu", Relation::Leu}, RelationName{"gtu", Relation::Gtu},
    RelationName{"geu", Relation::Geu}, RelationName{"num", Relation::Num}, RelationName{"nan", Relation::Nan},
};

template <typename T>
auto comparable(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    return widen(value);
  }
}

/// eq to ge are false for NaN, but ne too: PTX's ne is ordered.
template <typename V>
bool holds(Relation relation, V a, V b) {
  const bool unordered = a != a || b != b;
  switch (relation) {
    case Relation::Eq:
      return a == b;
    case Relation::Ne:
      return !unordered && a != b;
    case Relation::Lt:
      return a < b;
    case Relation::Le:
      return a <= b;
    case Relation::Gt:
      return a > b;
    case Relation::Ge:
      return a >= b;
    case Relation::Equ:
      return unordered || a == b;
    case Relation::Neu:
      return a != b;
    case Relation::Ltu:
      return !(a >= b);
    case Relation::Leu:
      return !(a > b);
    case Relation::Gtu:
      return !(a <= b);
    case Relation::Geu:
      return !(a < b);
    case Relation::Num:
      return !unordered;
    case Relation::Nan:
      break;
  }
  return unordered;
}

template <typename T, Relation kRelation>
uint32_t compared(Warp& warp, const Instruction& in) {
  const Carrier<T>*a = lanes_of<T>(warp, in.slots[2]), *b = lanes_of<T>(warp, in.slots[3]);
  return lane_bits(
      [a, b](int lane) { return holds(kRelation, comparable(unpack<T>(a[lane])), comparable(unpack<T>(b[lane]))); });
}

/// slots: p, q (both may be sinks), a, b, c. `count` is the Joined; `flag` says that c is negated.
template <typename T, Relation kRelation>
void set_predicate(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t truth = compared<T, kRelation>(warp, in),
                 other = in.flag ? ~warp.predicate(in.slots[4]) : warp.predicate(in.slots[4]);
  const auto join = [&](uint32_t bits) {
    switch (static_cast<Joined>(in.count)) {
      case Joined::And:
        return bits & other;
      case Joined::Or:
        return bits | other;
      case Joined::Xor:
        return bits ^ other;
      case Joined::None:
        break;
    }
    return bits;
  };
  write_predicate(warp, in.slots[1], mask, join(~truth));
  write_predicate(warp, in.slots[0], mask, join(truth));
}

template <typename T>
Execute pick_relation(Relation relation) {
  switch (relation) {
    case Relation::Eq:
      return set_predicate<T, Relation::Eq>;
    case Relation::Ne:
      return set_predicate<T, Relation::Ne>;
    case Relation::Lt:
      return set_predicate<T, Relation::Lt>;
    case Relation::Le:
      return set_predicate<T, Relation::Le>;
    case Relation::Gt:
      return set_predicate<T, Relation::Gt>;
    case Relation::Ge:
      return set_predicate<T, Relation::Ge>;
    case Relation::Equ:
      return set_predicate<T, Relation::Equ>;
    case Relation::Neu:
      return set_predicate<T, Relation::Neu>;
    case Relation::Ltu:
      return set_predicate<T, Relation::Ltu>;
    case Relation::Leu:
      return set_predicate<T, Relation::Leu>;
    case Relation::Gtu:
      return set_predicate<T, Relation::Gtu>;
    case Relation::Geu:
      return set_predicate<T, Relation::Geu>;
    case Relation::Num:
      return set_predicate<T, Relation::Num>;
    case Relation::Nan:
      break;
  }
  return set_predicate<T, Relation::Nan>;
}

Execute pick_type(Type type, Relation relation) {
  switch (type) {
    case Type::B16:
    case Type::U16:
      return pick_relation<uint16_t>(relation);
    case Type::S16:
      return pick_relation<int16_t>(relation);
    case Type::B32:
    case Type::U32:
      return pick_relation<uint32_t>(relation);
    case Type::S32:
      return pick_relation<int32_t>(relation);
    case Type::B64:
    case Type::U64:
      return pick_relation<uint64_t>(relation);
    case Type::S64:
      return pick_relation<int64_t>(relation);
    case Type::F16:
      return pick_relation<Half>(relation);
    case Type::BF16:
      return pick_relation<Bfloat>(relation);
    case Type::F32:
      return pick_relation<float>(relation);
    case Type::F64:
      return pick_relation<double>(relation);
    default:
      return nullptr;
  }
}

/// slots: d, a, b, p; `flag`: the predicate is negated.
template <typename T>
void select(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = lanes_of<T>(warp, in.slots[1]), *b = lanes_of<T>(warp, in.slots[2]);
  const uint32_t chosen = in.flag ? ~warp.predicate(in.slots[3]) : warp.predicate(in.slots[3]);
  write_lanes<T>(warp, in.slots[0], mask, [=](int lane) { return chosen >> lane & 1 ? a[lane] : b[lane]; });
}

void decode_select(Decoder& decoder, const Statement& s, Instruction& in) {
  Decoder::expect_operands(s, 4);
  const int bytes = std::max(bytes_of(Decoder::last_type(s)), 4);
  in.execute = bytes == 8 ? select<uint64_t> : select<uint32_t>;
  in.slots[0] = decoder.destination(s, s.operands[0], bytes);
  in.slots[1] = decoder.source(s, s.operands[1], bytes);
  in.slots[2] = decoder.source(s, s.operands[2], bytes);
  const auto chosen = decoder.predicate_source(s, s.operands[3]);
  in.slots[3] = chosen.slot;
  in.flag = chosen.negated;
}

/// The comparison is the first qualifier, joined to a third source by the second.
void decode_set(Decoder& decoder, const Statement& s, Instruction& in) {
  const Type type = Decoder::last_type(s);
  for (const RelationName& known : kRelations) {
    if (s.opcode[1] == known.name) in.execute = pick_type(type, known.relation);
  }
  if (!in.execute) Decoder::refuse(s);
  const Joined joined = s.has("and") ? Joined::And : s.has("or") ? Joined::Or : s.has("xor") ? Joined::Xor : Joined::None;
  Decoder::expect_operands(s, joined == Joined::None ? 3 : 4);
  const int bytes = std::max(bytes_of(type), 4);
  in.slots[0] = decoder.predicate(s, s.operands[0].name);
  in.slots[1] = decoder.predicate(s, s.operands[0].alternative.empty() ? "_" : s.operands[0].alternative);
  in.slots[2] = decoder.source(s, s.operands[1], bytes);
  in.slots[3] = decoder.source(s, s.operands[2], bytes);
  in.count = static_cast<uint8_t>(joined);
  if (joined == Joined::None) return;
  const auto other = decoder.predicate_source(s, s.operands[3]);
  in.slots[4] = other.slot;
  in.flag = other.negated;
}

}  // namespace

bool decode_compare(Decoder& decoder, const Statement& s, Instruction& in) {
  if (s.opcode[0] == "selp") {
    decode_select(decoder, s, in);
    return true;
  }
  if (s.opcode[0] != "setp" || s.opcode.size() < 3) return false;
  decode_set(decoder, s, in);
  return true;
}

}  // namespace heddle::emulator
