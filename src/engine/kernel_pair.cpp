#include "src/engine/kernel_pair.h"

#include <utility>

namespace heddle::engine {

bool takes_few_queries(const AttentionSpec& spec, int64_t sq, int64_t sk) {
  if (spec.probabilities || sq > kFewQueries) return false;
  return few_queries_first(spec) || (sk >= kManyKeys && !spec.tile_rows);
}

KernelPair::KernelPair(ir::AttentionProblem problem, std::shared_ptr<const Kernel> first, Find find)
    : problem_(std::move(problem)), find_(std::move(find)) {
  kernels_[problem_.few_queries] = std::move(first);
  ready_[problem_.few_queries] = true;
}

const std::shared_ptr<const Kernel>& KernelPair::kernel(bool few_queries) const {
  if (!find_) few_queries = problem_.few_queries;
  if (ready_[few_queries]) return kernels_[few_queries];
  std::lock_guard lock(finding_);
  if (!ready_[few_queries]) {
    ir::AttentionProblem problem = problem_;
    problem.few_queries = few_queries;
    kernels_[few_queries] = find_(problem);
    ready_[few_queries] = true;
  }
  return kernels_[few_queries];
}

}  // namespace heddle::engine
