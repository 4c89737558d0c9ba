// What an Attention is made of: a callable kernel, its record, and the pool it is launched on.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include "heddle/engine.h"
#include "heddle/kernel_abi.h"
#include "runtime/thread_pool.h"

namespace heddle::engine {

/// A kernel in memory, shared by every Attention of one key; the code goes with the last of them.
struct Kernel {
  LaunchRecord record;
  AttentionKernel entry = nullptr;      ///< Null when this machine cannot run the kernel.
  std::shared_ptr<const void> code;     ///< Keeps the pages behind `entry`.
  std::string key, path;                ///< As in KernelReport.
  std::string refusal;                  ///< Why run() must refuse; empty when it need not.
  std::vector<std::pair<std::string, double>> passes;
};

/// How this Attention came by its kernel.
KernelReport report_of(const Kernel& kernel, KernelReport::Origin origin, double milliseconds);

}  // namespace heddle::engine

namespace heddle {

struct Attention::State {
  AttentionSpec spec;
  KernelReport report;
  std::shared_ptr<const engine::Kernel> kernel;
  std::shared_ptr<runtime::ThreadPool> pool;
};

}  // namespace heddle
