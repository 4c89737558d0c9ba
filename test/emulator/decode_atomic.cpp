// atom and red on global and shared memory: add, min, max, and, or, exch, cas; lanes go in order.
#include <algorithm>
#include <cstring>

#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

enum class Kind : uint8_t { Add, Min, Max, And, Or, Exchange, CompareAndSwap };

template <typename T>
T combined(Kind kind, T old, T b, T c) {
  switch (kind) {
    case Kind::Add:
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
      } else {
        return old + b;
      }
    case Kind::Min:
      return std::min(old, b);
    case Kind::Max:
      return std::max(old, b);
    case Kind::And:
      if constexpr (std::is_integral_v<T>) return old & b;
      break;
    case Kind::Or:
      if constexpr (std::is_integral_v<T>) return old | b;
      break;
    case Kind::CompareAndSwap:
      return old == b ? c : old;
    case Kind::Exchange:
      break;
  }
  return b;
}

/// slots: d (a sink for red), address, b, c. `count` is the Kind; `bytes` 1: shared memory.
template <typename T>
void atomic(Warp& warp, const Instruction& in, uint32_t mask) {
  uint64_t addresses[kWarp];
  addresses_of(warp, in, in.slots[1], addresses);
  const Carrier<T>*b = lanes_of<T>(warp, in.slots[2]), *c = lanes_of<T>(warp, in.slots[3]);
  for (int lane = 0; lane < kWarp; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const bool shared = in.bytes == 1 || addresses[lane] >= Warp::kSharedWindow;
    const uint64_t address = addresses[lane] >= Warp::kSharedWindow ? addresses[lane] - Warp::kSharedWindow : addresses[lane];
    const int thread = warp.thread(lane);
    uint8_t* memory = shared ? warp.block.shared.atomic(thread, static_cast<int64_t>(address), sizeof(T))
                             : warp.block.global.atomic(thread, address, sizeof(T));
    if (!memory) continue;
    T old;
    std::memcpy(&old, memory, sizeof old);
    const T fresh = combined(static_cast<Kind>(in.count), old, unpack<T>(b[lane]), unpack<T>(c[lane]));
    std::memcpy(memory, &fresh, sizeof fresh);
    lanes_of<T>(warp, in.slots[0])[lane] = pack<T>(old);
  }
}

Kind kind_of(const Statement& s) {
  if (s.has("add")) return Kind::Add;
  if (s.has("min")) return Kind::Min;
  if (s.has("max")) return Kind::Max;
  if (s.has("and")) return Kind::And;
  if (s.has("or")) return Kind::Or;
  if (s.has("exch")) return Kind::Exchange;
  if (s.has("cas")) return Kind::CompareAndSwap;
  Decoder::refuse(s);
}

Execute pick(Type type) {
  switch (type) {
    case Type::B32:
    case Type::U32:
      return atomic<uint32_t>;
    case Type::S32:
      return atomic<int32_t>;
    case Type::B64:
    case Type::U64:
      return atomic<uint64_t>;
    case Type::S64:
      return atomic<int64_t>;
    case Type::F32:
      return atomic<float>;
    case Type::F64:
      return atomic<double>;
    default:
      return nullptr;
  }
}

}  // namespace

bool decode_atomic(Decoder& decoder, const Statement& s, Instruction& in) {
  const bool returns = s.opcode[0] == "atom";
  if (!returns && s.opcode[0] != "red") return false;
  if (s.has("async")) return false;
  const Type type = Decoder::last_type(s);
  const Kind kind = kind_of(s);
  const size_t first = returns ? 1 : 0;
  Decoder::expect_operands(s, first + (kind == Kind::CompareAndSwap ? 3 : 2));
  in.execute = pick(type);
  if (!in.execute) Decoder::refuse(s);
  const int bytes = bytes_of(type);
  Operand sink;
  sink.name = "_";
  in.slots[0] = decoder.destination(s, returns ? s.operands[0] : sink, bytes);
  in.slots[1] = decoder.address(s, s.operands[first], in);
  in.slots[2] = decoder.source(s, s.operands[first + 1], bytes);
  in.slots[3] = kind == Kind::CompareAndSwap ? decoder.source(s, s.operands[first + 2], bytes) : in.slots[2];
  in.count = static_cast<uint8_t>(kind);
  in.bytes = s.has("shared") || s.has("shared::cta") ? 1 : 0;
  return true;
}

}  // namespace heddle::emulator
