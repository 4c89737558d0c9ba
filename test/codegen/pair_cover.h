// Rows of choices such that every pair of choices of two factors occurs in some row (Cohen et al., "The AETG system", 1997).
#pragma once
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace heddle::test {

class PairCover {
 public:
  using Row = std::vector<int>;  ///< One choice a factor; -1: not chosen yet.
  using Legal = std::function<bool(const Row&)>;

  /// `sizes`: choices of each factor. `legal` is asked about rows with some choices open and must be monotone: what it refuses
  /// stays refused whatever is chosen for the rest.
  PairCover(
      std::vector<int> sizes, uint64_t seed, Legal legal = [](const Row&) { return true; })
      : sizes_(std::move(sizes)), random_(seed), legal_(std::move(legal)) {
    for (int size : sizes_) first_.push_back(total_), total_ += size;
    covered_.assign(static_cast<size_t>(total_) * static_cast<size_t>(total_), false);
  }

  /// Chooses the open entries so that many new pairs are covered, and counts the row's pairs as covered.
  Row complete(Row row) {
    std::vector<size_t> open;
    for (size_t f = 0; f < row.size(); ++f) {
      if (row[f] < 0) open.push_back(f);
    }
    for (size_t i = open.size(); i > 1; --i) std::swap(open[i - 1], open[random_() % i]);
    for (size_t f : open) row[f] = best_choice(row, f);
    for (size_t f = 0; f < row.size(); ++f) {
      for (size_t g = 0; g < row.size(); ++g) covered_[pair(f, row[f], g, row[g])] = true;
    }
    return row;
  }

  /// Rows over `factors` only (others open) that start from pairs still uncovered, until none is left.
  std::vector<Row> rows(const std::vector<size_t>& factors) {
    std::vector<Row> made;
    for (size_t f : factors) {
      for (size_t g : factors) {
        for (int a = 0; f < g && a < sizes_[f]; ++a) {
          for (int b = 0; b < sizes_[g]; ++b) {
            if (covered_[pair(f, a, g, b)]) continue;
            Row row(sizes_.size(), -1);
            row[f] = a, row[g] = b;
            if (legal_(row)) made.push_back(complete_only(row, factors));
          }
        }
      }
    }
    return made;
  }

  /// Legal pairs that no row has covered.
  int64_t missing() const {
    int64_t count = 0;
    for (size_t f = 0; f < sizes_.size(); ++f) {
      for (size_t g = f + 1; g < sizes_.size(); ++g) {
        for (int a = 0; a < sizes_[f]; ++a) {
          for (int b = 0; b < sizes_[g]; ++b) count += !covered_[pair(f, a, g, b)] && legal_pair(f, a, g, b);
        }
      }
    }
    return count;
  }
  /// New pairs that the open entries of `row` could still cover with its chosen ones.
  int64_t promise(const Row& row) const {
    int64_t count = 0;
    for (size_t f = 0; f < row.size(); ++f) {
      if (row[f] >= 0) continue;
      for (int a = 0; a < sizes_[f]; ++a) count += gain(row, f, a);
    }
    return count;
  }

 private:
  size_t pair(size_t f, int a, size_t g, int b) const {
    return static_cast<size_t>(first_[f] + a) * static_cast<size_t>(total_) + static_cast<size_t>(first_[g] + b);
  }
  bool legal_pair(size_t f, int a, size_t g, int b) const {
    Row row(sizes_.size(), -1);
    row[f] = a, row[g] = b;
    return legal_(row);
  }
  int64_t gain(const Row& row, size_t f, int a) const {
    int64_t count = 0;
    for (size_t g = 0; g < row.size(); ++g) count += g != f && row[g] >= 0 && !covered_[pair(f, a, g, row[g])];
    return count;
  }
  int best_choice(Row row, size_t f) {
    int best = -1;
    int64_t best_gain = -1;
    const auto start = static_cast<int>(random_() % static_cast<uint64_t>(sizes_[f]));
    for (int i = 0; i < sizes_[f]; ++i) {
      const int a = (start + i) % sizes_[f];
      row[f] = a;
      const int64_t gained = legal_(row) ? gain(row, f, a) : -1;
      if (gained > best_gain) best = a, best_gain = gained;
    }
    return best;
  }
  Row complete_only(Row row, const std::vector<size_t>& factors) {
    Row closed = row;
    for (size_t f : factors) {
      if (row[f] < 0) row[f] = closed[f] = best_choice(row, f);
    }
    for (size_t f : factors) {
      for (size_t g : factors) covered_[pair(f, row[f], g, row[g])] = true;
    }
    return row;
  }

  std::vector<int> sizes_, first_;
  int total_ = 0;
  std::mt19937_64 random_;
  Legal legal_;
  std::vector<bool> covered_;
};

}  // namespace heddle::test
