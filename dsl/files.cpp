#include "dsl/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::dsl {
namespace {

namespace fs = std::filesystem;

fs::path real_path(const fs::path& path) {
  std::error_code ignored;
  const fs::path found = fs::weakly_canonical(path, ignored);
  return ignored ? path.lexically_normal() : found;
}

bool inside(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() || (std::next(end) == folder.end() && end->empty());
}

}  // namespace

std::string read_file(const fs::path& path, int64_t limit) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw UserError(fmt::format("{}: no such file", path.string()), "check the path");
  if (!fs::is_regular_file(status)) throw UserError(fmt::format("{}: not a regular file", path.string()), "name a file");
  const uintmax_t size = fs::file_size(path, error);
  if (error || size > static_cast<uintmax_t>(limit)) {
    throw UserError(fmt::format("{}: {} bytes, at most {} are read", path.string(), size, limit), "use a smaller file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    throw UserError(fmt::format("{}: cannot be read", path.string()), "check its permissions");
  }
  return bytes;
}

FileAccess::FileAccess(fs::path folder, const std::vector<std::string>& allowed) : folder_(std::move(folder)) {
  if (!folder_.empty()) allowed_.push_back(real_path(folder_));
  for (const std::string& path : allowed) allowed_.push_back(real_path(path));
}

fs::path FileAccess::resolve(const JsonView& view) const {
  const std::string name = view.string();
  if (name.find('\0') != std::string::npos) view.fail("the path holds a zero byte");
  const fs::path path = real_path(folder_ / name);
  const bool allowed = std::any_of(allowed_.begin(), allowed_.end(), [&](const fs::path& at) { return inside(path, at); });
  if (!allowed) {
    view.fail(fmt::format("{} is outside the spec's folder", support::quote(name)),
              fmt::format("move the file there, or allow its folder: --allow-path {}", path.parent_path().string()));
  }
  std::error_code error;
  if (!fs::is_regular_file(path, error)) view.fail(fmt::format("no such file: {}", path.string()));
  return path;
}

}  // namespace heddle::dsl
