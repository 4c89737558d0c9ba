// The buffers of a launch at addresses far apart, so that an access beyond one never lands in another; writes of outputs are
// counted.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "test/emulator/finding.h"

namespace heddle::emulator {

enum class BufferUse : uint8_t {
  Input,   ///< Only read.
  Output,  ///< Each element written exactly once, by one thread; read by nobody else.
  Shared,  ///< Read and written, atomics too; one block must not read what another wrote in the same launch, except by atomics.
};

/// Memory that kernels see. Addresses are not the host's.
class GlobalMemory {
 public:
  /// `element`: bytes of the unit that is written at once. The data stay the caller's. Returns the address that kernels get,
  /// aligned to 256.
  uint64_t add(const std::string& name, void* data, size_t bytes, BufferUse use, int element = 2);
  uint64_t add_input(const std::string& name, const void* data, size_t bytes) {
    return add(name, const_cast<void*>(data), bytes, BufferUse::Input);
  }

  /// Before each launch: nothing is written, findings go to `findings`, `threads` threads a block.
  void begin(Findings& findings, int threads);
  /// Which block the next accesses belong to.
  void begin_block(int64_t block) { block_ = block; }
  /// After the launch: reports elements of outputs that nobody wrote.
  void end();

  /// Host memory of an access of 1 to 16 bytes; null when it is refused.
  const uint8_t* read(int thread, uint64_t address, int bytes) { return access(thread, address, bytes, Access::Read); }
  uint8_t* write(int thread, uint64_t address, int bytes) { return access(thread, address, bytes, Access::Write); }
  uint8_t* atomic(int thread, uint64_t address, int bytes) { return access(thread, address, bytes, Access::Atomic); }

 private:
  enum class Access : uint8_t { Read, Write, Atomic };
  struct Buffer {
    std::string name;
    uint8_t* data;
    int64_t bytes;
    BufferUse use;
    int element;
    std::vector<uint64_t> owners;  ///< Per element: 1 + block * threads + thread of the last writer; 0: none.
  };

  uint8_t* access(int thread, uint64_t address, int bytes, Access kind);
  void note(Buffer& buffer, int thread, int64_t offset, int bytes, Access kind);
  void note_write(Buffer& buffer, uint64_t& owner, int thread, int64_t offset);
  void note_read(const Buffer& buffer, uint64_t owner, int thread, int64_t offset);

  std::vector<Buffer> buffers_;
  Findings* findings_ = nullptr;
  int64_t block_ = 0, threads_ = 1;
};

}  // namespace heddle::emulator
