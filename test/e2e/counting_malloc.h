// Counts what this test program allocates from the heap, by operator new, malloc and their kin, libraries included.
#pragma once
#include <cstdint>

namespace heddle::test {

/// False under a sanitizer, which brings an allocator of its own.
bool counts_allocations();
int64_t allocations_so_far();

}  // namespace heddle::test
