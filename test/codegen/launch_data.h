// Arguments of one launch on guarded memory, and the comparison of what a kernel stored with the judge.
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "heddle/kernel_abi.h"
#include "src/codegen/reference/judge.h"
#include "test/codegen/guarded_memory.h"

namespace heddle::test {

/// How tensors lie in memory. Packed: heads of q, k and v as slices of one token row. Reversed: rows run backwards.
/// Shared: batches share their keys and values (stride 0).
enum class Layout { Dense, TokensFirst, PaddedRows, Packed, Reversed, Shared };
inline constexpr Layout kLayouts[] = {Layout::Dense,  Layout::TokensFirst, Layout::PaddedRows,
                                      Layout::Packed, Layout::Reversed,    Layout::Shared};

struct Launch {
  int64_t batch = 1, heads = 1, kv_heads = 1, sq = 40, sk = 40, head_dim = 16, value_dim = 16;
  Layout layout = Layout::PaddedRows;
  Rim rim = Rim::End;
  std::vector<int64_t> ints{};  ///< In the kernel's order.
  std::vector<double> reals{};
  uint64_t seed = 1;
};

/// A guarded tensor of [batch, heads, rows, dim] whose elements lie where its strides say.
class View {
 public:
  View(const Launch& c, int64_t heads, int64_t rows, int64_t dim, bool input)
      : batch_(c.batch), heads_(heads), rows_(rows), dim_(dim), array_(allocate(c, input), c.rim) {}

  const int64_t* stride() const { return stride_; }
  float* base() { return array_.data() + origin_; }
  float* row(int64_t b, int64_t h, int64_t r) { return base() + b * stride_[0] + h * stride_[1] + r * stride_[2]; }
  const float* row(int64_t b, int64_t h, int64_t r) const { return const_cast<View*>(this)->row(b, h, r); }
  GuardedArray<float>& array() { return array_; }
  const GuardedArray<float>& array() const { return array_; }
  void fill_normal(std::mt19937_64& random) {
    std::normal_distribution<float> normal;
    for (float& x : array_) x = normal(random);
  }

 private:
  /// Sets strides and origin; returns how many elements the view spans.
  size_t allocate(const Launch& c, bool input) {
    int64_t row = dim_;
    if (c.layout == Layout::PaddedRows) row = dim_ + 3;
    stride_[2] = row, stride_[1] = rows_ * row, stride_[0] = heads_ * rows_ * row;
    if (c.layout == Layout::TokensFirst || c.layout == Layout::Packed) {
      const int64_t token =
          c.layout == Layout::Packed ? c.heads * c.head_dim + c.kv_heads * (c.head_dim + c.value_dim) : heads_ * row;
      stride_[1] = row, stride_[2] = std::max(token, heads_ * row), stride_[0] = rows_ * stride_[2];
    }
    if (c.layout == Layout::Reversed) stride_[2] = -row;
    if (c.layout == Layout::Shared && input) stride_[0] = 0;
    if (batch_ * heads_ * rows_ == 0) return 0;
    const int64_t extents[] = {batch_, heads_, rows_};
    int64_t low = 0, high = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const int64_t reach = (extents[axis] - 1) * stride_[axis];
      low += std::min<int64_t>(reach, 0), high += std::max<int64_t>(reach, 0);
    }
    origin_ = -low;
    return static_cast<size_t>(high - low + dim_);
  }

  int64_t batch_, heads_, rows_, dim_, stride_[3] = {}, origin_ = 0;
  GuardedArray<float> array_;
};

/// Owns everything `args` points to. Inputs are N(0, 1) with the softmax scale 1 / sqrt(head_dim); outputs hold kUntouched.
class LaunchData {
 public:
  static constexpr float kUntouched = -12345.0f;

