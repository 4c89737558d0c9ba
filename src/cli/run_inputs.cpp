#include "src/cli/run_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/files.h"
#include "heddle/error.h"
#include "src/engine/sources.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

using support::quote;

constexpr int64_t kMaxFile = int64_t{1} << 28;

struct Given {
  std::string name;
  std::vector<std::string> files;
};

Given parse(const std::string& text) {
  const size_t equals = text.find("=@");
  if (equals == std::string::npos || equals == 0 || equals + 2 == text.size()) {
    throw UserError(fmt::format("--input {}: expected NAME=@FILE[,FILE...]", quote(text)),
                    "for example --input tokens=@LICENSE");
  }
  Given given{text.substr(0, equals), {}};
  for (size_t start = equals + 2; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    if (end == start) throw UserError(fmt::format("--input {}: a file name is empty", quote(text)));
    given.files.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return given;
}

const ir::Leaf& find_input(const std::string& name, const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::Leaf& leaf : graph.inputs) {
    names.push_back(graph.values[leaf.value].name);
    if (names.back() == name) return leaf;
  }
  const std::string near = support::nearest(name, names);
  throw UserError(fmt::format("--input {}: the spec has no such input", quote(name)),
                  near.empty() ? "inputs: " + support::list(names) : fmt::format("did you mean {}?", near));
}

template <typename Integer>
void widen(const std::string& bytes, Array& array) {
  std::transform(bytes.begin(), bytes.end(), static_cast<Integer*>(array.view.data),
                 [](char c) { return static_cast<Integer>(static_cast<unsigned char>(c)); });
}

Array array_of(const std::string& bytes, const ir::TensorType& type) {
  Array array = Array::make(type.shape, type.dtype);
  type.dtype == DType::Int32 ? widen<int32_t>(bytes, array) : widen<int64_t>(bytes, array);
  return array;
}

int64_t elements_of(const Given& given, const ir::TensorType& type) {
  if (type.dtype == DType::Int32 || type.dtype == DType::Int64)
    return Tensor::dense(nullptr, type.shape, type.dtype).elements();
  throw UserError(fmt::format("--input {}: the bytes of files fit int32 and int64 inputs only, this one is {}",
                              quote(given.name), ir::to_string(type)));
}

/// As many bytes as the input has elements.
std::string read_files(const Given& given, int64_t needed, std::vector<ir::FileUse>& files) {
  std::string bytes;
  for (const std::string& path : given.files) {
    const std::string text = dsl::read_file(path, kMaxFile);
    const int64_t size = static_cast<int64_t>(text.size()), used = std::min(size, needed - static_cast<int64_t>(bytes.size()));
    bytes.append(text, 0, static_cast<size_t>(used));
    files.push_back({path, size, used});
  }
  if (static_cast<int64_t>(bytes.size()) == needed) return bytes;
  throw UserError(
      fmt::format("--input {}: the files hold {} bytes, the input has {} elements", quote(given.name), bytes.size(), needed),
      "name more files, or make the input smaller with --dim");
}

InputUse use_in_spec(const ir::Graph& graph, const ir::Leaf& leaf) {
  using Kind = ir::Source::Kind;
  const ir::Value& value = graph.values[leaf.value];
  const Kind kind = leaf.source.kind;
  const char* origin = kind == Kind::Bytes ? "files" : kind == Kind::Documents ? "numbers of files" : kind == Kind::Values ? "listed in the spec" : "generated";
  return {value.name, value.type, origin, leaf.source.files};
}

void give(const Given& given, const ir::Graph& graph, RunInputs& inputs) {
  const ir::Leaf& leaf = find_input(given.name, graph);
  if (inputs.given.contains(given.name)) throw UserError(fmt::format("--input gives {} twice", quote(given.name)));
  const ir::TensorType& type = graph.type(leaf.value);
  InputUse& use = inputs.uses[&leaf - graph.inputs.data()];
  use.origin = "files";
  use.files.clear();
  inputs.given[given.name] = array_of(read_files(given, elements_of(given, type), use.files), type);
}

/// Inputs that number the files of one that was given follow it.
void follow_documents(const ir::Graph& graph, RunInputs& inputs) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const ir::Leaf& leaf = graph.inputs[i];
    if (leaf.source.kind != ir::Source::Kind::Documents) continue;
    const std::string &name = graph.values[leaf.value].name, &of = graph.values[leaf.source.integer].name;
    if (inputs.given.contains(name) || !inputs.given.contains(of)) continue;
    const auto use = std::ranges::find(inputs.uses, of, &InputUse::name);
    inputs.given[name] = engine::document_ids(use->files, graph.type(leaf.value));
    inputs.uses[i].origin = fmt::format("numbers of the files of {}", of);
  }
}

}  // namespace

int64_t RunInputs::bytes_read() const {
  int64_t bytes = 0;
  for (const InputUse& use : uses) {
    for (const ir::FileUse& file : use.files) bytes += file.used;
  }
  return bytes;
}

RunInputs read_inputs(const std::vector<std::string>& texts, const ir::Graph& graph) {
  RunInputs inputs;
  for (const ir::Leaf& leaf : graph.inputs) inputs.uses.push_back(use_in_spec(graph, leaf));
  for (const std::string& text : texts) give(parse(text), graph, inputs);
  follow_documents(graph, inputs);
  return inputs;
}

}  // namespace heddle::cli
