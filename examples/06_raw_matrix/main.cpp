// Lesson 6: a raw matrix, and what was found in it.
//
// A mask may come as a matrix of bytes instead of a formula. Heddle looks for the formula: what it finds is exact, never sampled. Steps:
//   (1) a matrix of a window and two global keys, as some other program may have left it,
//   (2) recognize it: the text says what its rows are, and which formula gives the same matrix,
//   (3) judge: its attention is the kernel of that formula, bit by bit,
//   (4) a matrix without a pattern runs too: as a table, read in the tiles it fills in part.
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "heddle/engine.h"
#include "heddle/matrix.h"

namespace {

constexpr int64_t kRows = 1000, kDim = 32;

std::vector<float> normal_values(unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(kRows * kDim);
  for (float& value : values) value = normal(generator);
  return values;
}

std::vector<float> attend(const heddle::Attention& attention) {
  std::vector<float> q = normal_values(1), k = normal_values(2), v = normal_values(3), o(q.size());
  const auto view = [](std::vector<float>& values) { return heddle::Tensor::dense(values.data(), {1, 1, kRows, kDim}); };
  attention.run(view(q), view(k), view(v), view(o));
  return o;
}

}  // namespace

int main() {
  // (1) 0 is masked, anything else allowed.
  std::vector<uint8_t> bytes(kRows * kRows);
  for (int64_t q = 0; q < kRows; ++q) {
    for (int64_t k = 0; k <= q; ++k) bytes[static_cast<size_t>(q * kRows + k)] = q - k < 64 || k < 2;
  }

  // (2)
  const heddle::MatrixMask found = heddle::recognize(heddle::Tensor::dense(bytes.data(), {kRows, kRows}, heddle::DType::UInt8));
  std::printf("%s\n", found.text().c_str());
  if (!found.formula()) return 1;

  // (3) The second kernel is the first one, found again.
  heddle::Engine engine;
  const heddle::Attention attention = engine.attention({.head_dim = kDim, .matrix = found});
  const heddle::Attention formula = engine.attention({.mask = heddle::Mask::parse(*found.formula()), .head_dim = kDim});
  const bool same = attention.report().key == formula.report().key && attend(attention) == attend(formula);
  std::printf("the matrix and its formula: %s\n", same ? "one kernel, equal results" : "DIFFERENT");

  // (4)
  std::mt19937 generator(4);
  for (uint8_t& byte : bytes) byte = generator() % 50 == 0;
  const heddle::MatrixMask noise = heddle::recognize(heddle::Tensor::dense(bytes.data(), {kRows, kRows}, heddle::DType::UInt8));
  std::printf("\n%s", noise.text().c_str());
  attend(engine.attention({.head_dim = kDim, .matrix = noise}));
  return same && noise.form() == heddle::MatrixMask::Form::Table ? 0 : 1;
}
