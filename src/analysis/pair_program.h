// A mask compiled to make bits: rows one by one, keys in lanes.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include "src/analysis/batch_program.h"

namespace heddle::analysis {

/// The values of a mask's names but q and k, and its tables.
struct MaskInputs {
  std::map<std::string, int64_t> ints;
  ir::Tables tables{};
};

/// Used by one thread.
class PairProgram {
 public:
  PairProgram(const ir::Expr& mask, const MaskInputs& inputs);

  /// Bits of rows [first, first + rows) and keys [key, end), the first key being bit 0 of the first of `words` words a row. Parts of the
  /// formula that depend on k only are evaluated once for all rows.
  void fill(int64_t first, int64_t rows, int64_t key, int64_t end, uint64_t* bits, int64_t words);
  /// Operations of lanes since the last call.
  int64_t take_work() { return program_.take_work(); }

 private:
  void pack(int n, uint64_t* words) const;

  BatchProgram program_;
  int q_, k_, result_;
};

}  // namespace heddle::analysis
