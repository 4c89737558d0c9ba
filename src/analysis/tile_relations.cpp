#include "src/analysis/tile_relations.h"
#include <fmt/format.h>

namespace heddle::analysis {

TileSets tile_sets(const Plane& plane, TileShape shape, const std::string& count, const std::string& whole) {
  const isl::ctx context = plane.domain.ctx();
  const std::string list = plane.parameters.list();
  const isl::map tiling(context, fmt::format("{{ [a, b] -> [i, j] : {0} i <= a < {0} i + {0} and {1} j <= b < {1} j + {1} }}",
                                             shape.rows, shape.cols));
  isl::set nonempty = coalesce(plane.allowed.apply(tiling));
  isl::set not_full = coalesce(plane.masked.apply(tiling));
  if (!count.empty()) {
    const isl::set inside(context, fmt::format("{} -> {{ [i, j] : j < {} }}", list, plane.parameters.name(count)));
    const isl::set cut(context, fmt::format("{} -> {{ [i, j] : 0 <= i and 0 <= j and j >= {} and j < {} }}", list,
                                            plane.parameters.name(whole), plane.parameters.name(count)));
    nonempty = nonempty.intersect(inside);
    not_full = coalesce(not_full.unite(cut.intersect_params(plane.context)));
  }
  return {coalesce(nonempty.intersect(not_full)), coalesce(nonempty.subtract(not_full))};
}

std::string tile_count_context(const Parameters& parameters, const std::string& length, int64_t tile, const std::string& count,
                               const std::string& whole) {
  const std::string n = parameters.name(count), f = parameters.name(whole);
  std::string text = fmt::format("{0} >= 1 and {1} >= 0 and {1} <= {0} and {0} <= {1} + 1", n, f);
  if (!parameters.find(length)) return text;
  const std::string s = parameters.name(length);
  return text + fmt::format(" and {0} <= {3} {1} and {3} {1} < {0} + {3} and {3} {2} <= {0} and {0} < {3} {2} + {3}", s, n, f, tile);
}

}  // namespace heddle::analysis
