#include "src/engine/pair_facts.h"

#include "heddle/error.h"
#include "src/engine/compiler.h"

namespace heddle::engine {
namespace {

FactsRequest request_of(const ir::AttentionProblem& problem, const AttentionUse& use, int64_t head, int threads) {
  FactsRequest request{.mask = problem.mask, .sq = use.sq, .sk = use.sk, .tiles = {}, .ints = {}};
  request.ints = {{"b", head / use.heads}, {"h", head % use.heads}, {"B", use.batch}, {"H", use.heads}, {"Hkv", use.kv_heads}};
  request.pieces = request.columns = false;
  request.threads = threads;
  return request;
}

}  // namespace

std::optional<PairCount> pairs_by_facts(const ir::AttentionProblem& problem, const AttentionUse& use, int threads) try {
  const double heads = static_cast<double>(use.batch) * static_cast<double>(use.heads);
  const double all = heads * static_cast<double>(use.sq) * static_cast<double>(use.sk);
  if (!problem.mask || all == 0) return PairCount{.allowed = all, .all = all, .rows = use.sq};
  const int64_t masks = distinct_masks(MaskRows(problem, use), use);
  if (masks > kMaxFactMasks) return std::nullopt;
  PairCount pairs{.allowed = 0, .all = all, .rows = use.sq};
  for (int64_t head = 0; head < masks; ++head) {
    const std::optional<int64_t> nnz = compiler().facts(request_of(problem, use, head, threads)).nnz;
    if (!nnz) return std::nullopt;
    pairs.allowed += heads / static_cast<double>(masks) * static_cast<double>(*nnz);
  }
  return pairs;
} catch (const ToolchainError&) {
  return std::nullopt;
}

}  // namespace heddle::engine
