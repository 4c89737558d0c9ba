// The shared memory of one block with shadow state: who wrote and read which bytes when, and what is still in flight.
//
// Two accesses of different threads are ordered when a block barrier lies between them, or, in one warp, a warp barrier
// (bar.warp.sync). Nothing else orders: not lock step, not shuffles, not mma or ldmatrix (PTX ISA, memory consistency model).
// The shadow covers 16 bytes a cell until part of one is touched, then two bytes.
#pragma once
#include <cstdint>
#include <vector>

#include "test/emulator/finding.h"

namespace heddle::emulator {

class SharedMemory {
 public:
  static constexpr int kCell = 16, kPart = 2, kParts = kCell / kPart;

  explicit SharedMemory(Findings& findings) : findings_(findings) {}

  /// Fresh memory for a block: all of it uninitialised, every byte 0xff (NaN in all float types). `warp` lanes a warp.
  void begin_block(int bytes, int threads, int warp);
  /// Reports copies that nobody waited for.
  void end_block();

  /// `bytes` is 2, 4, 8 or 16. False (and nothing is copied but poison) when the access is out of bounds.
  bool read(int thread, int64_t address, int bytes, void* value);
  bool write(int thread, int64_t address, int bytes, const void* value);
  /// Memory for a read-modify-write, which races with plain accesses only; null when out of bounds.
  uint8_t* atomic(int thread, int64_t address, int bytes);

  /// cp.async: the bytes are poison until their thread waits for the group; what `source` (null: nothing) lacks of `bytes`
  /// becomes 0.
  void copy_async(int thread, int64_t address, int bytes, const uint8_t* source, int source_bytes);
  void commit_group(int thread) { ++groups_[thread]; }
  /// Lands all but the newest `keep` committed groups of the thread; with `all` those not committed too.
  void wait_group(int thread, int keep, bool all);

  void block_barrier() { ++block_epoch_; }
  void warp_barrier(int warp) { ++warp_epochs_[warp]; }
  int bytes() const { return bytes_; }

 private:
  enum class State : uint8_t { Uninitialised, Ready, InFlight };
  enum class Scope : uint8_t { Nobody, Thread, Warp, Block };
  /// Who accessed last, and in which interval between barriers.
  struct Stamp {
    Scope scope = Scope::Nobody;
    bool atomic = false;
    uint16_t who = 0;  ///< Thread, or warp with Scope::Warp.
    uint32_t block_epoch = 0, warp_epoch = 0;
  };
  struct Cell {
    Stamp writer, readers;
    State state = State::Uninitialised;
  };
  struct Copy {
    int address, bytes, source_bytes, group;
    const uint8_t* source;
  };

  bool bad(int thread, int64_t address, int bytes, const char* what);
  Stamp now(int thread, bool atomic = false) const;
  bool ordered(const Stamp& earlier, int thread) const;
  void note_read(Cell& cell, int thread, int64_t address);
  void note_write(Cell& cell, int thread, int64_t address, bool atomic);
  void add_reader(Stamp& readers, int thread) const;
  void split(int64_t cell);
  template <typename Visit>
  void visit(int64_t address, int bytes, Visit visit);
  void land(int thread, const Copy& copy);

  Findings& findings_;
  int bytes_ = 0, warp_ = 32;
  uint32_t block_epoch_ = 0;
  std::vector<uint8_t> memory_;
  std::vector<Cell> cells_, parts_;
  std::vector<uint8_t> is_split_;
  std::vector<uint32_t> warp_epochs_;
  std::vector<int> groups_;  ///< Per thread: groups committed.
  std::vector<std::vector<Copy>> copies_;
};

}  // namespace heddle::emulator
