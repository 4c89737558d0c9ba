// What an Attention is made of: a callable kernel, its record, and the pool it is launched on.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>
#include "heddle/engine.h"
#include "heddle/kernel_abi.h"
#include "runtime/bind.h"
#include "runtime/thread_pool.h"
#include "src/ir/expr.h"

namespace heddle::engine {

struct LaunchTensors;

/// A kernel in memory, shared by every Attention of one key; the code goes with the last of them.
struct Kernel {
  LaunchRecord record;
  AttentionKernel entry = nullptr;      ///< Null when this machine cannot run the kernel.
  std::shared_ptr<const void> code;     ///< Keeps the pages behind `entry`.
  std::string key, path;                ///< As in KernelReport.
  std::string refusal;                  ///< Why run() must refuse; empty when it need not.
  std::vector<std::pair<std::string, double>> passes;
};

/// The width of compressed rows at the sizes of the last launch.
class AcsrWidths {
 public:
  /// Computes it anew when sizes or parameters are other ones.
  int64_t of(const LaunchRecord& record, const AttentionArgs& args);

 private:
  std::mutex mutex_;
  std::vector<int64_t> key_;
  int64_t width_ = 0;
};

class KernelPair;

/// The binding of a matrix that is a table, made at the first launch and kept for the next ones of equal sizes.
class MatrixBinding {
 public:
  /// Thread safe.
  std::shared_ptr<const Binding> of(const Attention& attention, const LaunchTensors& tensors, const LaunchOptions& options);

 private:
  std::mutex mutex_;
  std::shared_ptr<const Binding> last_;
  std::map<std::string, int64_t> ints_;  ///< Of the last one.
};

/// How this Attention came by its kernel.
KernelReport report_of(const Kernel& kernel, KernelReport::Origin origin, double milliseconds);

}  // namespace heddle::engine

namespace heddle {

struct Attention::State {
  AttentionSpec spec;
  ir::Expr mask;  ///< As the kernel has it: divisors guarded.
  KernelReport report;
  std::shared_ptr<const engine::Kernel> kernel;             ///< The one found with the Attention.
  std::shared_ptr<runtime::ThreadPool> pool;
  std::shared_ptr<engine::AcsrWidths> acsr_widths = std::make_shared<engine::AcsrWidths>();
  std::shared_ptr<engine::MatrixBinding> matrix_binding{};  ///< Null: no table, or the caller binds those of the score with it.
  std::shared_ptr<const engine::KernelPair> kernels{};      ///< Null: `kernel` serves every launch.

  /// The kernel of a launch; may compile it.
  const std::shared_ptr<const engine::Kernel>& kernel_for(bool few_queries) const;
  const std::shared_ptr<const engine::Kernel>& kernel_for(int64_t sq, int64_t sk) const;
};

struct Binding::State {
  std::shared_ptr<const engine::Kernel> kernel;
  std::vector<TableArg> tables;        ///< In the order of the record.
  runtime::TileLists lists;
  std::vector<int64_t> ints;           ///< Of the dynamic parameters, in the order of the record.
  int64_t batch = 1, heads = 1, kv_heads = 1, sq = 0, sk = 0;
  double milliseconds = 0;
};

}  // namespace heddle
