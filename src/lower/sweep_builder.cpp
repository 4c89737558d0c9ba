#include "src/lower/sweep_builder.h"

#include "src/ir/rewrite.h"

namespace heddle::lower {

using ir::ValueId;

int SweepBuilder::local(ValueId value, bool row) {
  if (const auto found = defined_.find(value); found != defined_.end()) return found->second;
  std::map<ValueId, int>& known = row ? rows_ : loaded_;
  const auto [place, fresh] = known.try_emplace(value, next_local_);
  if (fresh) sweep_.ops.emplace_back(ir::SweepLoad{next_local_++, value, row});
  return place->second;
}

void SweepBuilder::map(const ir::Map& map, const std::function<bool(ValueId)>& is_row) {
  std::vector<int> locals;
  for (ValueId input : map.inputs) locals.push_back(local(input, is_row(input)));
  const ir::Expr expr = ir::substitute(map.expr, [&](const ir::ExprNode& leaf) -> ir::Expr {
    return leaf.op == ir::Op::Arg ? ir::arg(locals.at(static_cast<size_t>(leaf.integer)), leaf.type) : nullptr;
  });
  const int out = next_local_++;
  defined_[map.out] = out;
  if (map.only_partial) identity_[map.out] = map.inputs[0];
  sweep_.ops.emplace_back(ir::SweepMap{out, expr, map.only_partial, map.only_partial ? locals[0] : 0});
}

void SweepBuilder::reduce(const ir::RowReduce& reduce) {
  const int in = local(reduce.in, false);
  reduced_.insert(reduce.out);
  sweep_.ops.emplace_back(ir::SweepReduce{reduce.out, in, reduce.reduction});
}

std::optional<ValueId> SweepBuilder::identity(ValueId value) const {
  while (defined_.contains(value)) {
    const auto found = identity_.find(value);
    if (found == identity_.end()) return std::nullopt;
    value = found->second;
  }
  return value;
}

}  // namespace heddle::lower
