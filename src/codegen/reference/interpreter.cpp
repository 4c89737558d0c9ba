#include "src/codegen/reference/interpreter.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <numbers>

#include "heddle/error.h"
#include "src/codegen/reference/key_tiles.h"
#include "src/codegen/reference/widened_operands.h"
#include "src/ir/evaluate.h"

namespace heddle::reference {
namespace {

/// The contents of a value: row-major, existing block rows or step keys only.
struct Matrix {
  int64_t rows = 0, cols = 0;
  std::vector<double> data;
  Matrix() = default;
  Matrix(int64_t r, int64_t c, double value = 0) : rows(r), cols(c), data(static_cast<size_t>(r * c), value) {}
  double& at(int64_t r, int64_t c) { return data[static_cast<size_t>(r * cols + c)]; }
  double at(int64_t r, int64_t c) const { return data[static_cast<size_t>(r * cols + c)]; }
};

size_t most_inputs(const ir::Body& body) {
  size_t most = 0;
  for (const ir::Statement& statement : body) {
    if (const auto* map = std::get_if<ir::Map>(&statement.op)) most = std::max(most, map->inputs.size());
    if (const auto* loop = std::get_if<ir::KeyLoop>(&statement.op)) most = std::max(most, most_inputs(loop->body));
  }
  return most;
}

/// One block at a time; statements are visited in order.
class Interpreter {
 public:
  Interpreter(const ir::TileProgram& program, const AttentionArgs& args, int64_t tiles_per_step)
      : program_(program), args_(args), tiles_per_step_(tiles_per_step),
        slots_(args, program.int_params, program.real_params, program.tables, most_inputs(program.body)), values_(program.values.size()) {
    const int64_t rows = args.batch * args.heads * args.sq;
    result_.o.resize(static_cast<size_t>(rows * program.value_dim));
    result_.values.resize(static_cast<size_t>(rows * args.values_width), std::numeric_limits<double>::quiet_NaN());
    for (const ir::Statement& statement : program.body) {
      const auto* store = std::get_if<ir::Store>(&statement.op);
      if (store && store->tensor == ir::TensorId::Lse) result_.lse.resize(static_cast<size_t>(rows));
    }
  }

  AttentionResult run() {
    for (b_ = 0; b_ < args_.batch; ++b_) {
      for (h_ = 0; h_ < args_.heads; ++h_) {
        slots_.set(LeafSlots::kBatch, b_);
        slots_.set(LeafSlots::kHead, h_);
        for (qb_ = 0; qb_ * program_.tile_rows < args_.sq; ++qb_) block();
      }
    }
    return std::move(result_);
  }

