// The rows of a loop nest, evaluated many at a time: for each value of the row variable, the visited values as strips.
//
// The nest of a mask's rows gives the keys of query rows; the nests of a tile relation give the key tiles of query row blocks. Loops
// whose bounds do not depend on each other stay closed (a strip covers them at once); the others are expanded step by step.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include "src/analysis/strip.h"
#include "src/ir/loop_nest.h"

namespace heddle::analysis {

/// Strips of consecutive rows, row by row; the strips of a row are disjoint and ascend by first column.
struct RowBatch {
  int64_t first_row = 0;
  std::vector<Strip> strips;
  std::vector<int32_t> begin;  ///< Of row i: strips[begin[i]] .. strips[begin[i + 1]]; one more entry than rows.
  int rows() const { return static_cast<int>(begin.size()) - 1; }
  const Strip* row(int i) const { return strips.data() + begin[i]; }
  int size(int i) const { return begin[i + 1] - begin[i]; }
};

/// Not thread safe: one object a thread.
class NestRows {
 public:
  /// `row`: the row variable (q or qb); `ints`: values of every other free name. Throws InternalError when one is missing.
  NestRows(const ir::LoopNest& nest, const std::string& row, const std::map<std::string, int64_t>& ints);
  ~NestRows();
  NestRows(NestRows&&) noexcept;

  static int batch();  ///< Most rows of one read.
  /// Rows [first, first + n), n <= batch(). `out` is reused.
  void read(int64_t first, int n, RowBatch& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Free names of a nest other than its loop variables and `row`: what `ints` must give.
std::vector<std::string> free_names(const ir::LoopNest& nest, const std::string& row);

}  // namespace heddle::analysis
