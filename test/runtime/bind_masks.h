// Bind programs written as formulas in C++, and their meaning pair by pair: the judge of the bind tests.
#pragma once
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>
#include "runtime/bind.h"
#include "runtime/bind_pairs.h"

namespace heddle::runtime {

/// Collects the steps of a program; values are step indices.
class ProgramBuilder {
 public:
  BindProgram program;

  int32_t constant(int64_t value) { return push({BindOp::Const, 0, 0, 0, value}); }
  int32_t param(int64_t index) { return push({BindOp::Param, 0, 0, 0, index}); }
  int32_t var(const std::string& name) {
    int64_t i = 0;
    while (kBindVariables[i] != name) ++i;
    program.by_batch = program.by_batch || name == "b";
    program.by_head = program.by_head || name == "h";
    return push({BindOp::Var, 0, 0, 0, i});
  }
  int32_t read(int64_t table, const std::vector<int32_t>& indices) {
    const auto at = static_cast<int32_t>(program.reads.size());
    program.reads.insert(program.reads.end(), indices.begin(), indices.end());
    return push({BindOp::Read, at, 0, 0, table});
  }
  int32_t op(BindOp op, int32_t a, int32_t b = 0, int32_t c = 0) { return push({op, a, b, c, 0}); }

 private:
  int32_t push(const BindStep& step) {
    program.steps.push_back(step);
    return static_cast<int32_t>(program.steps.size()) - 1;
  }
};

/// The element at clamped indices; 0 of an empty table.
int64_t element(const Tensor& table, const std::vector<int64_t>& indices);

/// Whether the pair takes part, by evaluating every step.
bool takes_part(const BindInput& input, int64_t b, int64_t h, int64_t q, int64_t k);

/// The exact class of every tile of every list, in order of lists. A tile cut by the last key is never full.
std::vector<TileClass> exact_classes(const BindInput& input);
/// The same as listed; fails the running test when runs are out of order, overlap, or could be one.
std::vector<TileClass> listed_classes(const BindInput& input, const TileLists& lists);

}  // namespace heddle::runtime
