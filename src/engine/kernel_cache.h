// Finds the kernel of a problem: in memory, then on disk, then by compiling it; each key is compiled once, whoever asks.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include "runtime/disk_cache.h"
#include "src/engine/attention.h"
#include "src/engine/compiler.h"
#include "src/ir/attention_problem.h"

namespace heddle::engine {

/// The whole text that names a kernel: the problem and everything that generated it. No path, no address.
std::string key_text(const ir::AttentionProblem& problem);

/// Thread safe. Keeps the kMemoryKernels most recently used kernels; older ones go with the last Attention that uses them.
class KernelCache {
 public:
  static constexpr size_t kMemoryKernels = 256;
  using Origin = KernelReport::Origin;
  struct Found {
    std::shared_ptr<const Kernel> kernel;
    Origin origin = Origin::Memory;
  };

  /// `compiler` is called at a miss only.
  explicit KernelCache(std::optional<runtime::DiskCache> disk, std::function<Compiler&()> compiler = engine::compiler)
      : disk_(std::move(disk)), compiler_(std::move(compiler)) {}
  /// Threads that ask for one key wait for the first of them; when that one fails, the next tries itself.
  Found find(const ir::AttentionProblem& problem);
  int64_t compilations() const { return compilations_; }
  std::string dir() const { return usable() ? disk_->dir() : std::string(); }

 private:
  struct Slot {
    std::mutex filling;
    std::weak_ptr<const Kernel> kernel;
  };
  bool usable() const { return disk_ && disk_->usable(); }
  std::shared_ptr<Slot> slot_of(const std::string& key_text);
  void keep(std::shared_ptr<const Kernel> kernel);
  Found fill(const ir::AttentionProblem& problem, const std::string& key_text);
  std::shared_ptr<const Kernel> from_disk(const Target& target, const std::string& key, const std::string& key_text);
  std::shared_ptr<const Kernel> compile(const ir::AttentionProblem& problem, const std::string& key, const std::string& key_text);

  std::optional<runtime::DiskCache> disk_;
  std::function<Compiler&()> compiler_;
  std::atomic<int64_t> compilations_ = 0;
  std::mutex mutex_;                                      ///< Of slots_ and recent_; never held while filling.
  std::map<std::string, std::shared_ptr<Slot>> slots_;    ///< By key text.
  std::list<std::shared_ptr<const Kernel>> recent_;       ///< Most recently used first.
};

}  // namespace heddle::engine
