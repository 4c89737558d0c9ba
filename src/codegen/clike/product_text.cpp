#include "src/codegen/clike/product_text.h"

#include "heddle/error.h"
#include "src/codegen/clike/product_mma_sync.h"

namespace heddle::codegen::clike {

const ProductText& product_text(ir::MatrixUnit unit) {
  static const MmaSyncText mma_sync;
  if (unit == ir::MatrixUnit::MmaSync) return mma_sync;
  throw InternalError("clike emitter", "no products of this matrix unit");
}

}  // namespace heddle::codegen::clike
