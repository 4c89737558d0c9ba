// Products by the matrix cores of AMD GPUs (gfx9, CDNA).
#pragma once
#include "src/codegen/clike/product_text.h"

namespace heddle::codegen::clike {

class MfmaText : public ProductText {
 public:
  void with_keys(TextWriter& out, const Names& names, const ir::Mma& mma) const override;
  void with_values(TextWriter& out, const Names& names, const ir::Mma& mma) const override;
  void store(TextWriter& out, const Names& names, ir::ValueId value) const override;
  void place(TextWriter& out) const override;
  void fields(TextWriter& out, const Names& names) const override;
  void begin(TextWriter& out, const Names& names) const override;
};

}  // namespace heddle::codegen::clike
