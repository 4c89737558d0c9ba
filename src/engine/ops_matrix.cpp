#include "runtime/blas.h"
#include "src/engine/op_run.h"
#include "src/engine/parallel_for.h"
#include "src/engine/strided_copy.h"

namespace heddle::engine {
namespace {

/// Operands of MatMul as stacks of matrices: [batch..., m, k] times [batch..., k, n].
struct Stacks {
  Tensor a, b;
  std::vector<int64_t> batch;
  int64_t m, n, k;
};

/// A 1-D first operand becomes a row, a 1-D second one a column.
Stacks stacks_of(const OpRun& run) {
  std::vector<int64_t> a = run.inputs[0].view.shape, b = run.inputs[1].view.shape;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  Stacks stacks;
  stacks.a = Tensor::dense(run.inputs[0].view.data, a, run.dtype());
  stacks.b = Tensor::dense(run.inputs[1].view.data, b, run.dtype());
  stacks.m = a[a.size() - 2], stacks.k = a.back(), stacks.n = b.back();
  const std::vector<int64_t> left(a.begin(), a.end() - 2), right(b.begin(), b.end() - 2);
  stacks.batch = *ir::broadcast_shapes(left, right);
  return stacks;
}

int64_t product(const std::vector<int64_t>& shape) {
  int64_t result = 1;
  for (int64_t size : shape) result *= size;
  return result;
}

/// A stack times one matrix is one product with more rows.
void merge_rows(Stacks& stacks) {
  if (stacks.b.rank() != 2) return;
  stacks.m *= product(stacks.batch);
  stacks.batch.clear();
  stacks.a = Tensor::dense(stacks.a.data, {stacks.m, stacks.k}, stacks.a.dtype);
}

/// Offset of matrix number `index` of the batch.
int64_t matrix_offset(const Tensor& stack, const std::vector<int64_t>& batch, int64_t index) {
  Tensor matrices = stack;
  matrices.shape.resize(stack.rank() - 2);
  matrices.strides.resize(stack.rank() - 2);
  Tensor view = broadcast_view(matrices, batch);
  view.shape.push_back(1);
  view.strides.push_back(0);
  return row_offset(view, index);
}

template <typename T>
runtime::Gemm<T> plain(int64_t m, int64_t n, int64_t k) {
  runtime::Gemm<T> gemm;
  gemm.m = m, gemm.n = n, gemm.k = k;
  gemm.lda = k, gemm.ldb = gemm.ldc = n;
  return gemm;
}

template <typename T>
void multiply(const OpRun& run, const Stacks& stacks, T* out) {
  const auto matrix = [&](int64_t index) {
    runtime::Gemm<T> gemm = plain<T>(stacks.m, stacks.n, stacks.k);
    gemm.a = static_cast<const T*>(stacks.a.data) + matrix_offset(stacks.a, stacks.batch, index);
    gemm.b = static_cast<const T*>(stacks.b.data) + matrix_offset(stacks.b, stacks.batch, index);
    gemm.c = out + index * stacks.m * stacks.n;
    return gemm;
  };
  const runtime::Blas& blas = runtime::Blas::open();
  const int64_t count = product(stacks.batch);
  if (count == 1) return blas.gemm(matrix(0), run.pool);
  parallel_for(run.pool, count, 1, [&](int64_t first, int64_t) { blas.gemm(matrix(first)); });
}

}  // namespace

Arrays evaluate_MatMul(const OpRun& run) {
  Array out = run.output(run.dtype());
  Stacks stacks = stacks_of(run);
  merge_rows(stacks);
  by_real(run.dtype(), [&](auto type) { multiply(run, stacks, data_of<decltype(type)>(out)); });
  return {out};
}

Arrays evaluate_Gemm(const OpRun& run) {
  Array out = run.output(run.dtype());
  if (run.inputs.size() > 2) copy_strided(broadcast_view(run.inputs[2].view, out.view.shape), out.view, run.pool);
  by_real(run.dtype(), [&](auto type) {
    using T = decltype(type);
    const std::vector<int64_t>&a = run.inputs[0].view.shape, &b = run.inputs[1].view.shape;
    const bool turn_a = run.node.integer("transA", 0), turn_b = run.node.integer("transB", 0);
    runtime::Gemm<T> gemm = plain<T>(out.view.shape[0], out.view.shape[1], a[!turn_a]);
    gemm.a = data_of<T>(run.inputs[0]), gemm.b = data_of<T>(run.inputs[1]), gemm.c = data_of<T>(out);
    gemm.lda = std::max<int64_t>(1, a[1]), gemm.ldb = std::max<int64_t>(1, b[1]);
    gemm.transpose_a = turn_a, gemm.transpose_b = turn_b;
    gemm.alpha = static_cast<T>(run.node.real("alpha", 1));
    gemm.beta = run.inputs.size() > 2 ? static_cast<T>(run.node.real("beta", 1)) : T(0);
    runtime::Blas::open().gemm(gemm, run.pool);
  });
  return {out};
}

}  // namespace heddle::engine
