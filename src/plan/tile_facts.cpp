#include "src/plan/tile_facts.h"

namespace heddle::plan {

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

std::optional<ir::LoopNest> AnalysedFacts::rows(const ir::Expr& mask) {
  const analysis::MaskFacts& facts = of(mask);
  if (facts.proof() != analysis::Proof::Symbolic) return std::nullopt;
  return facts.rows();
}

std::string AnalysedFacts::reason(const ir::Expr& mask) {
  for (const analysis::StageCost& cost : of(mask).costs()) {
    if (cost.outcome != "ok") return cost.name + ": " + cost.outcome;
  }
  return "no symbolic tile relation";
}

}  // namespace heddle::plan
