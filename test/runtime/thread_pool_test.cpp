#include "runtime/thread_pool.h"
#include <gtest/gtest.h>
#include <sched.h>
#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include "heddle/error.h"

namespace heddle::runtime {
namespace {

TEST(ThreadPool, EveryPartRunsOnceAJob) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.threads(), threads);
    std::vector<int> runs(static_cast<size_t>(threads));  // Each part owns its entry: no atomics, so a race would show.
    for (int job = 0; job < 500; ++job) pool.run([&](int thread) { ++runs[static_cast<size_t>(thread)]; });
    EXPECT_EQ(runs, std::vector<int>(static_cast<size_t>(threads), 500));
  }
}

TEST(ThreadPool, ResultsOfAJobAreSeenByTheNext) {
  ThreadPool pool(4);
  std::vector<int64_t> value(4, 1), sum(4);
  for (int job = 0; job < 50; ++job) {
    pool.run([&](int t) { sum[static_cast<size_t>(t)] = value[0] + value[1] + value[2] + value[3]; });
    pool.run([&](int t) { value[static_cast<size_t>(t)] = sum[static_cast<size_t>(t)] % 1000003; });
    EXPECT_EQ(value, std::vector<int64_t>(4, value[0]));
  }
}

TEST(ThreadPool, SleepingWorkersWake) {
  ThreadPool pool(3);
  std::atomic<int> parts = 0;
  for (int job = 0; job < 5; ++job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // Far longer than they spin.
    pool.run([&](int) { ++parts; });
  }
  EXPECT_EQ(parts, 15);
}

TEST(ThreadPool, CallerWaitsForSlowParts) {
  ThreadPool pool(2);
  std::atomic<bool> ended = false;
  pool.run([&](int thread) {
    if (thread == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ended = true;
  });
  EXPECT_TRUE(ended);
}

TEST(ThreadPool, CallersFromManyThreadsQueueUp) {
  ThreadPool pool(3);
  int running = 0;  // Only ever touched by part 0 of the one running job.
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0, jobs = 0;
  for (int c = 0; c < 6; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        pool.run([&](int thread) {
          if (thread != 0) return;
          wrong += running++ != 0;
          ++jobs;
          --running;
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(jobs, 600);
}

TEST(ThreadPool, ExceptionsReachTheCallerAfterAllPartsEnded) {
  ThreadPool pool(4);
  for (int thrower = 0; thrower < 4; ++thrower) {
    std::atomic<int> ended = 0;
    try {
      pool.run([&](int thread) {
        ++ended;
        if (thread == thrower) throw std::runtime_error("part " + std::to_string(thread));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "part " + std::to_string(thrower));
    }
    EXPECT_EQ(ended, 4);
  }
  pool.run([](int) {});  // Still usable, and the old exception is gone.
}

TEST(ThreadPool, ScratchIsAlignedApartAndKept) {
  ThreadPool pool(3);
  for (const int64_t bytes : {1, 100, 4096, 70000}) {
    pool.run([&](int thread) {
      void* memory = pool.scratch(thread, bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
      std::memset(memory, thread, static_cast<size_t>(bytes));
      EXPECT_EQ(pool.scratch(thread, bytes / 2), memory);
    });
    for (int thread = 0; thread < 3; ++thread) {
      EXPECT_EQ(static_cast<const char*>(pool.scratch(thread, bytes))[bytes - 1], thread);
    }
  }
  EXPECT_THROW(pool.scratch(0, int64_t{1} << 60), RuntimeError);
  EXPECT_NE(pool.scratch(0, 64), nullptr);
}

TEST(ThreadPool, NeedsAThread) {
  EXPECT_THROW(ThreadPool(0), UserError);
  EXPECT_THROW(ThreadPool(-3), UserError);
}

TEST(ThreadPool, StopsAtOnceWhenIdleOrUnused) {
  for (int i = 0; i < 20; ++i) {
    ThreadPool pool(4);
    if (i % 2) pool.run([](int) {});
  }
}

TEST(ThreadCount, ZeroIsTheCoresOfThisProcess) {
  EXPECT_EQ(thread_count(7), 7);
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(thread_count(0), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(thread_count(0), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_THROW(thread_count(-1), UserError);
  EXPECT_THROW(thread_count(4097), UserError);
}

}  // namespace
}  // namespace heddle::runtime
