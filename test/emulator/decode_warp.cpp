// shfl, vote, activemask, redux and bar.warp.sync: exchange between the lanes of a warp.
#include <fmt/format.h>

#include <bit>

#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

/// Lanes that the member mask names must execute the instruction together; where they do not, the device's result is undefined.
void check_members(Warp& warp, uint32_t mask, uint32_t members) {
  if ((members & ~mask) == 0 && (mask & ~members) == 0) return;
  const int lane = std::countr_zero(mask);
  warp.report(FindingKind::DivergentWarpOperation, lane,
              fmt::format("members 0x{:08x}, but lanes 0x{:08x} are here", members, mask));
}

/// The member mask as the first lane that is here has it.
uint32_t members_of(Warp& warp, Slot slot, uint32_t mask) { return warp.lanes(slot)[std::countr_zero(mask)]; }

enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

struct Source {
  int lane;
  bool inside;
};

/// PTX ISA, shfl: c holds the clamp in bits 0-4 and the segment mask in bits 8-12.
Source source_of(Shuffle kind, int lane, uint32_t b, uint32_t c) {
  const int by = static_cast<int>(b & 31), clamp = static_cast<int>(c & 31), segment = static_cast<int>(c >> 8 & 31);
  const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  switch (kind) {
    case Shuffle::Up:
      return {lane - by, lane - by >= most};
    case Shuffle::Down:
      return {lane + by, lane + by <= most};
    case Shuffle::Butterfly:
      return {lane ^ by, (lane ^ by) <= most};
    case Shuffle::Index:
      break;
  }
  const int picked = least | (by & ~segment);
  return {picked, picked <= most};
}

/// slots: d, p, a, b, c, members.
template <Shuffle kKind>
void shuffle(Warp& warp, const Instruction& in, uint32_t mask) {
  check_members(warp, mask, members_of(warp, in.slots[5], mask));
  alignas(64) uint32_t from[kWarp], got[kWarp];
  std::memcpy(from, warp.lanes(in.slots[2]), sizeof from);
  const uint32_t *b = warp.lanes(in.slots[3]), *c = warp.lanes(in.slots[4]);
  uint32_t inside = 0;
  for (int lane = 0; lane < kWarp; ++lane) {
    const Source source = source_of(kKind, lane, b[lane], c[lane]);
    const int at = source.inside ? source.lane : lane;
    got[lane] = from[at];
    inside |= static_cast<uint32_t>(source.inside) << lane;
    if ((mask >> lane & 1) && !(mask >> at & 1)) {
      warp.report(FindingKind::DivergentWarpOperation, lane, fmt::format("shfl reads lane {}, which is not here", at));
    }
  }
  write_lanes<uint32_t>(warp, in.slots[0], mask, [&got](int lane) { return got[lane]; });
  write_predicate(warp, in.slots[1], mask, inside);
}

enum class Vote : uint8_t { All, Any, Uniform, Ballot };

/// slots: d, p, members; `flag`: p is negated.
template <Vote kKind>
void vote(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t members = members_of(warp, in.slots[2], mask);
  check_members(warp, mask, members);
  const uint32_t bits = (in.flag ? ~warp.predicate(in.slots[1]) : warp.predicate(in.slots[1])) & members;
  if constexpr (kKind == Vote::Ballot) {
    write_lanes<uint32_t>(warp, in.slots[0], mask, [bits](int) { return bits; });
  } else {
    const bool truth = kKind == Vote::All ? bits == members : kKind == Vote::Any ? bits != 0 : bits == members || bits == 0;
    write_predicate(warp, in.slots[0], mask, truth ? kAllLanes : 0);
  }
}

void active_mask(Warp& warp, const Instruction& in, uint32_t mask) {
  write_lanes<uint32_t>(warp, in.slots[0], mask, [mask](int) { return mask; });
}

enum class Reduction : uint8_t { Add, Min, Max, And, Or, Xor };

