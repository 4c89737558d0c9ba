#include "test/emulator/finding.h"

#include <fmt/format.h>

#include <numeric>

namespace heddle::emulator {

const char* to_string(FindingKind kind) {
  static constexpr const char* kNames[] = {"out of bounds",  "misaligned",    "write to an input", "uninitialised read",
                                           "read in flight", "race",          "divergent barrier", "divergent warp operation",
                                           "written twice",  "never written", "never waited for",  "endless"};
  return kNames[static_cast<size_t>(kind)];
}

std::string Finding::to_string() const {
  return fmt::format("{}: block ({},{},{}) thread {}, PTX line {}: {}", emulator::to_string(kind), block[0], block[1], block[2],
                     thread, line, text);
}

void Findings::add(FindingKind kind, int thread, std::string text) {
  ++counts_[static_cast<size_t>(kind)];
  if (kept_.size() < kKept) kept_.push_back({kind, block, thread, line, std::move(text)});
}

uint64_t Findings::total() const { return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0}); }

std::string Findings::to_string() const {
  std::string text;
  for (const Finding& finding : kept_) text += finding.to_string() + "\n";
  return text;
}

}  // namespace heddle::emulator
