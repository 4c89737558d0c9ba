// Loop nests with closed bounds: how facts tell plans and emitters which tiles of a row block (or keys of a row) exist.
//
// A nest is a list of pieces; the pieces visit pairwise disjoint values. Meaning of one piece:
//   if (all guards) for (v0 = max(lower) raised to ≡ offset (mod stride); v0 <= min(upper); v0 += stride)
//     for (v1 ...) if (all inner) visit(value)
// Example, tiles 64x64 of `q - k < 256 && k <= q`: full tiles of row block qb are
//   for kb = max(0, qb - 3) .. min(qb - 1, NF - 1) : kb
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>
#include "src/ir/expr.h"

namespace heddle::ir {

/// One loop. Bounds are Int expressions of outer loop variables, the block variable, NK/NF, sizes, b, h and params.
struct Loop {
  std::string variable;
  std::vector<Expr> lower;   ///< Inclusive; the start is their maximum. Never empty.
  std::vector<Expr> upper;   ///< Inclusive; the end is their minimum. Never empty.
  int64_t stride = 1;        ///< >= 1.
  Expr offset;               ///< variable ≡ offset (mod stride); null when stride is 1.
};

struct NestPiece {
  std::vector<Expr> guards;  ///< Bool, outside all loops.
  std::vector<Loop> loops;   ///< Outermost first; one or two of them.
  std::vector<Expr> inner;   ///< Bool, of the loop variables too.
  Expr value;                ///< Int: what is visited, e.g. `kb`, or `ky * 16 + kx`.
};

struct LoopNest {
  std::vector<NestPiece> pieces;
};

/// C-like text of a nest, one line a loop; `call` names the visit ("F" gives `F(kb)`).
std::string print(const LoopNest& nest, const std::string& call);

/// Runs a nest: `ints` gives every free name. Visits values piece by piece.
void visit(const LoopNest& nest, const std::map<std::string, int64_t>& ints, const std::function<void(int64_t)>& visit);

}  // namespace heddle::ir
