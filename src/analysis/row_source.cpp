#include "src/analysis/row_source.h"

#include <algorithm>
#include <array>

namespace heddle::analysis {

void store_rows(const std::vector<RowStrip>& strips, int64_t first, int n, RowBatch& out) {
  out.first_row = first;
  out.begin.assign(n + 1, 0);
  for (const RowStrip& one : strips) ++out.begin[one.row + 1];
  for (int i = 0; i < n; ++i) out.begin[i + 1] += out.begin[i];
  out.strips.resize(strips.size());
  std::array<int32_t, RowSource::kMostRows> next;
  std::copy(out.begin.begin(), out.begin.end() - 1, next.begin());
  for (const RowStrip& one : strips) out.strips[next[one.row]++] = one.strip;
  for (int i = 0; i < n; ++i) {
    const auto from = out.strips.begin() + out.begin[i], to = out.strips.begin() + out.begin[i + 1];
    const auto ascending = [](const Strip& a, const Strip& b) { return a.first < b.first; };
    if (!std::is_sorted(from, to, ascending)) std::sort(from, to, ascending);
  }
}

}  // namespace heddle::analysis
