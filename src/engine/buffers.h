// Memory of intermediate tensors, kept for the next run: a run that follows another of the same graph asks the system for none.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "heddle/graph.h"

namespace heddle::engine {

/// Thread safe. Arrays keep the pool alive; their memory returns to it with their last owner.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  ~BufferPool();
  /// As Array::make.
  Array make(const std::vector<int64_t>& shape, DType dtype);

 private:
  void* take(int64_t bytes);
  void give(void* memory, int64_t bytes);

  std::mutex mutex_;
  std::multimap<int64_t, void*> free_;
};

}  // namespace heddle::engine
