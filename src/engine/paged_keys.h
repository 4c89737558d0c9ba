// Checks the page table of a launch and hands it to the kernel for few queries.
#pragma once
#include <vector>
#include "heddle/engine.h"
#include "heddle/kernel_abi.h"

namespace heddle::engine {

/// Lengths and pages of one launch; reused from launch to launch.
struct PagedLaunch {
  SplitArgs split;
  std::vector<int64_t> lengths;
  int64_t longest = 0;  ///< Sk of the launch.
};

/// Before: k is a checked tensor of pages. Throws UserError that names the entry, its value and the limit unless every length fits the
/// table's row and every page in use is one of k. Allocates nothing once a launch had as many batches before.
void check_pages(const PagedKeys& paged, const Tensor& q, const Tensor& k, const LaunchRecord& record, PagedLaunch& launch);

}  // namespace heddle::engine
