// Which keys a query row may attend, pair by pair straight from the formula: no facts, no compiler.
#pragma once
#include <cstdint>
#include <optional>

#include "heddle/graph.h"
#include "runtime/thread_pool.h"
#include "src/codegen/reference/leaf_slots.h"
#include "src/ir/attention_problem.h"
#include "src/ir/evaluate.h"

namespace heddle::engine {

/// The argument block of an attention of a graph, without lse and parameters, and the tables it points to.
struct UseArguments {
  UseArguments(const AttentionUse& use, const std::vector<TableDeclaration>& tables);
  std::vector<TableArg> tables;
  AttentionArgs args;
};

/// Rows of the mask of a problem without parameters. Copies are independent, one a thread.
class MaskRows {
 public:
  MaskRows(const ir::AttentionProblem& problem, const AttentionUse& use);
  /// keys[0, sk) = 1 where the pair takes part, else 0. Returns the number of ones.
  int64_t row(int64_t batch, int64_t head, int64_t query, uint8_t* keys);
  /// True when all batches and heads have the same mask.
  bool shared() const { return shared_; }

 private:
  reference::LeafSlots slots_;
  std::optional<ir::CompiledExpr> mask_;
  int64_t sk_;
  bool shared_ = true;
};

/// Masks that the batches and heads of an attention have between them.
int64_t distinct_masks(const MaskRows& mask, const AttentionUse& use);

/// How many pairs of one attention take part.
struct PairCount {
  double allowed = 0, all = 0;  ///< Pairs, over all batches and heads.
  int64_t rows = 0;             ///< Query rows that were counted; fewer than all when the count is an estimate.
  double density() const { return all > 0 ? allowed / all : 0; }
};

/// Counts row by row; of attentions of more than kMaxCountedPairs mask evaluations evenly spaced rows only.
inline constexpr int64_t kMaxCountedPairs = int64_t{1} << 26;
bool counts_all_rows(const ir::AttentionProblem& problem, const AttentionUse& use);
PairCount count_pairs(const ir::AttentionProblem& problem, const AttentionUse& use, runtime::ThreadPool& pool);

}  // namespace heddle::engine
