// Products of float32 by multiply-adds, exact as float32 arithmetic is: NVIDIA GPUs without tf32.
#pragma once
#include "src/codegen/clike/product_text.h"

namespace heddle::codegen::clike {

class FmaText : public ProductText {
 public:
  void with_keys(TextWriter& out, const Names& names, const ir::Mma& mma) const override;
  void with_values(TextWriter& out, const Names& names, const ir::Mma& mma) const override;
  void store(TextWriter& out, const Names& names, ir::ValueId value) const override;
  void place(TextWriter& out) const override;
};

}  // namespace heddle::codegen::clike
