// Compiles an attention to a kernel of this process and compares what it computes with the judge.
#pragma once
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "dsl/parser.h"
#include "src/codegen/llvm/emit_kernel.h"
#include "src/codegen/reference/judge.h"
#include "src/ir/rewrite.h"
#include "src/jit/orc.h"
#include "src/jit/toolchain.h"
#include "src/lower/lower_attention.h"
#include "src/lower/schedule_cpu.h"
#include "src/plan/make_plan.h"

namespace heddle::test {

/// A kernel with its scratch, run block by block on the caller's thread.
class RunnableKernel {
 public:
  explicit RunnableKernel(ir::ScheduledProgram program) : program_(std::move(program)) {
    code_ = linker().link(jit::compile(codegen::emit_kernel(program_, "kernel")), "kernel");
    scratch_.resize(static_cast<size_t>(program_.scratch_bytes / 4) + 16, std::nanf(""));
  }
  const ir::ScheduledProgram& program() const { return program_; }
  int64_t blocks(const AttentionArgs& args) const {
    return args.batch * args.heads * ((args.sq + program_.tile_rows - 1) / program_.tile_rows);
  }
  void run(const AttentionArgs& args) { code_.entry(&args, 0, blocks(args), scratch()); }
  void* scratch() {
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch_.data()) + 63) & ~uintptr_t{63});
  }
  AttentionKernel entry() const { return code_.entry; }

 private:
  static jit::Linker& linker() {
    static jit::Linker linker;
    return linker;
  }
  ir::ScheduledProgram program_;
  jit::LinkedKernel code_;
  std::vector<float> scratch_;
};

/// Everything that names one attention on random data.
struct AttentionCase {
  std::string mask, score;  ///< Empty: every pair; s.
  int64_t batch = 1, heads = 1, kv_heads = 1, sq = 40, sk = 40, head_dim = 16, value_dim = 16;
  std::map<std::string, int64_t> ints;   ///< Dynamic parameters.
  std::map<std::string, double> reals;
  Target target = Target::host();
  int64_t tile_rows = 0;     ///< 0: two vectors.
  int64_t keys_per_step = 48, tile_keys = 16;
  bool nests = true, lse = true;

  ir::AttentionProblem problem() const {
    dsl::ParseOptions options;
    for (const auto& [name, value] : ints) options.parameters[name] = Dynamic{false};
    for (const auto& [name, value] : reals) options.parameters[name] = Dynamic{true};
    ir::AttentionProblem problem;
    if (!mask.empty()) problem.mask = ir::guard_divisors(dsl::parse_formula(mask, options));
    options.type = ir::Type::Real;
    if (!score.empty()) problem.score = dsl::parse_formula(score, options);
    problem.head_dim = head_dim, problem.value_dim = value_dim, problem.lse = lse, problem.target = target;
    return problem;
  }
  plan::KernelPlan plan() const {
    plan::KernelPlan plan;
    plan.problem = problem();
    plan.tile_rows = tile_rows ? tile_rows : 2 * target.lanes();
    plan.tile_keys = tile_keys, plan.keys_per_step = keys_per_step;
    const analysis::TileShape shape = {plan.tile_rows, tile_keys};
    plan::PassPlan pass;
    pass.mask = plan.problem.mask ? ir::simplify(plan.problem.mask) : nullptr;
    plan::AnalysedFacts facts;
    const auto tiles = !nests ? std::nullopt : pass.mask ? facts.tiles(pass.mask, shape) : plan::dense_tiles(shape);
    pass.source = tiles ? plan::TileSource::Nest : plan::TileSource::Tested;
    if (tiles) pass.full = tiles->full, pass.partial = tiles->partial;
    plan.passes = {pass};
    return plan;
  }
  ir::ScheduledProgram schedule() const { return lower::schedule_cpu(lower::lower_attention(plan()), target); }
};

/// Tensors and arguments of a case. Rows have a few elements of padding; `spread` of the inputs is N(0, 1).
class CaseData {
 public:
  explicit CaseData(const AttentionCase& c, uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    const int64_t pad = 3;
    fill(q, c.batch * c.heads * c.sq * (c.head_dim + pad), random);
    fill(k, c.batch * c.kv_heads * c.sk * (c.head_dim + pad), random);
    fill(v, c.batch * c.kv_heads * c.sk * (c.value_dim + pad), random);
    o.assign(static_cast<size_t>(c.batch * c.heads * c.sq * (c.value_dim + pad)), kUntouched);
    lse.assign(static_cast<size_t>(c.batch * c.heads * c.sq), kUntouched);
    for (const auto& [name, value] : c.ints) int_params.push_back(value);
    for (const auto& [name, value] : c.reals) real_params.push_back(value);
    args.q = q.data(), args.k = k.data(), args.v = v.data(), args.o = o.data(), args.lse = c.lse ? lse.data() : nullptr;
    args.batch = c.batch, args.heads = c.heads, args.kv_heads = c.kv_heads, args.sq = c.sq, args.sk = c.sk;
    strides(args.q_stride, c.heads, c.sq, c.head_dim + pad), strides(args.k_stride, c.kv_heads, c.sk, c.head_dim + pad);
    strides(args.v_stride, c.kv_heads, c.sk, c.value_dim + pad), strides(args.o_stride, c.heads, c.sq, c.value_dim + pad);
    args.int_params = int_params.data(), args.real_params = real_params.data();
    args.scale = 1 / std::sqrt(static_cast<double>(c.head_dim));
  }
  CaseData(const CaseData&) = delete;

  static constexpr float kUntouched = -12345.0f;
  std::vector<float> q, k, v, o, lse;
  std::vector<int64_t> int_params;
  std::vector<double> real_params;
  AttentionArgs args;

 private:
  static void fill(std::vector<float>& data, int64_t count, std::mt19937_64& random) {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < count; ++i) data.push_back(normal(random));
  }
  static void strides(int64_t* stride, int64_t heads, int64_t rows, int64_t row) {
    stride[0] = heads * rows * row, stride[1] = rows * row, stride[2] = row;
  }
};

struct Difference {
  double o = 0, lse = 0;     ///< Largest absolute differences; infinite where one is NaN or infinite and the other is not alike.
  bool padding_kept = true;  ///< Nothing was stored beside the results.
};

inline double distance(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (std::isnan(a) || std::isnan(b)) return INFINITY;
  return a == b ? 0 : std::abs(a - b);
}

inline Difference compare(const AttentionCase& c, const CaseData& data) {
  const reference::AttentionResult expected = reference::judge(c.problem(), data.args, 2);
  Difference result;
  const int64_t rows = c.batch * c.heads * c.sq, stride = data.args.o_stride[2];
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t d = 0; d < c.value_dim; ++d) {
      result.o = std::max(result.o, distance(data.o[static_cast<size_t>(r * stride + d)], expected.o[static_cast<size_t>(r * c.value_dim + d)]));
    }
    for (int64_t d = c.value_dim; d < stride; ++d) {
      result.padding_kept = result.padding_kept && data.o[static_cast<size_t>(r * stride + d)] == CaseData::kUntouched;
    }
    if (c.lse) result.lse = std::max(result.lse, distance(data.lse[static_cast<size_t>(r)], expected.lse[static_cast<size_t>(r)]));
  }
  return result;
}

inline Difference run(const AttentionCase& c, uint64_t seed = 1) {
  CaseData data(c, seed);
  RunnableKernel(c.schedule()).run(data.args);
  return compare(c, data);
}

}  // namespace heddle::test
