#include "runtime/table_ranges.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

namespace heddle::runtime {

namespace {

constexpr int kStrip = 64;

/// Calls visit(T{}) with the element type. Bool is read as bytes: its ranges become 0 and 1 at the end.
template <typename Visit>
auto with_type(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::Int64: return visit(int64_t{});
    case DType::UInt8: case DType::Bool: return visit(uint8_t{});
    default: return visit(int32_t{});
  }
}

template <typename T>
Interval scan(const void* low, const void* high, int64_t first, int64_t last) {
  const T *lows = static_cast<const T*>(low), *highs = static_cast<const T*>(high);
  T least = lows[first], most = highs[first];
  for (int64_t i = first + 1; i <= last; ++i) least = std::min(least, lows[i]), most = std::max(most, highs[i]);
  return {least, most};
}

/// A whole block.
template <typename T>
Interval scan_block(const T* lows, const T* highs) {
  T least = lows[0], most = highs[0];
  for (int i = 1; i < RangePyramid::kBlock; ++i) {
    least = lows[i] < least ? lows[i] : least;
    most = highs[i] > most ? highs[i] : most;
  }
  return {least, most};
}

/// 64 elements of a row; the constant trip count lets compilers use vectors.
template <typename T>
void take_strip(const T* __restrict row, T* __restrict low, T* __restrict high) {
  for (int j = 0; j < kStrip; ++j) {
    low[j] = row[j] < low[j] ? row[j] : low[j];
    high[j] = row[j] > high[j] ? row[j] : high[j];
  }
}

template <typename T>
void take(const T* row, int64_t size, T* low, T* high) {
  int64_t i = 0;
  for (; i + kStrip <= size; i += kStrip) take_strip(row + i, low + i, high + i);
  for (; i < size; ++i) low[i] = std::min(low[i], row[i]), high[i] = std::max(high[i], row[i]);
}

using Dimensions = std::vector<TableRanges::Dimension>;

/// Calls visit(offset in elements) for every index of the leading dimensions within `box`, all but the last `skip` dimensions.
template <typename Visit>
void each_offset(const Dimensions& order, const Interval* box, size_t skip, Visit visit, size_t d = 0, int64_t offset = 0) {
  if (d + skip == order.size()) return visit(offset);
  for (int64_t i = box[d].low; i <= box[d].high; ++i) each_offset(order, box, skip, visit, d + 1, offset + i * order[d].stride);
}

Interval clamp(Interval index, int64_t extent) {
  return {std::clamp<int64_t>(index.low, 0, extent - 1), std::clamp<int64_t>(index.high, 0, extent - 1)};
}

/// Product of the lengths of `count` ranges, at most `most`.
int64_t volume(const Interval* box, size_t count, int64_t most) {
  int64_t product = 1;
  for (size_t d = 0; d < count; ++d) {
    const int64_t length = box[d].high - box[d].low + 1;
    if (product > most / length) return most;
    product *= length;
  }
  return product;
}

/// The reduction of rows: row pointers are data + offset, elements along a row `stride` apart.
template <typename T>
void reduce_rows(const T* data, const Dimensions& order, const Interval* box, T* low, T* high) {
  const int64_t size = order.back().extent, stride = order.back().stride;
  std::fill(low, low + size, std::numeric_limits<T>::max());
  std::fill(high, high + size, std::numeric_limits<T>::min());
  if (stride == 1) return each_offset(order, box, 1, [&](int64_t offset) { take(data + offset, size, low, high); });
  for (int64_t i = 0; i < size; ++i) {
    each_offset(order, box, 1, [&](int64_t offset) {
      const T value = data[offset + i * stride];
      low[i] = std::min(low[i], value), high[i] = std::max(high[i], value);
    });
  }
}

}  // namespace

void RangePyramid::build(const void* low, const void* high, DType dtype, int64_t size) {
  with_type(dtype, [&](auto zero) { build_of<decltype(zero)>(low, high, size); });
}

template <typename T>
void RangePyramid::build_of(const void* low, const void* high, int64_t size) {
  low_ = low, high_ = high, size_ = size, scan_ = scan<T>;
  nodes_.clear(), level_start_.clear();
  const T *lows = static_cast<const T*>(low), *highs = static_cast<const T*>(high);
  int64_t count = (size + kBlock - 1) / kBlock;
  nodes_.reserve(static_cast<size_t>(2 * count + 64));
  level_start_.push_back(0);
  for (int64_t i = 0; i < size / kBlock; ++i) nodes_.push_back(scan_block(lows + i * kBlock, highs + i * kBlock));
  if (size % kBlock != 0) nodes_.push_back(scan<T>(low, high, size / kBlock * kBlock, size - 1));
  for (; count > 1; count = (count + 1) / 2) {
    const auto below = static_cast<size_t>(level_start_.back());
    level_start_.push_back(static_cast<int64_t>(nodes_.size()));
    for (size_t i = 0; i + 1 < static_cast<size_t>(count); i += 2) nodes_.push_back(hull(nodes_[below + i], nodes_[below + i + 1]));
    if (count % 2 != 0) nodes_.push_back(nodes_[below + static_cast<size_t>(count) - 1]);
  }
}

Interval RangePyramid::blocks(int64_t first, int64_t last) const {
  // Levels at which the range is whole pairs on both sides have nothing to take.
  const int whole_pairs = std::countr_zero(static_cast<uint64_t>(first | (last + 1)));
  auto level = static_cast<size_t>(std::min<int64_t>(whole_pairs, static_cast<int64_t>(level_start_.size()) - 1));
  first >>= level, last >>= level;
  const auto node = [&](int64_t i) { return nodes_[static_cast<size_t>(level_start_[level] + i)]; };
  Interval result = hull(node(first), node(last));
  for (; first < last; first >>= 1, last >>= 1, ++level) {
    if (first % 2 != 0) result = hull(result, node(first++));
    if (last % 2 == 0) result = hull(result, node(last--));
    if (first >= last) break;
  }
  return first == last ? hull(result, node(first)) : result;
}

