// Runs the product of gemm_kernel.h, whole or with a seeded fault, and compares with float64.
#pragma once
#include <cmath>
#include <random>
#include <vector>

#include "test/emulator/cuda_kernel.h"
#include "test/emulator/gemm_kernel.h"
#include "test/emulator/matrix_ops.h"

namespace heddle::emulator {

struct GemmShape {
  int M, N, K;
};

struct GemmResult {
  Outcome outcome;
  double error = 0;  ///< Largest difference from float64; infinite when a NaN came out.
};

inline std::vector<uint16_t> random_halves(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<uint16_t> halves(count);
  for (uint16_t& half : halves) half = float_to_half(uniform(random));
  return halves;
}

inline double gemm_error(const GemmShape& shape, const std::vector<uint16_t>& a, const std::vector<uint16_t>& b,
                         const std::vector<float>& d) {
  double worst = 0;
  for (int row = 0; row < shape.M; ++row) {
    for (int column = 0; column < shape.N; ++column) {
      double sum = 0;
      for (int k = 0; k < shape.K; ++k)
        sum += double{half_to_float(a[row * shape.K + k])} * half_to_float(b[column * shape.K + k]);
      const double difference = std::abs(sum - d[row * shape.N + column]);
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
  }
  return worst;
}

inline GemmResult run_gemm(const Program& program, const GemmShape& shape) {
  const auto a = random_halves(static_cast<size_t>(shape.M) * shape.K, 1),
             b = random_halves(static_cast<size_t>(shape.N) * shape.K, 2);
  std::vector<float> d(static_cast<size_t>(shape.M) * shape.N, NAN);
  GlobalMemory memory;
  Launch launch;
  launch.grid = {(shape.N + 63) / 64, (shape.M + 63) / 64, 1};
  launch.block = {128, 1, 1};
  launch.dynamic_shared_bytes = 16384;
  launch.most_instructions = 200'000;
  launch.arguments.add(memory.add_input("A", a.data(), a.size() * 2)).add(memory.add_input("B", b.data(), b.size() * 2));
  launch.arguments.add(memory.add("D", d.data(), d.size() * 4, BufferUse::Output, 4)).add(shape.M).add(shape.N).add(shape.K);
  GemmResult result{run(program, launch, memory)};
  result.error = gemm_error(shape, a, b, d);
  return result;
}

}  // namespace heddle::emulator
