// Where the inputs of a model come from when `heddle run` runs it: files named on the command line or in the spec, or a
// generator.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heddle/graph.h"
#include "src/ir/graph.h"

namespace heddle::cli {

/// One input of the model.
struct InputUse {
  std::string name;
  ir::TensorType type;
  std::string origin;  ///< "files", "generated" or "listed in the spec".
  std::vector<ir::FileUse> files;
};

struct RunInputs {
  std::map<std::string, Array> given;  ///< Those of the command line.
  std::vector<InputUse> uses;          ///< All inputs, in the order of the spec.
  int64_t bytes_read() const;          ///< Of files.
};

/// Reads `NAME=@FILE[,FILE...]` texts: an integer input holds the bytes of the files in order, one element a byte, as "text" in
/// a spec does. Throws UserError for another form, an unknown name, an input of reals, a file that cannot be read, too few
/// bytes.
RunInputs read_inputs(const std::vector<std::string>& texts, const ir::Graph& graph);

}  // namespace heddle::cli
