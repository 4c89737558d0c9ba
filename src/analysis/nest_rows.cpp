#include "src/analysis/nest_rows.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "src/analysis/batch_program.h"
#include "src/analysis/closed_loops.h"
#include "src/analysis/linear_expr.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;
using Ints = std::map<std::string, int64_t>;

constexpr int64_t kUnbounded = int64_t{1} << 62;  ///< Beyond every value.

/// The iterations i of [0, count) with pattern[i % pattern.size()], as strips of the values first + i * step.
template <typename Emit>
void repeat_pattern(const std::vector<bool>& pattern, int64_t count, int64_t first, int64_t step, const Emit& emit) {
  const auto period = static_cast<int64_t>(pattern.size());
  const auto run = [&](int64_t begin, int64_t end, int64_t repeats) {
    normalise(first + begin * step, step, end - begin, period * step, repeats, emit);
  };
  const int64_t turn = std::find(pattern.begin(), pattern.end(), false) - pattern.begin();
  if (turn == period) return run(0, count, 1);
  run(0, turn, 1);  // From here on periods are cut where no run is.
  each_cyclic_run(pattern, [&](int64_t begin, int64_t end) {
    const int64_t whole = end <= count ? (count - end) / period + 1 : 0;
    run(begin, end, whole);
    run(begin + whole * period, std::min(end + whole * period, count), 1);
  });
}

/// Nodes of one loop's bounds in a program.
struct LoopCode {
  int lower = -1, upper = -1, offset = -1;
  int64_t stride = 1;
};

/// Nodes of what is left of a piece when its outer loops are expanded: closed loops and a value linear in them.
struct TailCode {
  int good = -1;  ///< All conditions hold and no range is empty.
  std::vector<LoopCode> loops;
  std::vector<int64_t> coefficients;  ///< Of the closed loop variables in the value.
  int rest = -1;
  int lower = -1, upper = -1;         ///< Bounds of the value; -1: none.
};

int fold(BatchProgram& program, Op op, const std::vector<Expr>& exprs) {
  int node = program.add(exprs[0]);
  for (size_t i = 1; i < exprs.size(); ++i) node = program.add(op, node, program.add(exprs[i]));
  return node;
}

int conjunction(BatchProgram& program, const std::vector<Expr>& conditions) {
  return conditions.empty() ? program.constant(1) : fold(program, Op::And, conditions);
}

LoopCode compile(BatchProgram& program, const ir::Loop& loop) {
  LoopCode code{fold(program, Op::Max, loop.lower), fold(program, Op::Min, loop.upper)};
  if (loop.stride > 1 && loop.offset) code.stride = loop.stride, code.offset = program.add(loop.offset);
  return code;
}

struct Range {
  int64_t first, count;
};

Range range(const BatchProgram& program, const LoopCode& loop, int lane) {
  int64_t first = program.value(loop.lower, lane);
  const int64_t last = program.value(loop.upper, lane);
  if (loop.stride == 1) return {first, last - first + 1};
  first += ir::floor_mod(program.value(loop.offset, lane) - first, loop.stride);
  return {first, last < first ? 0 : (last - first) / loop.stride + 1};
}

TailCode compile_tail(BatchProgram& program, const ClosedPiece& closed, size_t expanded) {
  const ir::NestPiece& piece = closed.piece;
  TailCode tail;
  std::vector<Expr> conditions = piece.inner;
  if (expanded == 0) conditions.insert(conditions.end(), piece.guards.begin(), piece.guards.end());
  tail.good = conjunction(program, conditions);
  Expr value = piece.value;
  for (size_t i = expanded; i < piece.loops.size(); ++i) {
    tail.loops.push_back(compile(program, piece.loops[i]));
    const Linear split = *linear(value, piece.loops[i].variable);
    tail.coefficients.push_back(split.coefficient);
    value = split.rest;
  }
  tail.rest = program.add(value);
  for (const LoopCode& loop : tail.loops) tail.good = program.add(Op::And, tail.good, program.add(Op::Le, loop.lower, loop.upper));
  if (!closed.lower.empty()) tail.lower = fold(program, Op::Max, closed.lower);
  if (!closed.upper.empty()) tail.upper = fold(program, Op::Min, closed.upper);
  return tail;
}

/// One piece of the nest. Level 0 runs over rows in the program all pieces share; level j over (row, v0, .., v(j-1)).
class Piece {
 public:
  Piece(const ClosedPiece& closed, BatchProgram& shared, const std::string& row, const Ints& ints)
      : expanded_(expanded_loops(closed.piece)) {
    if (expanded_ == 0) {
      tail_ = compile_tail(shared, closed, 0);
      return;
    }
    const ir::NestPiece& piece = closed.piece;
    head_good_ = conjunction(shared, piece.guards);
    heads_.push_back(compile(shared, piece.loops[0]));
    for (size_t level = 1; level <= expanded_; ++level) add_level(closed, level, row, ints);
    if (expanded_ < piece.loops.size() || (period_ = last_loop_period(piece)) == 0) return;
    step_ = linear(piece.value, piece.loops.back().variable)->coefficient * piece.loops.back().stride;
  }

