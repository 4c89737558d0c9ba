// mma.sync and ldmatrix: tensor core operations of a whole warp.
#include <cstring>

#include "test/emulator/decoder.h"
#include "test/emulator/lane_loops.h"

namespace heddle::emulator {

namespace {

/// slots: d (4), a, b, c (4). `count` is the depth.
template <MatrixType kType>
void multiply_fragments(Warp& warp, const Instruction& in, uint32_t) {
  const MatrixShape shape{kType, in.count};
  FragmentRegister a[4], b[2], c[4];
  uint32_t* d[4];
  size_t next = 0;
  for (uint32_t*& fragment : d) fragment = warp.lanes(in.slots[next++]);
  for (int i = 0; i < shape.a_registers(); ++i) a[i] = warp.lanes(in.slots[next++]);
  for (int i = 0; i < shape.b_registers(); ++i) b[i] = warp.lanes(in.slots[next++]);
  for (FragmentRegister& fragment : c) fragment = warp.lanes(in.slots[next++]);
  multiply(shape, a, b, c, d);
}

/// One matrix: lanes 8m to 8m + 7 hold the addresses of its rows.
void load_matrix(Warp& warp, const Instruction& in, int m, const uint64_t (&addresses)[kWarp], bool transposed) {
  uint16_t rows[8][8];
  for (int row = 0; row < 8; ++row) {
    const int lane = 8 * m + row;
    warp.block.shared.read(warp.thread(lane), static_cast<int64_t>(addresses[lane]), 16, rows[row]);
  }
  distribute(rows, transposed, warp.lanes(in.slots[m]));
  warp.counts(in).banks += matrix_passes(&addresses[8 * m]);
}

/// slots: destinations (`count` matrices), address.
template <bool kTransposed>
void load_matrices(Warp& warp, const Instruction& in, uint32_t) {
  uint64_t addresses[kWarp];
  addresses_of(warp, in, in.slots[in.count], addresses);
  for (int m = 0; m < in.count; ++m) load_matrix(warp, in, m, addresses, kTransposed);
}

/// Fills the slots of an instruction one operand after the other.
class SlotList {
 public:
  SlotList(Decoder& decoder, const Statement& statement, Instruction& instruction)
      : decoder_(decoder), statement_(statement), instruction_(instruction) {}

  void append(const Operand& operand, size_t expected, bool written) {
    const std::vector<Operand> registers = operand.elements.empty() ? std::vector{operand} : operand.elements;
    if (registers.size() != expected) Decoder::refuse(statement_, "expected " + std::to_string(expected) + " registers");
    for (const Operand& one : registers) {
      instruction_.slots[next_++] = written ? decoder_.destination(statement_, one, 4) : decoder_.source(statement_, one, 4);
    }
  }

 private:
  Decoder& decoder_;
  const Statement& statement_;
  Instruction& instruction_;
  size_t next_ = 0;
};

/// {f32, type, type, f32} behind the shape.
MatrixShape shape_of(const Statement& s) {
  const std::vector<Type> types = Decoder::types(s);
  if (types.size() != 4 || types[0] != Type::F32 || types[3] != Type::F32 || types[1] != types[2])
    Decoder::refuse(s, "types of operands");
  if (!s.has("row") || !s.has("col")) Decoder::refuse(s, "layout other than row.col");
  MatrixShape shape{MatrixType::F16, s.has("m16n8k16") ? 16 : s.has("m16n8k8") ? 8 : s.has("m16n8k4") ? 4 : 0};
  if (types[1] == Type::BF16) shape.type = MatrixType::BF16;
  if (types[1] == Type::TF32) shape.type = MatrixType::TF32;
  const bool known =
      shape.type == MatrixType::TF32 ? shape.depth == 4 || shape.depth == 8 : shape.depth == 8 || shape.depth == 16;
  if (!known || (types[1] != Type::F16 && types[1] != Type::BF16 && types[1] != Type::TF32)) Decoder::refuse(s, "shape");
  return shape;
}

Execute pick(MatrixType type) {
  switch (type) {
    case MatrixType::F16:
      return multiply_fragments<MatrixType::F16>;
    case MatrixType::BF16:
      return multiply_fragments<MatrixType::BF16>;
    case MatrixType::TF32:
      break;
  }
  return multiply_fragments<MatrixType::TF32>;
}

void decode_multiply(Decoder& decoder, const Statement& s, Instruction& in) {
  Decoder::expect_operands(s, 4);
  const MatrixShape shape = shape_of(s);
  in.execute = pick(shape.type);
  in.count = static_cast<uint8_t>(shape.depth);
  SlotList slots(decoder, s, in);
  slots.append(s.operands[0], 4, true);
  slots.append(s.operands[1], shape.a_registers(), false);
  slots.append(s.operands[2], shape.b_registers(), false);
  slots.append(s.operands[3], 4, false);
}

void decode_load(Decoder& decoder, const Statement& s, Instruction& in) {
  Decoder::expect_operands(s, 2);
  in.count = s.has("x4") ? 4 : s.has("x2") ? 2 : s.has("x1") ? 1 : 0;
  if (in.count == 0 || !s.has("m8n8") || !s.has("b16")) Decoder::refuse(s);
  in.execute = s.has("trans") ? load_matrices<true> : load_matrices<false>;
  SlotList(decoder, s, in).append(s.operands[0], in.count, true);
  in.slots[in.count] = decoder.address(s, s.operands[1], in);
}

}  // namespace

bool decode_matrix(Decoder& decoder, const Statement& s, Instruction& in) {
  if (s.opcode[0] == "mma" && s.has("sync")) {
    decode_multiply(decoder, s, in);
  } else if (s.opcode[0] == "ldmatrix" && s.has("sync")) {
    decode_load(decoder, s, in);
  } else {
    return false;
  }
  in.flow = Flow::WarpWide;
  return true;
}

}  // namespace heddle::emulator