/// slots: d, a, members. `count` is the Reduction; `flag`: signed.
void reduce(Warp& warp, const Instruction& in, uint32_t mask) {
  check_members(warp, mask, members_of(warp, in.slots[2], mask));
  const uint32_t* a = warp.lanes(in.slots[1]);
  uint32_t sum = a[std::countr_zero(mask)];
  for (int lane = std::countr_zero(mask) + 1; lane < kWarp; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const uint32_t x = a[lane];
    const bool less = in.flag ? static_cast<int32_t>(x) < static_cast<int32_t>(sum) : x < sum;
    switch (static_cast<Reduction>(in.count)) {
      case Reduction::Add:
        sum += x;
        break;
      case Reduction::Min:
        sum = less ? x : sum;
        break;
      case Reduction::Max:
        sum = less ? sum : x;
        break;
      case Reduction::And:
        sum &= x;
        break;
      case Reduction::Or:
        sum |= x;
        break;
      case Reduction::Xor:
        sum ^= x;
        break;
    }
  }
  write_lanes<uint32_t>(warp, in.slots[0], mask, [sum](int) { return sum; });
}

/// Orders memory inside the warp only when all its live lanes take part; a part of them orders nothing here, which is strict.
void warp_barrier(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint32_t members = members_of(warp, in.slots[0], mask);
  check_members(warp, mask, members);
  if ((members & warp.live) == warp.live) warp.block.shared.warp_barrier(warp.index);
}

Execute pick_shuffle(const Statement& s) {
  if (s.has("up")) return shuffle<Shuffle::Up>;
  if (s.has("down")) return shuffle<Shuffle::Down>;
  return s.has("bfly") ? shuffle<Shuffle::Butterfly> : s.has("idx") ? shuffle<Shuffle::Index> : nullptr;
}

Execute pick_vote(const Statement& s) {
  if (s.has("all")) return vote<Vote::All>;
  if (s.has("any")) return vote<Vote::Any>;
  return s.has("uni") ? vote<Vote::Uniform> : s.has("ballot") ? vote<Vote::Ballot> : nullptr;
}

void decode_shuffle(Decoder& decoder, const Statement& s, Instruction& in) {
  Decoder::expect_operands(s, 5);
  in.execute = pick_shuffle(s);
  in.slots[0] = decoder.destination(s, s.operands[0], 4);
  in.slots[1] = decoder.predicate(s, s.operands[0].alternative.empty() ? "_" : s.operands[0].alternative);
  for (int i = 1; i < 5; ++i) in.slots[i + 1] = decoder.source(s, s.operands[i], 4);
}

void decode_vote(Decoder& decoder, const Statement& s, Instruction& in) {
  Decoder::expect_operands(s, 3);
  in.execute = pick_vote(s);
  in.slots[0] = s.has("ballot") ? decoder.destination(s, s.operands[0], 4) : decoder.predicate(s, s.operands[0].name);
  const auto asked = decoder.predicate_source(s, s.operands[1]);
  in.slots[1] = asked.slot;
  in.flag = asked.negated;
  in.slots[2] = decoder.source(s, s.operands[2], 4);
}

void decode_reduction(Decoder& decoder, const Statement& s, Instruction& in) {
  static constexpr const char* kNames[] = {"add", "min", "max", "and", "or", "xor"};
  Decoder::expect_operands(s, 3);
  for (int i = 0; i < 6; ++i) {
    if (!s.has(kNames[i])) continue;
    in.execute = reduce;
    in.count = static_cast<uint8_t>(i);
  }
  in.flag = s.has("s32");
  in.slots[0] = decoder.destination(s, s.operands[0], 4);
  in.slots[1] = decoder.source(s, s.operands[1], 4);
  in.slots[2] = decoder.source(s, s.operands[2], 4);
}

}  // namespace

bool decode_warp(Decoder& decoder, const Statement& s, Instruction& in) {
  const std::string& root = s.opcode[0];
  if (root == "shfl" && s.has("sync")) {
    decode_shuffle(decoder, s, in);
  } else if (root == "vote" && s.has("sync")) {
    decode_vote(decoder, s, in);
  } else if (root == "redux" && s.has("sync")) {
    decode_reduction(decoder, s, in);
  } else if (root == "activemask") {
    in.execute = active_mask;
    in.slots[0] = decoder.destination(s, s.operands.at(0), 4);
  } else if (root == "bar" && s.has("warp")) {
    Decoder::expect_operands(s, 1);
    in.execute = warp_barrier;
    in.slots[0] = decoder.source(s, s.operands[0], 4);
  } else {
    return false;
  }
  if (!in.execute) Decoder::refuse(s);
  return true;
}

}  // namespace heddle::emulator
