#include "runtime/thread_pool.h"
#include <sched.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include "heddle/error.h"
#include "runtime/scratch.h"

namespace heddle::runtime {

namespace {

constexpr std::chrono::microseconds kSpin{50};
constexpr int kMaxThreads = 4096;

/// Cores this process may run on.
int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  return allowed > 0 ? allowed : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Polls `ready` for about kSpin. Returns whether it became true.
template <typename Ready>
bool spin(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      __builtin_ia32_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// A place to sleep until a condition over atomics holds. The one who makes it hold calls wake() afterwards, which costs one load
/// while nobody sleeps. Sequential consistency of `sleepers_` and of the condition's atomics rules out a lost wake-up.
class Bed {
 public:
  template <typename Ready>
  void wait(Ready ready) {
    if (spin(ready)) return;
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    wakened_.wait(lock, ready);
    sleepers_.fetch_sub(1);
  }
  void wake() {
    if (sleepers_.load() == 0) return;
    std::lock_guard lock(mutex_);
    wakened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wakened_;
  std::atomic<int> sleepers_ = 0;
};

}  // namespace

int thread_count(int asked) {
  if (asked < 0 || asked > kMaxThreads) {
    throw UserError("threads is " + std::to_string(asked) + "; expected 0 (one a core) to " + std::to_string(kMaxThreads));
  }
  return asked == 0 ? available_cores() : asked;
}

struct ThreadPool::State {
  std::mutex callers;                ///< Held by the caller whose job runs.
  void (*job)(void*, int) = nullptr; ///< Written before `epoch` advances, read after.
  void* context = nullptr;
  std::atomic<uint64_t> epoch = 0;   ///< Number of jobs started so far.
  std::atomic<int> pending = 0;      ///< Workers that have not ended the current job.
  std::atomic<bool> stop = false;
  Bed workers_bed, caller_bed;
  std::mutex error_mutex;
  std::exception_ptr error;
  std::vector<Scratch> scratch;
  std::vector<std::thread> workers;

  void run_part(int thread) {
    try {
      job(context, thread);
    } catch (...) {
      std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
    }
  }

  void work(int thread) {
    for (uint64_t seen = 0;; ++seen) {
      workers_bed.wait([&] { return epoch.load() != seen || stop.load(); });
      if (epoch.load() == seen) return;
      run_part(thread);
      if (pending.fetch_sub(1) == 1) caller_bed.wake();
    }
  }

  void end() {
    stop = true;
    workers_bed.wake();
    for (std::thread& worker : workers) worker.join();
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  if (threads < 1) throw UserError("a thread pool needs at least 1 thread, asked for " + std::to_string(threads));
  state_->scratch.resize(static_cast<size_t>(threads));
  State* state = state_.get();
  try {
    for (int t = 1; t < threads; ++t) state->workers.emplace_back([state, t] { state->work(t); });
  } catch (const std::system_error& failure) {
    state->end();
    throw RuntimeError("cannot start " + std::to_string(threads) + " threads: " + failure.what());
  }
}

ThreadPool::~ThreadPool() { state_->end(); }

int ThreadPool::threads() const { return static_cast<int>(state_->scratch.size()); }

void ThreadPool::run(void (*job)(void* context, int thread), void* context) {
  State& state = *state_;
  std::lock_guard one_job(state.callers);
  state.job = job;
  state.context = context;
  state.pending = threads() - 1;
  state.epoch.fetch_add(1);
  state.workers_bed.wake();
  state.run_part(0);
  state.caller_bed.wait([&] { return state.pending.load() == 0; });
  if (const std::exception_ptr error = std::exchange(state.error, nullptr)) std::rethrow_exception(error);
}

void* ThreadPool::scratch(int thread, int64_t bytes) { return state_->scratch[static_cast<size_t>(thread)].reserve(bytes); }

}  // namespace heddle::runtime
