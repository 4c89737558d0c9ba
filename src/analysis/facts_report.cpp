#include <fmt/format.h>
#include "src/analysis/facts.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle::analysis {
namespace {

std::string condition(const std::vector<ir::Expr>& guards) {
  std::string text;
  for (const ir::Expr& guard : guards) text += (text.empty() ? "" : " && ") + ir::print(guard);
  return text.empty() ? "all" : text;
}

std::string component_lines(const MaskFacts& facts) {
  std::string text;
  for (const AffineComponent& c : facts.components()) {
    text += fmt::format("  rows [{}]: {} + {} * [0, {})\n", condition(c.rows), ir::print(c.offset), c.stride, ir::print(c.count));
  }
  return text;
}

std::string row_lines(const MaskFacts& facts, bool lattice_too) {
  std::string text = fmt::format("rows: {}\n", to_string(facts.proof()));
  if (facts.digit_period() != 0) text += fmt::format("digits: positions are y * {0} + x\n", facts.digit_period());
  if (!facts.components().empty()) text += "components:\n" + component_lines(facts);
  if (facts.components().size() != facts.rows().pieces.size()) {
    text += "row nest:\n" + support::indented(ir::print(facts.rows(), "key"), "  ");
  }
  if (!lattice_too) return text;
  const MaskFacts::Lattice lattice = facts.lattice();
  if (lattice.stride > 1) text += fmt::format("lattice: k ≡ {} (mod {})\n", ir::print(lattice.offset), lattice.stride);
  return text;
}

std::string hull_lines(const MaskFacts& facts, bool transposed) {
  const char* name = transposed ? "column hulls" : "row hulls";
  const std::optional<LineHulls> hulls = facts.hulls(transposed);
  if (!hulls) return fmt::format("{}: only by enumeration\n", name);
  std::string text = fmt::format("{}: {}\n", name, to_string(hulls->proof));
  for (const HullPiece& piece : hulls->pieces) {
    text += fmt::format("  [{}]: {} .. {}\n", condition(piece.guards), ir::print(piece.first), ir::print(piece.last));
  }
  const bool none = hulls->empty->op == ir::Op::BoolConst && hulls->empty->integer == 0;
  return text + fmt::format("  empty: {}\n", none ? "none" : ir::print(hulls->empty));
}

std::string mention_line(const MaskFacts& facts) {
  const char* differs = facts.mentions_batch() ? facts.mentions_head() ? "batches and heads" : "batches" : "heads";
  return facts.mentions_batch() || facts.mentions_head() ? fmt::format("differs between: {}\n", differs) : "";
}

std::string tile_lines(const MaskFacts& facts, TileShape shape) {
  const std::optional<TileRelation> relation = facts.tiles(shape);
  if (!relation) return fmt::format("tiles {}x{}: only by enumeration\n", shape.rows, shape.cols);
  std::string text = fmt::format("tiles {}x{}: {}\n", shape.rows, shape.cols, to_string(relation->proof));
  return text + support::indented(ir::print(relation->full, "full") + ir::print(relation->partial, "partial"), "  ");
}

}  // namespace

std::string print(const MaskFacts& facts, TileShape shape, bool lines) {
  std::string text = fmt::format("mask: {}\n", ir::print(facts.mask()));
  if (!ir::tables(facts.mask()).empty()) return text + mention_line(facts) + "reads tables: counted with their contents\n";
  text += mention_line(facts) + row_lines(facts, lines);
  if (lines) text += hull_lines(facts, false) + hull_lines(facts, true);
  text += tile_lines(facts, shape) + "stages:\n";
  for (const StageCost& cost : facts.costs()) {
    text += fmt::format("  {:28} {:7.2f} ms {:7} operations  {}\n", cost.name, cost.milliseconds, cost.operations, cost.outcome);
  }
  return text;
}

}  // namespace heddle::analysis
