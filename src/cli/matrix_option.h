// The option `--matrix`: a raw boolean matrix from a file, instead of a mask.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heddle/tensor.h"

namespace heddle::cli {

inline constexpr const char* kMatrixHelp = "instead of a mask: .npy file of a two-dimensional array of bool or integers, 0 = masked";

struct LoadedMatrix {
  std::shared_ptr<const std::vector<uint8_t>> bytes;
  Tensor view;  ///< [Sq, Sk] of UInt8, of the bytes.
};

/// Throws UserError on a file that cannot be read, real elements, and anything but two dimensions.
LoadedMatrix load_matrix(const std::string& path);

}  // namespace heddle::cli
