#include "src/analysis/pair_program.h"

#include <algorithm>

namespace heddle::analysis {

PairProgram::PairProgram(const ir::Expr& mask, const MaskInputs& inputs) {
  q_ = program_.declare("q", BatchProgram::Slot::Uniform);
  k_ = program_.declare("k", BatchProgram::Slot::Lane);
  program_.declare_fixed(inputs.ints);
  program_.declare_tables(inputs.tables);
  result_ = program_.add(mask);
  program_.run_fixed();
}

void PairProgram::fill(int64_t first, int64_t rows, int64_t key, int64_t end, uint64_t* bits, int64_t words) {
  std::fill(bits, bits + rows * words, 0);
  for (int64_t at = key; at < end; at += BatchProgram::kLanes) {
    const int n = static_cast<int>(std::min<int64_t>(BatchProgram::kLanes, end - at));
    for (int i = 0; i < n; ++i) program_.lanes(k_)[i] = at + i;
    program_.run_lanes(n);
    for (int64_t row = 0; row < rows; ++row) {
      program_.set(q_, first + row);
      program_.run_uniform();
      program_.run_mixed(n);
      pack(n, bits + row * words + (at - key) / 64);
    }
  }
}

void PairProgram::pack(int n, uint64_t* words) const {
  const int64_t* values = program_.data(result_);
  const int step = program_.varies(result_) ? 1 : 0;
  for (int at = 0; at < n; at += 64) {
    uint64_t word = 0;
    for (int i = 0; i < std::min(64, n - at); ++i) word |= static_cast<uint64_t>(values[(at + i) * step]) << i;
    words[at / 64] = word;
  }
}

}  // namespace heddle::analysis
