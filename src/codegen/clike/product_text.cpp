#include "src/codegen/clike/product_text.h"

#include "src/codegen/clike/product_fma.h"
#include "src/codegen/clike/product_mfma.h"
#include "src/codegen/clike/product_mma_sync.h"

namespace heddle::codegen::clike {

const ProductText& product_text(ir::MatrixUnit unit) {
  static const MmaSyncText mma_sync;
  static const MfmaText mfma;
  static const FmaText fma;
  switch (unit) {
    case ir::MatrixUnit::MmaSync: return mma_sync;
    case ir::MatrixUnit::Mfma: return mfma;
    case ir::MatrixUnit::Fma: break;
  }
  return fma;
}

}  // namespace heddle::codegen::clike
