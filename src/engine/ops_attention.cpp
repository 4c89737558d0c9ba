#include <cmath>

#include "src/engine/op_run.h"
#include "src/engine/parallel_for.h"
#include "src/engine/reference_attention.h"

namespace heddle::engine {
namespace {

/// A 3-D [batch, rows, heads * width] array seen as [batch, heads, rows, width]; 4-D as it is.
Array by_heads(const Array& array, int64_t heads) {
  if (array.view.rank() == 4) return array;
  Array split = array;
  const int64_t rows = array.view.shape[1], all = array.view.shape[2], width = all / heads;
  split.view.shape = {array.view.shape[0], heads, rows, width};
  split.view.strides = {rows * all, width, all, 1};
  return split;
}

/// float64 values rounded to `dtype`, as float32.
Array rounded(const OpRun& run, const Array& array, DType dtype = DType::Float32) {
  Array out = run.buffers.make(array.view.shape, DType::Float32);
  parallel_for(run.pool, out.view.elements(), 1 << 14, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      support::set_element(dtype, &data_of<float>(out)[i], 0, static_cast<float>(data_of<double>(array)[i]));
      data_of<float>(out)[i] = support::element(dtype, &data_of<float>(out)[i], 0);
    }
  });
  return out;
}

AttentionUse use_of(const OpRun& run, const Array& out) {
  ir::TensorType types[3];
  for (int i = 0; i < 3; ++i) types[i].shape = run.inputs[i].view.shape;
  const ir::AttentionShape shape = ir::attention_shape(run.node, {types[0], types[1], types[2]});
  AttentionUse use{run.node.name, {}, shape.batch, shape.heads, shape.kv_heads, shape.sq, shape.sk, 0, {}, {}, {}, {}};
  use.scale = run.node.real("scale", 1 / std::sqrt(static_cast<double>(shape.head_dim)));
  use.q = by_heads(run.inputs[0], shape.heads);
  use.k = by_heads(run.inputs[1], shape.kv_heads);
  use.v = by_heads(run.inputs[2], shape.kv_heads);
  use.o = by_heads(out, shape.heads);
  use.tables = run.tables;
  return use;
}

/// Scatters the judge's dense result into the node's layout.
void store(const std::vector<double>& from, const Tensor& to, runtime::ThreadPool& pool) {
  const int64_t width = to.shape[3], rows = to.shape[2];
  parallel_for(pool, to.shape[0] * to.shape[1] * rows, 64, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t head = i / rows;
      double* row = static_cast<double*>(to.data) + head / to.shape[1] * to.strides[0] + head % to.shape[1] * to.strides[1] +
                    i % rows * to.strides[2];
      std::copy(from.begin() + i * width, from.begin() + (i + 1) * width, row);
    }
  });
}

Arrays judged(const OpRun& run, Array out) {
  AttentionUse use = use_of(run, out);
  const int64_t heads = use.heads, kv_heads = use.kv_heads;
  use.q = by_heads(rounded(run, run.inputs[0], run.declared), heads);
  use.k = by_heads(rounded(run, run.inputs[1], run.declared), kv_heads);
  use.v = by_heads(rounded(run, run.inputs[2], run.declared), kv_heads);
  for (auto& [name, table] : use.tables) {
    if (table.view.dtype == DType::Float64) table = rounded(run, table);
  }
  store(reference_attention(run.node.mask, run.node.score, use, run.pool.threads()), use.o.view, run.pool);
  return {std::move(out)};
}

}  // namespace

Arrays evaluate_Attention(const OpRun& run) {
  Array out = run.output(run.dtype());
  if (run.reference) return judged(run, std::move(out));
  AttentionUse use = use_of(run, out);
  use.kernel = *run.kernel;
  LaunchOptions options;
  options.scale = use.scale;
  for (const auto& [name, table] : run.tables) options.tables[name] = table.view;
  run.kernel->run(use.q.view, use.k.view, use.v.view, use.o.view, nullptr, options);
  if (run.use) *run.use = std::move(use);
  return {std::move(out)};
}

}  // namespace heddle::engine