Interval RangePyramid::query(int64_t first, int64_t last) const {
  const int64_t begin = (first + kBlock - 1) / kBlock;
  const int64_t end = last + 1 == size_ ? (size_ + kBlock - 1) / kBlock : (last + 1) / kBlock;
  if (begin >= end) return scan_(low_, high_, first, last);
  Interval result = blocks(begin, end - 1);
  if (first < begin * kBlock) result = hull(result, scan_(low_, high_, first, begin * kBlock - 1));
  if (end * kBlock <= last) result = hull(result, scan_(low_, high_, end * kBlock, last));
  return result;
}

TableRanges::TableRanges(const Tensor& table) : data_(table.data), dtype_(table.dtype) {
  for (int d = 0; d < static_cast<int>(table.rank()); ++d) {
    const int64_t extent = table.shape[static_cast<size_t>(d)], stride = table.strides[static_cast<size_t>(d)];
    empty_ = empty_ || extent == 0;
    if (extent > 1 && stride != 0) dimensions_.push_back({d, extent, stride});
  }
  if (dimensions_.empty()) dimensions_.push_back({});
  if (empty_ || dimensions_.size() > 1) return;
  const auto [source, extent, stride] = dimensions_[0];
  if (stride != 1) {
    with_type(dtype_, [&, extent = extent, stride = stride](auto zero) {
      using T = decltype(zero);
      dense_.resize(static_cast<size_t>(extent) * sizeof(T));
      for (int64_t i = 0; i < extent; ++i) reinterpret_cast<T*>(dense_.data())[i] = static_cast<const T*>(data_)[i * stride];
    });
    data_ = dense_.data();
    dimensions_[0].stride = 1;
  }
  line_ = std::make_unique<RangePyramid>();
  line_->build(data_, data_, dtype_, extent);
}

Interval TableRanges::whole() const {
  std::call_once(whole_known_, [&] {
    Interval box[kMaxTableRank];
    for (size_t d = 0; d < dimensions_.size(); ++d) box[d] = {0, dimensions_[d].extent - 1};
    whole_ = with_type(dtype_, [&](auto zero) {
      using T = decltype(zero);
      Interval found{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
      each_offset(dimensions_, box, 0, [&](int64_t offset) {
        const int64_t value = static_cast<const T*>(data_)[offset];
        found = hull(found, {value, value});
      });
      return found;
    });
  });
  return whole_;
}

ReadRanges::ReadRanges(const TableRanges& table, const std::vector<bool>& varies) : table_(&table), order_(table.dimensions()) {
  const auto moves = [&](const TableRanges::Dimension& dimension) { return varies[static_cast<size_t>(dimension.source)]; };
  std::ranges::sort(order_, [&](const auto& a, const auto& b) {
    if (moves(a) != moves(b)) return moves(b);
    return std::abs(a.stride) > std::abs(b.stride);
  });
  varies_ = moves(order_.back());
  roams_ = std::any_of(order_.begin(), order_.end() - 1, moves);
}

Interval ReadRanges::range(const Interval* indices) {
  if (table_->empty()) return {0, 0};
  const Interval found = of_elements(indices);
  if (table_->dtype() != DType::Bool) return found;
  return {found.low != 0, found.high != 0};
}

Interval ReadRanges::of_elements(const Interval* indices) {
  const auto clamped = [&](const TableRanges::Dimension& dimension) { return clamp(indices[dimension.source], dimension.extent); };
  const Interval along = clamped(order_.back());
  if (const RangePyramid* line = table_->line()) return line->query(along.low, along.high);
  const size_t leading = order_.size() - 1;
  for (size_t d = 0; d < leading; ++d) box_.index[d] = clamped(order_[d]);
  box_.index[leading] = along;
  const int64_t direct = roams_ ? kMostRoaming : varies_ ? 0 : kMostDirect;
  if (volume(box_.index, leading + 1, direct + 1) <= direct) {
    return with_type(table_->dtype(), [&](auto zero) {
      using T = decltype(zero);
      Interval found{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
      each_offset(order_, box_.index, 0, [&](int64_t offset) {
        const int64_t value = static_cast<const T*>(table_->data())[offset];
        found = hull(found, {value, value});
      });
      return found;
    });
  }
  if (roams_ || volume(box_.index, leading, kMostRows + 1) > kMostRows) return table_->whole();
  return of_rows(along);
}

Interval ReadRanges::of_rows(Interval along) {
  box_.index[order_.size() - 1] = {};
  if (!known_ || box_ != reduced_) reduce();
  return pyramid_.query(along.low, along.high);
}

void ReadRanges::reduce() {
  const int64_t size = order_.back().extent;
  const bool one_row = volume(box_.index, order_.size() - 1, 2) == 1 && order_.back().stride == 1;
  with_type(table_->dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* data = static_cast<const T*>(table_->data());
    if (one_row) return each_offset(order_, box_.index, 1, [&](int64_t offset) {
      pyramid_.build(data + offset, data + offset, table_->dtype(), size);
    });
    low_.resize(static_cast<size_t>(size) * sizeof(T)), high_.resize(low_.size());
    reduce_rows(data, order_, box_.index, reinterpret_cast<T*>(low_.data()), reinterpret_cast<T*>(high_.data()));
    pyramid_.build(low_.data(), high_.data(), table_->dtype(), size);
  });
  reduced_ = box_, known_ = true;
}

}  // namespace heddle::runtime
