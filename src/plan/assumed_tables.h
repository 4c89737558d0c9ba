// What is assumed of tables when a plan is priced: their contents come with each bind, long after tile shapes are chosen.
#pragma once
#include <optional>
#include <string>
#include "src/ir/expr.h"

namespace heddle::plan {

/// Neighbouring tokens that are assumed to have one id. Chosen by measuring causal documents of 100 to 2000 tokens on AVX-512: the blocks of
/// 32 rows that it favours are within 1.1x of the best of 16, 32 and 64 rows for most, blocks of 64 lose up to 1.5x.
inline constexpr int64_t kAssumedRun = 300;

/// A mask without tables, of about the tiles that a mask with tables may be expected to have.
struct AssumedMask {
  ir::Expr mask;
  bool whole = true;    ///< False where conditions on tables were taken to hold for any pair: its full tiles may be partial ones.
  std::string sentence; ///< What was assumed, for explain().
};

/// Equal ids of a query and a key (`doc[q] == doc[k]`) become q / 300 == k / 300, first keys of a query (`k >= start[q]`) become
/// k >= q / 300 * 300, and any other condition on tables is taken to hold. nullopt where neither of the two is found.
std::optional<AssumedMask> assume_tables(const ir::Expr& mask);

}  // namespace heddle::plan
