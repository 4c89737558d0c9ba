// What a fuzz target is: one function that reads bytes, the same for libFuzzer and for the replay of the kept corpus.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/// Reads the bytes as untrusted text. Ends the process when a property does not hold; returns 0 otherwise.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace heddle::fuzz {

/// Ends the process with a message where a property does not hold.
inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

}  // namespace heddle::fuzz
