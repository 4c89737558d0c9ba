#include "test/e2e/counting_malloc.h"

#include <atomic>
#include <cstddef>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEDDLE_COUNTS_MALLOC 1
#endif

namespace {
std::atomic<int64_t> allocations = 0;
}

#ifdef HEDDLE_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) { return ++allocations, __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return ++allocations, __libc_calloc(count, bytes); }
void* realloc(void* memory, size_t bytes) { return ++allocations, __libc_realloc(memory, bytes); }
void* memalign(size_t alignment, size_t bytes) { return ++allocations, __libc_memalign(alignment, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return ++allocations, __libc_memalign(alignment, bytes); }
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory ? 0 : 12;
}
}
#endif

namespace heddle::test {

bool counts_allocations() {
#ifdef HEDDLE_COUNTS_MALLOC
  return true;
#else
  return false;
#endif
}

int64_t allocations_so_far() { return allocations; }

}  // namespace heddle::test
