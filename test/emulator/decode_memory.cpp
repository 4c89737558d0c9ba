// ld and st on parameters, global and shared memory, scalar and vector; fences and prefetches, which move nothing.
#include <cstring>

#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

enum class Space : uint8_t { Parameter, Global, Shared, Generic };

/// The bytes of a lane's value: `count` elements of `bytes`.
constexpr int kMostBytes = 16;

bool in_shared(Space space, uint64_t& address) {
  if (space == Space::Shared) return true;
  if (space == Space::Global || address < Warp::kSharedWindow) return false;
  address -= Warp::kSharedWindow;
  return true;
}

void count_cost(Warp& warp, const Instruction& in, uint32_t mask, bool shared, const uint64_t (&addresses)[kWarp]) {
  const int bytes = in.bytes * in.count;
  if (shared) {
    warp.counts(in).banks += bank_passes(addresses, mask, bytes);
  } else {
    warp.counts(in).sectors += sectors(addresses, mask, bytes);
  }
}

/// Element i of memory into its register, which may be wider; signed ones are extended then.
void fill_register(Warp& warp, const Instruction& in, int i, int lane, const uint8_t* from) {
  const int bytes = in.bytes;
  const bool extend = in.slots.back() != 0;
  uint64_t raw = 0;
  std::memcpy(&raw, from, bytes);
  if (extend) raw = static_cast<uint64_t>(static_cast<int64_t>(raw << (64 - 8 * bytes)) >> (64 - 8 * bytes));
  if (in.wide >> i & 1) {
    warp.wide_lanes(in.slots[i])[lane] = raw;
  } else {
    warp.lanes(in.slots[i])[lane] = static_cast<uint32_t>(raw);
  }
}

void take_register(Warp& warp, const Instruction& in, int i, int lane, uint8_t* to) {
  const uint64_t raw = in.wide >> i & 1 ? warp.wide_lanes(in.slots[i])[lane] : warp.lanes(in.slots[i])[lane];
  std::memcpy(to, &raw, in.bytes);
}

/// A lane's value from memory; what may not be read is poison.
void read_value(Warp& warp, const Instruction& in, int lane, bool shared, uint64_t address, uint8_t* value) {
  const int bytes = in.bytes * in.count;
  if (shared && bytes == 1) {  // the shadow has two bytes a part
    uint8_t pair[2];
    warp.block.shared.read(warp.thread(lane), static_cast<int64_t>(address & ~uint64_t{1}), 2, pair);
    *value = pair[address & 1];
  } else if (shared) {
    warp.block.shared.read(warp.thread(lane), static_cast<int64_t>(address), bytes, value);
  } else if (const uint8_t* memory = warp.block.global.read(warp.thread(lane), address, bytes)) {
    std::memcpy(value, memory, bytes);
  } else {
    std::memset(value, 0xff, bytes);
  }
}

/// slots: count destinations, then the address; the last slot says whether elements are sign extended.
template <Space kSpace>
void load(Warp& warp, const Instruction& in, uint32_t mask) {
  uint64_t addresses[kWarp];
  addresses_of(warp, in, in.slots[in.count], addresses);
  bool shared = kSpace == Space::Shared;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (!(mask >> lane & 1)) continue;
    uint8_t value[kMostBytes];
    shared = in_shared(kSpace, addresses[lane]);
    read_value(warp, in, lane, shared, addresses[lane], value);
    for (int i = 0; i < in.count; ++i) fill_register(warp, in, i, lane, value + i * in.bytes);
  }
  count_cost(warp, in, mask, shared, addresses);
}

