// What the emulator of GPU code finds wrong in a launch.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::emulator {

enum class FindingKind : uint8_t {
  OutOfBounds,        ///< An access outside of the buffer whose base pointer it came from, or of the block's shared memory.
  Misaligned,         ///< An address that its width does not divide.
  WriteToInput,       ///< A store to a buffer that the launch only reads.
  UninitialisedRead,  ///< Shared memory never written, or an output not yet written.
  ReadInFlight,       ///< Shared bytes of a cp.async that its thread has not waited for.
  Race,               ///< Two accesses that nothing PTX promises puts in order.
  DivergentBarrier,   ///< A block barrier that not all threads of the block reach together.
  DivergentWarpOperation,  ///< An aligned or _sync instruction that lacks lanes it names.
  WrittenTwice,            ///< An element of an output stored more than once.
  NeverWritten,            ///< An element of an output stored by nobody.
  NeverWaited,             ///< A cp.async still in flight at the end of its thread.
  Endless,                 ///< A warp that ran more instructions than the launch allows.
};
const char* to_string(FindingKind kind);

struct Finding {
  FindingKind kind;
  std::array<int, 3> block;
  int thread;  ///< In its block; -1: the whole launch.
  int line;    ///< Of the PTX text; 0: none.
  std::string text;
  /// "race: block (1,0,0) thread 37, PTX line 211: ..."
  std::string to_string() const;
};

/// Collects findings; keeps the first few of them as texts and counts all.
class Findings {
 public:
  static constexpr size_t kKept = 20;

  /// Where execution stands; the machine sets it.
  std::array<int, 3> block{};
  int line = 0;

  void add(FindingKind kind, int thread, std::string text);
  uint64_t count(FindingKind kind) const { return counts_[static_cast<size_t>(kind)]; }
  uint64_t total() const;
  bool clean() const { return total() == 0; }
  const std::vector<Finding>& kept() const { return kept_; }
  /// One line a kept finding.
  std::string to_string() const;

 private:
  std::array<uint64_t, 12> counts_{};
  std::vector<Finding> kept_;
};

}  // namespace heddle::emulator
