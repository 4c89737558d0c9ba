#include "src/engine/launch_arguments.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include "src/engine/attention.h"
#include "src/engine/overlap.h"
#include "src/ir/attention_problem.h"
#include "src/support/half.h"
#include "src/support/text.h"

namespace heddle::engine {

namespace {

constexpr const char *kInts = "LaunchOptions::ints", *kReals = "LaunchOptions::reals";

enum Axis { kBatch, kHeads, kRows, kDim };

/// An argument with the name the caller knows it by.
struct Named {
  const char* name;
  const Tensor& view;
};

std::string text(const Named& one) { return fmt::format("{} [{}]", one.name, fmt::join(one.view.shape, ", ")); }

void check_dtype(const Named& one, DType dtype) {
  if (one.view.dtype == dtype) return;
  const bool other = support::is_operand_type(one.view.dtype);
  throw UserError(fmt::format("{} is {}; this kernel takes {}", one.name, to_string(one.view.dtype), to_string(dtype)),
                  other ? "compile with AttentionSpec::dtype as q, k, v and o have it" : "");
}

void check_form(const Named& one, int64_t rank, const char* layout) {
  const Tensor& view = one.view;
  if (view.rank() != rank) {
    throw UserError(fmt::format("{} has {} dimensions; expected {}: {}", text(one), view.rank(), rank, layout));
  }
  if (view.strides.size() != view.shape.size()) {
    throw UserError(fmt::format("{} has {} strides for {} dimensions", text(one), view.strides.size(), view.rank()));
  }
  if (std::ranges::any_of(view.shape, [](int64_t dim) { return dim < 0; })) {
    throw UserError(fmt::format("{} has a negative dimension", text(one)));
  }
}

/// Elements and the distance from the first to the last byte must be below 2^63.
void check_size(const Named& one) {
  const Tensor& view = one.view;
  if (std::ranges::find(view.shape, 0) != view.shape.end()) return;
  int64_t elements = 1;
  __int128 reach = 0;
  bool overflow = false;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    overflow |= __builtin_mul_overflow(elements, view.shape[i], &elements);
    const __int128 stride = view.strides[i];
    reach += (view.shape[i] - 1) * (stride < 0 ? -stride : stride);
    overflow |= reach > INT64_MAX / size_of(view.dtype);
  }
  if (overflow) {
    throw UserError(fmt::format("{} with strides [{}] is too large: its sizes pass 2^63", text(one), fmt::join(view.strides, ", ")));
  }
}

void check_memory(const Named& one) {
  const Tensor& view = one.view;
  if (std::ranges::find(view.shape, 0) != view.shape.end()) return;
  if (!view.data) throw UserError(fmt::format("{} is a null pointer", text(one)));
  if (reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(size_of(view.dtype)) != 0) {
    throw UserError(fmt::format("{} is at {}, which is no multiple of {} bytes", text(one), view.data, size_of(view.dtype)));
  }
}

void check_contiguous_rows(const Named& one) {
  if (one.view.shape[kDim] > 1 && one.view.strides[kDim] != 1) {
    throw UserError(fmt::format("the last dimension of {} has stride {}; it must be contiguous (stride 1)", text(one),
                                one.view.strides[kDim]));
  }
}

void check_same(const Named& a, const Named& b, Axis axis, const char* what) {
  if (a.view.shape[axis] == b.view.shape[axis]) return;
  throw UserError(fmt::format("{} and {} disagree on the {}: {} and {}", text(a), text(b), what, a.view.shape[axis], b.view.shape[axis]));
}

void check_head_dim(const Named& one, int64_t expected, const char* what) {
  if (one.view.shape[kDim] == expected) return;
  throw UserError(fmt::format("{} has {} {}; this kernel is compiled for {}", text(one), what, one.view.shape[kDim], expected));
}

void check_groups(const Named& q, const Named& k) {
  const int64_t heads = q.view.shape[kHeads], groups = k.view.shape[kHeads];
  if (heads == 0 || (groups != 0 && heads % groups == 0)) return;
  throw UserError(fmt::format("{} and {}: {} query heads are no multiple of {} key and value heads", text(q), text(k), heads, groups));
}

void check_length(const Named& one, const LaunchRecord& record) {
  if (one.view.shape[kRows] <= record.max_positions) return;
  throw UserError(fmt::format("{} has {} rows; kernels take at most {}", text(one), one.view.shape[kRows], record.max_positions));
}

void check_shapes(const Named& q, const Named& k, const Named& v, const Named& o, bool paged, const LaunchRecord& record) {
  check_head_dim(q, record.head_dim, "head dim");
  check_head_dim(k, record.head_dim, "head dim");
  check_head_dim(v, record.value_dim, "value dim");
  check_head_dim(o, record.value_dim, "value dim");
  check_same(q, o, kBatch, "batch");
  if (!paged) check_same(q, k, kBatch, "batch");
  check_same(k, v, kBatch, paged ? "pages" : "batch");
  check_same(k, v, kHeads, "heads");
  check_same(q, o, kHeads, "heads");
  check_same(q, o, kRows, "query rows");
  check_same(k, v, kRows, "key rows");
  check_groups(q, k);
  check_length(q, record);
  check_length(k, record);
}

/// An output of float32 with the batches, heads and rows of q.
void check_rows_of(const Named& one, const Named& q, int64_t rank, const char* layout) {
  check_form(one, rank, layout);
  if (one.view.dtype != DType::Float32) throw UserError(fmt::format("{} is {}; expected float32", one.name, to_string(one.view.dtype)));
  check_size(one);
  for (const Axis axis : {kBatch, kHeads, kRows}) {
    if (one.view.shape[axis] != q.view.shape[axis]) throw UserError(fmt::format("{} does not fit {}; expected {}", text(one), text(q), layout));
  }
}

void check_lse(const Named& lse, const Named& q) {
  check_rows_of(lse, q, 3, "[batch, heads, query rows]");
  check_memory(lse);
  if (!lse.view.contiguous()) {
    throw UserError(fmt::format("{} has strides [{}]; it must be dense", text(lse), fmt::join(lse.view.strides, ", ")));
  }
}

void check_lse_given(const Tensor* lse, bool wanted) {
  if (wanted && !lse) throw UserError("lse is missing: this kernel writes it", "pass a tensor, or compile with AttentionSpec::lse = false");
  if (!wanted && lse) throw UserError("lse is given, but this kernel does not write it", "compile with AttentionSpec::lse = true");
}

void check_probabilities_given(const Tensor* given, bool wanted) {
  if (wanted && !given) {
    throw UserError("the probabilities are missing: this kernel writes them",
                    "set LaunchOptions::probabilities, or compile with AttentionSpec::probabilities = false");
  }
  if (!wanted && given) {
    throw UserError("probabilities are given, but this kernel does not write them", "compile with AttentionSpec::probabilities = true");
  }
}

void check_probabilities(const Named& p, const Named& q) {
  check_rows_of(p, q, 4, "[batch, heads, query rows, slots]");
  check_contiguous_rows(p);
  check_memory(p);
  if (overlaps_itself(p.view)) throw UserError(fmt::format("rows of {} overlap each other", text(p)));
}

void check_apart(const Named& output, const Named& other) {
  if (share_memory(output.view, other.view)) {
    throw UserError(fmt::format("the output {} overlaps {} in memory", text(output), text(other)), "give the output memory of its own");
  }
}

void check_kind(const std::string& name, const char* given, const std::vector<std::string>& others, const char* other) {
  if (!std::ranges::binary_search(others, name)) return;
  throw UserError(fmt::format("the parameter '{}' is given in {}; it belongs into {}", name, given, other));
}

[[noreturn]] void fail_unknown(const std::string& name, const LaunchRecord& record) {
  std::vector<std::string> known = record.int_params;
  known.insert(known.end(), record.real_params.begin(), record.real_params.end());
  const std::string near = support::nearest(name, known);
  throw UserError(fmt::format("unknown parameter {}; this kernel takes {}", support::quote(name),
                              known.empty() ? "none" : support::list(known)),
                  near.empty() ? "" : fmt::format("did you mean '{}'?", near));
}

/// Copies the values in the order of `names` (sorted), which must be exactly the given ones.
template <typename T>
void bind(const std::map<std::string, T>& given, const std::vector<std::string>& names, const LaunchRecord& record,
          const char* field, std::vector<T>& values) {
  values.clear();
  for (const std::string& name : names) {
    const auto found = given.find(name);
    if (found == given.end()) {
      throw UserError(fmt::format("the parameter '{}' has no value", name), fmt::format("give it in {}", field));
    }
    values.push_back(found->second);
  }
  if (given.size() == names.size()) return;
  for (const auto& [name, value] : given) {
    if (!std::ranges::binary_search(names, name)) fail_unknown(name, record);
  }
}

void check_magnitude(const std::string& name, int64_t value) {
  constexpr int64_t kMost = ir::kMaxParameter;
  if (value >= -kMost && value <= kMost) return;
  throw UserError(fmt::format("the dynamic parameter {} is {}; expected {} to {}", name, value, -kMost, kMost));
}

void check_bound(const LaunchRecord& record, const std::vector<int64_t>& bound, const std::vector<int64_t>& given) {
  for (size_t i = 0; i < bound.size(); ++i) {
    if (bound[i] == given[i]) continue;
    throw UserError(fmt::format("the binding was made for {} = {}, but the launch gives {}", record.int_params[i], bound[i], given[i]),
                    "bind the tables with this value");
  }
}

}  // namespace

