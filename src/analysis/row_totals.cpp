#include "src/analysis/row_totals.h"

#include <numeric>

namespace heddle::analysis {

int64_t unit_rows(const CountRequest& request, Lengths lengths, int64_t least) {
  const int64_t all = std::max<int64_t>(lengths.sq, 1);
  int64_t rows = 1;
  for (const TileShape& shape : request.tiles) {
    if (shape.rows >= all) return all;
    const int64_t factor = shape.rows / std::gcd(rows, shape.rows);
    if (factor > all / rows) return all;
    rows *= factor;
  }
  return rows >= least ? rows : rows * (least / rows);
}

std::vector<int64_t> sampled_rows(int64_t sq) {
  if (sq == 0) return {};
  std::vector<int64_t> rows = {0, sq / 3, static_cast<int64_t>(__int128{2} * sq / 3), sq - 1};
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace heddle::analysis
