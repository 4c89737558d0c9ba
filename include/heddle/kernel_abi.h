// The border between compiler and runtime: argument blocks, kernel signature and the LaunchRecord stored with each kernel.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// Arguments of one attention launch, read by the kernel through a pointer. All strides are in elements; the last
/// dimension of q, k, v, o is contiguous. Every field is at a fixed offset (static_asserts in runtime/kernel_abi.cpp).
struct AttentionArgs {
  const void* q = nullptr;  ///< [batch, heads, sq, head_dim]
  const void* k = nullptr;  ///< [batch, kv_heads, sk, head_dim]
  const void* v = nullptr;  ///< [batch, kv_heads, sk, value_dim]
  void* o = nullptr;        ///< [batch, heads, sq, value_dim]
  float* lse = nullptr;     ///< [batch, heads, sq] dense, or null when the kernel was compiled without LSE.
  int64_t batch = 0, heads = 0, kv_heads = 0, sq = 0, sk = 0;
  int64_t q_stride[3] = {};  ///< batch, head, row
  int64_t k_stride[3] = {};
  int64_t v_stride[3] = {};
  int64_t o_stride[3] = {};
  const int64_t* int_params = nullptr;   ///< Values of LaunchRecord::int_params, in that order.
  const double* real_params = nullptr;   ///< Values of LaunchRecord::real_params, in that order.
  double scale = 1.0;                    ///< Softmax scale: s = scale * <q, k>.
};

/// A CPU kernel: computes row blocks [first_block, last_block) of the grid. Blocks are independent of each other:
/// block index = (b * heads + h) * row_blocks + qb. `scratch` is this thread's own buffer of
/// LaunchRecord::scratch_bytes bytes, 64-byte aligned; contents need not be initialised.
using AttentionKernel = void (*)(const AttentionArgs* args, int64_t first_block, int64_t last_block, void* scratch);

/// Everything the runtime must know to launch a stored kernel without any compiler or IR.
struct LaunchRecord {
  static constexpr uint32_t kVersion = 1;
  std::string symbol;           ///< Name of the AttentionKernel in the object.
  std::string target;           ///< Target::to_string().
  int64_t head_dim = 0, value_dim = 0;
  int64_t block_rows = 0;       ///< Query rows of one block; the grid is batch * heads * ceil(sq / block_rows).
  int64_t scratch_bytes = 0;    ///< Per thread.
  int64_t max_positions = 0;    ///< Largest sq and sk this kernel may be launched with.
  bool lse = false;
  std::vector<std::string> int_params, real_params;  ///< Dynamic parameters in argument order.
  std::string summary;          ///< One line on what was compiled, for `heddle cache list`.
  std::string facts;            ///< Facts and plan as text, so that a hit can report without analysis.
  std::string plan;

  int64_t row_blocks(int64_t sq) const { return block_rows ? (sq + block_rows - 1) / block_rows : 0; }
  bool operator==(const LaunchRecord&) const = default;
};

/// Length-prefixed binary form with kVersion at the front.
std::string serialize(const LaunchRecord& record);
/// Returns false (and leaves `record` unspecified) on a short, malformed or differently versioned text; never throws.
bool deserialize(std::string_view bytes, LaunchRecord& record);

}  // namespace heddle
