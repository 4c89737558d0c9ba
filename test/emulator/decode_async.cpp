// cp.async from global to shared memory, its groups and its waits.
#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

/// slots: shared address, global address, bytes of the source. `count`: the shared address has 8 bytes, `flag`: the global one
/// has 4.
void copy(Warp& warp, const Instruction& in, uint32_t mask) {
  uint64_t from[kWarp], to[kWarp];
  const int64_t to_offset = static_cast<int64_t>(in.slots[3]);
  addresses_of(warp, in, in.slots[1], from);
  uint32_t reading = 0;
  for (int lane = 0; lane < kWarp; ++lane) {
    to[lane] = (in.count ? warp.wide_lanes(in.slots[0])[lane] : warp.lanes(in.slots[0])[lane]) + to_offset;
    if (!(mask >> lane & 1)) continue;
    const int source_bytes = static_cast<int>(std::min<uint32_t>(warp.lanes(in.slots[2])[lane], in.bytes));
    // Nothing is read with a size of 0, so the address may be anything then.
    const uint8_t* source = source_bytes > 0 ? warp.block.global.read(warp.thread(lane), from[lane], source_bytes) : nullptr;
    reading |= static_cast<uint32_t>(source_bytes > 0) << lane;
    warp.block.shared.copy_async(warp.thread(lane), static_cast<int64_t>(to[lane]), in.bytes, source, source_bytes);
  }
  warp.counts(in).banks += bank_passes(to, mask, in.bytes);
  warp.counts(in).sectors += sectors(from, reading, in.bytes);
}

void commit(Warp& warp, const Instruction&, uint32_t mask) {
  for (int lane = 0; lane < kWarp; ++lane) {
    if (mask >> lane & 1) warp.block.shared.commit_group(warp.thread(lane));
  }
}

template <bool kAll>
void wait(Warp& warp, const Instruction& in, uint32_t mask) {
  for (int lane = 0; lane < kWarp; ++lane) {
    if (mask >> lane & 1) warp.block.shared.wait_group(warp.thread(lane), static_cast<int>(in.immediate), kAll);
  }
}

void decode_copy(Decoder& decoder, const Statement& s, Instruction& in) {
  if (s.operands.size() != 3 && s.operands.size() != 4) Decoder::refuse(s);
  Instruction target;
  in.slots[0] = decoder.address(s, s.operands[0], target);
  in.count = target.flag ? 0 : 1;
  in.slots[3] = static_cast<Slot>(target.immediate);
  in.slots[1] = decoder.address(s, s.operands[1], in);
  in.bytes = static_cast<uint8_t>(decoder.literal(s, s.operands[2]));
  if (in.bytes != 4 && in.bytes != 8 && in.bytes != 16) Decoder::refuse(s, "copies have 4, 8 or 16 bytes");
  if (s.has("cg") && in.bytes != 16) Decoder::refuse(s, ".cg copies 16 bytes");
  in.slots[2] = s.operands.size() == 4 ? decoder.source(s, s.operands[3], 4) : decoder.constant(in.bytes, 4);
  in.execute = copy;
}

}  // namespace

bool decode_async(Decoder& decoder, const Statement& s, Instruction& in) {
  if (s.opcode[0] != "cp" || !s.has("async") || s.has("bulk")) return false;
  if (s.has("commit_group")) {
    in.execute = commit;
  } else if (s.has("wait_all")) {
    in.execute = wait<true>;
  } else if (s.has("wait_group")) {
    Decoder::expect_operands(s, 1);
    in.execute = wait<false>;
    in.immediate = decoder.literal(s, s.operands[0]);
  } else if (s.has("shared") || s.has("shared::cta")) {
    decode_copy(decoder, s, in);
  } else {
    return false;
  }
  return true;
}

}  // namespace heddle::emulator
