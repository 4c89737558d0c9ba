// Operands and engine settings that the benchmarks of attention share.
#pragma once
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "heddle/engine.h"

namespace bench {

struct Shape {
  int64_t heads, length, head_dim;
};

/// Random operands of one attention in [1, heads, length, head_dim].
struct Operands {
  explicit Operands(const Shape& shape) : dims{1, shape.heads, shape.length, shape.head_dim} {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (std::vector<float>* data : {&q, &k, &v, &o}) {
      data->resize(static_cast<size_t>(shape.heads * shape.length * shape.head_dim));
      for (float& x : *data) x = normal(random);
    }
  }
  heddle::Tensor view(std::vector<float>& data) { return heddle::Tensor::dense(data.data(), dims, heddle::DType::Float32); }
  void run(const heddle::Attention& attention, const heddle::LaunchOptions& options = {}) {
    attention.run(view(q), view(k), view(v), view(o), nullptr, options);
  }

  std::vector<int64_t> dims;
  std::vector<float> q, k, v, o;
};

/// Without the disk cache, for `target` or, where that is empty, this machine.
inline heddle::EngineOptions engine_options(int threads, const std::string& target = "") {
  heddle::EngineOptions options;
  options.threads = threads;
  options.disk_cache = false;
  if (!target.empty()) options.target = heddle::Target::parse(target);
  return options;
}

inline heddle::AttentionSpec spec_of(const std::string& mask, int64_t head_dim) {
  heddle::AttentionSpec spec;
  if (!mask.empty()) spec.mask = heddle::Mask::parse(mask);
  spec.head_dim = head_dim;
  return spec;
}

/// 1 and, where there are more, all cores this process may run on.
inline std::vector<int> thread_counts() {
  const int all = heddle::Engine(engine_options(0)).threads();
  return all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
}

}  // namespace bench
