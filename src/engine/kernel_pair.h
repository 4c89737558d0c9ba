// The two kernels of one attention, for any number of queries and for few: one is found with the Attention, the other at first need.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include "src/engine/attention.h"
#include "src/engine/problem.h"
#include "src/ir/attention_problem.h"

namespace heddle::engine {

/// Keys from which launches of few queries leave the kernel that was asked for: a second kernel is not worth its compilation for less.
inline constexpr int64_t kManyKeys = 512;

/// Whether a launch takes the kernel for few queries. Follows the spec and the shape alone, so results do too.
bool takes_few_queries(const AttentionSpec& spec, int64_t sq, int64_t sk);

/// Thread safe; threads that need a kernel at the same time make it once.
class KernelPair {
 public:
  using Find = std::function<std::shared_ptr<const Kernel>(const ir::AttentionProblem& problem)>;

  /// `first`: the kernel of `problem`. `find` gives the other one; null: there is no other.
  KernelPair(ir::AttentionProblem problem, std::shared_ptr<const Kernel> first, Find find);

  /// Throws what `find` throws. Allocates nothing once that kernel is there.
  const std::shared_ptr<const Kernel>& kernel(bool few_queries) const;

 private:
  ir::AttentionProblem problem_;
  Find find_;
  mutable std::mutex finding_;
  mutable std::array<std::shared_ptr<const Kernel>, 2> kernels_;  ///< By few_queries; written once, before `ready_`.
  mutable std::array<std::atomic<bool>, 2> ready_;
};

}  // namespace heddle::engine
