// What the planner asks of facts, as an interface: any source of exact tile relations can drive a plan.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "src/analysis/facts.h"

namespace heddle::plan {

class TileFacts {
 public:
  virtual ~TileFacts() = default;
  /// Exact tiles of `mask` for all lengths, or nullopt when only testing every tile is exact. Masks are Bool over Ints, divisors
  /// guarded.
  virtual std::optional<analysis::TileRelation> tiles(const ir::Expr& mask, analysis::TileShape shape) = 0;
  /// Allowed pairs at the given lengths, or nullopt where counting them would take an enumeration. `ints`: values of b, h, the other
  /// sizes and the dynamic parameters.
  virtual std::optional<int64_t> pairs(const ir::Expr& mask, analysis::Lengths lengths, const std::map<std::string, int64_t>& ints) = 0;
  /// The mask as disjoint arithmetic progressions of keys, for all lengths; nullopt where its rows have no such form.
  virtual std::optional<std::vector<analysis::AffineComponent>> components(const ir::Expr&) { return std::nullopt; }
  /// Whether a mask that reads tables may get its tiles from lists made when tables are bound.
  virtual bool lists() const { return true; }
  /// Why tiles() has no answer, in words: "over budget: ...", "not affine: q * k".
  virtual std::string reason(const ir::Expr& mask) = 0;
  /// A report for people.
  virtual std::string text(const ir::Expr& mask, analysis::TileShape shape) = 0;
};

/// The facts of src/analysis, one MaskFacts a mask, made at the first question and kept.
class AnalysedFacts : public TileFacts {
 public:
  std::optional<analysis::TileRelation> tiles(const ir::Expr& mask, analysis::TileShape shape) override;
  std::optional<int64_t> pairs(const ir::Expr& mask, analysis::Lengths lengths, const std::map<std::string, int64_t>& ints) override;
  std::optional<std::vector<analysis::AffineComponent>> components(const ir::Expr& mask) override;
  std::string reason(const ir::Expr& mask) override;
  std::string text(const ir::Expr& mask, analysis::TileShape shape) override { return print(of(mask), shape, false); }
  const analysis::MaskFacts& of(const ir::Expr& mask);

 private:
  std::map<std::string, analysis::MaskFacts> facts_;  ///< By text of the mask.
};

}  // namespace heddle::plan
