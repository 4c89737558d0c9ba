#include "runtime/bind.h"

#include <algorithm>
#include <bit>
#include <memory>
#include "runtime/bind_evaluator.h"

namespace heddle::runtime {

namespace {

/// Where the lists of a bind lie: one for each row block of each batch and head that the mask tells apart.
struct Grid {
  explicit Grid(const BindInput& input)
      : blocks((input.sq + input.tile_rows - 1) / input.tile_rows),
        heads(input.program->by_head ? input.heads : 1),
        lists((input.program->by_batch ? input.batch : 1) * heads * blocks) {}
  int64_t blocks, heads, lists;
};

/// Finds the lists of a range of row blocks, which one thread works through in order.
class ListBuilder {
 public:
  ListBuilder(const BindInput& input, const Grid& grid, BindEvaluator& evaluator) : input_(input), grid_(grid), evaluator_(evaluator) {}

  std::vector<TileRun> runs;
  std::vector<int64_t> ends;  ///< Of each list, in `runs`.
  int64_t full = 0, partial = 0;

  void add_list(int64_t list) {
    const int64_t block = list % grid_.blocks, head = list / grid_.blocks % grid_.heads, batch = list / grid_.blocks / grid_.heads;
    const auto axis = [](bool fixed, int64_t at, int64_t size) { return fixed ? Interval{at, at} : Interval{0, std::max<int64_t>(size - 1, 0)}; };
    const int64_t row = block * input_.tile_rows;
    start_ = runs.size();
    if (input_.sk > 0) {
      evaluator_.fix(axis(input_.program->by_batch, batch, input_.batch), axis(input_.program->by_head, head, input_.heads),
                     {row, std::min(row + input_.tile_rows, input_.sq) - 1});
      visit(0, (input_.sk + input_.tile_keys - 1) / input_.tile_keys);
    }
    ends.push_back(static_cast<int64_t>(runs.size()));
  }

 private:
  /// Tiles [first, end), at least one.
  void visit(int64_t first, int64_t end) {
    const Interval known = evaluator_.over({first * input_.tile_keys, std::min(end * input_.tile_keys, input_.sk) - 1});
    if (known.high == 0) return;
    if (known.low != 0) return add_certain(first, end);
    if (end - first == 1) return add(first, end, -1);
    const int aligned = std::bit_width(static_cast<uint64_t>(first ^ (end - 1))) - 1;
    const int64_t middle = (end - 1) >> aligned << aligned;
    visit(first, middle);
    visit(middle, end);
  }

  /// Tiles all of whose pairs take part. A tile that the last key cuts is partial: its missing keys do not.
  void add_certain(int64_t first, int64_t end) {
    const int64_t whole = std::min(end, input_.sk / input_.tile_keys);
    if (first < whole) add(first, whole, 1);
    if (whole < end) add(whole, end, -1);
  }

  void add(int64_t first, int64_t end, int sign) {
    (sign > 0 ? full : partial) += end - first;
    const auto count = static_cast<int32_t>(sign * (end - first));
    if (runs.size() > start_ && runs.back().first + std::abs(runs.back().count) == first && (runs.back().count > 0) == (sign > 0)) {
      runs.back().count += count;
    } else {
      runs.push_back({static_cast<int32_t>(first), count});
    }
  }

  const BindInput& input_;
  const Grid& grid_;
  BindEvaluator& evaluator_;
  size_t start_ = 0;
};

/// The tables that the mask reads; null for the others.
std::vector<std::unique_ptr<TableRanges>> tables_read(const BindInput& input) {
  std::vector<std::unique_ptr<TableRanges>> tables(input.tables.size());
  for (const BindStep& step : input.program->steps) {
    const auto at = static_cast<size_t>(step.value);
    if (step.op == BindOp::Read && !tables[at]) tables[at] = std::make_unique<TableRanges>(input.tables[at]);
  }
  return tables;
}

/// Appends the lists of the chunks, in order.
void join(const std::vector<ListBuilder>& chunks, TileLists& lists) {
  size_t runs = 0;
  for (const ListBuilder& chunk : chunks) runs += chunk.runs.size();
  lists.runs.reserve(runs);
  for (const ListBuilder& chunk : chunks) {
    const auto base = static_cast<int64_t>(lists.runs.size());
    lists.runs.insert(lists.runs.end(), chunk.runs.begin(), chunk.runs.end());
    for (const int64_t end : chunk.ends) lists.offsets.push_back(base + end);
    lists.full_tiles += chunk.full, lists.partial_tiles += chunk.partial;
  }
}

}  // namespace

TileLists bind_tiles(const BindInput& input, ThreadPool& pool) {
  constexpr int64_t kChunksPerThread = 16;  // Spreads rows with many tiles and rows with few.
  TileLists lists;
  const Grid grid(input);
  lists.head_stride = input.program->by_head ? grid.blocks : 0;
  lists.batch_stride = input.program->by_batch ? grid.blocks * grid.heads : 0;
  lists.offsets.reserve(static_cast<size_t>(grid.lists) + 1);
  lists.offsets.push_back(0);
  if (grid.lists == 0) return lists;

  const std::vector<std::unique_ptr<TableRanges>> tables = tables_read(input);
  std::vector<BindEvaluator> evaluators;
  evaluators.reserve(static_cast<size_t>(pool.threads()));
  for (int t = 0; t < pool.threads(); ++t) evaluators.emplace_back(input, tables);
  const int64_t chunk_count = std::min<int64_t>(grid.lists, kChunksPerThread * pool.threads());
  std::vector<ListBuilder> chunks;
  for (int64_t c = 0; c < chunk_count; ++c) chunks.emplace_back(input, grid, evaluators[static_cast<size_t>(c % pool.threads())]);
  pool.run([&](int thread) {
    for (int64_t c = thread; c < chunk_count; c += pool.threads()) {
      for (int64_t i = grid.lists * c / chunk_count; i < grid.lists * (c + 1) / chunk_count; ++i) chunks[static_cast<size_t>(c)].add_list(i);
    }
  });
  join(chunks, lists);
  return lists;
}

}  // namespace heddle::runtime
