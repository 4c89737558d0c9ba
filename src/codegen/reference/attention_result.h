// What the reference implementations return: attention outputs in double precision, dense.
#pragma once
#include <vector>

namespace heddle::reference {

struct AttentionResult {
  std::vector<double> o;    ///< [batch, heads, sq, value_dim]
  std::vector<double> lse;  ///< [batch, heads, sq]; empty where LSE was not asked for.
  std::vector<double> values;  ///< [batch, heads, sq, AttentionArgs::values_width] probabilities; empty where none are kept.
};

}  // namespace heddle::reference
