// Compiles a causal mask, runs it on ones, and prints the file of the kernel.
#include <cstdio>
#include <vector>
#include "heddle/engine.h"

int main() {
  std::vector<float> x(16 * 8, 1.0f), o(x.size());
  heddle::Engine engine;
  const heddle::Attention attention = engine.attention({.mask = heddle::Mask::parse("k <= q"), .head_dim = 8});
  const heddle::Tensor in = heddle::Tensor::dense(x.data(), {1, 1, 16, 8}), out = heddle::Tensor::dense(o.data(), {1, 1, 16, 8});
  attention.run(in, in, in, out);
  std::printf("%s\n", attention.report().path.c_str());
  return o == x ? 0 : 1;
}
