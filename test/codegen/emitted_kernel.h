// Compiles an attention through every pass below the engine and loads the object, as the engine does for its users.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dsl/parser.h"
#include "heddle/kernel_abi.h"
#include "runtime/object_loader.h"
#include "src/codegen/llvm/emit_kernel.h"
#include "src/ir/rewrite.h"
#include "src/jit/toolchain.h"
#include "src/lower/pipeline.h"
#include "src/lower/schedule_cpu.h"
#include "test/codegen/guarded_memory.h"

namespace heddle::test {

/// Everything a kernel is specialised for.
struct KernelSpec {
  std::string mask{}, score{};  ///< Empty: every pair; the plain score.
  int64_t head_dim = 16, value_dim = 16;
  bool lse = true;
  DType dtype = DType::Float32;
  Target target = Target::host();
  std::optional<int64_t> tile_rows{};
  std::optional<bool> use_nests{};
  std::vector<std::string> ints{}, reals{};  ///< Names of dynamic parameters, sorted.
};

/// Without the target of dot products, whose kernels differ from those of its level on bfloat16 alone.
inline std::vector<Target> runnable_targets() {
  std::vector<Target> targets;
  for (const Target& target : Target::all()) {
    if (target.runs_here() && !target.bfloat16_dots) targets.push_back(target);
  }
  return targets;
}

/// Every parameter that the spec names becomes dynamic; divisors are guarded as the engine guards them.
inline ir::AttentionProblem problem_of(const KernelSpec& spec) {
  Parameters parameters;
  for (const std::string& name : spec.ints) parameters[name] = Dynamic{false};
  for (const std::string& name : spec.reals) parameters[name] = Dynamic{true};
  ir::AttentionProblem problem;
  if (!spec.score.empty()) problem.score = dsl::parse_formula(spec.score, {ir::Type::Real, parameters, "score"});
  const std::string mask_text = spec.mask.empty() ? "true" : spec.mask;
  const ir::Expr mask = dsl::parse_formula(mask_text, {ir::Type::Bool, parameters, "mask"});
  const ir::Expr guarded = ir::simplify(ir::guard_divisors(mask, problem.score));
  if (!ir::equal(guarded, ir::bool_const(true))) problem.mask = guarded;
  problem.head_dim = spec.head_dim, problem.value_dim = spec.value_dim, problem.lse = spec.lse, problem.target = spec.target;
  problem.dtype = spec.dtype;
  problem.options = {spec.tile_rows, spec.use_nests};
  return problem;
}

inline ir::ScheduledProgram schedule_of(const ir::AttentionProblem& problem, const std::set<std::string>& without = {}) {
  return lower::schedule_cpu(lower::run_pipeline(problem, {without, nullptr}).state.tile, problem.target);
}

/// A loaded kernel and what a launch of it needs to know.
class EmittedKernel {
 public:
  explicit EmittedKernel(const ir::ScheduledProgram& program)
      : code_(runtime::load_object(jit::compile(codegen::emit_kernel(program, "kernel")), "kernel")),
        block_rows_(program.tile_rows),
        scratch_bytes_(program.scratch_bytes) {}
  explicit EmittedKernel(const ir::AttentionProblem& problem) : EmittedKernel(schedule_of(problem)) {}
  explicit EmittedKernel(const KernelSpec& spec) : EmittedKernel(problem_of(spec)) {}

  AttentionKernel entry() const { return reinterpret_cast<AttentionKernel>(code_.entry); }
  int64_t block_rows() const { return block_rows_; }
  int64_t scratch_bytes() const { return scratch_bytes_; }
  int64_t blocks(const AttentionArgs& args) const {
    return args.batch * args.heads * ((args.sq + block_rows_ - 1) / block_rows_);
  }
  /// Blocks [first, last) with a scratch buffer of exactly the promised size, full of NaN.
  void run(const AttentionArgs& args, int64_t first, int64_t last, Rim rim = Rim::End) const {
    GuardedArray<std::byte> scratch(static_cast<size_t>(scratch_bytes_), rim);
    std::fill(scratch.begin(), scratch.end(), std::byte{0xff});
    entry()(&args, first, last, scratch.data());
  }
  void run(const AttentionArgs& args, Rim rim = Rim::End) const { run(args, 0, blocks(args), rim); }

 private:
  runtime::LoadedCode code_;
  int64_t block_rows_, scratch_bytes_;
};

}  // namespace heddle::test
