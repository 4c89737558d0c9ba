// Compressed rows of probabilities: which key each slot of a row belongs to.
//
// Affine-compressed-sparse-row storage (ACSR) of SPLAT (Gupta et al., OOPSLA 2025): a row keeps the values of its allowed keys one behind
// the other and no column indices, since the keys of a row are a few arithmetic progressions that a formula of q gives.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include "heddle/tensor.h"

namespace heddle {

/// Sizes of the launches that a layout is for.
struct AcsrSizes {
  int64_t batch = 1, heads = 1, kv_heads = 1, sq = 0, sk = 0;
  std::map<std::string, int64_t> ints{};  ///< Dynamic integer parameters of the kernel, all of them.
};

/// Made by Attention::acsr_layout. Immutable, cheap to copy, thread safe.
class AcsrLayout {
 public:
  int64_t width() const;  ///< Allowed keys of the longest row: the least W of a tensor of probabilities. At least 1.
  /// Allowed keys of row q, where the mask differs between batches or heads of row (b, h, q). Throws UserError past the sizes.
  int64_t count(int64_t q, int64_t b = 0, int64_t h = 0) const;
  /// Key of each slot of the row, `count` of them: within each progression ascending, progressions one behind the other.
  std::vector<int64_t> keys(int64_t q, int64_t b = 0, int64_t h = 0) const;
  /// dense[b, h, q, key of slot i] = values[b, h, q, i], 0 at masked pairs. values [B, H, Sq, W >= width()], dense [B, H, Sq, Sk],
  /// float32, any strides. Throws UserError naming the tensor.
  void to_dense(const Tensor& values, const Tensor& dense) const;

  struct State;
  explicit AcsrLayout(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace heddle
