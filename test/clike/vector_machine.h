// Runs emitted kernels on this host, block by block: warps are fibers that switch at barriers; memory is checked at every access.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <ucontext.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "heddle/gpu_launch.h"
#include "test/clike/gpu_attention.h"
#include "test/clike/vector_prelude.h"
#include "test/process.h"

namespace heddle::test {

/// Text compiled by clang (vectors of any width) for this host, between a vector prelude and a symbol.
class VectorKernel {
 public:
  VectorKernel(const std::string& prelude, const std::string& text, const std::string& symbol) {
    const std::string source = folder_ / "kernel.cpp", library = folder_ / "kernel.so", log = folder_ / "log";
    const std::string entry = "\nextern \"C\" void hd_run(const void* bytes) { Arguments a; std::memcpy(&a, bytes, sizeof a); " + symbol + "(a); }\n";
    write_file(source, prelude + text + entry);
    const std::string command = HEDDLE_VECTOR_COMPILER " -std=c++20 -shared -fPIC -O1 -march=native -w -ffp-contract=off -o " + library + " " + source + " 2> " + log;
    if (std::system(command.c_str()) != 0) ADD_FAILURE() << read_file(log) << "\n" << text;
    handle_ = dlopen(library.c_str(), RTLD_NOW);
    if (!handle_) return;
    attach = reinterpret_cast<void (*)(const MachineInterface*)>(dlsym(handle_, "hd_attach"));
    run = reinterpret_cast<void (*)(const void*)>(dlsym(handle_, "hd_run"));
  }
  ~VectorKernel() {
    if (handle_) dlclose(handle_);
  }
  VectorKernel(const VectorKernel&) = delete;

  void (*attach)(const MachineInterface*) = nullptr;
  void (*run)(const void*) = nullptr;

 private:
  Folder folder_;
  void* handle_ = nullptr;
};

/// Tests that execute kernels as vectors.
class VectorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(HEDDLE_VECTOR_COMPILER).empty()) GTEST_SKIP() << "skipped: clang++-19 not found";
  }
};

class VectorMachine {
 public:
  VectorMachine(int warps, int64_t shared_bytes) : shared_(static_cast<size_t>(shared_bytes)), warps_(static_cast<size_t>(warps)) {
    for (Warp& warp : warps_) warp.stack.resize(1 << 20);
  }

  /// Memory that kernels may read, or read and write.
  void allow(const void* data, size_t bytes, bool write) { buffers_.push_back({static_cast<const uint8_t*>(data), bytes, write}); }
  void allow(GpuData& data) {
    for (GpuTensor* input : {&data.q, &data.k, &data.v}) allow(input->base(), input->bytes(), false);
    allow(data.o.base(), data.o.bytes(), true);
    allow(data.lse.data(), data.lse.size() * sizeof(float), true);
  }
  const std::set<std::string>& faults() const { return faults_; }

  void launch(const VectorKernel& kernel, const GpuLaunch& launch, const AttentionArgs& args) {
    arguments_ = pack_arguments(launch, args);
    kernel_ = &kernel;
    const MachineInterface interface = {this, warp, block, block_sync, copy, commit, wait, shared, global};
    kernel.attach(&interface);
    for (int64_t z = 0; z < args.batch; ++z) {
      for (int64_t y = 0; y < args.heads; ++y) {
        for (int64_t x = 0; x * launch.block_rows < args.sq; ++x) {
          block_[0] = static_cast<int>(x), block_[1] = static_cast<int>(y), block_[2] = static_cast<int>(z);
          run_block();
        }
      }
    }
  }

 private:
  struct Copy { int address; const uint8_t* from; int bytes; bool where; int group; };
  struct Warp {
    std::vector<char> stack;
    ucontext_t context;
    bool done = false;
    std::vector<Copy> copies;
    int groups = 0;
  };
  struct Buffer { const uint8_t* data; size_t bytes; bool write; };

