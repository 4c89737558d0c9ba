#include "test/emulator/ptx_types.h"

#include <array>

namespace heddle::emulator {

namespace {

struct Row {
  const char* name;
  Type type;
  int bytes;
};

constexpr std::array kRows = {
    Row{"pred", Type::Pred, 0}, Row{"b8", Type::B8, 1},     Row{"u8", Type::U8, 1},       Row{"s8", Type::S8, 1},
    Row{"b16", Type::B16, 2},   Row{"u16", Type::U16, 2},   Row{"s16", Type::S16, 2},     Row{"f16", Type::F16, 2},
    Row{"bf16", Type::BF16, 2}, Row{"b32", Type::B32, 4},   Row{"u32", Type::U32, 4},     Row{"s32", Type::S32, 4},
    Row{"f32", Type::F32, 4},   Row{"tf32", Type::TF32, 4}, Row{"f16x2", Type::F16x2, 4}, Row{"bf16x2", Type::BF16x2, 4},
    Row{"b64", Type::B64, 8},   Row{"u64", Type::U64, 8},   Row{"s64", Type::S64, 8},     Row{"f64", Type::F64, 8},
};

}  // namespace

std::optional<Type> type_of(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

int bytes_of(Type type) { return kRows[static_cast<size_t>(type)].bytes; }

bool is_signed(Type type) { return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64; }

bool is_float(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 || type == Type::TF32 || type == Type::F16x2 ||
         type == Type::BF16x2 || type == Type::F64;
}

}  // namespace heddle::emulator
