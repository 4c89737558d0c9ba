#include "src/engine/reference_attention.h"

#include "src/codegen/reference/judge.h"
#include "src/engine/problem.h"

namespace heddle::engine {
namespace {

void set_strides(const Tensor& view, int64_t (&strides)[3]) {
  for (int d = 0; d < 3; ++d) strides[d] = view.strides[d];
}

}  // namespace

std::vector<double> reference_attention(const ir::Expr& mask, const ir::Expr& score, const AttentionUse& use, int threads) {
  AttentionSpec spec;
  if (mask) spec.mask = Mask(Condition(mask));
  if (score) spec.score = Score(Real(score));
  spec.head_dim = use.q.view.shape[3];
  spec.value_dim = use.v.view.shape[3];
  AttentionArgs args;
  args.q = use.q.view.data, args.k = use.k.view.data, args.v = use.v.view.data;
  args.batch = use.batch, args.heads = use.heads, args.kv_heads = use.kv_heads, args.sq = use.sq, args.sk = use.sk;
  set_strides(use.q.view, args.q_stride);
  set_strides(use.k.view, args.k_stride);
  set_strides(use.v.view, args.v_stride);
  args.scale = use.scale;
  return reference::judge(problem_of(spec, Target{}), args, threads).o;
}

}  // namespace heddle::engine
