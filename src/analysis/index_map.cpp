#include "src/analysis/index_map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "heddle/error.h"

namespace heddle::analysis {
namespace {

int64_t times(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw UserError(fmt::format("index map: {} * {} passes 2^63", a, b), "use smaller sizes");
  return r;
}

int64_t plus(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw UserError(fmt::format("index map: {} + {} passes 2^63", a, b), "use smaller sizes");
  return r;
}

int64_t product(const std::vector<int64_t>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, times);
}

void check_shape(const std::vector<int64_t>& shape) {
  for (int64_t extent : shape)
    if (extent < 0) throw UserError(fmt::format("index map: shape {{{}}} has a negative extent", fmt::join(shape, ", ")));
  product(shape);
}

/// Drops digits that never move and joins neighbours that count through one progression.
Digits normalise(const Digits& digits) {
  Digits out;
  for (const Digit& digit : digits) {
    if (digit.radix == 1) continue;
    if (!out.empty() && out.back().stride == times(digit.stride, digit.radix) && digit.radix > 0) {
      out.back() = {times(out.back().radix, digit.radix), digit.stride};
    } else {
      out.push_back(digit);
    }
  }
  return out;
}

/// Takes digits worth `extent` from the back of `digits` (least significant first); false when a cut does not divide.
bool take(Digits& digits, int64_t extent, Digits& taken) {
  taken.clear();
  while (extent > 1) {
    if (digits.empty()) return false;
    Digit& last = digits.back();
    if (last.radix <= extent && extent % last.radix == 0) {
      extent /= last.radix;
      taken.insert(taken.begin(), last);
      digits.pop_back();
    } else if (last.radix % extent == 0) {
      taken.insert(taken.begin(), {extent, last.stride});
      last = {last.radix / extent, times(last.stride, extent)};
      extent = 1;
    } else {
      return false;
    }
  }
  return true;
}

/// One digit of the outer map while inner digits are laid over it: its weight in the number and how far it is filled.
struct Place {
  Digit digit;
  int64_t weight;
  int64_t filled;
};

std::vector<Place> places_of(const Digits& outer, int64_t number) {
  std::vector<Place> places;
  int64_t weight = 1;
  for (auto digit = outer.rbegin(); digit != outer.rend(); ++digit) {
    places.push_back({*digit, weight, number / weight % digit->radix});
    weight = times(weight, digit->radix);
  }
  return places;
}

/// Writes an inner digit of non-negative stride as digits of the outer map, most significant first; false when it does not line up.
bool lay(Digit inner, std::vector<Place>& places, Digits& out) {
  if (inner.radix == 1) return true;
  if (inner.stride == 0) {
    out.insert(out.begin(), {inner.radix, 0});
    return true;
  }
  for (Place& place : places) {
    if (inner.stride >= place.weight * place.digit.radix) continue;
    if (inner.stride % place.weight != 0) return false;
    const int64_t step = inner.stride / place.weight;
    int64_t radix = inner.radix;
    if (step * (radix - 1) >= place.digit.radix) {
      radix = place.digit.radix / step;
      if (place.digit.radix % step != 0 || inner.radix % radix != 0) return false;
    }
    place.filled += step * (radix - 1);
    if (place.filled >= place.digit.radix) return false;
    out.insert(out.begin(), {radix, times(step, place.digit.stride)});
    if (radix == inner.radix) return true;
    inner = {inner.radix / radix, inner.stride * radix};
  }
  return false;
}

}  // namespace

IndexMap::IndexMap(std::vector<int64_t> shape, std::vector<Digits> dimensions, int64_t base)
    : shape_(std::move(shape)), dimensions_(std::move(dimensions)), base_(base) {
  for (Digits& digits : dimensions_) digits = normalise(digits);
}

IndexMap IndexMap::identity(const std::vector<int64_t>& shape) {
  check_shape(shape);
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = times(strides[i], std::max<int64_t>(shape[i], 1));
  return strided(shape, strides);
}

IndexMap IndexMap::strided(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, int64_t base) {
  check_shape(shape);
  if (shape.size() != strides.size()) {
    throw UserError(fmt::format("index map: {} extents but {} strides", shape.size(), strides.size()));
  }
  std::vector<Digits> dimensions;
  int64_t low = base, high = base;
  for (size_t i = 0; i < shape.size(); ++i) {
    dimensions.push_back({{shape[i], strides[i]}});
    const int64_t reach = times(std::max<int64_t>(shape[i] - 1, 0), strides[i]);
    (reach < 0 ? low : high) = plus(reach < 0 ? low : high, reach);
  }
  return IndexMap(shape, std::move(dimensions), base);
}

int64_t IndexMap::elements() const { return product(shape_); }

int64_t IndexMap::operator()(std::span<const int64_t> x) const {
  int64_t offset = base_;
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    int64_t rest = x[i];
    for (auto digit = dimensions_[i].rbegin(); digit != dimensions_[i].rend(); ++digit) {
      offset += rest % digit->radix * digit->stride;
      rest /= digit->radix;
    }
  }
  return offset;
}

IndexMap IndexMap::transpose(const std::vector<int>& order) const {
  std::vector<int> sorted = order, all(shape_.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) {
    throw UserError(fmt::format("index map: {{{}}} is no permutation of {} dimensions", fmt::join(order, ", "), shape_.size()));
  }
  IndexMap out = *this;
  for (size_t i = 0; i < order.size(); ++i) {
    out.shape_[i] = shape_[order[i]];
    out.dimensions_[i] = dimensions_[order[i]];
  }
  return out;
}

Digits IndexMap::flat_digits() const {
  Digits all;
  for (const Digits& digits : dimensions_) all.insert(all.end(), digits.begin(), digits.end());
  return normalise(all);
}

