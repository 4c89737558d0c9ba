// A small pool with a static partition: part t of n always gets the same work, whatever the timing.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

namespace heddle::runtime {

/// `asked` threads, or for 0 as many as cores that this process may run on. Throws UserError outside 0 to 4096.
int thread_count(int asked);

/// Runs one job at a time on `threads` threads, the caller's included. Workers spin briefly, then sleep. Not reentrant:
/// a job must not call run() of its own pool. run() may be called from any thread; callers queue up.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  ///< At least 1.
  ~ThreadPool();
  int threads() const;
  /// Calls job(context, t) for t in [0, threads()) and returns when all have ended. Allocates nothing. The first exception
  /// thrown by a part is rethrown after all have ended.
  void run(void (*job)(void* context, int thread), void* context);
  /// Any callable of (int thread).
  template <typename F>
  void run(F&& job) {
    run([](void* context, int thread) { (*static_cast<std::remove_reference_t<F>*>(context))(thread); }, &job);
  }
  /// This thread's part's scratch: at least `bytes`, 64-byte aligned, kept between jobs and grown when needed.
  void* scratch(int thread, int64_t bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::runtime
