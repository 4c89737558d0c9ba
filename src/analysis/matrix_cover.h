// Covers of a bit matrix by whole lines (rows, columns, diagonals, block diagonals), inside a causal region or everywhere.
#pragma once
#include <optional>
#include <vector>
#include "src/analysis/matrix_bits.h"

namespace heddle::analysis {

/// The pairs looked at: k <= q + *causal, or every pair.
struct Region {
  std::optional<int64_t> causal;
};

/// A set of whole lines, one flag each.
struct LineFlags {
  std::vector<char> rows;           ///< q.
  std::vector<uint64_t> columns;    ///< Bit k.
  std::vector<uint64_t> diagonals;  ///< Bit k - q + sq - 1, so that a row's diagonals are a window; padded with a word.
  std::vector<char> blocks;         ///< q / block - k / block + (blocks of keys) - 1; empty without a block.
};

/// Kinds of lines whose flags a cover uses.
enum LineKind : unsigned { kRows = 1, kColumns = 2, kDiagonals = 4, kBlocks = 8 };

class LineCover {
 public:
  /// block 0: no block diagonals.
  LineCover(const BitMatrix& matrix, Region region, int64_t block);

  /// Lines of which every pair of the region is allowed; those without a pair of the region among them.
  LineFlags whole() const;
  /// Lines of one kind with an allowed pair that no line of `chosen`, of the kinds `used`, covers.
  LineFlags needed(LineKind kind, const LineFlags& chosen, unsigned used) const;
  /// The first allowed pair that `chosen` does not cover.
  std::optional<std::pair<int64_t, int64_t>> uncovered(const LineFlags& chosen, unsigned used) const;
  /// The lines chosen, inside the region, are exactly the matrix.
  bool exact(const LineFlags& chosen, unsigned used) const;
  /// Whether the pair is covered.
  bool covers(const LineFlags& chosen, unsigned used, int64_t q, int64_t k) const;
  LineFlags none() const;
  int64_t key_blocks() const { return block_ == 0 ? 0 : (matrix_.sk + block_ - 1) / block_; }

 private:
  uint64_t region_bits(int64_t q, int64_t w) const;
  /// The covered bits of a row.
  void cover_row(const LineFlags& chosen, unsigned used, int64_t q, std::vector<uint64_t>& row) const;
  void mark(LineKind kind, int64_t q, const std::vector<uint64_t>& bits, LineFlags& flags) const;

  const BitMatrix& matrix_;
  Region region_;
  int64_t block_;
};

}  // namespace heddle::analysis