/// slots: count sources, then the address.
template <Space kSpace>
void store(Warp& warp, const Instruction& in, uint32_t mask) {
  uint64_t addresses[kWarp];
  addresses_of(warp, in, in.slots[in.count], addresses);
  const int bytes = in.bytes * in.count;
  bool shared = kSpace == Space::Shared;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (!(mask >> lane & 1)) continue;
    uint8_t value[kMostBytes];
    for (int i = 0; i < in.count; ++i) take_register(warp, in, i, lane, value + i * in.bytes);
    shared = in_shared(kSpace, addresses[lane]);
    if (shared) {
      warp.block.shared.write(warp.thread(lane), static_cast<int64_t>(addresses[lane]), bytes, value);
    } else if (uint8_t* memory = warp.block.global.write(warp.thread(lane), addresses[lane], bytes)) {
      std::memcpy(memory, value, bytes);
    }
  }
  count_cost(warp, in, mask, shared, addresses);
}

/// slots: count destinations, then the address: an offset in the parameters.
void load_parameter(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint64_t bytes = in.bytes * in.count, size = warp.block.parameters.size();
  uint64_t addresses[kWarp];
  addresses_of(warp, in, in.slots[in.count], addresses);
  for (int lane = 0; lane < kWarp; ++lane) {
    if (!(mask >> lane & 1)) continue;
    if (addresses[lane] + bytes > size || addresses[lane] > size) {
      warp.report(FindingKind::OutOfBounds, lane, "read beyond the parameters");
      continue;
    }
    const uint8_t* value = warp.block.parameters.data() + addresses[lane];
    for (int i = 0; i < in.count; ++i) fill_register(warp, in, i, lane, value + i * in.bytes);
  }
}

void nothing(Warp&, const Instruction&, uint32_t) {}

Space space_of(const Statement& s) {
  if (s.has("param")) return Space::Parameter;
  if (s.has("global")) return Space::Global;
  if (s.has("shared")) return Space::Shared;
  if (s.has("local") || s.has("const")) Decoder::refuse(s, "local and constant memory");
  return Space::Generic;
}

Execute pick(Space space, bool loads) {
  switch (space) {
    case Space::Global:
      return loads ? load<Space::Global> : store<Space::Global>;
    case Space::Shared:
      return loads ? load<Space::Shared> : store<Space::Shared>;
    case Space::Generic:
      return loads ? load<Space::Generic> : store<Space::Generic>;
    case Space::Parameter:
      break;
  }
  return loads ? load_parameter : nullptr;
}

void decode_access(Decoder& decoder, const Statement& s, Instruction& in, bool loads) {
  Decoder::expect_operands(s, 2);
  const Space space = space_of(s);
  const Type type = Decoder::last_type(s);
  const Operand &value = s.operands[loads ? 0 : 1], &memory = s.operands[loads ? 1 : 0];
  const std::vector<Operand> elements = value.elements.empty() ? std::vector{value} : value.elements;
  in.execute = pick(space, loads);
  in.bytes = static_cast<uint8_t>(bytes_of(type));
  in.count = static_cast<uint8_t>(elements.size());
  if (!in.execute || in.bytes == 0 || in.bytes * in.count > kMostBytes) Decoder::refuse(s);
  if (!loads && space != Space::Global && in.bytes * in.count == 1) Decoder::refuse(s, "stores of one byte to shared memory");
  for (int i = 0; i < in.count; ++i) {
    const bool number = !loads && !elements[i].name.starts_with('%');
    const int width = number || elements[i].name == "_" ? std::max<int>(in.bytes, 4) : decoder.width(s, elements[i].name);
    if (width < in.bytes) Decoder::refuse(s, "a register narrower than the element");
    in.wide = static_cast<uint16_t>(in.wide | (width == 8) << i);
    in.slots[i] = loads ? decoder.destination(s, elements[i], width) : decoder.source(s, elements[i], width);
  }
  in.slots.back() = is_signed(type) && in.bytes < 8;
  in.slots[in.count] = decoder.address(s, memory, in);
}

}  // namespace

bool decode_memory(Decoder& decoder, const Statement& s, Instruction& in) {
  const std::string& root = s.opcode[0];
  if (root == "membar" || root == "fence" || root == "prefetch" || root == "prefetchu") {
    in.execute = nothing;
    return true;
  }
  if (root != "ld" && root != "st") return false;
  decode_access(decoder, s, in, root == "ld");
  return true;
}

}  // namespace heddle::emulator
