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
    : program_(*input.program), values_(program_.steps.size()), by_key_(program_.steps.size()) {
  const int64_t sizes[] = {input.batch, input.heads, input.kv_heads, input.sq, input.sk};
  for (int i = 0; i < kVariables - kBatch; ++i) variables_[kBatch + i] = exactly(sizes[i]);
  for (size_t i = 0; i < program_.steps.size(); ++i) {
    const BindStep step = ready(input, tables, program_.steps[i]);
    by_key_[i] = depends_on_keys(step);
    (by_key_[i] ? by_keys_ : by_rows_).push_back({step, i});
  }
}

BindStep BindEvaluator::ready(const BindInput& input, const std::vector<std::unique_ptr<TableRanges>>& tables, const BindStep& step) {
  if (step.op == BindOp::Param) return {BindOp::Const, 0, 0, 0, input.int_params[static_cast<size_t>(step.value)]};
  if (operand_count(step.op) == 2 && step.a == step.b) {
    const Interval same = of_same_step(step.op);
    if (same.single()) return {BindOp::Const, 0, 0, 0, same.low};
  }
  if (step.op != BindOp::Read) return step;
  const auto table = static_cast<size_t>(step.value), rank = static_cast<size_t>(input.tables[table].rank());
  const int32_t* index = program_.reads.data() + step.a;
  std::vector<bool> varies(rank);
  std::transform(index, index + rank, varies.begin(), [&](int32_t i) { return by_key_[static_cast<size_t>(i)]; });
  reads_.push_back({ReadRanges(*tables[table], varies), index, rank});
  return {BindOp::Read, 0, 0, 0, static_cast<int64_t>(reads_.size()) - 1};
}

bool BindEvaluator::depends_on_keys(const BindStep& step) const {
  const auto depends = [&](int32_t i) { return by_key_[static_cast<size_t>(i)]; };
  if (step.op == BindOp::Read) {
    const Read& read = reads_[static_cast<size_t>(step.value)];
    return std::any_of(read.index, read.index + read.rank, depends);
  }
  const int32_t operands[] = {step.a, step.b, step.c};
  return (step.op == BindOp::Var && step.value == kK) || std::any_of(operands, operands + operand_count(step.op), depends);
}

void BindEvaluator::fix(Interval batch, Interval head, Interval rows) {
  variables_[kB] = batch, variables_[kH] = head, variables_[kQ] = rows;
  run(by_rows_);
}

Interval BindEvaluator::over(Interval keys) {
  variables_[kK] = keys;
  run(by_keys_);
  return values_.back();
}

bool BindEvaluator::narrow() const {
  return std::ranges::all_of(values_, [](Interval value) { return value.low >= INT32_MIN && value.high <= INT32_MAX; });
}

void BindEvaluator::run(const std::vector<Ready>& steps) {
  for (const Ready& each : steps) values_[each.at] = compute(each.step);
}

Interval BindEvaluator::compute(const BindStep& step) {
  const auto value = [&](int32_t i) { return values_[static_cast<size_t>(i)]; };
  switch (step.op) {
    case BindOp::Const: return exactly(step.value);
    case BindOp::Var: return variables_[step.value];
    case BindOp::Read: return read(reads_[static_cast<size_t>(step.value)]);
    case BindOp::Neg: return subtract({0, 0}, value(step.a));
    case BindOp::Abs: return absolute(value(step.a));
    case BindOp::Not: return negate(value(step.a));
    case BindOp::Select: {
      const Interval chosen = value(step.a);
      return chosen.low != 0 ? value(step.b) : chosen.high == 0 ? value(step.c) : hull(value(step.b), value(step.c));
    }
    default: return binary(step.op, value(step.a), value(step.b));
  }
}

Interval BindEvaluator::read(Read& read) {
  Interval indices[kMaxTableRank];
  for (size_t d = 0; d < read.rank; ++d) indices[d] = values_[static_cast<size_t>(read.index[d])];
  return read.ranges.range(indices);
}

}  // namespace heddle::runtime
