// Splits a range of independent items among the threads of a pool in blocks of a fixed size.
#pragma once
#include <algorithm>
#include <cstdint>

#include "runtime/thread_pool.h"

namespace heddle::engine {

/// Calls body(first, last) on disjoint ranges that cover [0, count), each at most `block` long and starting at a multiple of
/// it. One block alone runs on the caller.
template <typename Body>
void parallel_for(runtime::ThreadPool& pool, int64_t count, int64_t block, Body body) {
  const int64_t blocks = count / block + (count % block != 0);
  if (blocks <= 1) return count > 0 ? body(int64_t{0}, count) : void();
  pool.run([&](int thread) {
    for (int64_t i = thread; i < blocks; i += pool.threads()) body(i * block, std::min(count, (i + 1) * block));
  });
}

}  // namespace heddle::engine