  void run_block() {
    std::memset(shared_.data(), 0xff, shared_.size());  // NaN in every format
    for (Warp& warp : warps_) {
      getcontext(&warp.context);
      warp.context.uc_stack.ss_sp = warp.stack.data(), warp.context.uc_stack.ss_size = warp.stack.size();
      warp.context.uc_link = &scheduler_;
      warp.done = false, warp.copies.clear(), warp.groups = 0;
      const auto self = reinterpret_cast<uintptr_t>(this);
      makecontext(&warp.context, reinterpret_cast<void (*)()>(&VectorMachine::enter), 2, static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
    }
    for (size_t left = warps_.size(); left > 0;) {
      size_t waiting = 0, finished = 0;
      for (current_ = 0; current_ < warps_.size(); ++current_) {
        if (warps_[current_].done) continue;
        swapcontext(&scheduler_, &warps_[current_].context);
        ++(warps_[current_].done ? finished : waiting);
      }
      if (waiting > 0 && finished > 0) fault("some warps wait at a barrier, others have finished");
      left -= finished;
    }
    for (const Warp& warp : warps_) {
      if (!warp.copies.empty()) fault("a copy was never waited for");
    }
  }
  static void enter(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<VectorMachine*>(static_cast<uintptr_t>(high) << 32 | low);
    self->kernel_->run(self->arguments_.data());
    self->warps_[self->current_].done = true;
  }
  void fault(const std::string& what) {
    if (faults_.size() < 10) faults_.insert(what);
  }

  static VectorMachine& of(void* machine) { return *static_cast<VectorMachine*>(machine); }
  static int warp(void* machine) { return static_cast<int>(of(machine).current_); }
  static int block(void* machine, int axis) { return of(machine).block_[axis]; }
  static void block_sync(void* machine) {
    VectorMachine& self = of(machine);
    swapcontext(&self.warps_[self.current_].context, &self.scheduler_);
  }
  static void copy(void* machine, int address, const void* from, int bytes, int where) {
    VectorMachine& self = of(machine);
    std::memset(shared(machine, address, bytes, 1), 0xff, static_cast<size_t>(bytes));  // until it is waited for
    Warp& warp = self.warps_[self.current_];
    warp.copies.push_back({address, where ? global(machine, from, bytes, 0) : nullptr, bytes, where != 0, warp.groups});
  }
  static void commit(void* machine) { ++of(machine).warps_[of(machine).current_].groups; }
  static void wait(void* machine, int in_flight) {
    VectorMachine& self = of(machine);
    Warp& warp = self.warps_[self.current_];
    std::vector<Copy> later;
    for (const Copy& c : warp.copies) {
      if (c.group >= warp.groups - in_flight) {
        later.push_back(c);
      } else if (c.where) {
        std::memcpy(self.shared_.data() + c.address, c.from, static_cast<size_t>(c.bytes));
      } else {
        std::memset(self.shared_.data() + c.address, 0, static_cast<size_t>(c.bytes));
      }
    }
    warp.copies = std::move(later);
  }
  static uint8_t* shared(void* machine, int address, int bytes, int) {
    VectorMachine& self = of(machine);
    if (address % bytes != 0) self.fault("misaligned shared access of " + std::to_string(bytes) + " bytes");
    if (address >= 0 && static_cast<size_t>(address + bytes) <= self.shared_.size()) return self.shared_.data() + address;
    self.fault("shared access outside at " + std::to_string(address));
    return self.nowhere_;
  }
  static uint8_t* global(void* machine, const void* address, int bytes, int write) {
    VectorMachine& self = of(machine);
    const auto* at = static_cast<const uint8_t*>(address);
    if (reinterpret_cast<uintptr_t>(at) % static_cast<uintptr_t>(bytes) != 0) self.fault("misaligned global access of " + std::to_string(bytes) + " bytes");
    for (const Buffer& buffer : self.buffers_) {
      if (at < buffer.data || at + bytes > buffer.data + buffer.bytes) continue;
      if (write && !buffer.write) self.fault("write to an input");
      return const_cast<uint8_t*>(at);
    }
    self.fault(write ? "global write outside" : "global read outside");
    return self.nowhere_;
  }

  std::vector<uint8_t> shared_;
  std::vector<Warp> warps_;
  std::vector<Buffer> buffers_;
  std::vector<uint64_t> arguments_;
  const VectorKernel* kernel_ = nullptr;
  ucontext_t scheduler_;
  size_t current_ = 0;
  int block_[3] = {};
  uint8_t nowhere_[16] = {};
  std::set<std::string> faults_;
};

}  // namespace heddle::test
