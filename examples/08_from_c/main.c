// Lesson 8: Heddle from C.
//
// The twin of lesson 2 in plain C99. Any language that can call C can use the same border (heddle/c.h). Steps:
//   (1) make an engine,
//   (2) compile a causal window of w keys, with w a constant of the formula, and print what is known of the kernel,
//   (3) describe the arrays as DLPack tensors and run,
//   (4) check some rows against a plain loop in double precision,
//   (5) make a mistake, and read whose fault it is.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "heddle/c.h"

enum { kHeads = 4, kRows = 1024, kDim = 64, kWindow = 128, kElements = kHeads * kRows * kDim };

/// Numbers around 0 from a linear congruential generator.
static float* numbers(uint32_t seed) {
  float* values = malloc(kElements * sizeof(float));
  if (!values) exit(1);
  for (int i = 0; i < kElements; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
  }
  return values;
}

/// strides == NULL: dense, row-major.
static DLTensor tensor(float* data, int64_t* shape) {
  const DLTensor made = {data, {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, shape, NULL, 0};
  return made;
}

/// Largest difference of one output row from the definition.
static double row_error(const float* q, const float* k, const float* v, const float* o, int row) {
  double out[kDim] = {0}, total = 0, worst = 0;
  for (int key = row - kWindow + 1 > 0 ? row - kWindow + 1 : 0; key <= row; ++key) {
    double dot = 0;
    for (int d = 0; d < kDim; ++d) dot += (double)q[row * kDim + d] * k[key * kDim + d];
    const double weight = exp(dot / sqrt(kDim));
    total += weight;
    for (int d = 0; d < kDim; ++d) out[d] += weight * v[key * kDim + d];
  }
  for (int d = 0; d < kDim; ++d) worst = fmax(worst, fabs(out[d] / total - o[row * kDim + d]));
  return worst;
}

/// Every call returns a status; the message is kept for the thread that made the call.
static void must(heddle_status status) {
  if (status == HEDDLE_OK) return;
  fprintf(stderr, "%s: %s\n", heddle_status_name(status), heddle_last_error());
  exit(1);
}

int main(void) {
  // (1) NULL: all defaults.
  heddle_engine* engine = NULL;
  must(heddle_engine_create(NULL, &engine));
  printf("Heddle %s\n", heddle_version());

  // (2) Structs begin with their size, so that a program goes on working with later libraries.
  heddle_parameter window = {"w", HEDDLE_INT, kWindow, 0, {0, 0, 0}};
  heddle_spec spec = {.size = sizeof spec, .mask = "k <= q && q - k < w", .parameters = &window, .parameter_count = 1, .head_dim = kDim};
  heddle_attention* attention = NULL;
  must(heddle_attention_create(engine, &spec, &attention));
  heddle_report report = {sizeof report, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0};
  must(heddle_attention_report(attention, &report));
  printf("kernel: %s in %.2f ms\n%s\n", report.origin, report.milliseconds, report.plan);

  // (3) Tensors are views: the kernel reads and writes the program's own memory.
  int64_t shape[] = {1, kHeads, kRows, kDim};
  float *q = numbers(1), *k = numbers(2), *v = numbers(3), *o = numbers(4);
  const DLTensor tq = tensor(q, shape), tk = tensor(k, shape), tv = tensor(v, shape), to = tensor(o, shape);
  must(heddle_attention_run(attention, &tq, &tk, &tv, &to, NULL, NULL));

  // (4) The bar of the project for float32: 2e-6 * sqrt(head dim).
  double worst = 0;
  for (int head = 0; head < kHeads; ++head) {
    const int at = head * kRows * kDim;
    for (int row = 0; row < kRows; row += 31) worst = fmax(worst, row_error(q + at, k + at, v + at, o + at, row));
  }
  printf("largest error %.2g (allowed %.2g)\n", worst, 2e-6 * sqrt(kDim));

  // (5) The faulty formula is shown with a caret under the name that nothing defines.
  heddle_attention* none = NULL;
  spec.mask = "q - k < width";
  const heddle_status status = heddle_attention_create(engine, &spec, &none);
  printf("%s: %s\n", heddle_status_name(status), heddle_last_error());

  heddle_attention_destroy(attention);
  heddle_engine_destroy(engine);
  free(q), free(k), free(v), free(o);
  return worst <= 2e-6 * sqrt(kDim) && status == HEDDLE_USER_ERROR && !none ? 0 : 1;
}
