#include "runtime/bind_evaluator.h"

#include <algorithm>
#include <iterator>
#include "runtime/bind_step.h"

namespace heddle::runtime {

namespace {

enum Variable { kB, kH, kQ, kK, kBatch, kHeads, kKvHeads, kSq, kSk, kVariables };
static_assert(kVariables == std::size(kBindVariables));

Interval exactly(int64_t value) { return {value, value}; }

/// A result that follows from both operands being the same step, or [low > high] when nothing does.
Interval of_same_step(BindOp op) {
  switch (op) {
    case BindOp::Sub: case BindOp::Mod: case BindOp::Lt: case BindOp::Gt: case BindOp::Ne: return {0, 0};
    case BindOp::Le: case BindOp::Ge: case BindOp::Eq: return {1, 1};
    default: return {1, 0};
  }
}

Interval binary(BindOp op, Interval a, Interval b) {
  switch (op) {
    case BindOp::Add: return add(a, b);
    case BindOp::Sub: return subtract(a, b);
    case BindOp::Mul: return multiply(a, b);
    case BindOp::Div: return divide(a, b);
    case BindOp::Mod: return modulo(a, b);
    case BindOp::Min: case BindOp::And: return minimum(a, b);
    case BindOp::Max: case BindOp::Or: return maximum(a, b);
    case BindOp::Lt: return less(a, b);
    case BindOp::Le: return less_equal(a, b);
    case BindOp::Gt: return less(b, a);
    case BindOp::Ge: return less_equal(b, a);
    case BindOp::Eq: return equal(a, b);
    default: return negate(equal(a, b));
  }
}

}  // namespace

BindEvaluator::BindEvaluator(const BindInput& input, const std::vector<std::unique_ptr<TableRanges>>& tables)
    : program_(*input.program), params_(input.int_params), values_(program_.steps.size()), read_at_(program_.steps.size()) {
  const int64_t sizes[] = {input.batch, input.heads, input.kv_heads, input.sq, input.sk};
  for (int i = 0; i < 5; ++i) variables_[kBatch + i] = exactly(sizes[i]);
  std::vector<bool> by_keys(program_.steps.size());
  const auto depends = [&](int32_t step) { return by_keys[static_cast<size_t>(step)]; };
  for (size_t i = 0; i < program_.steps.size(); ++i) {
    const BindStep& step = program_.steps[i];
    const int32_t operands[] = {step.a, step.b, step.c};
    by_keys[i] = (step.op == BindOp::Var && step.value == kK) || std::any_of(operands, operands + operand_count(step.op), depends);
    if (step.op == BindOp::Read) {
      const auto rank = static_cast<size_t>(input.tables[static_cast<size_t>(step.value)].rank());
      const int32_t* index = program_.reads.data() + step.a;
      std::vector<bool> varies(rank);
      std::transform(index, index + rank, varies.begin(), depends);
      by_keys[i] = std::any_of(index, index + rank, depends);
      read_at_[i] = static_cast<int32_t>(reads_.size());
      reads_.push_back({ReadRanges(*tables[static_cast<size_t>(step.value)], varies), index, rank});
    }
    (by_keys[i] ? by_keys_ : by_rows_).push_back(static_cast<int32_t>(i));
  }
}

void BindEvaluator::fix(Interval batch, Interval head, Interval rows) {
  variables_[kB] = batch, variables_[kH] = head, variables_[kQ] = rows;
  for (const int32_t i : by_rows_) values_[static_cast<size_t>(i)] = compute(program_.steps[static_cast<size_t>(i)]);
}

Interval BindEvaluator::over(Interval keys) {
  variables_[kK] = keys;
  for (const int32_t i : by_keys_) values_[static_cast<size_t>(i)] = compute(program_.steps[static_cast<size_t>(i)]);
  return values_.back();
}

Interval BindEvaluator::compute(const BindStep& step) {
  const auto value = [&](int32_t i) { return values_[static_cast<size_t>(i)]; };
  switch (step.op) {
    case BindOp::Const: return exactly(step.value);
    case BindOp::Var: return variables_[step.value];
    case BindOp::Param: return exactly(params_[static_cast<size_t>(step.value)]);
    case BindOp::Read: return read(reads_[static_cast<size_t>(read_at_[static_cast<size_t>(&step - program_.steps.data())])]);
    case BindOp::Neg: return subtract({0, 0}, value(step.a));
    case BindOp::Abs: return absolute(value(step.a));
    case BindOp::Not: return negate(value(step.a));
    case BindOp::Select: {
      const Interval chosen = value(step.a);
      return chosen.low != 0 ? value(step.b) : chosen.high == 0 ? value(step.c) : hull(value(step.b), value(step.c));
    }
    default: break;
  }
  if (step.a == step.b) {
    const Interval same = of_same_step(step.op);
    if (same.low <= same.high) return same;
  }
  return binary(step.op, value(step.a), value(step.b));
}

Interval BindEvaluator::read(Read& read) {
  Interval indices[kMaxTableRank];
  for (size_t d = 0; d < read.rank; ++d) indices[d] = values_[static_cast<size_t>(read.index[d])];
  return read.ranges.range(indices);
}

}  // namespace heddle::runtime
