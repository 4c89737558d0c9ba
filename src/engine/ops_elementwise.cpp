#include <fmt/format.h>

#include <cmath>

#include "heddle/error.h"
#include "src/engine/op_run.h"
#include "src/engine/parallel_for.h"
#include "src/engine/strided_copy.h"

namespace heddle::engine {
namespace {

constexpr int64_t kElementsAtOnce = 1 << 13;

template <typename T, typename F>
Array map_one(const OpRun& run, F f) {
  Array out = run.output(run.dtype());
  const T* x = data_of<T>(run.inputs[0]);
  T* y = data_of<T>(out);
  parallel_for(run.pool, out.view.elements(), kElementsAtOnce, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) y[i] = f(x[i]);
  });
  return out;
}

template <typename F>
Arrays map_real(const OpRun& run, F f) {
  return {by_real(run.dtype(), [&](auto type) { return map_one<decltype(type)>(run, f); })};
}

/// One row of the output; a stride is 0 where the operand is broadcast along it.
template <typename T, typename F>
void map_row(const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* out, int64_t width, F f) {
  if (a_stride == 1 && b_stride == 1) {
    for (int64_t i = 0; i < width; ++i) out[i] = f(a[i], b[i]);
  } else {
    for (int64_t i = 0; i < width; ++i) out[i] = f(a[i * a_stride], b[i * b_stride]);
  }
}

template <typename T, typename F>
Array map_two(const OpRun& run, F f) {
  Array out = run.output(run.dtype());
  const int64_t count = out.view.elements();
  if (count == 0) return out;
  const std::vector<int64_t>& shape = out.view.shape;
  const Tensor a = broadcast_view(run.inputs[0].view, shape), b = broadcast_view(run.inputs[1].view, shape);
  const int64_t width = shape.empty() ? 1 : shape.back(), a_stride = shape.empty() ? 0 : a.strides.back(),
                b_stride = shape.empty() ? 0 : b.strides.back();
  T* y = data_of<T>(out);
  parallel_for(run.pool, count / width, std::max<int64_t>(1, kElementsAtOnce / width), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      map_row(static_cast<const T*>(a.data) + row_offset(a, row), a_stride, static_cast<const T*>(b.data) + row_offset(b, row),
              b_stride, y + row * width, width, f);
    }
  });
  return out;
}

/// F gets and returns any element type; integers are computed as unsigned, so that they wrap.
template <typename F>
Arrays map_pair(const OpRun& run, F f) {
  return {by_dtype(run.dtype(), [&](auto type) {
    using T = decltype(type);
    return map_two<T>(run, [f](T a, T b) {
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
      } else {
        return f(a, b);
      }
    });
  })};
}

template <typename T>
T divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) throw UserError("an integer is divided by zero");
    return b == -1 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a)) : a / b;
  } else {
    return a / b;
  }
}

template <typename T>
constexpr bool kHalf = std::is_same_v<T, support::BFloat16> || std::is_same_v<T, support::Float16>;

template <typename From, typename To>
To converted(From value) {
  if constexpr (kHalf<From>) return converted<float, To>(value);
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return 0;
    constexpr double kLimit = sizeof(To) == 4 ? 2147483648.0 : 9223372036854775808.0;
    if (value >= kLimit) return std::numeric_limits<To>::max();
    if (value < -kLimit) return std::numeric_limits<To>::min();
  }
  return static_cast<To>(value);
}

/// `value` as the graph's type holds it, in float64.
template <typename From>
double held(From value, DType dtype) {
  if (dtype == DType::BFloat16) return static_cast<float>(converted<From, support::BFloat16>(value));
  return static_cast<float>(converted<From, support::Float16>(value));
}

}  // namespace

Arrays evaluate_Add(const OpRun& run) {
  return map_pair(run, [](auto a, auto b) { return a + b; });
}

Arrays evaluate_Sub(const OpRun& run) {
  return map_pair(run, [](auto a, auto b) { return a - b; });
}

Arrays evaluate_Mul(const OpRun& run) {
  return map_pair(run, [](auto a, auto b) { return a * b; });
}

Arrays evaluate_Div(const OpRun& run) {
  return {by_dtype(run.dtype(), [&](auto type) { return map_two<decltype(type)>(run, divide<decltype(type)>); })};
}

Arrays evaluate_Neg(const OpRun& run) {
  return {by_dtype(run.dtype(), [&](auto type) {
    using T = decltype(type);
    return map_one<T>(run, [](T x) {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
      } else {
        return -x;
      }
    });
  })};
}

Arrays evaluate_Relu(const OpRun& run) {
  return map_real(run, [](auto x) { return x < 0 ? decltype(x)(0) : x; });
}

Arrays evaluate_Sigmoid(const OpRun& run) {
  return map_real(run, [](auto x) { return 1 / (1 + std::exp(-x)); });
}

Arrays evaluate_Tanh(const OpRun& run) {
  return map_real(run, [](auto x) { return std::tanh(x); });
}

Arrays evaluate_Gelu(const OpRun& run) {
  if (run.node.text("approximate", "none") == "tanh") {
    return map_real(run, [](auto x) {
      using T = decltype(x);
      return T(0.5) * x * (1 + std::tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)));
    });
  }
  return map_real(run, [](auto x) {
    using T = decltype(x);
    return T(0.5) * x * (1 + std::erf(x * T(0.7071067811865476)));
  });
}

Arrays evaluate_Cast(const OpRun& run) {
  DType to = parse_dtype(run.node.text("to", ""));
  const DType graph_type = to;
  if (support::is_operand_type(to) && run.reference) to = DType::Float64;
  const bool rounds = run.reference && graph_type != DType::Float32 && to == DType::Float64;
  Array out = run.output(to);
  by_dtype(run.dtype(), [&](auto from_type) {
    by_dtype(to, [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      const From* x = data_of<From>(run.inputs[0]);
      To* y = data_of<To>(out);
      parallel_for(run.pool, out.view.elements(), kElementsAtOnce, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) y[i] = rounds ? converted<double, To>(held(x[i], graph_type)) : converted<From, To>(x[i]);
      });
    });
  });
  return {out};
}

}  // namespace heddle::engine
