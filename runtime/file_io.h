// Whole small files through POSIX calls, with the errors a cache must tell apart; nothing here throws but for lack of memory.
#pragma once
#include <sys/stat.h>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::runtime {

/// An open file descriptor, closed on destruction.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

/// Contents of a regular file that this user owns of at most 1 GiB (symbolic links are not followed) and that has none of
/// the permissions in `refused`; nothing otherwise.
std::optional<std::string> read_own_file(const std::string& path, mode_t refused);

/// Writes and syncs. False on any error, a full disk or a file size limit included (the signal of that limit is not delivered).
bool write_and_sync(int file, std::string_view bytes);

/// Makes `bytes` the contents of dir/name by a private temporary file in `dir`, locked (flock) while this process lives, and an atomic
/// rename. False leaves no trace.
bool replace_file(const std::string& dir, const std::string& name, std::string_view bytes);

/// True when the open file is the one that `path` names now.
bool still_named(int file, const std::string& path);

/// Removes a file that no process holds locked (flock): a lock file or a temporary file of a process that died. False otherwise.
bool remove_unlocked(const std::string& path);

/// What temporary files of replace_file begin with.
inline constexpr std::string_view kTemporaryPrefix = ".new-";

}  // namespace heddle::runtime
