#include "src/codegen/clike/prelude.h"

namespace heddle::codegen::clike {

const char* hip_prelude() { return "//---- arithmetic ----\n"; }

}  // namespace heddle::codegen::clike
