// Tile classes counted from the strips of rows: per row block, how many allowed pairs each key tile holds, in closed form.
//
// Strips become progressions of key tiles that hold equal numbers of pairs; between the places where a progression starts or ends,
// the number of pairs is periodic in the tile, so a row block costs O(rows x strips), not O(key tiles). Strips of few keys that share no
// tile are counted key by key instead. Edge tiles are clipped.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>
#include "src/analysis/counts.h"
#include "src/analysis/strip.h"

namespace heddle::analysis {

class TileSweep {
 public:
  /// Rim: only the tiles that a plane tile relation does not decide, i.e. those that the bounds cut.
  enum class Scope { All, Rim };
  TileSweep(TileShape shape, Lengths lengths, Scope scope);

  /// Rows in ascending order; the first row of a run of rows must start a row block, and the run must end at a row block's last row
  /// or at the mask's last row.
  void add(int64_t row, const Strip* strips, int n);
  /// Steps since the last call.
  int64_t take_work() { return std::exchange(work_, 0); }
  const TileCounts& counts() const { return counts_; }
  const TileShape& shape() const { return shape_; }

 private:
  /// `amount` allowed pairs in each of the tiles first, first + step, ... (count of them).
  struct Entry {
    int64_t first, step, count, amount;
  };
  struct Event {
    int64_t tile;
    int32_t entry;
    bool start;
  };

  void add_strip(const Strip& strip);
  bool is_sparse(const Strip& strip) const;
  void add_keys(const Strip& strip);
  void add_aligned(const Strip& strip);
  void add_progression(int64_t first, int64_t stride, int64_t count, int64_t step, int64_t repeats);
  void add_tiles(int64_t first, int64_t tiles, int64_t amount, int64_t step, int64_t repeats);
  void add_entry(int64_t first, int64_t step, int64_t count, int64_t amount);
  void finish_block(int64_t row);
  void finish_dense(int64_t rows, int64_t first_tile);
  void clip_entries(int64_t from);
  void make_events();
  void apply(const Event& event, int64_t& base);
  void count_segment(int64_t from, int64_t to, int64_t base, int64_t rows);
  int64_t period() const;

  int64_t work_ = 0;
  TileShape shape_;
  Lengths lengths_;
  int64_t key_tiles_;
  int64_t first_tile_;            ///< Of whole row blocks: tiles before it are not counted.
  TileCounts counts_;
  std::vector<Entry> entries_;    ///< Of the current row block.
  std::array<int32_t, 64> recent_;  ///< Hash of a progression to its entry, or an older one.
  std::vector<Event> events_;
  std::vector<int64_t> residues_;  ///< Pairs by tile modulo the period, of active entries with a step.
  std::vector<int64_t> dense_;     ///< Pairs by tile of what is counted key by key.
  bool has_dense_ = false;
};

/// Tile counts of whole tiles of `area` pairs only, from the partial and full tiles of a row block as strips.
struct TileStrips {
  const Strip* strips;
  int n;
};
void add_whole_tiles(TileStrips partial, TileStrips full, int64_t whole_tiles, int64_t area, TileCounts& counts);

}  // namespace heddle::analysis
