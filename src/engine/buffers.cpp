#include "src/engine/buffers.h"

#include <cstdlib>

#include "heddle/error.h"

namespace heddle {
namespace {

constexpr size_t kAlignment = 64;

void* allocate(int64_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, static_cast<size_t>(bytes)) == 0) return memory;
  throw RuntimeError("no memory for a tensor of " + std::to_string(bytes) + " bytes; make the dims smaller");
}

/// Bytes of a dense tensor, at least one vector, so that no pointer is null.
int64_t bytes_of(const Tensor& view) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(view.elements(), size_of(view.dtype), &bytes)) {
    throw UserError("the bytes of a tensor pass 2^63 - 1", "make it smaller");
  }
  return std::max(bytes, static_cast<int64_t>(kAlignment));
}

}  // namespace

Array Array::make(std::vector<int64_t> shape, DType dtype) {
  Array array;
  array.view = Tensor::dense(nullptr, std::move(shape), dtype);
  array.memory = std::shared_ptr<void>(allocate(bytes_of(array.view)), std::free);
  array.view.data = array.memory.get();
  return array;
}

namespace engine {

BufferPool::~BufferPool() {
  for (const auto& [bytes, memory] : free_) std::free(memory);
}

Array BufferPool::make(const std::vector<int64_t>& shape, DType dtype) {
  Array array;
  array.view = Tensor::dense(nullptr, shape, dtype);
  const int64_t bytes = bytes_of(array.view);
  array.view.data = take(bytes);
  array.memory =
      std::shared_ptr<void>(array.view.data, [self = shared_from_this(), bytes](void* memory) { self->give(memory, bytes); });
  return array;
}

void* BufferPool::take(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = free_.find(bytes);
  if (found == free_.end()) return allocate(bytes);
  void* memory = found->second;
  free_.erase(found);
  return memory;
}

void BufferPool::give(void* memory, int64_t bytes) {
  const std::lock_guard lock(mutex_);
  free_.emplace(bytes, memory);
}

}  // namespace engine
}  // namespace heddle
