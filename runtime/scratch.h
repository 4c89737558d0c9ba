// A buffer that only grows: scratch memory of one thread, aligned to cache lines and vector registers.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include "heddle/error.h"

namespace heddle::runtime {

class Scratch {
 public:
  static constexpr int64_t kAlignment = 64;
  static constexpr int64_t kMost = int64_t{1} << 38;

  /// At least `bytes` bytes, 64-byte aligned; contents are kept only while the buffer need not grow. Throws RuntimeError.
  void* reserve(int64_t bytes) {
    if (bytes > size_) grow(bytes);
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  void grow(int64_t bytes) {
    const int64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    memory_.reset();
    size_ = 0;
    if (bytes <= kMost) memory_.reset(std::aligned_alloc(kAlignment, static_cast<size_t>(rounded)));
    if (!memory_) throw RuntimeError("out of memory: a kernel needs " + std::to_string(bytes) + " bytes of scratch for each thread");
    size_ = rounded;
  }

  std::unique_ptr<void, Free> memory_;
  int64_t size_ = 0;
};

}  // namespace heddle::runtime
