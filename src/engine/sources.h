// Makes the elements of inputs and weights that the caller does not give: exact integer generators, the same bits on every
// machine.
//
// Stream and Modulo follow the case files: s_0 = (position + 1) * 0x9E3779B97F4A7C15, s_j = s_(j-1) * 6364136223846793005 +
//   1442695040888963407 (mod 2^64), u_i = s_(i+1) >> 33, x_i = u_i / 2^31 - 0.5; element i is x_i * scale + offset in double,
//   rounded to float32, or (u_i * integer) >> 31.
// Uniform and Normal are counter based: word j of element i is mix(seed + (i * 4 + j + 1) * 0x9E3779B97F4A7C15 (mod 2^64)),
// with mix
//   the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Uniform takes word 0: ((word >> 40) / 2^23 - 1) * scale.
//   Normal is an Irwin-Hall sum: the 16 unsigned 16-bit digits of words 0 to 3, minus the mean, over the exact standard
//   deviation, times scale; it reaches 6.9 standard deviations.
#pragma once
#include "heddle/graph.h"
#include "runtime/thread_pool.h"
#include "src/ir/graph.h"

namespace heddle::engine {

/// The number of the file that each element of an array comes from; all 0 without files. `type`: integers.
Array document_ids(const std::vector<ir::FileUse>& files, const ir::TensorType& type);

/// A dense array of `type`. Throws InternalError for Source::Kind::None.
Array generate(const ir::Source& source, const ir::TensorType& type, runtime::ThreadPool& pool);

}  // namespace heddle::engine
