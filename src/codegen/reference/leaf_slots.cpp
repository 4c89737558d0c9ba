#include "src/codegen/reference/leaf_slots.h"

namespace heddle::reference {

namespace {

Tensor view_of(const TableArg& table, const TableDeclaration& declaration) {
  Tensor view{const_cast<void*>(table.data), declaration.dtype, {}, {}};
  view.shape.assign(table.extent, table.extent + declaration.rank);
  view.strides.assign(table.stride, table.stride + declaration.rank);
  return view;
}

}  // namespace

LeafSlots::LeafSlots(const AttentionArgs& args, const std::vector<std::string>& int_params, const std::vector<std::string>& real_params,
                     const std::vector<TableDeclaration>& tables, size_t operands)
    : names_{"b", "h", "q", "k", "B", "H", "Hkv", "Sq", "Sk"},
      ints_{0, 0, 0, 0, args.batch, args.heads, args.kv_heads, args.sq, args.sk} {
  for (size_t i = 0; i < int_params.size(); ++i) {
    names_.push_back(int_params[i]);
    ints_.push_back(args.int_params[i]);
  }
  int_leaves_ = names_.size();
  names_.insert(names_.end(), real_params.begin(), real_params.end());
  names_.push_back("s");
  ints_.resize(names_.size());
  reals_.resize(names_.size() + operands);
  for (size_t i = 0; i < real_params.size(); ++i) reals_[int_leaves_ + i] = args.real_params[i];
  for (size_t i = 0; i < tables.size(); ++i) tables_[tables[i].name] = view_of(args.tables[i], tables[i]);
}

std::map<std::string, int64_t> LeafSlots::block_names() const {
  std::map<std::string, int64_t> found;
  for (size_t i = 0; i < int_leaves_; ++i) {
    if (i != kQuery && i != kKey) found[names_[i]] = ints_[i];
  }
  return found;
}

}  // namespace heddle::reference
