// bra, ret, exit and block barriers.
#include "test/emulator/decoder.h"

namespace heddle::emulator {

namespace {

void nothing(Warp&, const Instruction&, uint32_t) {}

/// Barrier 0 of the whole block; named barriers and parts of a block are not emulated.
void decode_barrier(Decoder& decoder, const Statement& s, Instruction& in) {
  Decoder::expect_operands(s, 1);
  if (!s.has("sync") || decoder.literal(s, s.operands[0]) != 0) Decoder::refuse(s, "barriers other than 0 of the whole block");
  in.flow = Flow::BlockBarrier;
}

}  // namespace

bool decode_control(Decoder& decoder, const Statement& s, Instruction& in) {
  const std::string& root = s.opcode[0];
  if (root == "bra") {
    in.flow = Flow::Branch;
    in.target = decoder.label(s);
  } else if (root == "ret" || root == "exit") {
    in.flow = Flow::Exit;
  } else if ((root == "bar" && !s.has("warp")) || root == "barrier") {
    decode_barrier(decoder, s, in);
  } else {
    return false;
  }
  in.execute = nothing;
  return true;
}

}  // namespace heddle::emulator
