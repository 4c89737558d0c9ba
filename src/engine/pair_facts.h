// Pairs of long attentions, counted by the facts of their masks.
#pragma once
#include <optional>

#include "src/engine/mask_rows.h"

namespace heddle::engine {

/// Exact, by the compiler library, which it loads: for attentions that count_pairs() could only estimate. One count for each
/// distinct mask; nullopt when batches and heads have more than kMaxFactMasks of them, when a mask is too irregular to be counted, or when the library is
/// missing.
inline constexpr int64_t kMaxFactMasks = 64;
std::optional<PairCount> pairs_by_facts(const ir::AttentionProblem& problem, const AttentionUse& use, int threads);

}  // namespace heddle::engine
