#include "src/plan/tile_facts.h"

#include <algorithm>

#include "src/analysis/counts.h"

namespace heddle::plan {
namespace {

/// Rows of single loops without inner conditions are counted without visiting their keys.
bool in_closed_form(const ir::LoopNest& rows) {
  return std::all_of(rows.pieces.begin(), rows.pieces.end(),
                     [](const ir::NestPiece& piece) { return piece.loops.size() == 1 && piece.inner.empty(); });
}

}  // namespace

const analysis::MaskFacts& AnalysedFacts::of(const ir::Expr& mask) {
  const std::string text = ir::print(mask);
  const auto found = facts_.find(text);
  if (found != facts_.end()) return found->second;
  return facts_.emplace(text, analysis::MaskFacts(mask)).first->second;
}

std::optional<analysis::TileRelation> AnalysedFacts::tiles(const ir::Expr& mask, analysis::TileShape shape) {
  std::optional<analysis::TileRelation> found = of(mask).tiles(shape);
  if (found && found->proof != analysis::Proof::Symbolic) found.reset();
  return found;
}

std::optional<int64_t> AnalysedFacts::pairs(const ir::Expr& mask, analysis::Lengths lengths,
                                            const std::map<std::string, int64_t>& ints) {
  const analysis::MaskFacts& facts = of(mask);
  if (facts.proof() != analysis::Proof::Symbolic || !in_closed_form(facts.rows())) return std::nullopt;
  analysis::CountRequest request;
  request.tiles.clear();
  request.threads = 1;
  return analysis::count(facts, lengths, request, ints).nnz;
}

std::optional<std::vector<analysis::AffineComponent>> AnalysedFacts::components(const ir::Expr& mask) {
  const analysis::MaskFacts& facts = of(mask);
  if (facts.proof() != analysis::Proof::Symbolic || facts.components().size() != facts.rows().pieces.size()) return std::nullopt;
  return facts.components();
}

std::string AnalysedFacts::reason(const ir::Expr& mask) {
  for (const analysis::StageCost& cost : of(mask).costs()) {
    if (cost.outcome != "ok") return cost.name + ": " + cost.outcome;
  }
  return "no symbolic tile relation";
}

}  // namespace heddle::plan
