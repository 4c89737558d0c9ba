// Model specs: reading never fails but by a UserError, what is read is a graph that passes its verifier, and reading again gives the
// same graph.
#include "dsl/spec.h"
#include "heddle/error.h"
#include "test/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const heddle::SpecOptions options{.max_tensor_bytes = int64_t{1} << 20};
  try {
    const heddle::ir::Graph graph = heddle::dsl::read_spec(text, "spec", {}, options);
    heddle::ir::verify(graph);
    const std::string printed = heddle::ir::print(graph);
    heddle::fuzz::require(printed == heddle::ir::print(heddle::dsl::read_spec(text, "spec", {}, options)), "another graph:\n" + printed);
  } catch (const heddle::UserError&) {
    return 0;
  }
  return 0;
}
