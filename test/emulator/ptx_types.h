// The types of PTX operands: their names, widths and kinds.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::emulator {

enum class Type : uint8_t {
  Pred,
  B8,
  U8,
  S8,
  B16,
  U16,
  S16,
  F16,
  BF16,
  B32,
  U32,
  S32,
  F32,
  TF32,
  F16x2,
  BF16x2,
  B64,
  U64,
  S64,
  F64,
};

std::optional<Type> type_of(std::string_view name);
int bytes_of(Type type);
bool is_signed(Type type);
bool is_float(Type type);

}  // namespace heddle::emulator
