// Runs a kernel that was compiled before, from its file, in programs that link only heddle::runtime: no compiler, no formulas.
//
//   const heddle::KernelFile kernel = heddle::KernelFile::open("window.kernel");   // copied from KernelReport::path
//   heddle::AttentionArgs args;                                                    // pointers, sizes and strides
//   kernel.launch(args);
#pragma once
#include <memory>
#include <string>

#include "heddle/kernel_abi.h"

namespace heddle {

/// A kernel in memory and the threads it runs on. Cheap to copy, thread safe.
class KernelFile {
 public:
  /// Reads a file of the disk cache. `threads` 0: one a core. Throws UserError when the file cannot be read, is damaged or of
  /// another version, is for another machine, or when the kernel reads tables (those are bound by an Engine); RuntimeError when
  /// its code cannot be loaded.
  static KernelFile open(const std::string& path, int threads = 0);

  const LaunchRecord& record() const;
  /// Runs the whole grid and returns when it is done. Checks sizes against the record and that every pointer is there that will
  /// be used (UserError); that memory is as long as sizes and strides say is the caller's part. AttentionArgs::scale has no
  /// default here: 1 / sqrt(head_dim) is usual. Rows without an allowed key give O = 0 and LSE = -inf.
  void launch(const AttentionArgs& args) const;

 private:
  struct State;
  explicit KernelFile(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace heddle
