#include "runtime/bind_pairs.h"

#include <algorithm>
#include <bit>

#include "runtime/bind_lane_read.h"
#include "runtime/bind_lanes.h"
#include "runtime/bind_step.h"

namespace heddle::runtime {

namespace {

constexpr int64_t kStripKeys = 128;

int64_t whole_groups(int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

/// 0 to count - 1 by reversed bits, so that any first few are spread.
std::vector<int64_t> spread_order(int64_t count) {
  const int bits = std::bit_width(static_cast<uint64_t>(std::max<int64_t>(count - 1, 0)));
  std::vector<int64_t> order;
  for (int64_t i = 0; i < int64_t{1} << bits; ++i) {
    int64_t reversed = 0;
    for (int bit = 0; bit < bits; ++bit) reversed |= (i >> bit & 1) << (bits - 1 - bit);
    if (reversed < count) order.push_back(reversed);
  }
  return order;
}

/// any |= value, all &= value, for conditions.
template <typename T>
void see(LaneOperand<T> seen, int64_t count, T* __restrict any, T* __restrict all) {
  for (int64_t i = 0; i < count; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) {
      const T value = seen.values[seen.same ? 0 : i + j];
      any[i + j] |= value, all[i + j] &= value;
    }
  }
}

template <typename T>
TileClass class_of(const T* any, const T* all, int64_t keys, bool cut) {
  T some = 0, every = cut ? 0 : 1;
  for (int64_t i = 0; i < keys; ++i) some |= any[i], every &= all[i];
  return some == 0 ? TileClass::Empty : every != 0 ? TileClass::Full : TileClass::Partial;
}

}  // namespace

/// The values of all steps in one width.
template <typename T>
struct BindPairs::Values {
  BindPairs& pairs;
  T* const base = pairs.storage<T>().data();
  int64_t row = 0;  ///< Of the block, for steps that vary with rows and keys.
  int64_t first_key = 0;

  T* of(size_t step) { return base + static_cast<int64_t>(step) * pairs.lanes_; }
  T* any() { return of(pairs.steps_.size()); }
  T* all() { return of(pairs.steps_.size() + 1); }

  /// What a step of `axis` sees of an earlier one.
  LaneOperand<T> operand(int32_t step, Axis axis) {
    const auto at = static_cast<size_t>(step);
    const Axis own = pairs.steps_[at].axis;
    if (own == axis) return {of(at), false};
    if (own == kRows) return {of(at) + row, true};
    return {of(at), own == kList};
  }

  void compute(const std::vector<Step>& steps, int64_t count) {
    for (const Step& step : steps) compute(step, count);
  }

  void compute(const Step& s, int64_t count) {
    T* out = of(s.at);
    switch (s.step.op) {
      case BindOp::Const: return fill_lanes(out, count, static_cast<T>(s.step.value));
      case BindOp::Var: return variable(s, out, count);
      case BindOp::Read: return read(s, out, count);
      case BindOp::Select:
        return lane_select(out, count, operand(s.step.a, s.axis), operand(s.step.b, s.axis), operand(s.step.c, s.axis));
      default: break;
    }
    const LaneOperand<T> a = operand(s.step.a, s.axis);
    const bool unary = operand_count(s.step.op) == 1;
    lane_operation(s.step.op, out, count, a, unary ? LaneOperand<T>{a.values, true} : operand(s.step.b, s.axis));
  }

  void variable(const Step& s, T* out, int64_t count) {
    const BindInput& input = pairs.input_;
    const int64_t values[] = {pairs.batch_, pairs.head_,    pairs.row_, first_key, input.batch,
                              input.heads,  input.kv_heads, input.sq,   input.sk};
    const int64_t start = values[s.step.value], step = s.axis == kList ? 0 : 1;
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(start + i * step);
  }

