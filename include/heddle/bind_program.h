// How a kernel's tables become tile lists: the mask as a small program that the runtime evaluates over ranges of rows and keys.
//
// Part of a LaunchRecord, written by the compiler, read by the runtime (runtime/bind.h), stored with the kernel: no compiler and no
// formula is needed to bind new tables.
#pragma once
#include <cstdint>
#include <string>
#include <vector>
#include "heddle/tensor.h"

namespace heddle {

inline constexpr int kMaxTableRank = 4;

/// A table that a formula reads: its name, element type (Int32, Int64, UInt8 or Bool in masks; Float32 too in scores) and the number of
/// indices of every read.
struct TableDeclaration {
  std::string name;
  DType dtype = DType::Int32;
  int rank = 1;
  bool operator==(const TableDeclaration&) const = default;
};

// X(Name): operations on 64-bit integers with the meaning of the formula language (floor division, x / 0 == x % 0 == 0, wrapping);
// conditions are 0 and 1.
#define HEDDLE_BIND_OPS(X)                                                                                              \
  X(Const) /* value */                                                                                                  \
  X(Var)   /* value: index into kBindVariables */                                                                       \
  X(Param) /* value: index into LaunchRecord::int_params */                                                             \
  X(Read)  /* value: index into LaunchRecord::tables; indices: the steps reads[a], ..., reads[a + rank - 1] */          \
  X(Neg) X(Abs) X(Not)                                      /* of step a */                                             \
  X(Add) X(Sub) X(Mul) X(Div) X(Mod) X(Min) X(Max)          /* of steps a, b */                                         \
  X(Lt) X(Le) X(Gt) X(Ge) X(Eq) X(Ne) X(And) X(Or)                                                                      \
  X(Select) /* step a ? step b : step c */

enum class BindOp : uint8_t {
#define X(name) name,
  HEDDLE_BIND_OPS(X)
#undef X
};

/// Variables by index.
inline constexpr const char* kBindVariables[] = {"b", "h", "q", "k", "B", "H", "Hkv", "Sq", "Sk"};

/// One value. Operands are indices of earlier steps; fields that the op does not name are 0.
struct BindStep {
  BindOp op = BindOp::Const;
  int32_t a = 0, b = 0, c = 0;
  int64_t value = 0;
  bool operator==(const BindStep&) const = default;
};

/// A mask: the last step says whether a pair takes part. No steps: the kernel takes no lists.
struct BindProgram {
  std::vector<BindStep> steps;
  std::vector<int32_t> reads;   ///< Index steps of Read steps.
  bool by_batch = false;        ///< The mask depends on b, so each batch has lists of its own.
  bool by_head = false;         ///< The same of h.
  bool operator==(const BindProgram&) const = default;
};

}  // namespace heddle