  /// Appends the strips of rows [0, n) of the shared program's batch, rows ascending. `tally` must outlive this call.
  void read(const BatchProgram& shared, int n, WorkTally& tally, std::vector<RowStrip>& out) {
    tally_ = &tally;
    if (expanded_ == 0) return emit(shared, n, nullptr, out);
    for (int lane = 0; lane < n; ++lane) {
      if (shared.value(head_good_, lane)) push_range(0, shared, lane, lane, out);
    }
    flush(0, out);
  }

 private:
  struct Level {
    BatchProgram program;
    int row_node = -1;
    std::vector<int> variable_nodes;
    std::array<int32_t, BatchProgram::kLanes> rows{};
    int filled = 0;
  };

  void add_level(const ClosedPiece& closed, size_t level, const std::string& row, const Ints& ints) {
    Level& at = *levels_.emplace_back(std::make_unique<Level>());
    at.row_node = at.program.declare(row, BatchProgram::Slot::Lane);
    for (size_t i = 0; i < level; ++i) {
      at.variable_nodes.push_back(at.program.declare(closed.piece.loops[i].variable, BatchProgram::Slot::Lane));
    }
    at.program.declare_fixed(ints);
    if (level == expanded_) {
      tail_ = compile_tail(at.program, closed, level);
    } else {
      heads_.push_back(compile(at.program, closed.piece.loops[level]));
    }
    at.program.run_fixed();
  }

  /// Lanes of level `to` for one lane of the level above it.
  void push_range(size_t to, const BatchProgram& from, int lane, int32_t row, std::vector<RowStrip>& out) {
    const Range loop = range(from, heads_[to], lane);
    if (to + 1 == expanded_ && period_ > 0) return push_pattern(loop, lane, row, out);
    Level& level = *levels_[to];
    for (int64_t i = 0; i < loop.count; ++i) {
      const int slot = level.filled++;
      level.rows[slot] = row;
      fill(to, slot, lane, row, loop.first + i * heads_[to].stride);
      if (level.filled == BatchProgram::kLanes) flush(to, out);
    }
  }

  void fill(size_t to, int slot, int lane, int32_t row, int64_t value) {
    Level& level = *levels_[to];
    level.program.lanes(level.row_node)[slot] = first_row_ + row;
    for (size_t j = 0; j < to; ++j) {
      level.program.lanes(level.variable_nodes[j])[slot] = levels_[to - 1]->program.value(levels_[to - 1]->variable_nodes[j], lane);
    }
    level.program.lanes(level.variable_nodes[to])[slot] = value;
  }

  /// The last loop where its conditions repeat: one period is evaluated and stands for all.
  void push_pattern(const Range& loop, int lane, int32_t row, std::vector<RowStrip>& out) {
    const size_t last = expanded_ - 1;
    BatchProgram& program = levels_[last]->program;
    const int64_t evaluated = std::min(loop.count, period_);
    int64_t first = 0;
    pattern_.clear();
    for (int64_t at = 0; at < evaluated; at += BatchProgram::kLanes) {
      const int n = static_cast<int>(std::min<int64_t>(BatchProgram::kLanes, evaluated - at));
      for (int i = 0; i < n; ++i) fill(last, i, lane, row, loop.first + (at + i) * heads_[last].stride);
      program.run_lanes(n);
      tally_->add(program.take_work());
      if (at == 0) first = program.value(tail_.rest, 0);
      for (int i = 0; i < n; ++i) pattern_.push_back(program.value(tail_.good, i) != 0);
    }
    if (evaluated > 0) repeat_pattern(pattern_, loop.count, first, step_, [&](const Strip& strip) { put(row, strip, out); });
  }

  void flush(size_t at, std::vector<RowStrip>& out) {
    Level& level = *levels_[at];
    const int n = std::exchange(level.filled, 0);
    level.program.run_lanes(n);
    tally_->add(level.program.take_work());
    if (at + 1 == expanded_) return emit(level.program, n, level.rows.data(), out);
    for (int lane = 0; lane < n; ++lane) push_range(at + 1, level.program, lane, level.rows[lane], out);
    flush(at + 1, out);
  }

  void put(int32_t row, const Strip& strip, std::vector<RowStrip>& out) {
    tally_->add(kStripSteps);
    out.push_back({row, strip});
  }