std::optional<IndexMap> IndexMap::reshape(const std::vector<int64_t>& shape) const {
  check_shape(shape);
  if (product(shape) != elements()) {
    throw UserError(fmt::format("index map: {{{}}} has {} elements, {{{}}} has {}", fmt::join(shape_, ", "), elements(),
                                fmt::join(shape, ", "), product(shape)));
  }
  if (elements() == 0) return strided(shape, std::vector<int64_t>(shape.size(), 0), base_);
  Digits rest = flat_digits();
  std::vector<Digits> dimensions(shape.size());
  for (size_t i = shape.size(); i-- > 0;)
    if (!take(rest, shape[i], dimensions[i])) return std::nullopt;
  return IndexMap(shape, std::move(dimensions), base_);
}

std::optional<IndexMap> IndexMap::slice(size_t dimension, int64_t start, int64_t count, int64_t step) const {
  if (dimension >= shape_.size()) throw UserError(fmt::format("index map: no dimension {} of {}", dimension, shape_.size()));
  const int64_t last = count > 0 ? plus(start, times(count - 1, step)) : start;
  if (count < 0 || (count > 0 && (std::min(start, last) < 0 || std::max(start, last) >= shape_[dimension]))) {
    throw UserError(fmt::format("index map: slice {} + i * {} for {} elements leaves dimension {} of extent {}", start, step, count,
                                dimension, shape_[dimension]));
  }
  IndexMap out = *this;
  out.shape_[dimension] = count;
  if (count == 0) {
    out.dimensions_[dimension] = {{0, 0}};
    return out;
  }
  const IndexMap axis({shape_[dimension]}, {dimensions_[dimension]}, 0);
  const std::optional<IndexMap> moved = compose(axis, strided({count}, {step}, start));
  if (!moved) return std::nullopt;
  out.dimensions_[dimension] = moved->dimensions_[0];
  out.base_ = plus(base_, moved->base_);
  return out;
}

bool IndexMap::one_to_one() const {
  Digits all = flat_digits();
  std::sort(all.begin(), all.end(), [](const Digit& a, const Digit& b) { return std::abs(a.stride) < std::abs(b.stride); });
  int64_t reach = 0;
  for (const Digit& digit : all) {
    if (digit.radix == 0) return true;
    if (std::abs(digit.stride) <= reach) return false;
    reach = plus(reach, times(digit.radix - 1, std::abs(digit.stride)));
  }
  return true;
}

std::optional<IndexMap> IndexMap::inverse() const {
  struct Source { Digit digit; int64_t weight; };
  std::vector<Source> sources;
  const Digits flat = flat_digits();
  int64_t weight = 1;
  for (auto digit = flat.rbegin(); digit != flat.rend(); ++digit) {
    sources.push_back({*digit, weight});
    weight = times(weight, digit->radix);
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.digit.stride > b.digit.stride; });
  Digits digits;
  int64_t expected = elements();
  if (expected == 0) return std::nullopt;
  for (const Source& source : sources) {
    expected /= source.digit.radix;
    if (source.digit.stride != expected) return std::nullopt;
    digits.push_back({source.digit.radix, source.weight});
  }
  return IndexMap({elements()}, {digits}, 0);
}

ContiguousRuns IndexMap::contiguous_runs() const {
  Digits rest = flat_digits();
  int64_t length = 1;
  if (!rest.empty() && rest.back().stride == 1) {
    length = rest.back().radix;
    rest.pop_back();
  }
  int64_t count = 1;
  for (const Digit& digit : rest) count = times(count, digit.radix);
  return {length, IndexMap({count}, {rest}, base_)};
}

std::string IndexMap::print() const {
  std::string text = fmt::format("{{{}}}: base {},", fmt::join(shape_, ", "), base_);
  for (const Digits& digits : dimensions_) {
    std::vector<std::string> parts;
    for (const Digit& digit : digits) parts.push_back(fmt::format("{}:{}", digit.radix, digit.stride));
    text += fmt::format(" [{}]", fmt::join(parts, " "));
  }
  return text;
}

std::optional<IndexMap> compose(const IndexMap& outer, const IndexMap& inner) {
  int64_t first = inner.base_, reach = 0;
  for (const Digits& digits : inner.dimensions_)
    for (const Digit& digit : digits) {
      if (digit.radix == 0) return IndexMap(inner.shape_, inner.dimensions_, outer.base_);
      if (digit.stride < 0) first = plus(first, times(digit.radix - 1, digit.stride));
      reach = plus(reach, times(digit.radix - 1, std::abs(digit.stride)));
    }
  if (first < 0 || plus(first, reach) >= outer.elements()) {
    throw UserError(fmt::format("index map: offsets {} .. {} of the inner map leave the {} elements of the outer map", first,
                                plus(first, reach), outer.elements()));
  }
  std::vector<Place> places = places_of(outer.flat_digits(), first);
  int64_t base = outer.base_;
  for (const Place& place : places) base = plus(base, times(place.filled, place.digit.stride));
  std::vector<Digits> dimensions;
  for (const Digits& digits : inner.dimensions_) {
    Digits& out = dimensions.emplace_back();
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      Digits laid;
      if (!lay({digit->radix, std::abs(digit->stride)}, places, laid)) return std::nullopt;
      for (Digit& part : laid) {  // A digit that runs backwards starts at its far end.
        if (digit->stride >= 0) continue;
        base = plus(base, times(part.radix - 1, part.stride));
        part.stride = -part.stride;
      }
      out.insert(out.begin(), laid.begin(), laid.end());
    }
  }
  return IndexMap(inner.shape_, std::move(dimensions), base);
}

}  // namespace heddle::analysis
