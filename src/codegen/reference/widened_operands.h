// Q, K and V of any operand type as float32, so that reference code reads one type.
#pragma once
#include <cstdint>
#include <vector>
#include "heddle/kernel_abi.h"

namespace heddle::reference {

/// The arguments of a launch whose q, k and v are float32: the given ones, or dense copies of them. Widening is exact.
class WidenedOperands {
 public:
  WidenedOperands(const AttentionArgs& args, DType dtype, int64_t head_dim, int64_t value_dim);
  WidenedOperands(const WidenedOperands&) = delete;

  const AttentionArgs& args() const { return args_; }

 private:
  AttentionArgs args_;
  std::vector<float> q_, k_, v_;
};

}  // namespace heddle::reference
