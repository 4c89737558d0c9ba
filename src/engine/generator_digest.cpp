#include "src/engine/compiler.h"

namespace heddle::engine {

const char* generator_digest() {
  return
#include "generator_digest.inc"
      ;
}

}  // namespace heddle::engine
