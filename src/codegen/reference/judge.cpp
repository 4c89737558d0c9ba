#include "src/codegen/reference/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>

#include "src/codegen/reference/leaf_slots.h"
#include "src/codegen/reference/widened_operands.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"

namespace heddle::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kRowsAtOnce = 32;  ///< Rows whose keys are read together, for locality.

double dot(const double* a, const float* b, int64_t n) {
  double sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] += a[i + j] * static_cast<double>(b[i + j]);
  }
  for (; i < n; ++i) sums[0] += a[i] * static_cast<double>(b[i]);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// out += p * row, in order, so that no sum depends on the blocking.
void add_scaled(double* out, double p, const float* row, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    double block[8];
    for (int j = 0; j < 8; ++j) block[j] = p * static_cast<double>(row[i + j]);
    for (int j = 0; j < 8; ++j) out[i + j] += block[j];
  }
  for (; i < n; ++i) out[i] += p * static_cast<double>(row[i]);
}

const float* row_of(const void* base, const int64_t (&stride)[3], int64_t b, int64_t h, int64_t row) {
  return static_cast<const float*>(base) + b * stride[0] + h * stride[1] + row * stride[2];
}

/// One thread's share of the rows.
class RowJudge {
 public:
  RowJudge(const ir::AttentionProblem& problem, const AttentionArgs& args, const LeafSlots& slots, AttentionResult& result)
      : problem_(problem), args_(args), slots_(slots), result_(result), query_(static_cast<size_t>(problem.head_dim)) {
    if (problem.mask) mask_.emplace(slots.compile(problem.mask));
    if (problem.score) score_.emplace(slots.compile(problem.score));
    shared_mask_ = !problem.mask || (!ir::mentions(problem.mask, "b") && !ir::mentions(problem.mask, "h"));
  }

  void rows(int64_t first, int64_t last) {
    std::vector<std::vector<int64_t>> keys(static_cast<size_t>(last - first));
    for (int64_t b = 0; b < args_.batch; ++b) {
      for (int64_t h = 0; h < args_.heads; ++h) {
        slots_.set(LeafSlots::kBatch, b);
        slots_.set(LeafSlots::kHead, h);
        const bool fresh = !shared_mask_ || (b == 0 && h == 0);
        for (int64_t q = first; q < last; ++q) {
          std::vector<int64_t>& allowed = keys[static_cast<size_t>(q - first)];
          slots_.set(LeafSlots::kQuery, q);
          if (fresh) allow(allowed);
          row(b, h, q, allowed);
        }
      }
    }
  }

 private:
  void allow(std::vector<int64_t>& keys) {
    keys.clear();
    for (int64_t k = 0; k < args_.sk; ++k) {
      slots_.set(LeafSlots::kKey, k);
      if (!mask_ || mask_->run_int(slots_.ints()) != 0) keys.push_back(k);
    }
  }

  void row(int64_t b, int64_t h, int64_t q, const std::vector<int64_t>& keys) {
    const int64_t kv_head = h / (args_.heads / args_.kv_heads), index = (b * args_.heads + h) * args_.sq + q;
    const float* query = row_of(args_.q, args_.q_stride, b, h, q);
    std::copy(query, query + problem_.head_dim, query_.begin());
    const double top = score_row(b, kv_head, keys);
    double sum = 0;
    double* out = result_.o.data() + index * problem_.value_dim;
    for (size_t i = 0; i < keys.size() && !empty_; ++i) {
      const double p = std::exp(scores_[i] - top);
      sum += p;
      add_scaled(out, p, row_of(args_.v, args_.v_stride, b, kv_head, keys[i]), problem_.value_dim);
    }
    for (int64_t d = 0; d < problem_.value_dim && !empty_; ++d) out[d] /= sum;
    result_.lse[static_cast<size_t>(index)] = empty_ ? -kInfinity : top + std::log(sum);
  }

  /// Fills scores_, sets empty_ when all are -inf, and returns their maximum (NaN is never the maximum).
  double score_row(int64_t b, int64_t kv_head, const std::vector<int64_t>& keys) {
    scores_.resize(keys.size());
    double top = -kInfinity;
    empty_ = true;
    for (size_t i = 0; i < keys.size(); ++i) {
      scores_[i] = score(dot(query_.data(), row_of(args_.k, args_.k_stride, b, kv_head, keys[i]), problem_.head_dim), keys[i]);
      if (scores_[i] > top) top = scores_[i];
      empty_ = empty_ && scores_[i] == -kInfinity;
    }
    return top;
  }

  double score(double product, int64_t key) {
    const double s = args_.scale * product;
    if (!score_) return s;
    slots_.set(LeafSlots::kKey, key);
    slots_.set_score(s);
    return score_->run_real(slots_.ints(), slots_.reals());
  }

  const ir::AttentionProblem& problem_;
  const AttentionArgs& args_;
  LeafSlots slots_;
  AttentionResult& result_;
  std::optional<ir::CompiledExpr> mask_, score_;
  bool shared_mask_ = true, empty_ = false;
  std::vector<double> query_, scores_;
};

}  // namespace

AttentionResult judge(const ir::AttentionProblem& problem, const AttentionArgs& given, int threads) {
  const WidenedOperands widened(given, problem.dtype, problem.head_dim, problem.value_dim);
  const AttentionArgs& args = widened.args();
  AttentionResult result;
  const int64_t rows = args.batch * args.heads * args.sq;
  result.o.assign(static_cast<size_t>(rows * problem.value_dim), 0.0);
  result.lse.assign(static_cast<size_t>(rows), -kInfinity);
  const ir::ParameterOrder order = ir::parameter_order(problem);
  const LeafSlots slots(args, order.ints, order.reals, ir::table_order(problem));
  const auto share = [&](int thread) {
    RowJudge mine(problem, args, slots, result);
    for (int64_t first = thread * kRowsAtOnce; first < args.sq; first += threads * kRowsAtOnce) {
      mine.rows(first, std::min(first + kRowsAtOnce, args.sq));
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(share, thread);
  share(0);
  for (std::thread& other : others) other.join();
  return result;
}

}  // namespace heddle::reference
