#include "src/analysis/mask_stages.h"
#include <fmt/format.h>
#include <isl/aff.h>
#include <isl/map.h>
#include <isl/stride_info.h>
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;

void stage(IslContext& context, const StageLog& log, const char* name, const std::function<void()>& work) {
  run_stage(context, log.prefix + ": " + name, log.budget, *log.costs, work);
}

std::string tile_context(const Parameters& parameters, const TileQuery& query) {
  const int64_t tile = query.transposed ? query.shape.rows : query.shape.cols;
  std::string text = tile_count_context(parameters, query.transposed ? "Sq" : "Sk", tile, query.count, query.whole);
  if (!query.length) return text;
  return text + fmt::format(" and {} = {} and {} = {}", parameters.name(query.count), (*query.length + tile - 1) / tile,
                            parameters.name(query.whole), *query.length / tile);
}

Plane tile_plane(const IslContext& context, const MaskSource& source, const TileQuery& query) {
  Parameters parameters = Parameters::of(source.mask, source.aliases);
  std::string extra;
  if (!query.count.empty()) {
    parameters.add(query.count, ir::var(query.count));
    parameters.add(query.whole, ir::var(query.whole));
    extra = tile_context(parameters, query);
  }
  Plane plane = build_plane(context, source.mask, parameters, source.bounds, extra);
  if (query.transposed) transpose(plane);
  return plane;
}

/// The stride of k over all of { [q, k] }, from a copy that nothing else uses.
MaskFacts::Lattice stride_of(const Plane& plane, const Expr& outer) {
  isl_map* rows = isl_map_move_dims(isl_map_from_range(detached(plane.allowed).release()), isl_dim_in, 0, isl_dim_out, 0, 1);
  const isl::map map = isl::manage(checked(rows));
  isl_stride_info* info = checked(isl_map_get_range_stride_info(map.get(), 0));
  isl_val* stride_value = isl_stride_info_get_stride(info);
  isl_aff* offset_value = isl_stride_info_get_offset(info);
  isl_stride_info_free(info);
  const isl::val stride = isl::manage(stride_value);
  const isl::aff offset = isl::manage(offset_value);
  const int64_t period = small_integer(isl::manage(checked(stride.copy())));
  SpaceNames names;
  for (size_t i = 0; i < plane.parameters.size(); ++i) names.parameters.push_back(plane.parameters.expr(i));
  names.dimensions = {outer};
  const ScaledAffine scaled = scaled_affine(isl::manage(checked(offset.copy())), names);
  if (period <= 1 || scaled.denominator != 1) return {1, ir::int_const(0)};
  return {period, ir::simplify(ir::make(ir::Op::Mod, {scaled.expr, ir::int_const(period)}))};
}

}  // namespace

ir::LoopNest row_nest(const MaskSource& source, const NestNames& names, const StageLog& log) {
  IslContext context;
  ir::LoopNest nest;
  Plane plane;
  stage(context, log, "build", [&] {
    plane = build_plane(context, source.mask, Parameters::of(source.mask, source.aliases), source.bounds, "");
  });
  stage(context, log, "nest", [&] { nest = read_nest(plane.allowed, plane.context, plane.parameters, names); });
  return nest;
}

TileNests tile_nests(const MaskSource& source, const TileQuery& query, const StageLog& log) {
  IslContext context;
  TileNests nests;
  Plane plane;
  TileSets sets;
  const TileShape shape = query.transposed ? TileShape{query.shape.cols, query.shape.rows} : query.shape;
  stage(context, log, "build", [&] { plane = tile_plane(context, source, query); });
  stage(context, log, "relation", [&] { sets = tile_sets(plane, shape, query.count, query.whole); });
  stage(context, log, "nests", [&] {
    nests.partial = read_nest(sets.partial, plane.context, plane.parameters, query.names);
    nests.full = read_nest(sets.full, plane.context, plane.parameters, query.names);
  });
  return nests;
}

MaskFacts::Lattice lattice_of(const MaskSource& source, const Expr& outer, const StageLog& log) {
  IslContext context;
  MaskFacts::Lattice lattice;
  stage(context, log, "stride", [&] {
    lattice = stride_of(build_plane(context, source.mask, Parameters::of(source.mask, source.aliases), source.bounds, ""), outer);
  });
  return lattice;
}

}  // namespace heddle::analysis
