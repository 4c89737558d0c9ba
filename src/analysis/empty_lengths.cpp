#include "src/analysis/empty_lengths.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/ir/attention_problem.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;

bool mentions_size(const Expr& expr) {
  return std::ranges::any_of(std::vector<std::string>{"B", "H", "Hkv", "Sq", "Sk"}, [&](const std::string& size) { return ir::mentions(expr, size); });
}

bool mention_sizes(const std::vector<Expr>& exprs) { return std::ranges::any_of(exprs, mentions_size); }

/// Upper bounds alone imply nothing of k >= 0.
bool mentions_size(const ir::NestPiece& piece) {
  return mention_sizes(piece.guards) || mention_sizes(piece.inner) || std::ranges::any_of(piece.loops, [](const ir::Loop& loop) {
           return mention_sizes(loop.lower) || (loop.offset && mentions_size(loop.offset));
         });
}

/// For all lengths; parameters may have any value.
bool never_negative(const Expr& expr) {
  std::map<std::string, ir::Interval> ranges;
  for (const std::string& name : ir::variables(expr)) ranges[name] = {0, ir::kMaxPositions};
  for (const auto& [name, type] : ir::parameters(expr)) ranges[name] = {-ir::kMaxParameter, ir::kMaxParameter};
  return ir::range(expr, ranges).low >= 0;
}

}  // namespace

ir::LoopNest for_empty_lengths(ir::LoopNest nest) {
  for (ir::NestPiece& piece : nest.pieces) {
    if (!mentions_size(piece)) continue;
    for (ir::Loop& loop : piece.loops) {
      if (std::ranges::none_of(loop.lower, never_negative)) loop.lower.push_back(ir::int_const(0));
    }
  }
  return nest;
}

}  // namespace heddle::analysis
