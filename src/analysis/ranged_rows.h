// The rows of a mask without closed form, where ranges of keys are known that all of a block's rows allow, and ranges that none does.
//
// Only the ranges in between are evaluated pair by pair: documents of a million tokens are a few ranges a block.
#pragma once
#include <cstdint>
#include <vector>
#include "src/analysis/pair_program.h"
#include "src/analysis/row_source.h"

namespace heddle::analysis {

/// Keys [first, end): `all` of their pairs are allowed, or some may be.
struct KeyRange {
  int64_t first = 0, end = 0;
  bool all = false;
};

/// By blocks of `rows` rows: block i has ranges[offsets[i]] .. ranges[offsets[i + 1]], ascending and disjoint; keys in none of them are
/// masked in all rows of the block.
struct KnownRanges {
  int64_t rows = 64;
  std::vector<int64_t> offsets;
  std::vector<KeyRange> ranges;
};

class RangedRows : public RowSource {
 public:
  /// `known` must outlive this.
  RangedRows(const ir::Expr& mask, const MaskInputs& inputs, const KnownRanges& known, WorkMeter& meter);
  void read(int64_t first, int n, RowBatch& out) override;

 private:
  void read_block(int64_t first, int n, int32_t at);
  void add_bits(int64_t first, int n, int32_t at, const KeyRange& range);
  void add_run(int32_t row, int64_t first, int64_t end);

  PairProgram program_;
  const KnownRanges& known_;
  WorkTally tally_;
  std::vector<uint64_t> bits_;
  std::vector<RowStrip> strips_;
  std::vector<int32_t> open_;  ///< The last strip of each row of the batch; -1: none yet.
};

}  // namespace heddle::analysis
