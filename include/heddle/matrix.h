// A raw boolean matrix instead of a formula: what is found in it, exactly, and the mask that stands for it.
//
//   heddle::MatrixMask found = heddle::recognize(heddle::Tensor::dense(bytes, {sq, sk}, heddle::DType::UInt8));
//   std::puts(found.text().c_str());                      // components, tiles, and the formula that gives the same matrix
//   heddle::Attention attention = engine.attention({.matrix = found});
//
// Detection from the matrix itself, after SPLAT (Gupta et al., 2024); nothing is sampled. A matrix with a formula is compiled to the kernel
// of that formula, of the same key in the cache. Any other stays a table: the kernel reads the matrix in its partial tiles, and which tiles
// it visits is found when the matrix is bound. Both are said by text(); new contents of the table form compile nothing.
//
// A matrix says nothing of other lengths: an Attention made from it runs at sq() x sk() only, and refuses others. A formula that is right
// at every length is the user's to give: `{.mask = heddle::Mask::parse(*found.formula())}`.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "heddle/formula.h"
#include "heddle/tensor.h"

namespace heddle {

/// Pairs of a matrix: rows q0 + r (0 <= r < height), and with them rows q0 + i * period + r for i < repeats, allow the keys
/// first + i * shift + r * first_slope + stride * n for 0 <= n < count + r * count_slope.
struct MatrixComponent {
  int64_t q0 = 0, height = 1;
  int64_t first = 0, first_slope = 0, count = 1, count_slope = 0, stride = 1;
  int64_t repeats = 1, period = 0, shift = 0;
};

/// What is true of a matrix.
struct MatrixFindings {
  int64_t sq = 0, sk = 0;
  int64_t pairs = 0;                        ///< Allowed ones.
  int64_t empty_rows = 0;
  bool irregular = false;                   ///< No short list of components; then there is none.
  std::vector<MatrixComponent> components{};  ///< Disjoint; together every allowed pair.
  int64_t lattice = 1;                      ///< Distances between the keys of one row are multiples of it.
  int64_t tile_rows = 0, tile_keys = 0;     ///< Of the tiles counted next; edge tiles are clipped.
  int64_t full_tiles = 0, partial_tiles = 0, empty_tiles = 0;
  std::optional<std::string> formula{};       ///< Over q and k, gives every pair of the matrix. Unset: none was found.
  double milliseconds = 0;                  ///< Of the whole analysis.
};

struct MatrixOptions {
  int threads = 0;                          ///< 0: one a core this process may run on.
  int64_t tile_rows = 64, tile_keys = 64;   ///< Of the tiles to count, 1 or more.
};

/// A matrix that was analysed. Immutable, cheap to copy, thread safe.
class MatrixMask {
 public:
  /// Formula: the matrix is that of formula(), and its memory is not read any more. Table: it views the matrix, whose memory must outlive
  /// every attention made of it and stay as it is.
  enum class Form { Formula, Table };

  Form form() const;
  const MatrixFindings& findings() const;
  std::string text() const;                          ///< What was found, in words, and what is done with it and why.
  const std::optional<std::string>& formula() const;  ///< As findings().formula.
  int64_t sq() const;
  int64_t sk() const;
  Mask mask() const;                                 ///< The formula, or `matrix[q, k] != 0`. It does not keep the lengths.
  std::map<std::string, Tensor> tables() const;      ///< That mask() reads: none, or "matrix".

  struct State;
  explicit MatrixMask(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

/// Analyses a matrix [Sq, Sk] of Bool or UInt8, 0 = masked, anything else = allowed; any strides; up to 2^20 rows and keys. Throws UserError
/// on another dtype, rank or size, and ToolchainError when the compiler library is missing.
MatrixMask recognize(const Tensor& matrix, const MatrixOptions& options = {});

}  // namespace heddle
