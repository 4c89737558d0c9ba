#include "runtime/file_io.h"
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace heddle::runtime {

namespace {

constexpr off_t kMaxBytes = off_t{1} << 30;

/// Holds back SIGXFSZ, which would end the process, in this thread; a write over the limit then just fails with EFBIG.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~NoSizeSignal() {
    const timespec now{0, 0};
    if (!sigismember(&before_, SIGXFSZ)) sigtimedwait(&signal_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signal_, before_;
};

bool read_all(int file, std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = read(file, bytes.data() + done, bytes.size() - done);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got > 0) done += static_cast<size_t>(got);
  }
  return true;
}

/// Makes a private temporary file and locks it, so that others can tell it from one whose writer died. -1 on an error.
int locked_temporary(const std::string& dir, std::string& path) {
  constexpr int kAttempts = 8;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    path = dir + "/" + std::string(kTemporaryPrefix) + "XXXXXX";
    const int file = mkostemp(path.data(), O_CLOEXEC);
    if (file < 0) return file;
    flock(file, LOCK_EX);
    struct stat status;
    if (fstat(file, &status) == 0 && status.st_nlink > 0) return file;
    close(file);  // Swept up before it was locked.
  }
  return -1;
}

}  // namespace

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<std::string> read_own_file(const std::string& path, mode_t refused) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0) return std::nullopt;
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_size > kMaxBytes) return std::nullopt;
  if (status.st_mode & refused) return std::nullopt;
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  if (!read_all(file.get(), bytes)) return std::nullopt;
  return bytes;
}

bool write_and_sync(int file, std::string_view bytes) {
  const NoSizeSignal quiet;
  while (!bytes.empty()) {
    const ssize_t put = write(file, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) bytes.remove_prefix(static_cast<size_t>(put));
  }
  return fsync(file) == 0;
}

bool replace_file(const std::string& dir, const std::string& name, std::string_view bytes) {
  std::string temporary;
  const File file(locked_temporary(dir, temporary));
  if (!file) return false;
  if (!write_and_sync(file.get(), bytes) || rename(temporary.c_str(), (dir + "/" + name).c_str()) != 0) {
    unlink(temporary.c_str());
    return false;
  }
  const File folder(open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) fsync(folder.get());
  return true;
}

bool still_named(int file, const std::string& path) {
  struct stat mine, named;
  return fstat(file, &mine) == 0 && lstat(path.c_str(), &named) == 0 && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
}

bool remove_unlocked(const std::string& path) {
  const File file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
  return still_named(file.get(), path) && unlink(path.c_str()) == 0;
}

}  // namespace heddle::runtime
