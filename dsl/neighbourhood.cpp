// Masks of neighbourhood attention: Hassani et al., "Neighborhood Attention Transformer" (2023), dilation as in "Dilated Neighborhood
// Attention Transformer" (2022).
#include <fmt/format.h>

#include "heddle/error.h"
#include "heddle/formula.h"

namespace heddle {
namespace {

constexpr size_t kMaxAxes = 3;
constexpr int64_t kMaxExtent = int64_t{1} << 30;  ///< Also of the product of the extents: as many positions as kernels take.

void check(const NeighbourhoodAxis& axis) {
  if (axis.extent < 1 || axis.extent > kMaxExtent) throw UserError(fmt::format("axis {}: expected an extent of 1 to {}", axis.extent, kMaxExtent));
  if (axis.window < 1) throw UserError(fmt::format("axis {}: the window is {}; expected 1 or more", axis.extent, axis.window));
  if (axis.dilation < 1) throw UserError(fmt::format("axis {}: the dilation is {}; expected 1 or more", axis.extent, axis.dilation));
  const auto reach = static_cast<__int128>(axis.window) * axis.dilation;
  if (reach <= axis.extent) return;
  const std::string product = axis.dilation == 1 ? "" : fmt::format(" x dilation {} = {}", axis.dilation, reach);
  throw UserError(fmt::format("axis {} is smaller than window {}{}", axis.extent, axis.window, product),
                  fmt::format("use a window of at most {}, or a smaller dilation", axis.extent / axis.dilation));
}

/// `to` among the window's keys of `from`, both coordinates of one axis.
Condition near(const Index& from, const Index& to, const NeighbourhoodAxis& axis) {
  const int64_t d = axis.dilation, left = axis.window / 2;
  const Index place = d == 1 ? from : from / d, key = d == 1 ? to : to / d;
  const Index count = axis.extent % d == 0 ? Index(axis.extent / d) : (axis.extent - from % d + (d - 1)) / d;  // of this residue
  if (axis.window % 2 == 1) {
    const Condition within = abs(clamp(place, left, count - (1 + left)) - key) <= left;
    return d == 1 ? within : from % d == to % d && within;
  }
  const Index first = clamp(place - left, 0, count - axis.window);
  const Condition within = first <= key && key < first + axis.window;
  return d == 1 ? within : from % d == to % d && within;
}

/// The coordinate of a position on an axis of a grid, `inner` positions apart from one to the next.
Index coordinate(const Index& position, int64_t inner, int64_t extent, bool outermost) {
  const Index steps = inner == 1 ? position : position / inner;
  return outermost ? steps : steps % extent;
}

}  // namespace

Mask Mask::neighbourhood(const std::vector<NeighbourhoodAxis>& axes) {
  if (axes.empty() || axes.size() > kMaxAxes) throw UserError(fmt::format("a neighbourhood of {} axes; expected 1 to {}", axes.size(), kMaxAxes));
  Condition all = true;
  const Index q = variable("q"), k = variable("k");
  int64_t inner = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    const NeighbourhoodAxis& axis = axes[i];
    check(axis);
    const Condition one = near(coordinate(q, inner, axis.extent, i == 0), coordinate(k, inner, axis.extent, i == 0), axis);
    all = i + 1 == axes.size() ? one : one && all;
    inner *= axis.extent;
    if (inner > kMaxExtent) throw UserError(fmt::format("the axes have {} positions or more; expected at most {}", inner, kMaxExtent));
  }
  return Mask(all);
}

}  // namespace heddle