  void emit(const BatchProgram& program, int n, const int32_t* rows, std::vector<RowStrip>& out) {
    for (int lane = 0; lane < n; ++lane) {
      if (!program.value(tail_.good, lane)) continue;
      const int32_t row = rows ? rows[lane] : lane;
      int64_t first = program.value(tail_.rest, lane), outer = 0, repeats = 1, inner = 1, count = 1;
      for (size_t i = 0; i < tail_.loops.size(); ++i) {
        const Range loop = range(program, tail_.loops[i], lane);
        first += tail_.coefficients[i] * loop.first;
        outer = std::exchange(inner, tail_.coefficients[i] * tail_.loops[i].stride);
        repeats = std::exchange(count, loop.count);
      }
      const auto emit_strip = [&](const Strip& strip) { put(row, strip, out); };
      if (tail_.lower < 0 && tail_.upper < 0) {
        normalise(first, inner, count, outer, repeats, emit_strip);
        continue;
      }
      const int64_t low = tail_.lower < 0 ? -kUnbounded : program.value(tail_.lower, lane);
      const int64_t high = tail_.upper < 0 ? kUnbounded : program.value(tail_.upper, lane);
      normalise(first, inner, count, outer, repeats, [&](const Strip& strip) { clip(strip, low, high, emit_strip); });
    }
  }

 public:
  void start(int64_t first_row) { first_row_ = first_row; }

 private:
  static constexpr int64_t kStripSteps = 16;
  size_t expanded_;
  WorkTally* tally_ = nullptr;
  int64_t first_row_ = 0;
  int64_t period_ = 0, step_ = 0;  ///< Of the last loop, when expanded: iterations and change of the value by one.
  std::vector<bool> pattern_;
  int head_good_ = -1;
  std::vector<LoopCode> heads_;  ///< Of the expanded loops; heads_[j] lies in the program of level j.
  std::vector<std::unique_ptr<Level>> levels_;
  TailCode tail_;
};

void collect(const Expr& expr, std::set<std::string>& names) {
  for (const std::string& name : ir::variables(expr)) names.insert(name);
  for (const auto& [name, type] : ir::parameters(expr)) names.insert(name);
}

void collect(const ir::NestPiece& piece, std::set<std::string>& names) {
  for (const Expr& expr : piece.guards) collect(expr, names);
  for (const Expr& expr : piece.inner) collect(expr, names);
  for (const ir::Loop& loop : piece.loops) {
    for (const Expr& expr : loop.lower) collect(expr, names);
    for (const Expr& expr : loop.upper) collect(expr, names);
    if (loop.offset) collect(loop.offset, names);
  }
  collect(piece.value, names);
  for (const ir::Loop& loop : piece.loops) names.erase(loop.variable);
}

}  // namespace

struct NestRows::State {
  explicit State(WorkMeter& meter) : tally(meter) {}
  WorkTally tally;
  BatchProgram program;  ///< Level 0 of all pieces.
  int row_node = -1;
  std::vector<Piece> pieces;
  std::vector<RowStrip> strips;  ///< Of the current batch, piece by piece.
};

NestRows::NestRows(const ir::LoopNest& nest, const std::string& row, const Ints& ints, WorkMeter& meter) : state_(std::make_unique<State>(meter)) {
  state_->row_node = state_->program.declare(row, BatchProgram::Slot::Lane);
  Ints fixed = ints;
  fixed.erase(row);
  state_->program.declare_fixed(fixed);
  for (const ir::NestPiece& piece : nest.pieces) {
    for (const ClosedPiece& closed : close_loops(piece, row, fixed)) state_->pieces.emplace_back(closed, state_->program, row, fixed);
  }
  state_->program.run_fixed();
}

NestRows::~NestRows() = default;
static_assert(RowSource::kMostRows == BatchProgram::kLanes);

void NestRows::read(int64_t first, int n, RowBatch& out) {
  State& state = *state_;
  int64_t* lanes = state.program.lanes(state.row_node);
  for (int i = 0; i < n; ++i) lanes[i] = first + i;
  state.program.run_lanes(n);
  state.tally.add(state.program.take_work());
  state.strips.clear();
  for (Piece& piece : state.pieces) {
    piece.start(first);
    piece.read(state.program, n, state.tally, state.strips);
  }
  state.tally.flush();
  store_rows(state.strips, first, n, out);
}

std::vector<std::string> free_names(const ir::LoopNest& nest, const std::string& row) {
  std::set<std::string> names;
  for (const ir::NestPiece& piece : nest.pieces) {
    std::set<std::string> own;
    collect(piece, own);
    names.insert(own.begin(), own.end());
  }
  names.erase(row);
  return {names.begin(), names.end()};
}

}  // namespace heddle::analysis
