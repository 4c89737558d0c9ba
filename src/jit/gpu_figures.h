// Static figures of compiled GPU kernels, read from what the real compilers wrote: registers, spills, stack, shared bytes,
// opcode counts.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::jit {

/// Resources of one kernel.
struct KernelFigures {
  std::string name;
  int registers = 0;               ///< 32-bit registers a thread. AMD: vector registers, the accumulation registers among them.
  int accumulation_registers = 0;  ///< AMD only.
  int spills = 0;                  ///< CUDA: bytes of spill stores and loads. AMD: vector and scalar registers spilled.
  int stack_bytes = 0;             ///< Local (private) memory of a thread.
  int shared_bytes = 0;            ///< Static shared memory (LDS) of a block; what a launch adds is not in it.
  bool operator==(const KernelFigures&) const = default;
};

/// What `ptxas -v` says of each kernel of a log. CUDA. Throws ToolchainError when a kernel is named without its registers.
std::vector<KernelFigures> ptxas_figures(std::string_view log);

/// Kernels of an AMD code object (ELF): its metadata note (AMDGPU back end, code object V3 and later: a MessagePack map in a
/// note of type 32). gfx908 counts accumulation registers beside the others; both are added here. Throws ToolchainError for
/// anything else.
std::vector<KernelFigures> code_object_figures(const std::string& object);

/// How often each opcode occurs in a kernel.
struct OpcodeCounts {
  std::string kernel;
  int registers = 0;  ///< From the attribute REGCOUNT of a cubin; 0 where the form does not tell.
  std::map<std::string, int> opcodes;

  int total() const;
  /// Sum over the opcodes that begin with one of `prefixes`.
  int count(const std::vector<std::string>& prefixes) const;
};

/// Machine instructions of a cubin (sm_70 to sm_12x: 16 bytes each, opcode in the low 12 bits). Opcodes without a known name
/// read "0x23c". Dummy loads by which ptxas pads (`LDS RZ`) are left out. Throws ToolchainError when it is no cubin.
std::vector<OpcodeCounts> sass_opcodes(const std::string& cubin);
/// LDL and STL: what a spill or a stack array costs.
int local_accesses(const OpcodeCounts& sass);

/// Opcodes with all their qualifiers ("mma.sync.aligned...") of each entry of a PTX text.
std::vector<OpcodeCounts> ptx_opcodes(std::string_view ptx);

/// Machine instructions of an AMD code object, by mnemonic ("v_mfma_f32_16x16x16_f16"). `arch`: "gfx90a". Throws
/// ToolchainError.
std::vector<OpcodeCounts> gcn_opcodes(const std::string& object, const std::string& arch);

}  // namespace heddle::jit
