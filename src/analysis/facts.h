// Exact facts of a mask, asked by query and memoised: rows, hulls, affine components, tile relations, lattice.
//
// Everything here is exact and carries its proof kind; nothing is sampled or assumed. Method: isl relations under a deterministic
// operation budget on the plane q >= 0, k >= 0 (no upper bounds; Sq and Sk are parameters only where the formula names them),
// digits factored first, own loop nests read off the constraints of disjoint basic sets. isl objects never leave src/analysis.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "src/ir/expr.h"
#include "src/ir/loop_nest.h"

namespace heddle::analysis {

/// How a fact was established. Symbolic: by isl, for all lengths. FixedLengths: by isl, for the given Sq, Sk only.
/// Enumerated: by evaluating every pair; the fact holds for the given lengths only.
enum class Proof { Symbolic, FixedLengths, Enumerated };
const char* to_string(Proof proof);

/// Query rows x keys of a tile; tiles start at (0, 0).
struct TileShape {
  int64_t rows = 64, cols = 64;
  auto operator<=>(const TileShape&) const = default;
};

/// One affine component (ACSR): in rows where `rows` holds, row q allows offset, offset + stride, ... (count of them).
/// Offset and count are Int expressions of q (and sizes, b, h, params). Components are pairwise disjoint.
struct AffineComponent {
  std::vector<ir::Expr> rows;  ///< Bool over q: a conjunction; empty means every row.
  ir::Expr offset, count;      ///< count may be <= 0: no key. Stride 1 where count <= 1 everywhere.
  int64_t stride = 1;
};

/// Which tiles have an allowed pair, and which have nothing else, on the plane. Free names of the nests: qb, NK = ceil(Sk / cols),
/// NF = floor(Sk / cols), and Sq, Sk, b, h, params where the formula names them; visited value: the key tile kb in [0, NK).
/// partial and full are disjoint; a tile in neither has no allowed pair. Full: all rows x cols pairs of the plane are allowed and
/// kb < NF. At the rim a partial tile may be listed whose only allowed pairs have q >= Sq.
struct TileRelation {
  TileShape shape;
  Proof proof = Proof::Symbolic;
  ir::LoopNest partial, full;
};

/// First and last allowed position of a line (a row, or a column), where all guards hold; they never hold where it has none.
struct HullPiece {
  std::vector<ir::Expr> guards;  ///< Bool, a conjunction; empty means every line.
  ir::Expr first, last;          ///< Int, inclusive; first <= last where the guards hold.
};

/// Hulls of all lines inside the mask, where Sq and Sk are at least 1 (without queries or keys no line has any). Several pieces may hold
/// for one line: its hull goes from the least `first` to the greatest `last` of them. Free names: q of rows, k of columns; Sq, Sk, b,
/// h and params.
struct LineHulls {
  Proof proof = Proof::Symbolic;
  std::vector<HullPiece> pieces;
  ir::Expr empty;  ///< Bool: the line has no allowed position, so no piece holds.
};

/// Time and isl operations of one analysis stage, for printing.
struct StageCost {
  std::string name;
  double milliseconds = 0;
  uint64_t operations = 0;
  std::string outcome;  ///< "ok", "over budget: fixed lengths next", "not affine: q * k", ...
};

struct Lengths { int64_t sq = 0, sk = 0; };

struct AnalysisOptions {
  uint64_t budget = 50'000;            ///< isl operations a stage.
  std::optional<Lengths> lengths;      ///< Allows the FixedLengths and Enumerated fallbacks; symbolic is tried first all the same.
};

/// The facts of one mask, for positions up to ir::kMaxPositions and dynamic parameters up to ir::kMaxParameter. Not thread safe
/// (queries memoise).
class MaskFacts {
 public:
  /// `mask`: Bool, Int-only, divisors guarded (ir::guard_divisors); where it reads tables all is Enumerated. Never throws for a legal
  /// mask: what isl cannot do becomes a fallback that the facts name. Throws UserError for Real sub-expressions.
  explicit MaskFacts(ir::Expr mask, AnalysisOptions options = {});
  ~MaskFacts();
  MaskFacts(MaskFacts&&) noexcept;

  const ir::Expr& mask() const;
  /// Proof kind of rows() and components(); Enumerated means both are empty and counts enumerate.
  Proof proof() const;
  /// Row q to its allowed keys: free names q, Sk (and Sq, b, h, params); every piece is bounded by Sk - 1. Pieces are disjoint.
  /// Digit masks give pieces of two loops, or of one where a digit has one value. Empty when proof() is Enumerated.
  const ir::LoopNest& rows() const;
  /// rows() as arithmetic progressions; pieces of two loops are not in it (see digit_period).
  const std::vector<AffineComponent>& components() const;
  /// Radix W when the mask was factored into digits q / W, q % W; 0 otherwise.
  int64_t digit_period() const;
  /// Greatest p such that k ≡ o(q) (mod p) for every allowed pair, and o(q); p is 1 without a lattice.
  struct Lattice { int64_t stride = 1; ir::Expr offset; };
  Lattice lattice() const;
  /// Tile relation, or nullopt when it can only be enumerated. transposed: free names kb, NQ = ceil(Sq / rows),
  /// NQF = floor(Sq / rows); the nests visit query tiles qb of key tile kb.
  std::optional<TileRelation> tiles(TileShape shape, bool transposed = false) const;
  /// Keys of row q, or with `transposed` queries of column k, from first to last; nullopt when they can only be enumerated.
  std::optional<LineHulls> hulls(bool transposed = false) const;
  /// Whether the mask differs between batches or heads: simplified, it mentions b or h.
  bool mentions_batch() const;
  bool mentions_head() const;
  std::vector<StageCost> costs() const;  ///< Of everything asked so far.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Human-readable report of the symbolic facts (what `heddle facts` and `--stage facts` print before the counts). `lines`: with the
/// lattice and the hulls, which `heddle facts` alone asks for: no kernel needs them, and they take as long as all the rest.
std::string print(const MaskFacts& facts, TileShape shape, bool lines = true);

}  // namespace heddle::analysis
