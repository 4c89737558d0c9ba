#include "src/codegen/clike/dialect.h"

#include <fmt/format.h>

#include "src/codegen/clike/prelude.h"

namespace heddle::codegen::clike {
namespace {

constexpr Dialect kCuda = {"cp_async_16", true, true, true};
constexpr Dialect kHip = {"copy_16", false, false, false};

}  // namespace

const Dialect& dialect(GpuVendor vendor) { return vendor == GpuVendor::Cuda ? kCuda : kHip; }

std::string prelude(const GpuTarget& target, int64_t shared_bytes) {
  constexpr std::string_view kPlace = "//---- arithmetic ----\n";
  const Dialect& d = dialect(target.vendor);
  std::string text = d.dynamic_shared ? "" : fmt::format("#define HD_SHARED_BYTES {}\n", shared_bytes);
  text += target.vendor == GpuVendor::Cuda ? cuda_prelude() : hip_prelude();
  return text.replace(text.find(kPlace), kPlace.size(), arithmetic_prelude());
}

}  // namespace heddle::codegen::clike
