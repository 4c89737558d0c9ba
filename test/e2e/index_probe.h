// Which keys each query row attends, read off a launch: V = identity and zero scores make every output row list its keys.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "test/e2e/attention_fixture.h"

namespace heddle::test {

struct Probe {
  std::vector<std::vector<int64_t>> keys;  ///< By query row, ascending.
  std::vector<double> lse;
  int64_t pairs() const {
    int64_t sum = 0;
    for (const auto& row : keys) sum += static_cast<int64_t>(row.size());
    return sum;
  }
};

/// At most 256 keys. Fails the test where a weight is neither 0 nor one over the number of keys, or the LSE not its logarithm.
inline Probe probe(Engine& engine, const Mask& mask, int64_t sq, int64_t sk, const LaunchOptions& options = {}) {
  Data data({.batch = 1, .heads = 1, .kv_heads = 1, .sq = sq, .sk = sk, .dim = 16, .value_dim = std::max<int64_t>(1, sk)});
  std::fill(data.q.begin(), data.q.end(), 0.0f);
  std::fill(data.v.begin(), data.v.end(), 0.0f);
  for (int64_t k = 0; k < sk; ++k) data.v[static_cast<size_t>(k * sk + k)] = 1;
  AttentionSpec spec = masked(mask, 16);
  spec.value_dim = data.shape.value_dim, spec.lse = true;
  run(engine.attention(spec), data, options);
  Probe found;
  for (int64_t q = 0; q < sq; ++q) {
    std::vector<int64_t>& row = found.keys.emplace_back();
    for (int64_t k = 0; k < sk; ++k) {
      if (data.o[static_cast<size_t>(q * sk + k)] != 0) row.push_back(k);
    }
    for (int64_t k : row) EXPECT_NEAR(data.o[static_cast<size_t>(q * sk + k)], 1.0 / static_cast<double>(row.size()), 1e-6);
    found.lse.push_back(data.lse[static_cast<size_t>(q)]);
    const double expected = std::log(static_cast<double>(row.size()));
    if (row.empty()) EXPECT_EQ(found.lse.back(), expected) << "row " << q;
    else EXPECT_NEAR(found.lse.back(), expected, 1e-5) << "row " << q;
  }
  return found;
}

inline std::vector<int64_t> range_of(int64_t first, int64_t end) {
  std::vector<int64_t> keys;
  for (int64_t k = first; k < end; ++k) keys.push_back(k);
  return keys;
}

}  // namespace heddle::test
