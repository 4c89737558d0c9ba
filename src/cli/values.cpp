#include "src/cli/values.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

using support::quote;

constexpr size_t kMaxText = size_t{1} << 26;

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::pair<std::string, std::string> split(const std::string& option, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw UserError(fmt::format("{} {}: expected name=value", option, quote(text)));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

ParameterValue parse_value(const std::string& name, const std::string& text) {
  if (text == "dynamic") return Dynamic{.real = false};
  if (text == "dynamic-real") return Dynamic{.real = true};
  if (const auto integer = parse_number<int64_t>(text)) return *integer;
  const auto real = parse_number<double>(text);
  if (real && std::isfinite(*real) && text.find_first_of(".eE") != std::string::npos) return *real;
  throw UserError(
      fmt::format("--param {}: {} is no value", name, quote(text)),
      "expected a 64-bit integer, a finite real (1.5, 1e-3), `dynamic` (an integer given at launch) or `dynamic-real`");
}

template <typename Map>
void insert(const std::string& option, Map& map, const std::string& name, typename Map::mapped_type value) {
  if (!map.emplace(name, std::move(value)).second) throw UserError(fmt::format("{} gives {} twice", option, quote(name)));
}

}  // namespace

Parameters parse_parameters(const std::vector<std::string>& texts) {
  Parameters parameters;
  for (const std::string& text : texts) {
    const auto [name, value] = split("--param", text);
    insert("--param", parameters, name, parse_value(name, value));
  }
  return parameters;
}

std::map<std::string, int64_t> parse_integers(const std::string& option, const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> integers;
  for (const std::string& text : texts) {
    const auto [name, value] = split(option, text);
    const auto integer = parse_number<int64_t>(value);
    if (!integer) throw UserError(fmt::format("{} {}: {} is no 64-bit integer", option, name, quote(value)));
    insert(option, integers, name, *integer);
  }
  return integers;
}

std::pair<int64_t, int64_t> parse_tile(const std::string& text) {
  const auto good = [](const std::optional<int64_t>& size) { return size && *size >= 1 && *size <= int64_t{1} << 20; };
  const size_t cross = text.find('x');
  if (cross != std::string::npos) {
    const auto rows = parse_number<int64_t>(std::string_view(text).substr(0, cross));
    const auto keys = parse_number<int64_t>(std::string_view(text).substr(cross + 1));
    if (good(rows) && good(keys)) return {*rows, *keys};
  }
  throw UserError(fmt::format("--tile {}: expected ROWSxKEYS, each 1 to 1048576, for example 64x64", quote(text)));
}

std::string read_text(const std::string& path) {
  const auto close = [](FILE* file) {
    if (file != stdin) std::fclose(file);
  };
  const std::unique_ptr<FILE, decltype(close)> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"), close);
  if (!file) throw UserError(fmt::format("cannot read {}: {}", quote(path), std::strerror(errno)));
  std::string text;
  std::array<char, 1 << 16> block;
  while (const size_t got = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), got);
    if (text.size() > kMaxText) throw UserError(fmt::format("{} has more than {} bytes", quote(path), kMaxText));
  }
  if (std::ferror(file.get())) throw UserError(fmt::format("cannot read {}: {}", quote(path), std::strerror(errno)));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Mask parse_mask(const std::string& mask, const std::string& mask_file, const Parameters& params) {
  if (mask.empty() == mask_file.empty()) {
    throw UserError(mask.empty() ? "no mask is given" : "--mask and --mask-file are both given",
                    "give one formula, for example --mask 'k <= q && q - k < 256'");
  }
  return Mask::parse(mask.empty() ? read_text(mask_file) : mask, params);
}

}  // namespace heddle::cli
