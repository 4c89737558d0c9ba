// Lesson 11: why a plan was chosen.
//
// From the facts of a mask follow several ways to compute it. Each is priced, the cheapest is taken, and the losers are kept in
// the plan with their prices, so that a choice can be questioned. Steps:
//   (1) compile a window with sinks and read why its plan is the one it is,
//   (2) ask for the same with 16 rows a block, which the plan refused, and measure both: was the plan right?
//   (3) ignore the facts, so that every tile is tested in the kernel: what were the facts worth?
//   (4) judge: all of them give the same numbers.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "heddle/engine.h"

namespace {

constexpr int64_t kHeads = 2, kRows = 4096, kDim = 64;

struct Operands {
  Operands() : q(kHeads * kRows * kDim), k(q.size()), v(q.size()) {
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (std::vector<float>* values : {&q, &k, &v}) {
      for (float& value : *values) value = normal(generator);
    }
  }
  std::vector<float> q, k, v;
};

heddle::Tensor view(std::vector<float>& values) { return heddle::Tensor::dense(values.data(), {1, kHeads, kRows, kDim}); }

/// A kernel, what it gives, and its best time of seven.
struct Candidate {
  const char* name;
  heddle::Attention attention;
  std::vector<float> o = std::vector<float>(kHeads * kRows * kDim);
  double milliseconds = 1e9;

  void run(Operands& operands) {
    const auto start = std::chrono::steady_clock::now();
    attention.run(view(operands.q), view(operands.k), view(operands.v), view(o));
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    milliseconds = std::min(milliseconds, time.count());
  }
  void print() const {
    std::printf("%-20s blocks of %3lld rows, tiles of %3lld keys: %7.2f ms\n", name,
                static_cast<long long>(attention.report().block_rows), static_cast<long long>(attention.report().tile_keys),
                milliseconds);
  }
};

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(double{a[i]} - double{b[i]}));
  return worst;
}

}  // namespace

int main() {
  heddle::Engine engine;
  const heddle::Mask mask = heddle::Mask::parse("k <= q && (q - k < 256 || k < 16)");

  // (1) The report says what was understood, what is done, and what every alternative would have cost. `heddle explain` prints
  // it too.
  Candidate chosen{"the plan", engine.attention({.mask = mask, .head_dim = kDim})};
  const std::string& why = chosen.attention.report().plan;
  std::printf("%s\n%s\n", mask.text().c_str(), why.c_str());

  // (2) An alternative that a spec can force.
  Candidate narrow{"16 rows a block", engine.attention({.mask = mask, .head_dim = kDim, .tile_rows = 16})};

  // (3) The same without facts.
  Candidate blind{"every tile tested", engine.attention({.mask = mask, .head_dim = kDim, .use_nests = false})};

  Operands operands;
  for (int round = 0; round < 7; ++round) {
    for (Candidate* one : {&chosen, &narrow, &blind}) one->run(operands);
  }
  for (const Candidate* one : {&chosen, &narrow, &blind}) one->print();
  std::printf("the plan is %.2f times as fast as 16 rows a block, and %.2f times as fast as testing every tile\n",
              narrow.milliseconds / chosen.milliseconds, blind.milliseconds / chosen.milliseconds);

  // (4) Rounding differs with the order of the tiles.
  const double apart = std::max(difference(chosen.o, narrow.o), difference(chosen.o, blind.o));
  std::printf("their results differ by at most %.2g\n", apart);
  const bool told = why.find("cycles") != std::string::npos && narrow.attention.report().block_rows == 16;
  return told && apart <= 1e-5 ? 0 : 1;
}
