// A strip: the keys of a row (or tiles of a row block) as an arithmetic progression of arithmetic progressions.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace heddle::analysis {

/// The columns first + j * step + i * stride for i in [0, count), j in [0, repeats).
/// Invariants: count >= 1, repeats >= 1, stride >= 1; inner progressions do not overlap: (count - 1) * stride < step when
/// repeats > 1; a strip that is one progression has repeats 1 (so count > 1 when repeats > 1); stride is 1 when count is 1.
struct Strip {
  int64_t first = 0, stride = 1, count = 1, step = 0, repeats = 1;
  int64_t size() const { return count * repeats; }
  int64_t inner_span() const { return (count - 1) * stride; }
  int64_t last() const { return first + (repeats - 1) * step + inner_span(); }
  bool operator==(const Strip&) const = default;
};

/// Appends the strips of first + j * outer + i * inner (i in [0, count), j in [0, repeats); any signs) in normal form to `out`,
/// through `emit(Strip)`. One strip, unless the inner progressions overlap each other.
template <typename Emit>
void normalise(int64_t first, int64_t inner, int64_t count, int64_t outer, int64_t repeats, const Emit& emit) {
  if (count <= 0 || repeats <= 0) return;
  if (inner < 0) first += inner * (count - 1), inner = -inner;
  if (outer < 0) first += outer * (repeats - 1), outer = -outer;
  const bool nested = repeats > 1 && outer * (repeats - 1) < inner;  // The outer progression fits between two inner columns.
  if (count == 1 || nested) std::swap(inner, outer), std::swap(count, repeats);
  if (count == 1) inner = 1, outer = 0, repeats = 1;
  if (repeats == 1) return emit(Strip{first, count == 1 ? 1 : inner, count, 0, 1});
  if (inner * count == outer) return emit(Strip{first, inner, count * repeats, 0, 1});
  if (inner * (count - 1) < outer) return emit(Strip{first, inner, count, outer, repeats});
  for (int64_t j = 0; j < repeats; ++j) emit(Strip{first + j * outer, inner, count, 0, 1});
}

/// How many columns of the strip are < end.
inline int64_t count_below(const Strip& strip, int64_t end) {
  const auto inner = [&](int64_t room) {  // Columns of one inner progression below its start + room.
    return room <= 0 ? 0 : std::min(strip.count, (room - 1) / strip.stride + 1);
  };
  const int64_t room = end - strip.first;
  if (room <= 0 || strip.repeats == 1) return inner(room);
  const int64_t whole = std::min(strip.repeats - 1, (room - 1) / strip.step);
  return whole * strip.count + inner(room - whole * strip.step);
}

/// The columns of a progression in [low, high], as a strip; none: count 0.
inline Strip clipped(int64_t first, int64_t stride, int64_t count, int64_t low, int64_t high) {
  const int64_t skipped = first >= low ? 0 : (low - first + stride - 1) / stride;
  const int64_t end = first > high ? 0 : std::min(count, (high - first) / stride + 1);
  const int64_t left = std::max<int64_t>(end - skipped, 0);
  return {first + skipped * stride, left > 1 ? stride : 1, left, 0, 1};
}

/// The columns of the strip in [low, high] through `emit(Strip)`, ascending: at most three strips. |low|, |high| <= 2^62.
template <typename Emit>
void clip(const Strip& strip, int64_t low, int64_t high, const Emit& emit) {
  if (strip.first >= low && strip.last() <= high) return emit(strip);
  if (strip.first > high || strip.last() < low) return;
  const auto emit_one = [&](int64_t j) {
    const Strip cut = clipped(strip.first + j * strip.step, strip.stride, strip.count, low, high);
    if (cut.count > 0) emit(cut);
  };
  if (strip.repeats == 1) return emit_one(0);
  const int64_t over = low - strip.first - strip.inner_span();  // Repeats [from, to) have a column in [low, high].
  const int64_t from = over <= 0 ? 0 : (over + strip.step - 1) / strip.step;
  const int64_t to = std::min(strip.repeats, (high - strip.first) / strip.step + 1);
  if (from >= to) return;
  const int64_t whole_from = strip.first + from * strip.step < low ? from + 1 : from;
  const int64_t whole_to = strip.first + (to - 1) * strip.step + strip.inner_span() > high ? to - 1 : to;
  if (whole_from > from) emit_one(from);
  if (whole_from < whole_to) {
    const int64_t first = strip.first + whole_from * strip.step, repeats = whole_to - whole_from;
    emit(repeats == 1 ? Strip{first, strip.count > 1 ? strip.stride : 1, strip.count, 0, 1}
                      : Strip{first, strip.stride, strip.count, strip.step, repeats});
  }
  if (whole_to < to && to - 1 >= whole_from) emit_one(to - 1);
}

/// Calls visit(first, stride, count) for each inner progression, ascending.
template <typename Visit>
void each_progression(const Strip& strip, const Visit& visit) {
  for (int64_t j = 0; j < strip.repeats; ++j) visit(strip.first + j * strip.step, strip.stride, strip.count);
}

/// Calls visit(column) for each column, ascending.
template <typename Visit>
void each_column(const Strip& strip, const Visit& visit) {
  each_progression(strip, [&](int64_t first, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; ++i) visit(first + i * stride);
  });
}

}  // namespace heddle::analysis
