// The softmax of one masked row with vector code, for the dense baseline.
#pragma once
#include <cstdint>

namespace heddle::engine {

/// In place: scores become exp(score - maximum of the allowed ones), 0 where allowed[i] is 0. Returns 1 / sum, 0 when none is
/// allowed. `count` is a multiple of kSoftmaxLanes.
inline constexpr int64_t kSoftmaxLanes = 16;
float masked_softmax(float* scores, const uint8_t* allowed, int64_t count);

}  // namespace heddle::engine
