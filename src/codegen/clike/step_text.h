// The statements of a tile program as text: those of a step in the loop over keys, and those around it.
#pragma once
#include <set>
#include <string>

#include "src/codegen/clike/names.h"
#include "src/codegen/clike/product_text.h"

namespace heddle::codegen::clike {

class StatementText {
 public:
  /// `formula` knows all leaves but `k`, which is `first_key` and on in steps.
  StatementText(TextWriter& out, const Names& names, const ExprText& formula, const ProductText& products)
      : out_(out), names_(names), formula_(formula), products_(products) {}

  /// Statements before, between and behind loops. Loops are left out.
  void outside(const ir::Statement& statement);
  /// The body of a loop, as one step: `kPartial` is the class, `first_key` the first key, `shared_K` and `shared_V` the staged tiles.
  void step(const ir::KeyLoop& loop);
  /// After a loop: carried sums whose lanes kept their own parts are summed.
  void sum_lanes(const ir::KeyLoop& loop);

  void operator()(const ir::Fill& s);
  void operator()(const ir::Mma& s);
  void operator()(const ir::Map& s);
  void operator()(const ir::RowReduce& s);
  void operator()(const ir::Store& s);
  void operator()(const ir::Stage&) {}
  template <class Other>
  void operator()(const Other&) {}

 private:
  void declare(ir::ValueId value);
  void row_map(const ir::Map& s);
  void fragment_map(const ir::Map& s, const std::string& row_of);
  void masked(const ir::Map& s);
  void across(const std::string& row, const char* combine);
  std::string text_of(const ir::Map& s) const;

  TextWriter& out_;
  const Names& names_;
  ExprText formula_;
  const ProductText& products_;
  std::set<std::string> declared_;  ///< Arrays of this step.
};

}  // namespace heddle::codegen::clike
