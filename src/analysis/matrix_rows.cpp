#include "src/analysis/matrix_rows.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "src/analysis/parallel.h"

namespace heddle::analysis {
namespace {

constexpr int64_t kUnitRows = 64;

/// The first position >= from whose bit, after `flip`, is set; 64 * words when there is none.
template <uint64_t flip>
int64_t next_bit(const uint64_t* row, int64_t words, int64_t from) {
  int64_t word = from / 64;
  if (word >= words) return words * 64;
  uint64_t rest = (row[word] ^ flip) >> (from % 64);
  if (rest != 0) return from + __builtin_ctzll(rest);
  while (++word < words) {
    rest = row[word] ^ flip;
    if (rest != 0) return word * 64 + __builtin_ctzll(rest);
  }
  return words * 64;
}

int64_t next_set(const uint64_t* row, int64_t words, int64_t from) { return next_bit<0>(row, words, from); }
int64_t next_clear(const uint64_t* row, int64_t words, int64_t from) { return next_bit<~uint64_t{0}>(row, words, from); }

int64_t row_lattice(const std::vector<Piece>& pieces, int64_t lattice) {
  for (size_t i = 0; i < pieces.size() && lattice != 1; ++i) {
    if (pieces[i].count > 1) lattice = std::gcd(lattice, pieces[i].stride);
    lattice = std::gcd(lattice, pieces[i].first - pieces[0].first);
  }
  return lattice;
}

/// The last key of a piece with a key at `last`, looked for key by key, `most` keys at most.
int64_t step(const uint64_t* row, int64_t words, int64_t last, int64_t stride, int64_t most) {
  for (; most > 0; --most) {
    const int64_t next = next_set(row, words, last + 1);
    if (next - last != stride || next == words * 64) break;
    last = next;
  }
  return last;
}

/// The same in spans of up to 64 positions that hold what the stride foretells.
int64_t stride_spans(const uint64_t* row, int64_t words, int64_t last, int64_t stride) {
  const int64_t span = 64 / stride * stride;
  uint64_t expected = 0;
  for (int64_t bit = stride - 1; bit < span; bit += stride) expected |= uint64_t{1} << bit;
  const uint64_t inside = ~uint64_t{0} >> (64 - span);
  while ((bits_at(row, words, last + 1) & inside) == expected) last += span;
  return last;
}

int64_t piece_end(const uint64_t* row, int64_t words, int64_t last, int64_t stride) {
  constexpr int64_t kShort = 8, kLongestInSpans = 32;
  const int64_t near = step(row, words, last, stride, kShort);
  if (near - last < kShort * stride) return near;
  return step(row, words, stride <= kLongestInSpans ? stride_spans(row, words, near, stride) : near, stride, words * 64);
}

/// What one thread found.
struct Found {
  RowTotals totals;
  int64_t lattice = 0;
  bool complete = true;
};

/// The number of greedy pieces, without branches on the distances.
int64_t count_pieces(const uint64_t* row, int64_t words) {
  int64_t pieces = 0, last = 0, stride = 0;  // stride 0: the piece has one key.
  bool open = false;
  each_bit(row, words, [&](int64_t key) {
    const int64_t distance = key - last;
    const bool joins = open & ((stride == 0) | (distance == stride));
    pieces += !joins, stride = joins ? distance : 0, last = key, open = true;
  });
  return pieces;
}

void add_row(const BitMatrix& matrix, int64_t q, int64_t pieces, Found& found) {
  const uint64_t* row = matrix.row(q);
  int64_t keys = 0;
  for (int64_t w = 0; w < matrix.words; ++w) keys += std::popcount(row[w]);
  found.totals.add(keys, 0);
  found.totals.add_pieces(pieces);
}

/// Classes of the tiles of one block of rows, from the union and the intersection of its rows.
TileCounts block_tiles(const BitMatrix& matrix, TileShape shape, int64_t first, std::vector<uint64_t>& any, std::vector<uint64_t>& all) {
  any.assign(static_cast<size_t>(matrix.words), 0), all.assign(static_cast<size_t>(matrix.words), ~uint64_t{0});
  for (int64_t q = first; q < std::min(first + shape.rows, matrix.sq); ++q) {
    const uint64_t* row = matrix.row(q);
    for (int64_t w = 0; w < matrix.words; ++w) any[w] |= row[w], all[w] &= row[w];
  }
  TileCounts counts;
  const int64_t rows = std::min(shape.rows, matrix.sq - first);
  for (int64_t k = 0; k < matrix.sk; k += shape.cols) {
    const int64_t end = std::min(k + shape.cols, matrix.sk), area = rows * (end - k);
    const bool empty = next_set(any.data(), matrix.words, k) >= end;
    const bool full = !empty && next_clear(all.data(), matrix.words, k) >= end;
    counts.add(empty ? 0 : full ? area : 1, area, 1);
  }
  return counts;
}

}  // namespace

void row_pieces(const uint64_t* row, int64_t words, std::vector<Piece>& pieces) {
  const int64_t end = words * 64;
  for (int64_t at = next_set(row, words, 0); at < end;) {
    int64_t next = next_set(row, words, at + 1);
    if (next == end) {
      pieces.push_back({at, 1, 1});
      return;
    }
    const int64_t stride = next - at;
    int64_t last = next;
    if (stride == 1) {
      last = next_clear(row, words, next) - 1;
      next = next_set(row, words, last + 1);
    } else {
      last = piece_end(row, words, next, stride);
      next = next_set(row, words, last + 1);
    }
    pieces.push_back({at, stride, (last - at) / stride + 1});
    at = next;
  }
}

MatrixRows matrix_rows(const BitMatrix& matrix, int64_t most, int threads) {
  MatrixRows made;
  made.pieces.resize(static_cast<size_t>(matrix.sq));
  std::vector<Found> found(static_cast<size_t>(std::max(threads, 1)));
  parallel_units(threads, (matrix.sq + kUnitRows - 1) / kUnitRows, [&](int thread, int64_t unit) {
    std::vector<Piece> pieces;
    Found& mine = found[static_cast<size_t>(thread)];
    for (int64_t q = unit * kUnitRows; q < std::min(matrix.sq, (unit + 1) * kUnitRows); ++q) {
      const bool same = q % kUnitRows != 0 && std::equal(matrix.row(q), matrix.row(q) + matrix.words, matrix.row(q - 1));
      if (!mine.complete && mine.lattice == 1) {
        add_row(matrix, q, count_pieces(matrix.row(q), matrix.words), mine);
        continue;
      }
      if (!same) pieces.clear(), row_pieces(matrix.row(q), matrix.words, pieces);
      add_row(matrix, q, static_cast<int64_t>(pieces.size()), mine);
      mine.lattice = row_lattice(pieces, mine.lattice);
      mine.complete = mine.complete && static_cast<int64_t>(pieces.size()) <= most;
      if (mine.complete) made.pieces[static_cast<size_t>(q)] = pieces;
    }
  });
  for (const Found& one : found) {
    made.totals.merge(one.totals);
    made.lattice = std::gcd(made.lattice, one.lattice);
    made.complete = made.complete && one.complete;
  }
  if (!made.complete) made.pieces.clear();
  return made;
}

TileCounts matrix_tiles(const BitMatrix& matrix, TileShape shape, int threads) {
  const size_t used = static_cast<size_t>(std::max(threads, 1));
  std::vector<TileCounts> counts(used);
  std::vector<std::vector<uint64_t>> any(used), all(used);
  parallel_units(threads, (matrix.sq + shape.rows - 1) / shape.rows, [&](int thread, int64_t block) {
    const size_t mine = static_cast<size_t>(thread);
    merge(counts[mine], block_tiles(matrix, shape, block * shape.rows, any[mine], all[mine]));
  });
  for (size_t i = 1; i < used; ++i) merge(counts[0], counts[i]);
  return counts[0];
}

}  // namespace heddle::analysis
