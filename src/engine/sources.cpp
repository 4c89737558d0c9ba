#include "src/engine/sources.h"

#include <algorithm>
#include <cmath>

#include "heddle/error.h"
#include "src/engine/parallel_for.h"
#include "src/support/half.h"

namespace heddle::engine {
namespace {

using ir::Source;

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15u;
constexpr int64_t kBlock = 1 << 14;

/// The case files' generator as a stream.
class Stream {
 public:
  explicit Stream(uint64_t position) : state_((position + 1) * kGolden) {}
  uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }

 private:
  uint64_t state_;
};

uint64_t word(uint64_t seed, int64_t element, int index) {
  uint64_t z = seed + (static_cast<uint64_t>(element) * 4 + index + 1) * kGolden;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double uniform(uint64_t seed, int64_t element) { return static_cast<double>(word(seed, element, 0) >> 40) / 8388608.0 - 1.0; }

double normal(uint64_t seed, int64_t element) {
  int64_t sum = 0;
  for (int index = 0; index < 4; ++index) {
    for (uint64_t rest = word(seed, element, index); rest != 0; rest >>= 16) sum += static_cast<int64_t>(rest & 0xFFFF);
  }
  constexpr double kVariance = 16 * (65536.0 * 65536.0 - 1) / 12;
  return static_cast<double>(sum - 16 * 65535 / 2) / std::sqrt(kVariance);
}

template <typename T, typename At>
void fill_at(T* data, int64_t count, runtime::ThreadPool& pool, At at) {
  parallel_for(pool, count, kBlock, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) data[i] = static_cast<T>(at(i));
  });
}

void fill_reals(const Source& source, float* data, int64_t count, runtime::ThreadPool& pool) {
  Stream stream(source.seed);
  switch (source.kind) {
    case Source::Kind::Stream:
      for (int64_t i = 0; i < count; ++i) {
        data[i] = static_cast<float>((static_cast<double>(stream.next()) / 2147483648.0 - 0.5) * source.scale + source.offset);
      }
      return;
    case Source::Kind::Values:
      return fill_at(data, count, pool, [&](int64_t i) { return source.reals[i]; });
    case Source::Kind::Normal:
      return fill_at(data, count, pool, [&](int64_t i) { return normal(source.seed, i) * source.scale; });
    case Source::Kind::Uniform:
      return fill_at(data, count, pool, [&](int64_t i) { return uniform(source.seed, i) * source.scale; });
    case Source::Kind::Constant:
      return fill_at(data, count, pool, [&](int64_t) { return source.scale; });
    default:
      throw InternalError("sources", "a float32 tensor has an integer source");
  }
}

template <typename T>
void fill_integers(const Source& source, T* data, int64_t count, runtime::ThreadPool& pool) {
  Stream stream(source.seed);
  switch (source.kind) {
    case Source::Kind::Modulo:
      for (int64_t i = 0; i < count; ++i)
        data[i] = static_cast<T>((stream.next() * static_cast<uint64_t>(source.integer)) >> 31);
      return;
    case Source::Kind::Iota:
      return fill_at(data, count, pool, [&](int64_t i) { return source.integer + i; });
    case Source::Kind::Values:
      return fill_at(data, count, pool, [&](int64_t i) { return source.integers[i]; });
    case Source::Kind::Bytes:
      return fill_at(data, count, pool, [&](int64_t i) { return static_cast<unsigned char>(source.bytes[i]); });
    case Source::Kind::Constant:
      return fill_at(data, count, pool, [&](int64_t) { return source.integer; });
    default:
      throw InternalError("sources", "an integer tensor has a real source");
  }
}

/// The reals of the source, rounded to the array's type.
void fill_rounded(const Source& source, Array& array, runtime::ThreadPool& pool) {
  std::vector<float> reals(static_cast<size_t>(array.view.elements()));
  fill_reals(source, reals.data(), array.view.elements(), pool);
  for (size_t i = 0; i < reals.size(); ++i) support::set_element(array.view.dtype, array.view.data, static_cast<int64_t>(i), reals[i]);
}

}  // namespace

Array document_ids(const std::vector<ir::FileUse>& files, const ir::TensorType& type) {
  Array array = Array::make(type.shape, type.dtype);
  const int64_t count = array.view.elements();
  const auto fill = [&](auto* ids) {
    int64_t at = 0;
    for (size_t file = 0; file < files.size(); ++file) {
      const int64_t end = std::min(count, at + files[file].used);
      std::fill(ids + at, ids + end, static_cast<std::remove_pointer_t<decltype(ids)>>(file));
      at = end;
    }
    std::fill(ids + at, ids + count, 0);
  };
  type.dtype == DType::Int32 ? fill(static_cast<int32_t*>(array.view.data)) : fill(static_cast<int64_t*>(array.view.data));
  return array;
}

Array generate(const Source& source, const ir::TensorType& type, runtime::ThreadPool& pool) {
  if (source.kind == Source::Kind::Documents) return document_ids(source.files, type);
  Array array = Array::make(type.shape, type.dtype);
  const int64_t count = array.view.elements();
  switch (type.dtype) {
    case DType::Float32:
      fill_reals(source, static_cast<float*>(array.view.data), count, pool);
      break;
    case DType::BFloat16:
    case DType::Float16:
      fill_rounded(source, array, pool);
      break;
    case DType::Int32:
      fill_integers(source, static_cast<int32_t*>(array.view.data), count, pool);
      break;
    case DType::Int64:
      fill_integers(source, static_cast<int64_t*>(array.view.data), count, pool);
      break;
    default:
      throw InternalError("sources", "no generator for " + to_string(type.dtype));
  }
  return array;
}

}  // namespace heddle::engine
