// Files that a spec may read: bounded, regular, and inside the folders that the user allowed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dsl/json_reader.h"

namespace heddle::dsl {

/// The whole file. Throws UserError when it is missing, no regular file, unreadable or larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, int64_t limit);

/// Folders below which files may be read, symbolic links resolved.
class FileAccess {
 public:
  /// `folder` is where relative paths start, and itself allowed; empty when the spec does not come from a file.
  FileAccess(std::filesystem::path folder, const std::vector<std::string>& allowed);
  /// The real path of the file that `view` names. Fails when it leaves the allowed folders or does not exist.
  std::filesystem::path resolve(const JsonView& view) const;

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> allowed_;
};

}  // namespace heddle::dsl
