#include "src/cli/matrix_option.h"

#include <fmt/format.h>

#include <utility>

#include "heddle/error.h"
#include "src/support/npy.h"
#include "src/support/text.h"

namespace heddle::cli {

LoadedMatrix load_matrix(const std::string& path) {
  support::Array array = support::read_array(path);
  if (array.shape.size() != 2) {
    throw UserError(fmt::format("{} has {} dimensions; expected 2: queries and keys", support::quote(path), array.shape.size()));
  }
  if (!array.is_integer()) {
    throw UserError(fmt::format("{} has elements of {}; expected bool or integers", support::quote(path), to_string(array.type)), "0 is masked, anything else allowed");
  }
  auto bytes = std::make_shared<std::vector<uint8_t>>(support::size_of(array.type) == 1 ? std::move(array.bytes) : array.nonzero());
  Tensor view = Tensor::dense(bytes->data(), array.shape, DType::UInt8);
  return {std::move(bytes), std::move(view)};
}

}  // namespace heddle::cli
