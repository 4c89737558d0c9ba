// Runs numbered units of work on a few threads with a static partition, so that no result depends on timing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace heddle::analysis {

/// Calls work(thread, unit) for every unit in [0, units); unit u always runs on thread u % threads. Threads beyond the number of
/// units are not started. The exception of the lowest-numbered thread that threw is rethrown after all have ended.
template <typename Work>
void parallel_units(int threads, int64_t units, const Work& work) {
  const int used = static_cast<int>(std::clamp<int64_t>(units, 1, std::max(threads, 1)));
  std::vector<std::exception_ptr> errors(used);
  const auto run = [&](int thread) {
    try {
      for (int64_t unit = thread; unit < units; unit += used) work(thread, unit);
    } catch (...) {
      errors[thread] = std::current_exception();
    }
  };
  std::vector<std::thread> workers;
  for (int thread = 1; thread < used; ++thread) workers.emplace_back(run, thread);
  run(0);
  for (std::thread& worker : workers) worker.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace heddle::analysis
