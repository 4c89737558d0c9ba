#include "src/engine/masked_softmax.h"

#include <cstring>
#include <limits>

#include "heddle/target.h"

namespace heddle::engine {
namespace {

using Floats [[gnu::vector_size(64)]] = float;
using Ints [[gnu::vector_size(64)]] = int32_t;
using Bytes [[gnu::vector_size(16)]] = uint8_t;

constexpr float kLowest = -126.0f;  ///< Powers of two below this one become 0.

template <typename Vector, typename Element>
[[gnu::always_inline]] inline void load(Vector& vector, const Element* from) {
  std::memcpy(&vector, from, sizeof vector);
}

/// x = 2^x for x <= 0 by the Taylor polynomial of degree 6 on [-0.5, 0.5], 1.2e-7 relative.
[[gnu::always_inline]] inline void exp2(Floats& x) {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer.
  const Ints keep = x >= kLowest;
  x = keep ? x : Floats{} + kLowest;
  const Floats whole = (x + kRounder) - kRounder, f = x - whole;
  Floats p = 1.540353e-4f * f + 1.333356e-3f;
  p = p * f + 9.618129e-3f;
  p = p * f + 5.550411e-2f;
  p = p * f + 2.402265e-1f;
  p = p * f + 6.931472e-1f;
  p = p * f + 1.0f;
  const Ints power = (__builtin_convertvector(whole, Ints) + 127) << 23;
  Floats scale;
  std::memcpy(&scale, &power, sizeof scale);
  x = keep ? p * scale : Floats{};
}

/// Masked scores become -inf; returns the largest.
[[gnu::always_inline]] inline float mask_and_max(float* scores, const uint8_t* allowed, int64_t count) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  Floats top = Floats{} + kNone;
  for (int64_t i = 0; i < count; i += kSoftmaxLanes) {
    Floats s;
    Bytes bytes;
    load(s, scores + i);
    load(bytes, allowed + i);
    s = __builtin_convertvector(bytes, Ints) != 0 ? s : Floats{} + kNone;
    top = s > top ? s : top;
    std::memcpy(scores + i, &s, sizeof s);
  }
  float most = kNone;
  for (int lane = 0; lane < kSoftmaxLanes; ++lane) most = top[lane] > most ? top[lane] : most;
  return most;
}

[[gnu::always_inline]] inline float softmax_row(float* scores, const uint8_t* allowed, int64_t count) {
  constexpr float kLog2E = 1.44269504f;
  const float top = mask_and_max(scores, allowed, count);
  const bool none = top == -std::numeric_limits<float>::infinity();
  Floats sum{};
  for (int64_t i = 0; i < count; i += kSoftmaxLanes) {
    Floats s;
    load(s, scores + i);
    s = (s - (none ? 0.0f : top)) * kLog2E;
    exp2(s);
    sum += s;
    std::memcpy(scores + i, &s, sizeof s);
  }
  float total = 0;
  for (int lane = 0; lane < kSoftmaxLanes; ++lane) total += sum[lane];
  return none ? 0.0f : 1 / total;
}

[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] float with_avx512(float* scores, const uint8_t* allowed,
                                                                                 int64_t count) {
  return softmax_row(scores, allowed, count);
}

[[gnu::target("avx2,fma")]] float with_avx2(float* scores, const uint8_t* allowed, int64_t count) {
  return softmax_row(scores, allowed, count);
}

}  // namespace

float masked_softmax(float* scores, const uint8_t* allowed, int64_t count) {
  static const auto best = Target{CpuLevel::Avx512}.runs_here() ? with_avx512 : Target{CpuLevel::Avx2}.runs_here() ? with_avx2 : softmax_row;
  return best(scores, allowed, count);
}

}  // namespace heddle::engine
