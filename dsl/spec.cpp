#include "dsl/spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/dims.h"
#include "dsl/files.h"
#include "dsl/json_reader.h"
#include "dsl/spec_attributes.h"
#include "dsl/spec_nodes.h"
#include "dsl/spec_sources.h"
#include "src/support/text.h"

namespace heddle::dsl {
namespace {

std::vector<int64_t> read_shape(const JsonView& view, const Dims& dims) {
  std::vector<int64_t> shape;
  for (const JsonView& item : view.elements()) shape.push_back(dims.size(item));
  if (shape.size() > kMaxRank) view.fail(fmt::format("{} dimensions, at most {} are allowed", shape.size(), kMaxRank));
  return shape;
}

ParameterValue read_parameter(const JsonView& view, const Dims& dims) {
  if (view.is_string() || view.is_integer()) return dims.evaluate(view);
  return view.real();
}

NeighbourhoodAxis read_axis(const JsonView& view, const Dims& dims) {
  view.expect_keys({"extent", "window", "dilation"});
  return {dims.size(view.at("extent")), dims.size(view.at("window")), view.has("dilation") ? dims.size(view.at("dilation")) : 1};
}

Mask read_neighbourhood(const JsonView& axes, const Dims& dims) {
  std::vector<NeighbourhoodAxis> read;
  for (const JsonView& axis : axes.elements()) read.push_back(read_axis(axis, dims));
  try {
    return Mask::neighbourhood(read);
  } catch (const UserError& error) {
    axes.fail(error.message(), error.hint());
  }
}

ir::NamedMask read_mask(const std::string& name, const JsonView& view, const Dims& dims, const Parameters& tables) {
  view.expect_keys({"formula", "params", "neighbourhood"});
  if (view.has("neighbourhood")) {
    if (view.has("formula") || view.has("params")) view.fail("expected one of \"formula\" and \"neighbourhood\"");
    return {name, read_neighbourhood(view.at("neighbourhood"), dims).node()};
  }
  Parameters parameters = tables;
  if (view.has("params")) {
    for (const auto& [key, value] : view.at("params").members()) parameters[key] = read_parameter(value, dims);
  }
  const JsonView formula = view.at("formula");
  return {name, Mask::parse(formula.string(), parameters, formula.origin()).node()};
}

class SpecReader {
 public:
  SpecReader(const JsonView& spec, const FileAccess& access, const SpecOptions& options)
      : spec_(spec), access_(access), options_(options) {}

  ir::Graph run() {
    check_header();
    dims_ = read_dims(spec_, options_.dims);
    graph_.dims = dims_.values();
    if (spec_.has("inputs")) read_inputs(spec_.at("inputs"));
    if (spec_.has("weights")) read_weights(spec_.at("weights"));
    if (spec_.has("masks")) read_masks(spec_.at("masks"));
    read_nodes(spec_.at("nodes"), dims_, options_.max_tensor_bytes, graph_);
    read_outputs(spec_.at("outputs"));
    ir::verify(graph_);
    return std::move(graph_);
  }

 private:
  void check_header() {
    spec_.expect_keys({"heddle", "name", "dims", "masks", "inputs", "weights", "nodes", "outputs"});
    if (spec_.has("heddle") && spec_.at("heddle").integer() != 1) {
      spec_.at("heddle").fail(fmt::format("spec version {}, this program reads version 1", spec_.at("heddle").integer()),
                              "use a newer heddle, or write \"heddle\": 1");
    }
    graph_.name = spec_.has("name") ? spec_.at("name").string() : "model";
  }

  void read_masks(const JsonView& masks) {
    const Parameters tables = tables_of(graph_);
    for (const auto& [name, view] : masks.members()) graph_.masks.push_back(read_mask(name, view, dims_, tables));
  }

  /// Name, dtype and shape of an input or weight become a new value.
  int add_value(const JsonView& view) {
    const std::string name = view.at("name").string();
    if (name.empty()) view.at("name").fail("expected a name, found an empty string");
    if (find_value(graph_, name) >= 0)
      view.at("name").fail(fmt::format("the name {} is taken already", support::quote(name)), "rename one of them");
    const DType dtype = view.has("dtype") ? read_dtype(view.at("dtype")) : DType::Float32;
    const ir::TensorType type{dtype, read_shape(view.at("shape"), dims_)};
    check_size(view.at("shape"), name, type, options_.max_tensor_bytes);
    graph_.values.push_back({name, type});
    return graph_.values.size() - 1;
  }

