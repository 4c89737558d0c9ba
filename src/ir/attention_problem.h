// The compile-time part of one attention: what the kernel is specialised for. Lengths, heads, strides and tables are not in it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "heddle/bind_program.h"
#include "heddle/target.h"
#include "src/ir/expr.h"

namespace heddle::ir {

/// Choices a user may force; unset ones are decided by the cost model. Part of the cache key.
struct PlanOptions {
  std::optional<int64_t> tile_rows;      ///< Query rows of a block.
  std::optional<bool> use_nests;         ///< false: every tile is tested in the kernel, facts are not used.
  bool operator==(const PlanOptions&) const = default;
};

struct AttentionProblem {
  Expr mask;                 ///< Bool over b h q k, sizes and Int params; null means every pair is allowed. Divisors are guarded.
  Expr score;                ///< Real over `s` and the variables; null means s itself.
  int64_t head_dim = 64;     ///< 1..256
  int64_t value_dim = 64;    ///< 1..256
  DType dtype = DType::Float32;  ///< Of Q, K, V and O: Float32, BFloat16 or Float16.
  bool lse = false;
  bool probabilities = false;  ///< Keeps the probabilities, as compressed rows.
  bool few_queries = false;  ///< The kernel for launches of few queries over many keys.
  Target target;
  PlanOptions options;
};

/// Canonical text of everything above: equal problems have equal text, in every process. The front of the cache key.
std::string canonical_text(const AttentionProblem& problem);
/// The dynamic parameters of mask and score, ints then reals, each sorted by name: the argument order of the kernel.
struct ParameterOrder { std::vector<std::string> ints, reals; };
ParameterOrder parameter_order(const AttentionProblem& problem);
/// The tables of mask and score, sorted by name: the argument order of the kernel.
std::vector<TableDeclaration> table_order(const AttentionProblem& problem);

/// Largest sequence length kernels are compiled for (2^30): every position fits an int32 with room for q - k and q + k.
inline constexpr int64_t kMaxPositions = int64_t{1} << 30;
/// Largest magnitude of a dynamic integer parameter: facts hold up to it, beyond it integers might wrap.
inline constexpr int64_t kMaxParameter = int64_t{1} << 40;

}  // namespace heddle::ir
