// The options that say which mask is meant, and at which lengths, shared by `facts` and `draw`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/engine/compiler.h"

namespace heddle::cli {

struct MaskOptions {
  std::string mask, mask_file;
  std::vector<std::string> params, tables, at;
  std::string matrix;          ///< File of a matrix; then there is no mask, and it gives the lengths.
  std::optional<int64_t> sq;   ///< Required unless a matrix is given.
  std::optional<int64_t> sk;
  int threads = 0;
  std::string command;         ///< Whose options these are.
};

void declare_mask(CLI::App& command, MaskOptions& options);

/// The mask, or what was recognized in the matrix, its lengths, the values of its names and the threads to use; no tiles. Throws UserError on whatever is wrong.
engine::FactsRequest facts_request(const MaskOptions& options);

}  // namespace heddle::cli