  void read(const Step& s, T* out, int64_t count) {
    const BindInput& input = pairs.input_;
    const Tensor& table = input.tables[static_cast<size_t>(s.step.value)];
    LaneOperand<T> indices[kMaxTableRank];
    int8_t slopes[kMaxTableRank];
    for (int32_t d = 0; d < static_cast<int32_t>(table.rank()); ++d) {
      const int32_t index = input.program->reads[static_cast<size_t>(s.step.a + d)];
      indices[d] = operand(index, s.axis);
      slopes[d] = pairs.steps_[static_cast<size_t>(index)].slope;
    }
    lane_read(table, indices, slopes, out, count);
  }
};

BindPairs::BindPairs(const BindInput& input)
    : input_(input),
      row_order_(spread_order(input.tile_rows)),
      most_tiles_(std::max<int64_t>(1, kStripKeys / input.tile_keys)),
      lanes_(whole_groups(std::max(most_tiles_ * input.tile_keys, input.tile_rows))) {
  for (size_t i = 0; i < input.program->steps.size(); ++i) {
    steps_.push_back(prepared(input, i));
    by_axis_[steps_.back().axis].push_back(steps_.back());
  }
}

BindPairs::Step BindPairs::prepared(const BindInput& input, size_t at) const {
  BindStep step = input.program->steps[at];
  if (step.op == BindOp::Param) step = {BindOp::Const, 0, 0, 0, input.int_params[static_cast<size_t>(step.value)]};
  const Axis axis = axis_of(step);
  return {step, axis, at, slope_of(step, axis)};
}

BindPairs::Axis BindPairs::axis_of(const BindStep& step) const {
  constexpr int64_t kQ = 2, kK = 3;
  if (step.op == BindOp::Var) return step.value == kQ ? kRows : step.value == kK ? kKeys : kList;
  int axis = kList;
  const auto add = [&](int32_t i) { axis |= steps_[static_cast<size_t>(i)].axis; };
  if (step.op == BindOp::Read) {
    const auto rank = static_cast<int32_t>(input_.tables[static_cast<size_t>(step.value)].rank());
    for (int32_t d = 0; d < rank; ++d) add(input_.program->reads[static_cast<size_t>(step.a + d)]);
    return static_cast<Axis>(axis);
  }
  const int32_t operands[] = {step.a, step.b, step.c};
  for (int i = 0; i < operand_count(step.op); ++i) add(operands[i]);
  return static_cast<Axis>(axis);
}

int8_t BindPairs::slope_of(const BindStep& step, Axis axis) const {
  if ((axis & kKeys) == 0) return axis == kRows && step.op == BindOp::Var ? 1 : axis == kList ? 0 : kUnknownSlope;
  if (step.op == BindOp::Var) return 1;
  if (step.op != BindOp::Neg && step.op != BindOp::Add && step.op != BindOp::Sub) return kUnknownSlope;
  const auto of = [&](int32_t i) {
    const Step& operand = steps_[static_cast<size_t>(i)];
    return (operand.axis & kKeys) == 0 ? 0 : static_cast<int>(operand.slope);
  };
  const int a = of(step.a), b = of(step.b);
  if (a == kUnknownSlope || b == kUnknownSlope) return kUnknownSlope;
  const int slope = step.op == BindOp::Neg ? -a : step.op == BindOp::Add ? a + b : a - b;
  return static_cast<int8_t>(slope == 1 || slope == -1 ? slope : int{kUnknownSlope});
}

template <>
std::vector<int32_t>& BindPairs::storage<int32_t>() {
  return narrow_;
}

template <>
std::vector<int64_t>& BindPairs::storage<int64_t>() {
  return wide_;
}

void BindPairs::fix(int64_t batch, int64_t head, int64_t row, int64_t rows) {
  batch_ = batch, head_ = head, row_ = row, rows_ = rows;
  narrow_rows_ = wide_rows_ = false;
}

int64_t BindPairs::classify(int64_t first, int64_t count, bool narrow, TileClass* classes) {
  return narrow ? classify_as<int32_t>(first, count, classes) : classify_as<int64_t>(first, count, classes);
}

template <typename T>
int64_t BindPairs::classify_as(int64_t first, int64_t count, TileClass* classes) {
  storage<T>().resize((steps_.size() + 2) * static_cast<size_t>(lanes_));
  Values<T> values{*this};
  bool& known = sizeof(T) == sizeof(int32_t) ? narrow_rows_ : wide_rows_;
  if (!known) {
    values.compute(by_axis_[kList], kLanes);
    values.compute(by_axis_[kRows], whole_groups(rows_));
    known = true;
  }
  values.first_key = first * input_.tile_keys;
  const int64_t keys = std::min(count * input_.tile_keys, input_.sk - values.first_key);
  values.compute(by_axis_[kKeys], whole_groups(keys));
  return sweep_rows(values, count, keys, classes);
}

template <typename T>
int64_t BindPairs::sweep_rows(Values<T>& values, int64_t tiles, int64_t keys, TileClass* classes) {
  const int64_t groups = whole_groups(keys), width = input_.tile_keys;
  fill_lanes(values.any(), groups, T{0});
  fill_lanes(values.all(), groups, T{1});
  const auto conclude = [&] {
    bool partial = true;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t here = std::min(width, keys - t * width);
      classes[t] = class_of(values.any() + t * width, values.all() + t * width, here, here < width);
      partial = partial && classes[t] == TileClass::Partial;
    }
    return partial;
  };
  int64_t looked = 0;
  for (const int64_t row : row_order_) {
    if (row >= rows_) continue;
    values.row = row;
    values.compute(by_axis_[kPairs], groups);
    see(values.operand(static_cast<int32_t>(steps_.size()) - 1, kPairs), groups, values.any(), values.all());
    if (std::has_single_bit(static_cast<uint64_t>(++looked)) && conclude()) return looked;
  }
  conclude();
  return looked;
}

}  // namespace heddle::runtime