void check_tensors(const LaunchTensors& tensors, const LaunchRecord& record) {
  const Named q{"q", tensors.q}, k{"k", tensors.k}, v{"v", tensors.v}, o{"o", tensors.o};
  for (const Named& one : {q, k, v, o}) check_form(one, 4, "[batch, heads, rows, head dim]");
  for (const Named& one : {q, k, v, o}) check_dtype(one, record.dtype);
  for (const Named& one : {q, k, v, o}) check_size(one);
  check_lse_given(tensors.lse, record.lse);
  check_probabilities_given(tensors.probabilities, record.probabilities);
  check_shapes(q, k, v, o, tensors.paged != nullptr, record);
  for (const Named& one : {q, k, v, o}) check_contiguous_rows(one);
  for (const Named& one : {q, k, v, o}) check_memory(one);
  if (overlaps_itself(o.view)) {
    throw UserError(fmt::format("rows of the output {} with strides [{}] overlap each other", text(o), fmt::join(o.view.strides, ", ")));
  }
  for (const Named& input : {q, k, v}) check_apart(o, input);
  if (tensors.lse) {
    const Named lse{"lse", *tensors.lse};
    check_lse(lse, q);
    for (const Named& other : {q, k, v, o}) check_apart(lse, other);
  }
  if (!tensors.probabilities) return;
  const Named p{"probabilities", *tensors.probabilities};
  check_probabilities(p, q);
  for (const Named& other : {q, k, v, o}) check_apart(p, other);
  if (tensors.lse) check_apart(p, {"lse", *tensors.lse});
}

