#include "src/analysis/matrix_components.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "src/ir/evaluate.h"

namespace heddle::analysis {
namespace {

constexpr int kMostChecks = 64;  ///< Periods whose every row is compared.

/// Joins the pieces of one row after another to open components.
class ComponentTracker {
 public:
  explicit ComponentTracker(int64_t most) : most_(most) {}

  /// False when there are too many components.
  bool take(int64_t q, const std::vector<Piece>& pieces) {
    used_.assign(pieces.size(), 0);
    next_.clear();
    for (const int index : open_) {
      if (done_[static_cast<size_t>(index)].height > 1) continue_known(index, pieces);
    }
    for (const int index : open_) {
      if (done_[static_cast<size_t>(index)].height == 1 && q == done_[static_cast<size_t>(index)].q0 + 1) continue_new(index, pieces);
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!used_[i]) start(q, pieces[i]);
    }
    open_.swap(next_);
    return static_cast<int64_t>(done_.size()) <= most_;
  }
  std::vector<MatrixComponent> finish() { return std::move(done_); }

 private:
  void start(int64_t q, const Piece& piece) {
    next_.push_back(static_cast<int>(done_.size()));
    done_.push_back({.q0 = q, .height = 1, .first = piece.first, .count = piece.count, .stride = piece.stride});
  }

  void keep(int index, size_t piece) {
    used_[piece] = 1;
    ++done_[static_cast<size_t>(index)].height;
    next_.push_back(index);
  }

  /// Goes on where the next row has exactly the piece that two rows foretell.
  void continue_known(int index, const std::vector<Piece>& pieces) {
    const MatrixComponent& open = done_[static_cast<size_t>(index)];
    const int64_t first = open.first + open.height * open.first_slope, count = open.count + open.height * open.count_slope;
    const auto at = std::lower_bound(pieces.begin(), pieces.end(), first, [](const Piece& p, int64_t value) { return p.first < value; });
    if (at == pieces.end() || at->first != first || at->count != count || (count > 1 && at->stride != open.stride)) return;
    const size_t piece = static_cast<size_t>(at - pieces.begin());
    if (!used_[piece]) keep(index, piece);
  }

  /// A component of one row takes the nearest free piece of its stride; a single key takes any stride.
  void continue_new(int index, const std::vector<Piece>& pieces) {
    MatrixComponent& open = done_[static_cast<size_t>(index)];
    const auto at = std::lower_bound(pieces.begin(), pieces.end(), open.first, [](const Piece& p, int64_t value) { return p.first < value; });
    const int64_t near = at - pieces.begin();
    for (const int64_t piece : {near, near - 1}) {
      if (piece < 0 || piece >= static_cast<int64_t>(pieces.size()) || used_[static_cast<size_t>(piece)]) continue;
      const Piece& found = pieces[static_cast<size_t>(piece)];
      if (open.count > 1 && found.count > 1 && open.stride != found.stride) continue;
      open.first_slope = found.first - open.first, open.count_slope = found.count - open.count;
      open.stride = std::max(open.stride, found.stride);
      return keep(index, static_cast<size_t>(piece));
    }
  }

  int64_t most_;
  std::vector<MatrixComponent> done_;
  std::vector<int> open_, next_;
  std::vector<char> used_;
};

/// Row q + rows, moved back by `keys`, equals row q where both are inside.
bool repeats_at(const BitMatrix& matrix, int64_t q, RowPeriod period) {
  const uint64_t *row = matrix.row(q), *later = matrix.row(q + period.rows);
  const int64_t inside = matrix.sk - period.keys;
  for (int64_t k = 0; k < inside; k += 64) {
    uint64_t differ = row[k / 64] ^ bits_at(later, matrix.words, k + period.keys);
    if (inside - k < 64) differ &= (uint64_t{1} << (inside - k)) - 1;
    if (differ != 0) return false;
  }
  return true;
}

bool holds(const BitMatrix& matrix, RowPeriod period) {
  for (int64_t q = 0; q + period.rows < matrix.sq; ++q) {
    if (!repeats_at(matrix, q, period)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<MatrixComponent>> matrix_components(const MatrixRows& rows, int64_t most) {
  ComponentTracker tracker(most);
  for (size_t q = 0; q < rows.pieces.size(); ++q) {
    if (!tracker.take(static_cast<int64_t>(q), rows.pieces[q])) return std::nullopt;
  }
  return tracker.finish();
}

std::vector<MatrixComponent> fold_repeats(const std::vector<MatrixComponent>& components, RowPeriod period) {
  std::vector<MatrixComponent> folded;
  std::map<std::array<int64_t, 7>, size_t> places;
  for (const MatrixComponent& component : components) {
    const int64_t turn = component.q0 / period.rows;
    const std::array<int64_t, 7> key = {component.q0 % period.rows, component.first - turn * period.keys, component.height, component.first_slope,
                                        component.count, component.count_slope, component.stride};
    const auto [place, fresh] = places.emplace(key, folded.size());
    if (!fresh) {
      MatrixComponent& base = folded[place->second];
      if (base.q0 + base.repeats * period.rows == component.q0) {
        ++base.repeats, base.period = period.rows, base.shift = period.keys;
        continue;
      }
      place->second = folded.size();
    }
    folded.push_back(component);
  }
  return folded;
}

std::optional<RowPeriod> row_period(const BitMatrix& matrix) {
  int checks = 0;
  for (int64_t rows = 1; rows <= matrix.sq / 2 && checks < kMostChecks; ++rows) {
    for (const int64_t keys : {int64_t{0}, rows}) {
      const RowPeriod period{rows, keys};
      if (keys >= matrix.sk || !repeats_at(matrix, 0, period) || !repeats_at(matrix, matrix.sq - 1 - rows, period)) continue;
      ++checks;
      if (holds(matrix, period)) return period;
    }
  }
  return std::nullopt;
}

MatrixLattice matrix_lattice(const MatrixRows& rows) {
  MatrixLattice lattice{.stride = std::max<int64_t>(rows.lattice, 1), .affine = rows.complete};
  if (lattice.stride == 1) return lattice;
  int64_t before = -1;  // A row with keys.
  bool fitted = false;
  const auto residue = [&](size_t q) { return ir::floor_mod(rows.pieces[q][0].first, lattice.stride); };
  for (size_t q = 0; q < rows.pieces.size(); ++q) {
    if (rows.pieces[q].empty()) continue;
    const int64_t row = static_cast<int64_t>(q);
    if (before >= 0 && !fitted && row == before + 1) {
      lattice.slope = ir::floor_mod(residue(q) - residue(q - 1), lattice.stride), fitted = true;
    }
    before = row;
  }
  if (before < 0) return lattice;
  lattice.base = ir::floor_mod(residue(static_cast<size_t>(before)) - lattice.slope * before, lattice.stride);
  for (size_t q = 0; q < rows.pieces.size(); ++q) {
    if (rows.pieces[q].empty()) continue;
    lattice.affine = lattice.affine && residue(q) == ir::floor_mod(lattice.slope * static_cast<int64_t>(q) + lattice.base, lattice.stride);
  }
  return lattice;
}

}  // namespace heddle::analysis
