// Attention of 8 heads over a causal window of 256 keys, compiled for this machine and run once.
#include <cstdio>
#include <vector>

#include "heddle/engine.h"

int main() {
  const int64_t heads = 8, rows = 4096, dim = 64;
  std::vector<float> q(heads * rows * dim, 0.1f), k(q), v(q), o(q.size());

  heddle::Engine engine;
  const heddle::Mask window = heddle::mask([](heddle::Index i, heddle::Index j) { return j <= i && i - j < 256; });
  const heddle::Attention attention = engine.attention({.mask = window, .head_dim = dim});

  const auto view = [&](std::vector<float>& data) { return heddle::Tensor::dense(data.data(), {1, heads, rows, dim}); };
  attention.run(view(q), view(k), view(v), view(o));
  std::printf("%s: O[0, 0, 0, 0] = %g\n", window.text().c_str(), o[0]);
}
