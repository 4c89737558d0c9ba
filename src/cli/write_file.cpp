#include "src/cli/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "heddle/error.h"
#include "runtime/file_io.h"
#include "src/support/text.h"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& reason, const char* hint) {
  throw UserError(fmt::format("cannot write {}: {}", support::quote(path), reason), hint);
}

/// The file that is meant, links followed.
fs::path target_of(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    refuse(path, fs::is_directory(path, error) ? "it is a folder" : "it is no regular file", "give the name of a file");
  }
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : target;
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  const fs::path target = target_of(path);
  const std::string temporary = fmt::format("{}.new-{}", target.string(), getpid());
  const auto failed = [&] { refuse(path, std::strerror(errno), "the file is unchanged; give a name in a folder that can be written"); };
  const runtime::File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) failed();
  if (runtime::write_and_sync(file.get(), bytes) && std::rename(temporary.c_str(), target.c_str()) == 0) return;
  const int reason = errno;
  unlink(temporary.c_str());
  errno = reason;
  failed();
}

}  // namespace heddle::cli
