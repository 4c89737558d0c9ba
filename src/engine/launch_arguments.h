// Checks what a caller hands to Attention::run and makes the kernel's argument block of it. Allocates only to report an error.
#pragma once
#include <cstdint>
#include <vector>
#include "heddle/engine.h"
#include "heddle/kernel_abi.h"
#include "src/engine/paged_keys.h"

namespace heddle::engine {

struct LaunchTensors {
  const Tensor &q, &k, &v, &o;
  const Tensor* lse;
  const Tensor* probabilities = nullptr;
  PagedLaunch* paged = nullptr;  ///< Not null: k and v are pages, and this says which ones the launch reads.

  int64_t sk() const { return paged ? paged->longest : k.shape[2]; }
};

/// Values of the dynamic parameters in kernel order; reused from launch to launch.
struct ParameterValues {
  std::vector<int64_t> ints;
  std::vector<double> reals;
};

/// Throws UserError, naming the tensor, what was found and what is expected, unless a launch of the kernel touches the elements of
/// the views and nothing else, and writes each of its results once.
void check_tensors(const LaunchTensors& tensors, const LaunchRecord& record);

/// Throws UserError, naming the size, unless launches of the kernel may have these sizes. Parameters are not looked at.
void check_sizes(const AcsrSizes& sizes, const LaunchRecord& record);

/// Throws UserError unless `given` are exactly the kernel's integer parameters, within ir::kMaxParameter. `field` is where the caller gave
/// them, as messages name it: "LaunchOptions::ints".
void bind_ints(const std::map<std::string, int64_t>& given, const char* field, const LaunchRecord& record, std::vector<int64_t>& values);

/// The same of all parameters, each of its kind, and a finite scale. With a binding, integers may be left out, and given ones must be
/// those that were bound.
void bind_parameters(const LaunchOptions& options, const LaunchRecord& record, const Binding* binding, ParameterValues& values);

/// The argument block of a checked launch. It points into `values`.
AttentionArgs arguments(const LaunchTensors& tensors, const LaunchRecord& record, const LaunchOptions& options,
                        const ParameterValues& values);

/// Adds compressed rows that check_tensors accepted. Throws UserError when they are narrower than `width`.
void add_probabilities(const Tensor& probabilities, int64_t width, AttentionArgs& args);

}  // namespace heddle::engine
