// Lesson 4: score formulas.
//
// A score formula changes s, the scaled dot product of a query and a key, before the softmax. It may read positions, heads,
// sizes and parameters, as masks do. Steps:
//   (1) cap scores as Gemma 2 does,
//   (2) add ALiBi's penalty on distance, with the slope of each head as a formula of h,
//   (3) leave a number open: a dynamic parameter gets its value at every launch, and nothing is compiled again,
//   (4) judge each result against the same formula, written as a plain loop in double precision.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "heddle/engine.h"

namespace {

constexpr int64_t kHeads = 8, kRows = 192, kDim = 64, kElements = kHeads * kRows * kDim;

/// Large enough that caps and penalties matter.
std::vector<float> normal_values(unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> values(kElements);
  for (float& value : values) value = normal(generator);
  return values;
}

struct Data {
  std::vector<float> q = normal_values(1), k = normal_values(2), v = normal_values(3), o = std::vector<float>(kElements);
};

heddle::Tensor view(std::vector<float>& values) { return heddle::Tensor::dense(values.data(), {1, kHeads, kRows, kDim}); }

/// The score of a pair: s, head, query and key position.
using PlainScore = std::function<double(double, int64_t, int64_t, int64_t)>;

/// Output row `q` of head `h` under the causal mask, straight from the definition.
std::vector<double> plain_row(const Data& data, const PlainScore& score, int64_t h, int64_t q) {
  std::vector<double> scores(q + 1), out(kDim, 0.0);
  for (int64_t k = 0; k <= q; ++k) {
    double dot = 0;
    for (int64_t d = 0; d < kDim; ++d) dot += double{data.q[(h * kRows + q) * kDim + d]} * data.k[(h * kRows + k) * kDim + d];
    scores[k] = score(dot / std::sqrt(double{kDim}), h, q, k);
  }
  const double most = std::ranges::max(scores);
  double total = 0;
  for (int64_t k = 0; k <= q; ++k) {
    const double weight = std::exp(scores[k] - most);
    total += weight;
    for (int64_t d = 0; d < kDim; ++d) out[d] += weight * data.v[(h * kRows + k) * kDim + d];
  }
  for (double& value : out) value /= total;
  return out;
}

/// Runs, prints the largest error, and tells whether it is within the bar for values of this size: 2e-6 * sqrt(head dim) * 8.
bool judge(const char* name, const heddle::Attention& attention, const PlainScore& score,
           const heddle::LaunchOptions& options = {}) {
  Data data;
  attention.run(view(data.q), view(data.k), view(data.v), view(data.o), nullptr, options);
  double worst = 0;
  for (int64_t h = 0; h < kHeads; ++h) {
    for (int64_t q = 0; q < kRows; ++q) {
      const std::vector<double> wanted = plain_row(data, score, h, q);
      for (int64_t d = 0; d < kDim; ++d) worst = std::max(worst, std::abs(wanted[d] - data.o[(h * kRows + q) * kDim + d]));
    }
  }
  const double allowed = 8 * 2e-6 * std::sqrt(double{kDim});
  std::printf("%-24s largest error %.2g (allowed %.2g)\n", name, worst, allowed);
  return worst <= allowed;
}

}  // namespace

int main() {
  heddle::Engine engine;
  const heddle::Mask causal = heddle::Mask::causal(heddle::Mask::Align::TopLeft);

  // (1) softcap(s, c) is c * tanh(s / c): scores never leave (-c, c).
  const heddle::Score capped = heddle::score([](heddle::Real s) { return softcap(s, 5.0); });
  bool good = judge("softcap(s, 5)", engine.attention({.mask = causal, .score = capped, .head_dim = kDim}),
                    [](double s, int64_t, int64_t, int64_t) { return 5 * std::tanh(s / 5); });

  // (2) ALiBi (Press et al. 2022): head h of 8 has slope 2^-(h + 1). Scores have exp, not pow: 2^x is exp(x * ln 2).
  const heddle::Score alibi = heddle::Score::parse("s - exp(-(h + 1) * ln2) * (q - k)", {{"ln2", std::log(2.0)}});
  good &=
      judge("ALiBi", engine.attention({.mask = causal, .score = alibi, .head_dim = kDim}),
            [](double s, int64_t h, int64_t q, int64_t k) { return s - std::exp2(-(h + 1.0)) * static_cast<double>(q - k); });

  // (3) `temperature` stays an argument of the kernel.
  const heddle::Score divided = heddle::Score::parse("s / temperature", {{"temperature", heddle::Dynamic{.real = true}}});
  const heddle::Attention attention = engine.attention({.mask = causal, .score = divided, .head_dim = kDim});
  const int64_t compiled = engine.compilations();
  for (const double temperature : {0.5, 1.0, 4.0}) {
    const std::string name = "temperature " + std::to_string(temperature).substr(0, 3);
    good &= judge(name.c_str(), attention, [&](double s, int64_t, int64_t, int64_t) { return s / temperature; },
                  {.reals = {{"temperature", temperature}}});
  }
  std::printf("compiled for three temperatures: %lld more kernels\n", static_cast<long long>(engine.compilations() - compiled));
  return good && engine.compilations() == compiled ? 0 : 1;
}