  void operator()(const ir::Stage& s) {
    const bool query = s.tensor == ir::TensorId::Q;
    const int64_t dim = s.tensor == ir::TensorId::V ? program_.value_dim : program_.head_dim;
    const double factor = s.factor * (s.softmax_scale ? args_.scale : 1.0);
    Matrix out(query ? rows_ : static_cast<int64_t>(keys_.size()), dim);
    for (int64_t r = 0; r < out.rows; ++r) {
      const float* row = tensor_row(s.tensor, query ? first_row_ + r : keys_[static_cast<size_t>(r)]);
      for (int64_t d = 0; d < dim; ++d) out.at(r, d) = factor * static_cast<double>(row[d]);
    }
    value(s.out) = std::move(out);
  }
  void operator()(const ir::Fill& s) { value(s.out) = Matrix(extent(info(s.out).rows), extent(info(s.out).cols), s.value); }
  void operator()(const ir::Mma& s) {
    const Matrix &lhs = value(s.lhs), &rhs = value(s.rhs);
    Matrix out(lhs.rows, s.rhs_transposed ? rhs.rows : rhs.cols);
    if (s.accumulate != ir::kNoValue) out = value(s.accumulate);
    for (int64_t n = 0; n < lhs.cols; ++n) {
      if (s.live && !full_ && !live(s.live, keys_[static_cast<size_t>(n)])) continue;
      for (int64_t r = 0; r < out.rows; ++r) {
        for (int64_t c = 0; c < out.cols; ++c) out.at(r, c) += lhs.at(r, n) * (s.rhs_transposed ? rhs.at(c, n) : rhs.at(n, c));
      }
    }
    value(s.out) = std::move(out);
  }
  void operator()(const ir::Map& s) {
    if (s.only_partial && full_) {
      value(s.out) = value(s.inputs[0]);
      return;
    }
    const bool over_keys = info(s.out).cols == ir::Extent::StepKeys;
    const ir::CompiledExpr& expr = compiled(s.expr);
    Matrix out(extent(info(s.out).rows), extent(info(s.out).cols));
    for (int64_t r = 0; r < out.rows; ++r) {
      slots_.set(LeafSlots::kQuery, first_row_ + r);
      for (int64_t c = 0; c < out.cols; ++c) {
        if (over_keys) slots_.set(LeafSlots::kKey, keys_[static_cast<size_t>(c)]);
        for (size_t i = 0; i < s.inputs.size(); ++i) slots_.set_operand(i, element(s.inputs[i], r, c));
        out.at(r, c) = expr.run_real(slots_.ints(), slots_.reals());
      }
    }
    value(s.out) = std::move(out);
  }
  void operator()(const ir::RowReduce& s) {
    const Matrix& in = value(s.in);
    Matrix out(in.rows, 1, s.reduction == ir::Reduction::Max ? -double{FLT_MAX} : 0.0);
    for (int64_t r = 0; r < in.rows; ++r) {
      for (int64_t c = 0; c < in.cols; ++c) {
        double& sum = out.at(r, 0);
        sum = s.reduction == ir::Reduction::Sum ? sum + in.at(r, c) : in.at(r, c) > sum ? in.at(r, c) : sum;
      }
    }
    value(s.out) = std::move(out);
  }
  void operator()(const ir::KeyLoop& s) {
    const KeyTiles tiles = key_tiles(program_, s, args_, slots_, qb_);
    for (const ir::Carried& c : s.carried) value(c.inner) = value(c.init);
    steps(s, tiles.full, true);
    steps(s, tiles.partial, false);
    for (const ir::Carried& c : s.carried) value(c.out) = value(c.inner);
  }
  void operator()(const ir::StoreValues& s) {
    each_slot(s.slot, s.allowed, [&](int64_t r, int64_t c, double& slot) { slot = value(s.in).at(r, c); });
  }
  void operator()(const ir::LoadValues& s) {
    Matrix out(rows_, static_cast<int64_t>(keys_.size()));
    each_slot(s.slot, s.allowed, [&](int64_t r, int64_t c, const double& slot) { out.at(r, c) = slot; });
    value(s.out) = std::move(out);
  }
  void operator()(const ir::SoftmaxValues& s) {
    Matrix lse(rows_, 1);
    for (int64_t r = 0; r < rows_; ++r) {
      slots_.set(LeafSlots::kQuery, first_row_ + r);
      lse.at(r, 0) = softmax(values_row(r), compiled(s.count).run_int(slots_.ints()));
    }
    value(s.lse) = std::move(lse);
  }
  void operator()(const ir::Store& s) {
    const Matrix& in = value(s.in);
    std::vector<double>& out = s.tensor == ir::TensorId::O ? result_.o : result_.lse;
    const int64_t first = ((b_ * args_.heads + h_) * args_.sq + first_row_) * in.cols;
    std::copy(in.data.begin(), in.data.end(), out.begin() + first);
  }

 private:
  double* values_row(int64_t r) {
    return result_.values.data() + ((b_ * args_.heads + h_) * args_.sq + first_row_ + r) * args_.values_width;
  }
  /// Calls visit(row, column, value) for the pairs of the step that have a slot.
  void each_slot(const ir::Expr& slot, const ir::Expr& allowed, const std::function<void(int64_t, int64_t, double&)>& visit) {
    for (int64_t c = 0; c < static_cast<int64_t>(keys_.size()); ++c) {
      slots_.set(LeafSlots::kKey, keys_[static_cast<size_t>(c)]);
      for (int64_t r = 0; r < rows_; ++r) {
        slots_.set(LeafSlots::kQuery, first_row_ + r);
        if (!full_ && allowed && compiled(allowed).run_int(slots_.ints()) == 0) continue;
        const int64_t at = compiled(slot).run_int(slots_.ints());
        if (at < 0 || at >= args_.values_width) throw InternalError("tile interpreter", fmt::format("slot {} of {}", at, args_.values_width));
        visit(r, c, values_row(r)[at]);
      }
    }
  }
  /// Of the first `count` values of a row; returns the natural logarithm of the sum of their exponentials.
  double softmax(double* row, int64_t count) const {
    double top = -double{FLT_MAX}, sum = 0;
    for (int64_t i = 0; i < count; ++i) top = row[i] > top ? row[i] : top;
    for (int64_t i = 0; i < count; ++i) sum += row[i] = std::exp2(row[i] - top);
    for (int64_t i = 0; i < count && sum != 0; ++i) row[i] /= sum;
    std::fill(row + count, row + args_.values_width, 0.0);
    return sum == 0 ? -std::numeric_limits<double>::infinity() : (top + std::log2(sum)) * std::numbers::ln2;
  }

