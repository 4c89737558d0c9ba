#include "runtime/bind.h"

#include <algorithm>
#include <bit>
#include <memory>
#include "runtime/bind_evaluator.h"
#include "runtime/bind_pairs.h"

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

/// What one thread evaluates with.
struct Evaluators {
  Evaluators(const BindInput& input, const std::vector<std::unique_ptr<TableRanges>>& tables)
      : ranges(input, tables), pairs(input), classes(static_cast<size_t>(pairs.most_tiles())) {}
  BindEvaluator ranges;
  BindPairs pairs;
  std::vector<TileClass> classes;
};

/// Finds the lists of a range of row blocks, which one thread works through in order.
class ListBuilder {
 public:
  ListBuilder(const BindInput& input, const Grid& grid, Evaluators& evaluators) : input_(input), grid_(grid), evaluators_(evaluators) {}

  std::vector<TileRun> runs;
  std::vector<int64_t> ends;  ///< Of each list, in `runs`.
  int64_t full = 0, partial = 0;

  void add_list(int64_t list) {
    const int64_t block = list % grid_.blocks, head = list / grid_.blocks % grid_.heads, batch = list / grid_.blocks / grid_.heads;
    const int64_t row = block * input_.tile_rows, last_row = std::min(row + input_.tile_rows, input_.sq) - 1;
    const auto axis = [](bool fixed, int64_t at, int64_t size) { return fixed ? Interval{at, at} : Interval{0, std::max<int64_t>(size - 1, 0)}; };
    start_ = runs.size(), pairs_left_ = input_.most_pairs / grid_.lists, ranges_left_ = input_.most_ranges / grid_.lists;
    if (input_.sk > 0) {
      evaluators_.ranges.fix(axis(input_.program->by_batch, batch, input_.batch), axis(input_.program->by_head, head, input_.heads), {row, last_row});
      evaluators_.pairs.fix(batch, head, row, last_row - row + 1);
      visit(0, (input_.sk + input_.tile_keys - 1) / input_.tile_keys);
      look_closer(0);
    }
    ends.push_back(static_cast<int64_t>(runs.size()));
  }

 private:
  Interval over(int64_t first, int64_t end) {
    return evaluators_.ranges.over({first * input_.tile_keys, std::min(end * input_.tile_keys, input_.sk) - 1});
  }

  /// Tiles [first, end), at least one.
  void visit(int64_t first, int64_t end) {
    if (--ranges_left_ < 0) return add_unseen(first, end);
    const Interval known = over(first, end);
    if (known.high == 0) return;
    if (known.low != 0) return add_certain(first, end);
    if (end - first == 1) return add_undecided(first);
    const int aligned = std::bit_width(static_cast<uint64_t>(first ^ (end - 1))) - 1;
    const int64_t middle = (end - 1) >> aligned << aligned;
    visit(first, middle);
    visit(middle, end);
  }

  /// Tiles all of whose pairs take part. A tile that the last key cuts is partial: its missing keys do not.
  void add_certain(int64_t first, int64_t end) {
    look_closer(0);
    const int64_t whole = std::min(end, input_.sk / input_.tile_keys);
    if (first < whole) add(first, whole, 1);
    if (whole < end) add(whole, end, -1);
  }

  void add_unseen(int64_t first, int64_t end) {
    look_closer(0);
    add(first, end, -1);
  }

  /// A tile that ranges do not decide; adjacent ones wait to be looked at together.
  void add_undecided(int64_t tile) {
    if (undecided_end_ != tile || undecided_end_ - undecided_first_ == evaluators_.pairs.most_tiles()) {
      look_closer(tile);
    }
    undecided_end_ = tile + 1;
  }

  /// Adds the waiting tiles by their exact classes; the next to wait is `next`.
  void look_closer(int64_t next) {
    const int64_t first = undecided_first_, count = undecided_end_ - first;
    undecided_first_ = undecided_end_ = next;
    if (count == 0) return;
    if (pairs_left_ <= 0) return add(first, first + count, -1);
    over(first, first + count);
    const int64_t rows = evaluators_.pairs.classify(first, count, evaluators_.ranges.narrow(), evaluators_.classes.data());
    pairs_left_ -= rows * count * input_.tile_keys;
    for (int64_t i = 0; i < count; ++i) {
      const TileClass found = evaluators_.classes[static_cast<size_t>(i)];
      if (found != TileClass::Empty) add(first + i, first + i + 1, found == TileClass::Full ? 1 : -1);
    }
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
  Evaluators& evaluators_;
  size_t start_ = 0;
  int64_t pairs_left_ = 0, ranges_left_ = 0;  ///< Of this list.
  int64_t undecided_first_ = 0, undecided_end_ = 0;
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
  std::vector<std::unique_ptr<Evaluators>> evaluators;
  for (int t = 0; t < pool.threads(); ++t) evaluators.push_back(std::make_unique<Evaluators>(input, tables));
  const int64_t chunk_count = std::min<int64_t>(grid.lists, kChunksPerThread * pool.threads());
  std::vector<ListBuilder> chunks;
  for (int64_t c = 0; c < chunk_count; ++c) chunks.emplace_back(input, grid, *evaluators[static_cast<size_t>(c % pool.threads())]);
  pool.run([&](int thread) {
    for (int64_t c = thread; c < chunk_count; c += pool.threads()) {
      for (int64_t i = grid.lists * c / chunk_count; i < grid.lists * (c + 1) / chunk_count; ++i) chunks[static_cast<size_t>(c)].add_list(i);
    }
  });
  join(chunks, lists);
  return lists;
}

}  // namespace heddle::runtime
