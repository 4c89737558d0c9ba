// Loop nests read off the constraints of disjoint basic sets, one loop a basic set.
//
// A basic set is the conjunction of its constraints, so nothing is merged or derived again: constraints without the loop variable are
// guards, those with it outside divisions are bounds, those with it inside a division are inner conditions or the stride. An inner
// condition also gives the bound that it implies without divisions, so that no loop runs over values far from those it visits.
// (isl_ast_build is not used: it coalesces inside, which isl 0.25 gets wrong, and is not memory safe under an operation budget.)
#pragma once
#include <optional>
#include <string>
#include <vector>
#include "src/analysis/affine_expr.h"
#include "src/analysis/formula_sets.h"
#include "src/ir/loop_nest.h"

namespace heddle::analysis {

/// How to read a set of two dimensions, outer and visited: the names of the two, and the bounds that hold for `visited` in any case.
struct NestNames {
  ir::Expr outer;
  std::string visited;
  std::vector<ir::Expr> upper;  ///< Inclusive bounds to add where isl does not know them (the lower one is 0).
  std::optional<int64_t> outer_end;  ///< `outer` is below it.
};

/// Nest over the visited dimension for a given value (>= 0) of dimension `outer` and parameters inside `context`. `pieces`: from
/// disjoint_pieces.
ir::LoopNest read_nest(const std::vector<isl::basic_set>& pieces, int outer, const isl::set& context, const Parameters& parameters,
                       const NestNames& names);

/// The piece with dimension `outer` as a last parameter.
isl::basic_set outer_as_parameter(const isl::basic_set& piece, int outer);
/// What holds of the parameters of `set` in any case: `context`, and that the parameter of outer_as_parameter is in its range.
isl::set outer_context(const isl::set& context, const isl::set& set, std::optional<int64_t> outer_end);
/// The constraints of a set of parameters that `context` does not imply, as conditions.
std::vector<ir::Expr> read_conditions(const isl::basic_set& parameters, const isl::set& context, const SpaceNames& names);

}  // namespace heddle::analysis
