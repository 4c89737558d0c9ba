// Launches of emitted CUDA kernels in the emulator of PTX.
#pragma once
#include <fmt/format.h>

#include "test/clike/gpu_attention.h"
#include "test/emulator/emulator.h"

namespace heddle::test {

/// The data of one launch in the emulator's memory, and the arguments with its addresses.
class PtxLaunch {
 public:
  PtxLaunch(GpuData& data, const GpuLaunch& launch) : args_(data.args) {
    args_.q = input("Q", data.q.base(), data.q.bytes()), args_.k = input("K", data.k.base(), data.k.bytes());
    args_.v = input("V", data.v.base(), data.v.bytes());
    const int element = static_cast<int>(size_of(data.o.dtype));
    args_.o = reinterpret_cast<void*>(memory_.add("O", data.o.base(), data.o.bytes(), emulator::BufferUse::Output, element));
    args_.lse = reinterpret_cast<float*>(memory_.add("LSE", data.lse.data(), data.lse.size() * 4, emulator::BufferUse::Output, 4));
    launch_.grid = {static_cast<int>((args_.sq + launch.block_rows - 1) / launch.block_rows), static_cast<int>(args_.heads), static_cast<int>(args_.batch)};
    launch_.block = {launch.threads, 1, 1};
    launch_.dynamic_shared_bytes = static_cast<int>(launch.shared_bytes);
    description_ = &launch;
  }
  /// More memory that the kernel reads; returns its address there.
  template <class T>
  T* input(const char* name, T* data, size_t bytes) { return reinterpret_cast<T*>(memory_.add_input(name, data, bytes)); }
  AttentionArgs& args() { return args_; }

  emulator::Outcome run(const emulator::Program& program) {
    const std::vector<uint64_t> packed = pack_arguments(*description_, args_);
    launch_.arguments.add_bytes(packed.data(), packed.size() * sizeof(uint64_t));
    return emulator::run(program, launch_, memory_);
  }

 private:
  AttentionArgs args_;
  emulator::GlobalMemory memory_;
  emulator::Launch launch_;
  const GpuLaunch* description_ = nullptr;
};

}  // namespace heddle::test
