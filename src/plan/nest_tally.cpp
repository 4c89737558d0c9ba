#include "src/plan/nest_tally.h"

#include <algorithm>

#include "src/ir/evaluate.h"

namespace heddle::plan {
namespace {

class Tallier {
 public:
  Tallier(const std::map<std::string, int64_t>& names, const StepShape& shape) : shape_(shape) { environment_.ints = names; }

  void piece(const ir::NestPiece& piece) {
    if (holds(piece.guards)) loop(piece, 0);
    end_run();
  }
  const NestTally& found() const { return found_; }

 private:
  bool holds(const std::vector<ir::Expr>& conditions) const {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const ir::Expr& condition) { return ir::evaluate_bool(condition, environment_); });
  }
  int64_t integer(const ir::Expr& expr) const { return ir::evaluate_int(expr, environment_); }

  void loop(const ir::NestPiece& piece, size_t level) {
    if (level == piece.loops.size()) {
      if (holds(piece.inner)) visit(integer(piece.value), 1);
      return;
    }
    const ir::Loop& here = piece.loops[level];
    int64_t first = integer(here.lower[0]), last = integer(here.upper[0]);
    for (const ir::Expr& bound : here.lower) first = std::max(first, integer(bound));
    for (const ir::Expr& bound : here.upper) last = std::min(last, integer(bound));
    if (here.offset) first += ir::floor_mod(integer(here.offset) - first, here.stride);
    if (first > last) return;
    const bool innermost = level + 1 == piece.loops.size();
    if (innermost && piece.inner.empty() && progression(piece, here, first, last)) return;
    for (int64_t at = first; at <= last; at += here.stride) {
      environment_.ints[here.variable] = at;
      loop(piece, level + 1);
    }
  }

  /// Counts a whole innermost loop when its values are an arithmetic progression in the loop variable.
  bool progression(const ir::NestPiece& piece, const ir::Loop& loop, int64_t first, int64_t last) {
    const int64_t count = (last - first) / loop.stride + 1;
    const auto value = [&](int64_t index) {
      environment_.ints[loop.variable] = first + index * loop.stride;
      return integer(piece.value);
    };
    const int64_t start = value(0), step = count > 1 ? value(1) - start : 1;
    if (value(count - 1) != start + step * (count - 1) || value(count / 2) != start + step * (count / 2)) return false;
    if (step == 1) {
      visit(start, count);
    } else {
      end_run();
      add(1, count);
    }
    return true;
  }

  /// `count` adjacent values from `first` on; they extend the current run when they follow it.
  void visit(int64_t first, int64_t count) {
    if (run_ > 0 && first != next_) end_run();
    run_ += count;
    next_ = first + count;
  }
  void end_run() {
    if (run_ > 0) add(run_, 1);
    run_ = 0;
  }
  /// `repeats` runs of `tiles` adjacent tiles.
  void add(int64_t tiles, int64_t repeats) {
    const int64_t per_step = std::max<int64_t>(1, shape_.keys_per_step / shape_.tile_keys), rest = tiles % per_step;
    const auto tail = [&](int64_t in_step) { return in_step * shape_.tile_keys % shape_.register_keys; };
    found_.tiles += tiles * repeats;
    found_.steps += (tiles / per_step + (rest > 0)) * repeats;
    found_.tail_keys += (tiles / per_step * tail(per_step) + tail(rest)) * repeats;
  }

  const StepShape& shape_;
  ir::Environment environment_;
  NestTally found_;
  int64_t run_ = 0, next_ = 0;
};

}  // namespace

NestTally& NestTally::operator+=(const NestTally& other) {
  tiles += other.tiles, steps += other.steps, tail_keys += other.tail_keys;
  return *this;
}

NestTally tally(const ir::LoopNest& nest, const std::map<std::string, int64_t>& names, const StepShape& shape) {
  Tallier tallier(names, shape);
  for (const ir::NestPiece& piece : nest.pieces) tallier.piece(piece);
  return tallier.found();
}

}  // namespace heddle::plan