  void read_inputs(const JsonView& inputs) {
    for (const JsonView& view : inputs.elements()) {
      view.expect_keys({"name", "shape", "dtype", "role", "fill", "values", "text", "documents"});
      if (view.has("role")) check_role(view.at("role"));
      const int value = add_value(view), position = static_cast<int>(graph_.inputs.size());
      ir::Source source = view.has("documents") ? read_documents(view, value) : read_input_source(view, graph_.type(value), position, access_);
      graph_.inputs.push_back({value, std::move(source)});
    }
  }

  /// The ids of the files that an earlier input's bytes come from.
  ir::Source read_documents(const JsonView& view, int value) const {
    const JsonView of = view.at("documents");
    for (const char* other : {"fill", "values", "text"}) {
      if (view.has(other)) view.fail(fmt::format("expected one of \"documents\" and \"{}\"", other));
    }
    std::vector<std::string> names;
    for (const ir::Leaf& leaf : graph_.inputs) {
      names.push_back(graph_.values[leaf.value].name);
      if (names.back() != of.string()) continue;
      const ir::TensorType &bytes = graph_.type(leaf.value), &ids = graph_.type(value);
      const bool integers = bytes.dtype != DType::Float32 && ids.dtype != DType::Float32;
      const auto elements = [](const ir::TensorType& type) { return Tensor::dense(nullptr, type.shape, type.dtype).elements(); };
      if (!integers || elements(bytes) != elements(ids)) {
        of.fail(fmt::format("{} cannot number the files of {}", to_string(ids), to_string(bytes)), "both hold integers, as many of each");
      }
      return {.kind = ir::Source::Kind::Documents, .integer = leaf.value, .files = leaf.source.files};
    }
    of.fail(fmt::format("no earlier input is named {}", support::quote(of.string())), suggestion(of.string(), names));
  }

  static void check_role(const JsonView& role) {
    const std::vector<std::string> known = {"activation", "cache", "index", "weight", "constant"};
    const std::string name = role.string();
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    role.fail(fmt::format("unknown role {}", support::quote(name)), suggestion(name, known));
  }

  void read_weights(const JsonView& weights) {
    for (const JsonView& view : weights.elements()) {
      view.expect_keys({"name", "shape", "dtype", "init", "seed"});
      const int value = add_value(view);
      graph_.weights.push_back({value, read_weight_source(view, graph_.type(value))});
    }
  }

  void read_outputs(const JsonView& outputs) {
    for (const JsonView& view : outputs.elements()) {
      const int value = find_value(graph_, view.string());
      if (value < 0)
        view.fail(fmt::format("nothing is named {}", support::quote(view.string())),
                  suggestion(view.string(), value_names(graph_)));
      if (std::find(graph_.outputs.begin(), graph_.outputs.end(), value) != graph_.outputs.end()) view.fail("is listed twice");
      graph_.outputs.push_back(value);
    }
    if (graph_.outputs.empty()) outputs.fail("expected at least one name");
  }

  const JsonView& spec_;
  const FileAccess& access_;
  const SpecOptions& options_;
  Dims dims_;
  ir::Graph graph_;
};

}  // namespace

ir::Graph read_spec(const std::string& json, const std::string& origin, const std::filesystem::path& folder,
                    const SpecOptions& options) {
  const JsonView spec(JsonDocument::parse(json, origin));
  const FileAccess access(folder, options.allow_paths);
  return SpecReader(spec, access, options).run();
}

}  // namespace heddle::dsl

namespace heddle {

Spec Spec::load(const std::string& path, const SpecOptions& options) {
  const std::filesystem::path file(path);
  const std::string json = dsl::read_file(file, static_cast<int64_t>(dsl::JsonLimits().bytes));
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  Spec spec;
  spec.graph_ = std::make_shared<const ir::Graph>(dsl::read_spec(json, path, folder, options));
  return spec;
}

Spec Spec::parse(const std::string& json, const SpecOptions& options, const std::string& origin) {
  Spec spec;
  spec.graph_ = std::make_shared<const ir::Graph>(dsl::read_spec(json, origin, {}, options));
  return spec;
}

}  // namespace heddle
