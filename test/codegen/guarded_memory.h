// Arrays between pages that may not be touched: an access beside the array faults at once.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <span>

namespace heddle::test {

/// Which rim of the array touches a forbidden page; the other one is up to a page away from its own.
enum class Rim { End, Begin };

template <typename T>
class GuardedArray {
 public:
  GuardedArray() = default;
  explicit GuardedArray(size_t count, Rim rim = Rim::End) : count_(count) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), bytes = count * sizeof(T);
    const size_t inside = (bytes + page - 1) / page * page;
    mapped_bytes_ = inside + 2 * page;
    void* mapped = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    mapped_ = static_cast<std::byte*>(mapped);
    if (inside > 0 && mprotect(mapped_ + page, inside, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    data_ = reinterpret_cast<T*>(mapped_ + page + (rim == Rim::End ? inside - bytes : 0));
  }
  ~GuardedArray() {
    if (mapped_) munmap(mapped_, mapped_bytes_);
  }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + count_; }

 private:
  size_t count_ = 0, mapped_bytes_ = 0;
  std::byte* mapped_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace heddle::test