void check_sizes(const AcsrSizes& sizes, const LaunchRecord& record) {
  const auto check = [](const char* name, int64_t size, int64_t most) {
    if (size < 0 || size > most) throw UserError(fmt::format("{} is {}; expected 0 to {}", name, size, most));
  };
  check("batch", sizes.batch, INT32_MAX), check("heads", sizes.heads, INT32_MAX), check("kv_heads", sizes.kv_heads, INT32_MAX);
  check("sq", sizes.sq, record.max_positions), check("sk", sizes.sk, record.max_positions);
}

void bind_ints(const std::map<std::string, int64_t>& given, const char* field, const LaunchRecord& record, std::vector<int64_t>& values) {
  for (const auto& [name, value] : given) check_kind(name, field, record.real_params, kReals);
  for (const auto& [name, value] : given) check_magnitude(name, value);
  bind(given, record.int_params, record, field, values);
}

void bind_parameters(const LaunchOptions& options, const LaunchRecord& record, const Binding* binding, ParameterValues& values) {
  for (const auto& [name, value] : options.reals) check_kind(name, kReals, record.int_params, kInts);
  if (binding && options.ints.empty()) {
    values.ints = binding->state()->ints;
  } else {
    bind_ints(options.ints, kInts, record, values.ints);
    if (binding) check_bound(record, binding->state()->ints, values.ints);
  }
  bind(options.reals, record.real_params, record, kReals, values.reals);
  if (options.scale && !std::isfinite(*options.scale)) throw UserError(fmt::format("the scale is {}; expected a finite number", *options.scale));
}

void add_probabilities(const Tensor& probabilities, int64_t width, AttentionArgs& args) {
  const bool empty = args.batch == 0 || args.heads == 0 || args.sq == 0;
  if (!empty && probabilities.shape[kDim] < width) {
    throw UserError(fmt::format("probabilities [{}] have {} slots a row; the longest row of this launch has {} allowed keys",
                                fmt::join(probabilities.shape, ", "), probabilities.shape[kDim], width),
                    "allocate AcsrLayout::width() slots a row");
  }
  args.values = static_cast<float*>(probabilities.data);
  std::copy_n(probabilities.strides.begin(), 3, args.values_stride);
  args.values_width = probabilities.shape[kDim];
}

AttentionArgs arguments(const LaunchTensors& tensors, const LaunchRecord& record, const LaunchOptions& options,
                        const ParameterValues& values) {
  AttentionArgs args;
  args.q = tensors.q.data, args.k = tensors.k.data, args.v = tensors.v.data, args.o = tensors.o.data;
  args.lse = tensors.lse ? static_cast<float*>(tensors.lse->data) : nullptr;
  args.batch = tensors.q.shape[kBatch], args.heads = tensors.q.shape[kHeads], args.kv_heads = tensors.k.shape[kHeads];
  args.sq = tensors.q.shape[kRows], args.sk = tensors.sk();
  if (tensors.paged) args.split = &tensors.paged->split;
  std::copy_n(tensors.q.strides.begin(), 3, args.q_stride);
  std::copy_n(tensors.k.strides.begin(), 3, args.k_stride);
  std::copy_n(tensors.v.strides.begin(), 3, args.v_stride);
  std::copy_n(tensors.o.strides.begin(), 3, args.o_stride);
  args.int_params = values.ints.data();
  args.real_params = values.reals.data();
  args.scale = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(record.head_dim)));
  return args;
}

}  // namespace heddle::engine