  void block() {
    first_row_ = qb_ * program_.tile_rows;
    rows_ = std::min(program_.tile_rows, args_.sq - first_row_);
    for (const ir::Statement& statement : program_.body) std::visit(*this, statement.op);
  }
  void steps(const ir::KeyLoop& loop, const std::vector<int64_t>& tiles, bool full) {
    full_ = full;
    for (size_t first = 0; first < tiles.size(); first += static_cast<size_t>(tiles_per_step_)) {
      keys_.clear();
      for (size_t i = first; i < std::min(tiles.size(), first + static_cast<size_t>(tiles_per_step_)); ++i) {
        const int64_t key = tiles[i] * program_.tile_keys, end = std::min(key + program_.tile_keys, args_.sk);
        for (int64_t k = key; k < end; ++k) keys_.push_back(k);
      }
      for (const ir::Statement& statement : loop.body) std::visit(*this, statement.op);
      for (const ir::Carried& c : loop.carried) next_[c.inner] = value(c.yield);
      for (const ir::Carried& c : loop.carried) value(c.inner) = std::move(next_[c.inner]);
    }
  }
  bool live(const ir::Expr& mask, int64_t key) {
    slots_.set(LeafSlots::kKey, key);
    for (int64_t r = 0; r < rows_; ++r) {
      slots_.set(LeafSlots::kQuery, first_row_ + r);
      if (compiled(mask).run_int(slots_.ints()) != 0) return true;
    }
    return false;
  }
  double element(ir::ValueId id, int64_t r, int64_t c) { return value(id).at(r, info(id).kind == ir::ValueKind::Row ? 0 : c); }
  const float* tensor_row(ir::TensorId tensor, int64_t row) const {
    const int64_t kv_head = h_ / (args_.heads / args_.kv_heads);
    const auto at = [&](const void* base, const int64_t (&stride)[3], int64_t head) {
      return static_cast<const float*>(base) + b_ * stride[0] + head * stride[1] + row * stride[2];
    };
    if (tensor == ir::TensorId::Q) return at(args_.q, args_.q_stride, h_);
    return tensor == ir::TensorId::K ? at(args_.k, args_.k_stride, kv_head) : at(args_.v, args_.v_stride, kv_head);
  }
  int64_t extent(ir::Extent extent) const {
    switch (extent) {
      case ir::Extent::BlockRows: return rows_;
      case ir::Extent::StepKeys: return static_cast<int64_t>(keys_.size());
      case ir::Extent::HeadDim: return program_.head_dim;
      case ir::Extent::ValueDim: return program_.value_dim;
      case ir::Extent::One: break;
    }
    return 1;
  }
  const ir::CompiledExpr& compiled(const ir::Expr& expr) {
    const auto found = compiled_.find(expr.get());
    return found != compiled_.end() ? found->second : compiled_.emplace(expr.get(), slots_.compile(expr)).first->second;
  }
  Matrix& value(ir::ValueId id) { return values_[static_cast<size_t>(id)]; }
  const ir::ValueInfo& info(ir::ValueId id) const { return program_.values[static_cast<size_t>(id)]; }

  const ir::TileProgram& program_;
  const AttentionArgs& args_;
  const int64_t tiles_per_step_;
  LeafSlots slots_;
  AttentionResult result_;
  std::vector<Matrix> values_;
  std::map<ir::ValueId, Matrix> next_;
  std::map<const ir::ExprNode*, ir::CompiledExpr> compiled_;
  std::vector<int64_t> keys_;  ///< Of the current step.
  bool full_ = false;          ///< Class of the current step.
  int64_t b_ = 0, h_ = 0, qb_ = 0, first_row_ = 0, rows_ = 0;
};

}  // namespace

AttentionResult interpret(const ir::TileProgram& program, const AttentionArgs& args, int64_t tiles_per_step) {
  ir::verify(program);
  if (tiles_per_step == 0) tiles_per_step = program.keys_per_step / program.tile_keys;
  const WidenedOperands widened(args, program.dtype, program.head_dim, program.value_dim);
  return Interpreter(program, widened.args(), tiles_per_step).run();
}

}  // namespace heddle::reference
