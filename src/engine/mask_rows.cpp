#include "src/engine/mask_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "src/engine/launch_arguments.h"
#include "src/engine/row_sample.h"
#include "src/ir/rewrite.h"
#include "src/ir/table_bounds.h"

namespace heddle::engine {
namespace {

using reference::LeafSlots;

std::vector<int64_t> rows_to_count(const MaskRows& mask, const AttentionUse& use) {
  return sample_rows(use.sq, kMaxCountedPairs / std::max<int64_t>(1, use.sk) / std::max<int64_t>(1, distinct_masks(mask, use)));
}

}  // namespace

UseArguments::UseArguments(const AttentionUse& use, const std::vector<TableDeclaration>& declarations) {
  LaunchOptions options;
  options.scale = use.scale;
  args = arguments({use.q.view, use.k.view, use.v.view, use.o.view, nullptr}, {}, options, {});
  for (const TableDeclaration& table : declarations) tables.push_back(ir::table_argument(use.tables.at(table.name).view));
  args.tables = tables.data();
}

MaskRows::MaskRows(const ir::AttentionProblem& problem, const AttentionUse& use)
    : slots_(UseArguments(use, ir::table_order(problem)).args, {}, {}, ir::table_order(problem)), sk_(use.sk) {
  if (!problem.mask) return;
  mask_.emplace(slots_.compile(problem.mask));
  shared_ = !ir::mentions(problem.mask, "b") && !ir::mentions(problem.mask, "h");
}

int64_t MaskRows::row(int64_t batch, int64_t head, int64_t query, uint8_t* keys) {
  if (!mask_) {
    std::memset(keys, 1, static_cast<size_t>(sk_));
    return sk_;
  }
  slots_.set(LeafSlots::kBatch, batch);
  slots_.set(LeafSlots::kHead, head);
  slots_.set(LeafSlots::kQuery, query);
  int64_t count = 0;
  for (int64_t k = 0; k < sk_; ++k) {
    slots_.set(LeafSlots::kKey, k);
    keys[k] = mask_->run_int(slots_.ints()) != 0;
    count += keys[k];
  }
  return count;
}

int64_t distinct_masks(const MaskRows& mask, const AttentionUse& use) { return mask.shared() ? 1 : use.batch * use.heads; }

bool counts_all_rows(const ir::AttentionProblem& problem, const AttentionUse& use) {
  return static_cast<int64_t>(rows_to_count(MaskRows(problem, use), use).size()) == use.sq;
}

PairCount count_pairs(const ir::AttentionProblem& problem, const AttentionUse& use, runtime::ThreadPool& pool) {
  const double rows = static_cast<double>(use.batch) * static_cast<double>(use.heads) * static_cast<double>(use.sq);
  PairCount pairs{.allowed = 0, .all = rows * static_cast<double>(use.sk), .rows = use.sq};
  if (!problem.mask) return {.allowed = pairs.all, .all = pairs.all, .rows = use.sq};
  if (pairs.all == 0) return pairs;
  const MaskRows mask(problem, use);
  const int64_t masks = distinct_masks(mask, use);
  const std::vector<int64_t> sample = rows_to_count(mask, use);
  std::vector<int64_t> counts(static_cast<size_t>(pool.threads()));
  pool.run([&](int thread) {
    MaskRows mine = mask;
    std::vector<uint8_t> keys(static_cast<size_t>(use.sk));
    for (size_t i = thread; i < sample.size(); i += pool.threads()) {
      for (int64_t m = 0; m < masks; ++m) counts[thread] += mine.row(m / use.heads, m % use.heads, sample[i], keys.data());
    }
  });
  const double counted = static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  pairs.rows = static_cast<int64_t>(sample.size());
  pairs.allowed = counted * (rows / static_cast<double>(masks)) / static_cast<double>(sample.size());
  return pairs;
}

}  // namespace heddle::engine
