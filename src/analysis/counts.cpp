#include "src/analysis/counts.h"

#include <algorithm>
#include <set>

#include "heddle/error.h"
#include "src/analysis/enumerate.h"
#include "src/analysis/nest_rows.h"
#include "src/analysis/row_sweep.h"
#include "src/analysis/row_totals.h"
#include "src/ir/rewrite.h"
#include "src/ir/table_bounds.h"
#include "src/support/timer.h"

namespace heddle::analysis {
namespace {

using Ints = std::map<std::string, int64_t>;

constexpr int64_t kWorthComparing = int64_t{1} << 24;

void check(Lengths lengths, const CountRequest& request) {
  if (lengths.sq < 0 || lengths.sk < 0) {
    throw UserError("lengths " + std::to_string(lengths.sq) + " x " + std::to_string(lengths.sk) + " are not both 0 or more");
  }
  for (const TileShape& shape : request.tiles) {
    if (shape.rows < 1 || shape.cols < 1) {
      throw UserError("tile shape " + std::to_string(shape.rows) + "x" + std::to_string(shape.cols) + " is not at least 1x1");
    }
  }
}

/// `ints` with the lengths; every name in `names` must be there.
Ints with_lengths(const Ints& ints, Lengths lengths, const std::set<std::string>& names) {
  Ints values = ints;
  values["Sq"] = lengths.sq;
  values["Sk"] = lengths.sk;
  for (const std::string& name : names) {
    if (name != "q" && name != "k" && !values.count(name)) {
      throw UserError("the mask depends on '" + name + "', which has no value", "give its value, for example " + name + "=1");
    }
  }
  return values;
}

std::set<std::string> names_of(const ir::Expr& mask) {
  std::set<std::string> names = ir::variables(mask);
  for (const auto& [name, type] : ir::parameters(mask)) names.insert(name);
  return names;
}

void check_tables(const ir::Expr& mask, Lengths lengths, const Ints& values, const ir::Tables& tables) {
  const ir::Expr at_values = ir::substitute(mask, [&](const ir::ExprNode& leaf) -> ir::Expr {
    const auto found = leaf.op == ir::Op::Var || leaf.op == ir::Op::Param ? values.find(leaf.name) : values.end();
    return found == values.end() ? nullptr : ir::int_const(found->second);
  });
  ir::check_tables(at_values, nullptr, tables, {{"q", {0, lengths.sq - 1}}, {"k", {0, lengths.sk - 1}}});
}

CountRequest with_distinct_tiles(CountRequest request) {
  std::sort(request.tiles.begin(), request.tiles.end());
  request.tiles.erase(std::unique(request.tiles.begin(), request.tiles.end()), request.tiles.end());
  return request;
}

/// Whether the tile relation has a long walk for every row block, and rows have few keys.
bool rows_are_faster(const TileRelation& relation, const SweepInput& input, const Ints& values) {
  const int64_t steps = steps_of_whole_tiles(relation, input.lengths, values);
  return steps > kWorthComparing && steps_of_rows(input, relation.shape) < steps;
}

/// From the rows of the facts; whole tiles from the tile relations where there are any.
MaskCounts count_symbolic(const MaskFacts& facts, Lengths lengths, const CountRequest& request, const Ints& values, WorkMeter& meter) {
  std::map<TileShape, TileCounts> whole;
  std::map<TileShape, TileSweep::Scope> scopes;
  const SweepInput input{nest_source(facts, values), lengths, meter};
  for (const TileShape& shape : request.tiles) {
    const auto relation = facts.tiles(shape);
    if (!relation || relation->proof == Proof::Enumerated || rows_are_faster(*relation, input, values)) continue;
    whole[shape] = count_whole_tiles(*relation, lengths, values, request.threads, meter);
    scopes[shape] = TileSweep::Scope::Rim;
  }
  MaskCounts counts = sweep_rows(input, request, scopes);
  for (const auto& [shape, tiles] : whole) merge(counts.tiles[shape], tiles);
  return counts;
}

MaskCounts count_pairs(const MaskFacts& facts, Lengths lengths, const CountRequest& request, const MaskInputs& inputs, WorkMeter& meter) {
  if (const KnownRanges* known = request.limits.known) return sweep_rows({ranged_source(facts, inputs, *known), lengths, meter}, request);
  if (lengths.sq > 0 && lengths.sk > request.limits.most_steps / kPairSteps / lengths.sq) throw OverWork{};
  return enumerate(facts.mask(), lengths, request, inputs);
}

}  // namespace

MakeSource nest_source(const MaskFacts& facts, const Ints& ints) {
  return [&facts, ints](WorkMeter& meter) { return std::make_unique<NestRows>(facts.rows(), "q", ints, meter); };
}

MakeSource ranged_source(const MaskFacts& facts, const MaskInputs& inputs, const KnownRanges& known) {
  return [&facts, inputs, &known](WorkMeter& meter) { return std::make_unique<RangedRows>(facts.mask(), inputs, known, meter); };
}

void check_inputs(const MaskFacts& facts, Lengths lengths, const Ints& ints, const ir::Tables& tables) {
  check_tables(facts.mask(), lengths, with_lengths(ints, lengths, names_of(facts.mask())), tables);
}

MaskCounts count(const MaskFacts& facts, Lengths lengths, const CountRequest& wanted, const Ints& ints, const ir::Tables& tables) {
  check(lengths, wanted);
  const CountRequest request = with_distinct_tiles(wanted);
  const support::Timer timer;
  const Ints values = with_lengths(ints, lengths, names_of(facts.mask()));
  check_tables(facts.mask(), lengths, values, tables);
  const bool enumerated = facts.proof() == Proof::Enumerated;
  WorkMeter meter(request.limits.most_steps);
  MaskCounts counts = enumerated ? count_pairs(facts, lengths, request, {values, tables}, meter) : count_symbolic(facts, lengths, request, values, meter);
  counts.steps = meter.done();
  counts.proof = facts.proof();
  counts.milliseconds = timer.milliseconds();
  return counts;
}

}  // namespace heddle::analysis
