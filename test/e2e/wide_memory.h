// Views of many gigabytes for tests of strides.
#pragma once
#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace heddle::test {

/// Address space without memory: pages come into being where they are touched.
class WideMemory {
 public:
  explicit WideMemory(int64_t floats) : bytes_(static_cast<size_t>(floats) * sizeof(float)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~WideMemory() { munmap(memory_, bytes_); }
  WideMemory(const WideMemory&) = delete;
  WideMemory& operator=(const WideMemory&) = delete;
  float* data() { return static_cast<float*>(memory_); }

 private:
  size_t bytes_;
  void* memory_;
};

}  // namespace heddle::test
