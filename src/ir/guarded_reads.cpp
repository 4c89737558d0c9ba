#include "src/ir/guarded_reads.h"

#include <algorithm>
#include <unordered_set>

namespace heddle::ir {
namespace {

int positions_of(const Expr& e) {
  return static_cast<int>(std::ranges::count_if(kPositions, [&](const char* name) { return mentions(e, name); }));
}

void flatten(const Expr& e, Op op, std::vector<Expr>& out) {
  if (e->op != op) return out.push_back(e);
  for (const Expr& operand : e->operands) flatten(operand, op, out);
}

Place guarded(Place place, const std::vector<Guard>& guards) {
  constexpr int kPasses = 2;  // The second gives what guards in any order say of one another.
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const auto& [condition, holds] : guards) {
      place.reached = place.reached && narrow(condition, holds, place.box);
      if (place.reached && positions_of(condition) == 1) narrow(condition, holds, place.alone);
    }
  }
  place.guards.insert(place.guards.end(), guards.begin(), guards.end());
  return place;
}

class Walk {
 public:
  using See = std::function<void(const ExprNode&, const Place&)>;

  Walk(const Expr& mask, const Expr& score, const See& see) : see_(see) {
    for (const Expr& formula : {mask, score}) for_each_node(formula, [this](const Expr& e) { note(e); });
  }

  void visit(const Expr& e, const Place& place) const {
    if (!place.reached || !reads(e)) return;
    if (e->op == Op::And || e->op == Op::Or) return chain(e, place);
    if (e->op == Op::Select) return branches(e, place);
    for (const Expr& operand : e->operands) visit(operand, place);
    if (e->op == Op::Read) see_(*e, place);
  }

 private:
  void note(const Expr& e) {
    if (e->op == Op::Read || std::ranges::any_of(e->operands, [this](const Expr& operand) { return reads(operand); })) reading_.insert(e.get());
  }
  bool reads(const Expr& e) const { return reading_.contains(e.get()); }

  void branches(const Expr& e, const Place& place) const {
    visit(e->operands[0], place);
    visit(e->operands[1], guarded(place, {{e->operands[0], true}}));
    visit(e->operands[2], guarded(place, {{e->operands[0], false}}));
  }

  void chain(const Expr& e, const Place& place) const {
    const bool holds = e->op == Op::And;
    std::vector<Expr> operands, readers;
    std::vector<Guard> guards;
    flatten(e, e->op, operands);
    for (const Expr& operand : operands) {
      if (reads(operand)) readers.push_back(operand);
      else guards.push_back({operand, holds});
    }
    Place inner = guarded(place, guards);
    if (readers.size() > 1) inner.guards.push_back({readers[0], holds});
    for (const Expr& reader : readers) visit(reader, inner);
  }

  const See& see_;
  std::unordered_set<const ExprNode*> reading_;
};

}  // namespace

void for_each_guarded_read(const Expr& mask, const Expr& score, const Box& ranges, const std::function<void(const ExprNode&, const Place&)>& see) {
  const Walk walk(mask, score, see);
  const Place everywhere{ranges, ranges, {}, true};
  if (mask) walk.visit(mask, everywhere);
  if (score) walk.visit(score, mask ? guarded(everywhere, {{mask, true}}) : everywhere);
}

}  // namespace heddle::ir