  explicit LaunchData(const Launch& c, bool wants_lse = true)
      : q(c, c.heads, c.sq, c.head_dim, false),
        k(c, c.kv_heads, c.sk, c.head_dim, true),
        v(c, c.kv_heads, c.sk, c.value_dim, true),
        o(c, c.heads, c.sq, c.value_dim, false),
        lse(wants_lse ? static_cast<size_t>(c.batch * c.heads * c.sq) : 0, c.rim),
        launch_(c),
        ints_(c.ints.size(), c.rim),
        reals_(c.reals.size(), c.rim) {
    std::mt19937_64 random(c.seed);
    for (View* input : {&q, &k, &v}) input->fill_normal(random);
    std::copy(c.ints.begin(), c.ints.end(), ints_.begin());
    std::copy(c.reals.begin(), c.reals.end(), reals_.begin());
    args.q = q.base(), args.k = k.base(), args.v = v.base(), args.o = o.base(), args.lse = wants_lse ? lse.data() : nullptr;
    args.batch = c.batch, args.heads = c.heads, args.kv_heads = c.kv_heads, args.sq = c.sq, args.sk = c.sk;
    std::copy_n(q.stride(), 3, args.q_stride), std::copy_n(k.stride(), 3, args.k_stride);
    std::copy_n(v.stride(), 3, args.v_stride), std::copy_n(o.stride(), 3, args.o_stride);
    args.int_params = ints_.data(), args.real_params = reals_.data();
    args.scale = 1 / std::sqrt(static_cast<double>(c.head_dim));
    clear();
  }

  void clear() {
    std::fill(o.array().begin(), o.array().end(), kUntouched);
    std::fill(lse.begin(), lse.end(), kUntouched);
  }
  /// What a kernel stored, [batch, heads, sq, value_dim] dense and LSE behind it.
  std::vector<float> results() const {
    std::vector<float> all;
    each_row(
        [&](int64_t b, int64_t h, int64_t r) { all.insert(all.end(), o.row(b, h, r), o.row(b, h, r) + launch_.value_dim); });
    all.insert(all.end(), lse.begin(), lse.end());
    return all;
  }
  /// True when nothing was stored beside the rows of o.
  bool gaps_untouched() const {
    std::vector<bool> stored(o.array().size());
    each_row([&](int64_t b, int64_t h, int64_t r) {
      const auto first = o.row(b, h, r) - o.array().data();
      std::fill_n(stored.begin() + first, launch_.value_dim, true);
    });
    for (size_t i = 0; i < stored.size(); ++i) {
      if (!stored[i] && o.array()[i] != kUntouched) return false;
    }
    return true;
  }
  template <typename F>
  void each_row(const F& visit) const {
    for (int64_t b = 0; b < launch_.batch; ++b) {
      for (int64_t h = 0; h < launch_.heads; ++h) {
        for (int64_t r = 0; r < launch_.sq; ++r) visit(b, h, r);
      }
    }
  }
  const Launch& launch() const { return launch_; }

  View q, k, v, o;
  GuardedArray<float> lse;
  AttentionArgs args;

 private:
  Launch launch_;
  GuardedArray<int64_t> ints_;
  GuardedArray<double> reals_;
};

/// Infinities and NaN must be alike; finite values within `tolerance`.
inline bool close(double expected, double actual, double tolerance) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  return expected == actual || std::abs(expected - actual) <= tolerance;
}

/// The first difference from `expected`, or empty. LSE is held to the bar of O, relative where it is large.
inline std::string difference(const reference::AttentionResult& expected, const LaunchData& data, double tolerance) {
  const int64_t value_dim = data.launch().value_dim;
  std::string found;
  size_t index = 0;
  data.each_row([&](int64_t b, int64_t h, int64_t r) {
    const std::string place = fmt::format("[{}, {}, {}]", b, h, r);
    const float* row = data.o.row(b, h, r);
    for (int64_t d = 0; d < value_dim && found.empty(); ++d) {
      const double e = expected.o[index * static_cast<size_t>(value_dim) + static_cast<size_t>(d)], a = row[d];
      if (!close(e, a, tolerance)) found = fmt::format("O{} dim {}: expected {}, got {} (bar {})", place, d, e, a, tolerance);
    }
    if (data.lse.size() > 0 && found.empty()) {
      const double e = expected.lse[index], a = data.lse[index];
      if (!close(e, a, tolerance * std::max(1.0, std::abs(e))))
        found = fmt::format("LSE{}: expected {}, got {} (bar {})", place, e, a, tolerance);
    }
    ++index;
  });
  if (found.empty() && !data.gaps_untouched()) found = "something was stored between the rows of O";
  return found;
}

/// The accuracy bar of float32 attention on O for inputs N(0, 1).
inline double accuracy_bar(int64_t head_dim) { return 2e-6 * std::sqrt(static_cast<double>(head_dim)); }

}  // namespace heddle::test
