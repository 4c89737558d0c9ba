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
#include "src/analysis/row_source.h"
#include "src/ir/loop_nest.h"

namespace heddle::analysis {

class NestRows : public RowSource {
 public:
  /// `row`: the row variable (q or qb); `ints`: values of every other free name. Throws InternalError when one is missing.
  NestRows(const ir::LoopNest& nest, const std::string& row, const std::map<std::string, int64_t>& ints, WorkMeter& meter);
  ~NestRows() override;

  void read(int64_t first, int n, RowBatch& out) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Free names of a nest other than its loop variables and `row`: what `ints` must give.
std::vector<std::string> free_names(const ir::LoopNest& nest, const std::string& row);

}  // namespace heddle::analysis
