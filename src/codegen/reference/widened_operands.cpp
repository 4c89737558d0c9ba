#include "src/codegen/reference/widened_operands.h"

#include "src/support/half.h"

namespace heddle::reference {
namespace {

/// A copy of [batch, heads, rows, dims] in that order; `stride` becomes its own.
std::vector<float> copied(const void* data, DType dtype, int64_t batch, int64_t heads, int64_t rows, int64_t dims, int64_t (&stride)[3]) {
  std::vector<float> copy;
  copy.reserve(static_cast<size_t>(batch * heads * rows * dims));
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t first = b * stride[0] + h * stride[1] + r * stride[2];
        for (int64_t d = 0; d < dims; ++d) copy.push_back(support::element(dtype, data, first + d));
      }
    }
  }
  stride[0] = heads * rows * dims, stride[1] = rows * dims, stride[2] = dims;
  return copy;
}

}  // namespace

WidenedOperands::WidenedOperands(const AttentionArgs& args, DType dtype, int64_t head_dim, int64_t value_dim) : args_(args) {
  if (dtype == DType::Float32) return;
  q_ = copied(args.q, dtype, args.batch, args.heads, args.sq, head_dim, args_.q_stride);
  k_ = copied(args.k, dtype, args.batch, args.kv_heads, args.sk, head_dim, args_.k_stride);
  v_ = copied(args.v, dtype, args.batch, args.kv_heads, args.sk, value_dim, args_.v_stride);
  args_.q = q_.data(), args_.k = k_.data(), args_.v = v_.data();
}

}  // namespace heddle::reference
