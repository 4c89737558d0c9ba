// An attention of a graph without any kernel: operands filled with numbers, in the layout [batch, rows, heads * width].
#pragma once
#include <cmath>
#include <cstring>
#include <string>

#include "heddle/formula.h"
#include "src/engine/problem.h"
#include "src/engine/reference_attention.h"
#include "test/engine/graph_fixture.h"

namespace heddle::test {

struct UseShape {
  int64_t batch = 2, heads = 4, kv_heads = 2, sq = 37, sk = 41, head_dim = 16, value_dim = 24;
};

inline Array packed(int64_t batch, int64_t heads, int64_t rows, int64_t width, uint32_t seed) {
  Array array = array_of<float>({batch, rows, heads * width}, numbers(batch * rows * heads * width, seed));
  array.view.shape = {batch, heads, rows, width};
  array.view.strides = {rows * heads * width, width, heads * width, 1};
  return array;
}

inline AttentionUse attention_use(const UseShape& s = {}) {
  AttentionUse use{"node", {}, s.batch, s.heads, s.kv_heads, s.sq, s.sk, 1 / std::sqrt(static_cast<double>(s.head_dim)),
                   {},     {}, {},      {}};
  use.q = packed(s.batch, s.heads, s.sq, s.head_dim, 1);
  use.k = packed(s.batch, s.kv_heads, s.sk, s.head_dim, 2);
  use.v = packed(s.batch, s.kv_heads, s.sk, s.value_dim, 3);
  use.o = packed(s.batch, s.heads, s.sq, s.value_dim, 4);
  return use;
}

inline ir::AttentionProblem problem(const std::string& mask, const AttentionUse& use, const std::string& score = "s") {
  AttentionSpec spec{.mask = Mask::parse(mask), .score = Score::parse(score)};
  spec.head_dim = use.q.view.shape[3];
  spec.value_dim = use.v.view.shape[3];
  return engine::problem_of(spec, Target{});
}

inline float& at(const Array& array, int64_t b, int64_t h, int64_t row, int64_t column) {
  const std::vector<int64_t>& strides = array.view.strides;
  return static_cast<float*>(array.view.data)[b * strides[0] + h * strides[1] + row * strides[2] + column];
}

/// Calls see(b, h, row, column) for every element of a 4-D view.
template <typename See>
void for_each_element(const Tensor& view, See see) {
  for (int64_t b = 0; b < view.shape[0]; ++b) {
    for (int64_t h = 0; h < view.shape[1]; ++h) {
      for (int64_t row = 0; row < view.shape[2]; ++row) {
        for (int64_t column = 0; column < view.shape[3]; ++column) see(b, h, row, column);
      }
    }
  }
}

/// Stores the judge's result, rounded, in use.o.
inline void judge_into(AttentionUse& use, const ir::AttentionProblem& problem) {
  const std::vector<double> expected = engine::reference_attention(problem.mask, problem.score, use, 1);
  size_t i = 0;
  for_each_element(use.o.view, [&](int64_t b, int64_t h, int64_t row, int64_t column) {
    at(use.o, b, h, row, column) = static_cast<float>(expected[i++]);
  });
}

}  // namespace heddle::test
