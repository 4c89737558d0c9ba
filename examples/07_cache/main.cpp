// Lesson 7: the cache.
//
// Compiling takes tens of milliseconds, so every kernel is kept: in the engine's memory, and in a folder on disk for the next
// process. Steps:
//   (1) compile a formula with an empty cache,
//   (2) ask the same engine again: the kernel is in memory,
//   (3) ask a new engine, as the next process would: the kernel is on disk, and no compiler is loaded to use it,
//   (4) see what names a kernel: the formula as canonical text, its constants, the dims, the target and the compiler itself;
//   not
//       the way it is written, not lengths, heads, strides, paths or launches.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "heddle/engine.h"

namespace {

/// A folder that goes with the program.
struct Folder {
  Folder() : path((std::filesystem::temp_directory_path() / "heddle-lesson-XXXXXX").string()) {
    if (!mkdtemp(path.data())) std::exit(1);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

const char* text(heddle::KernelReport::Origin origin) {
  switch (origin) {
    case heddle::KernelReport::Origin::Compiled:
      return "compiled";
    case heddle::KernelReport::Origin::Disk:
      return "on disk";
    case heddle::KernelReport::Origin::Memory:
      return "in memory";
  }
  return "";
}

heddle::KernelReport ask(const char* what, heddle::Engine& engine, const heddle::Mask& mask, int64_t head_dim = 64) {
  const heddle::KernelReport report = engine.attention({.mask = mask, .head_dim = head_dim}).report();
  std::printf("%-30s %-9s %7.3f ms  key %.12s\n", what, text(report.origin), report.milliseconds, report.key.c_str());
  return report;
}

}  // namespace

int main() {
  using Origin = heddle::KernelReport::Origin;
  const Folder folder;
  const heddle::EngineOptions options{.cache_dir = folder.path};
  const heddle::Mask window = heddle::Mask::parse("k <= q && q - k < w", {{"w", int64_t{256}}});

  // (1) and (2)
  heddle::Engine engine(options);
  const heddle::KernelReport first = ask("first", engine, window), second = ask("again", engine, window);

  // (3) A new engine has no memory of the first. The file can be copied to another machine: its content is checked.
  heddle::Engine next(options);
  const heddle::KernelReport third = ask("another engine", next, window);
  std::printf("file: %lld bytes\n", static_cast<long long>(std::filesystem::file_size(third.path)));

  // (4) Another spelling of the same formula is the same kernel; another constant or head dim is not.
  const heddle::Mask spelt = heddle::mask([](heddle::Index q, heddle::Index k) { return k <= q && q - k < 256; });
  const heddle::KernelReport same = ask("the same in C++ operators", next, spelt);
  const heddle::KernelReport wider = ask("w = 512", next, heddle::Mask::parse("k <= q && q - k < 512"));
  const heddle::KernelReport narrow = ask("head dim 32", next, window, 32);

  const bool origins = first.origin == Origin::Compiled && second.origin == Origin::Memory && third.origin == Origin::Disk &&
                       same.origin == Origin::Memory && wider.origin == Origin::Compiled && narrow.origin == Origin::Compiled;
  const bool keys = first.key == third.key && same.key == first.key && wider.key != first.key && narrow.key != wider.key;
  return origins && keys && engine.compilations() == 1 && next.compilations() == 2 ? 0 : 1;
}
