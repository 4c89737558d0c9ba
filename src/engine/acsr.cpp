#include "src/engine/acsr.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/parser.h"
#include "heddle/error.h"
#include "src/engine/attention.h"
#include "src/engine/launch_arguments.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"

namespace heddle {

namespace {

constexpr const char* kNames[] = {"q", "b", "h", "B", "H", "Hkv", "Sq", "Sk"};
enum Name : size_t { kQuery, kBatch, kHead };

ir::Expr parsed(const std::string& text, const std::vector<std::string>& names) {
  Parameters leaves;
  for (const std::string& name : names) leaves[name] = Dynamic{false};
  return dsl::parse_formula(text, {ir::Type::Int, leaves, "compressed rows"});
}

struct Progression {
  ir::CompiledExpr offset, count;
  int64_t stride;
};

void check_tensor(const char* name, const Tensor& view, const std::vector<int64_t>& shape, int64_t last) {
  const bool fits = view.rank() == 4 && view.strides.size() == 4 && std::equal(shape.begin(), shape.end(), view.shape.begin()) && view.shape[3] >= last;
  if (!fits) {
    throw UserError(fmt::format("{} [{}] does not fit; expected [{}, {}]", name, fmt::join(view.shape, ", "), fmt::join(shape, ", "), last));
  }
  if (view.dtype != DType::Float32) throw UserError(fmt::format("{} is {}; expected float32", name, to_string(view.dtype)));
  if (!view.data && std::ranges::find(view.shape, 0) == view.shape.end()) throw UserError(fmt::format("{} is a null pointer", name));
}

float* row_of(const Tensor& view, int64_t b, int64_t h, int64_t q) {
  return static_cast<float*>(view.data) + b * view.strides[0] + h * view.strides[1] + q * view.strides[2];
}

}  // namespace

struct AcsrLayout::State {
  AcsrSizes sizes;
  std::vector<int64_t> leaves;  ///< Values of the formulas' names; q, b and h come first.
  std::vector<Progression> progressions;
  bool by_batch = false, by_head = false;
  int64_t width = 1;

  std::vector<int64_t> at(int64_t q, int64_t b, int64_t h) const {
    std::vector<int64_t> names = leaves;
    names[kQuery] = q, names[kBatch] = b, names[kHead] = h;
    return names;
  }
  int64_t count(const std::vector<int64_t>& names) const {
    int64_t sum = 0;
    for (const Progression& p : progressions) sum += p.count.run_int(names.data());
    return sum;
  }
  /// visit(slot, key) for the row's slots in order.
  void each(const std::vector<int64_t>& names, auto visit) const {
    int64_t slot = 0;
    for (const Progression& p : progressions) {
      const int64_t count = p.count.run_int(names.data()), first = count > 0 ? p.offset.run_int(names.data()) : 0;
      for (int64_t i = 0; i < count; ++i) visit(slot++, first + i * p.stride);
    }
  }
  void each_row(auto visit) const {
    for (int64_t b = 0; b < sizes.batch; ++b) {
      for (int64_t h = 0; h < sizes.heads; ++h) {
        for (int64_t q = 0; q < sizes.sq; ++q) visit(b, h, q);
      }
    }
  }
  void check(int64_t q, int64_t b, int64_t h) const {
    const bool inside = q >= 0 && q < sizes.sq && b >= 0 && b < sizes.batch && h >= 0 && h < sizes.heads;
    if (inside) return;
    throw UserError(fmt::format("row [{}, {}, {}] is outside of the layout's [{}, {}, {}]", b, h, q, sizes.batch, sizes.heads, sizes.sq));
  }
  void measure() {
    std::vector<int64_t> names = leaves;
    for (int64_t b = 0; b < (by_batch ? sizes.batch : 1); ++b) {
      for (int64_t h = 0; h < (by_head ? sizes.heads : 1); ++h) {
        names[kBatch] = b, names[kHead] = h;
        for (int64_t& q = names[kQuery] = 0; q < sizes.sq; ++q) width = std::max(width, count(names));
      }
    }
  }
};

int64_t AcsrLayout::width() const { return state_->width; }

int64_t AcsrLayout::count(int64_t q, int64_t b, int64_t h) const {
  state_->check(q, b, h);
  return state_->count(state_->at(q, b, h));
}

std::vector<int64_t> AcsrLayout::keys(int64_t q, int64_t b, int64_t h) const {
  state_->check(q, b, h);
  std::vector<int64_t> keys;
  state_->each(state_->at(q, b, h), [&](int64_t, int64_t key) { keys.push_back(key); });
  return keys;
}

void AcsrLayout::to_dense(const Tensor& values, const Tensor& dense) const {
  const AcsrSizes& sizes = state_->sizes;
  const std::vector<int64_t> rows = {sizes.batch, sizes.heads, sizes.sq};
  check_tensor("values", values, rows, state_->width);
  check_tensor("dense", dense, rows, sizes.sk);
  state_->each_row([&](int64_t b, int64_t h, int64_t q) {
    const float* from = row_of(values, b, h, q);
    float* to = row_of(dense, b, h, q);
    for (int64_t k = 0; k < sizes.sk; ++k) to[k * dense.strides[3]] = 0;
    state_->each(state_->at(q, b, h), [&](int64_t slot, int64_t key) { to[key * dense.strides[3]] = from[slot * values.strides[3]]; });
  });
}

namespace engine {

AcsrLayout acsr_layout(const LaunchRecord& record, const AcsrSizes& sizes, const std::vector<int64_t>& ints) {
  check_sizes(sizes, record);
  auto state = std::make_shared<AcsrLayout::State>();
  state->sizes = sizes;
  state->leaves = {0, 0, 0, sizes.batch, sizes.heads, sizes.kv_heads, sizes.sq, sizes.sk};
  state->leaves.insert(state->leaves.end(), ints.begin(), ints.end());
  std::vector<std::string> names(std::begin(kNames), std::end(kNames));
  names.insert(names.end(), record.int_params.begin(), record.int_params.end());
  for (const RowProgression& part : record.row_progressions) {
    const ir::Expr offset = parsed(part.offset, names), count = parsed(part.count, names);
    state->progressions.push_back({ir::CompiledExpr(offset, names), ir::CompiledExpr(count, names), part.stride});
    state->by_batch = state->by_batch || ir::parameters(count).contains("b");
    state->by_head = state->by_head || ir::parameters(count).contains("h");
  }
  state->measure();
  return AcsrLayout(std::move(state));
}

int64_t AcsrWidths::of(const LaunchRecord& record, const AttentionArgs& args) {
  const std::lock_guard lock(mutex_);
  const int64_t sizes[] = {args.batch, args.heads, args.kv_heads, args.sq, args.sk};
  const int64_t* ints = args.int_params;
  const auto count = static_cast<ptrdiff_t>(record.int_params.size());
  const bool same = key_.size() == std::size(sizes) + record.int_params.size() && std::equal(std::begin(sizes), std::end(sizes), key_.begin()) &&
                    std::equal(ints, ints + count, key_.begin() + std::size(sizes));
  if (same) return width_;
  width_ = acsr_layout(record, {args.batch, args.heads, args.kv_heads, args.sq, args.sk, {}}, {ints, ints + count}).width();
  key_.assign(std::begin(sizes), std::end(sizes));
  key_.insert(key_.end(), ints, ints + count);
  return width_;
}

}  // namespace engine
}  // namespace heddle
