#include "dsl/spec_sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "heddle/error.h"
#include "src/support/half.h"
#include "src/support/text.h"

namespace heddle::dsl {
namespace {

using ir::Source;
using ir::TensorType;

constexpr int64_t kMaxTextFile = int64_t{1} << 28;

bool is_real(const TensorType& type) { return support::is_operand_type(type.dtype); }

int64_t elements(const TensorType& type) {
  int64_t product = 1;
  for (int64_t size : type.shape) product *= size;
  return product;
}

void require_kind(const JsonView& view, const TensorType& type, bool real) {
  if (is_real(type) == real) return;
  view.fail(fmt::format("fits {} only, and the dtype is {}", real ? "float32, bfloat16 and float16" : "int32 and int64", to_string(type.dtype)));
}

/// Fails when an integer that the element is to hold does not fit the dtype.
int64_t fitting(const JsonView& view, const TensorType& type, int64_t value) {
  if (type.dtype == DType::Int32 && value != static_cast<int32_t>(value)) {
    view.fail(fmt::format("{} does not fit int32", value), "use int64");
  }
  return value;
}

int64_t last_of_iota(const JsonView& view, int64_t first, int64_t count) {
  int64_t end = 0;
  if (__builtin_add_overflow(first, count, &end)) view.fail("counts past 2^63 - 1");
  return count == 0 ? first : end - 1;
}

Source read_fill(const JsonView& fill, const TensorType& type, int position) {
  fill.expect_keys({"scale", "offset", "mod", "iota"});
  Source source;
  source.seed = position;
  const bool integers = fill.has("mod") || fill.has("iota");
  require_kind(fill, type, !integers);
  if (integers && fill.members().size() != 1) fill.fail("expected one of \"mod\" and \"iota\" alone");
  if (fill.has("mod")) {
    source.kind = Source::Kind::Modulo;
    source.integer = fill.at("mod").integer();
    if (source.integer < 1 || source.integer > int64_t{1} << 32) fill.at("mod").fail("expected 1 to 2^32");
    fitting(fill.at("mod"), type, source.integer - 1);
  } else if (fill.has("iota")) {
    source.kind = Source::Kind::Iota;
    source.integer = fitting(fill.at("iota"), type, fill.at("iota").integer());
    fitting(fill.at("iota"), type, last_of_iota(fill.at("iota"), source.integer, elements(type)));
  } else {
    source.kind = Source::Kind::Stream;
    if (fill.has("scale")) source.scale = fill.at("scale").real();
    if (fill.has("offset")) source.offset = fill.at("offset").real();
  }
  return source;
}

Source read_values(const JsonView& values, const TensorType& type) {
  Source source{.kind = Source::Kind::Values};
  const std::vector<JsonView> items = values.elements();
  if (static_cast<int64_t>(items.size()) != elements(type)) {
    values.fail(fmt::format("{} values for the {} elements of {}", items.size(), elements(type), ir::shape_text(type.shape)));
  }
  for (const JsonView& item : items) {
    if (is_real(type)) {
      source.reals.push_back(item.real());
    } else {
      source.integers.push_back(fitting(item, type, item.integer()));
    }
  }
  return source;
}

std::vector<JsonView> paths_of(const JsonView& text) {
  if (text.is_string()) return {text};
  const std::vector<JsonView> paths = text.elements();
  if (paths.empty()) text.fail("expected at least one path");
  return paths;
}

/// Appends as much of the file as is still needed.
void append_file(const JsonView& view, const FileAccess& access, int64_t needed, Source& source) {
  const std::filesystem::path path = access.resolve(view);
  const std::string bytes = read_file(path, kMaxTextFile);
  const int64_t size = bytes.size(), used = std::min<int64_t>(size, needed - static_cast<int64_t>(source.bytes.size()));
  source.bytes.append(bytes, 0, used);
  source.files.push_back({path.string(), size, used});
}

Source read_text(const JsonView& text, const TensorType& type, const FileAccess& access) {
  require_kind(text, type, false);
  Source source{.kind = Source::Kind::Bytes};
  for (const JsonView& path : paths_of(text)) append_file(path, access, elements(type), source);
  const int64_t found = source.bytes.size();
  if (found < elements(type)) {
    text.fail(fmt::format("the files hold {} bytes, {} needs {}", found, ir::shape_text(type.shape), elements(type)),
              "name more files, or make the input smaller");
  }
  return source;
}

/// FNV-1a: weights of different names get different streams.
uint64_t name_hash(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

Source constant(double value) { return {.kind = Source::Kind::Constant, .scale = value, .integer = static_cast<int64_t>(value)}; }

Source constant(const JsonView& value, const TensorType& type) {
  return {.kind = Source::Kind::Constant, .integer = fitting(value, type, value.integer())};
}

Source read_init(const JsonView& init, const TensorType& type) {
  if (init.is_string()) {
    if (init.string() == "zeros") return constant(0);
    if (init.string() == "ones") return constant(1);
    init.fail(fmt::format("unknown init {}", support::quote(init.string())),
              "use \"zeros\", \"ones\", {\"normal\": sigma}, {\"uniform\": a} or {\"constant\": c}");
  }
  init.expect_keys({"normal", "uniform", "constant"});
  const auto members = init.members();
  if (members.size() != 1) init.fail("expected exactly one of \"normal\", \"uniform\" and \"constant\"");
  const auto& [key, value] = members[0];
  if (key == "constant") return is_real(type) ? constant(value.real()) : constant(value, type);
  require_kind(init, type, true);
  if (value.real() < 0) value.fail("expected a width of 0 or more");
  return {.kind = key == "normal" ? Source::Kind::Normal : Source::Kind::Uniform, .scale = value.real()};
}

}  // namespace

Source read_input_source(const JsonView& input, const TensorType& type, int position, const FileAccess& access) {
  if (input.has("fill") + input.has("values") + input.has("text") > 1) {
    input.fail("expected at most one of \"fill\", \"values\" and \"text\"");
  }
  if (input.has("fill")) return read_fill(input.at("fill"), type, position);
  if (input.has("values")) return read_values(input.at("values"), type);
  if (input.has("text")) return read_text(input.at("text"), type, access);
  if (!is_real(type)) return {};
  return {.kind = Source::Kind::Stream, .seed = static_cast<uint64_t>(position)};
}

Source read_weight_source(const JsonView& weight, const TensorType& type) {
  Source source = read_init(weight.at("init"), type);
  source.seed = weight.has("seed") ? static_cast<uint64_t>(weight.at("seed").integer()) : name_hash(weight.at("name").string());
  return source;
}

}  // namespace heddle::dsl
