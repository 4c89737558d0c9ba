#include "src/analysis/mask_stages.h"
#include <isl/aff.h>
#include <isl/map.h>
#include <isl/stride_info.h>
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;

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

void isl_stage(IslContext& context, const StageLog& log, const char* name, const std::function<void()>& work) {
  run_stage(context, log.prefix + ": " + name, log.budget, *log.costs, work);
}

Plane whole_plane(const IslContext& context, const MaskSource& source) {
  return build_plane(context, source.mask, Parameters::of(source.mask, source.aliases), source.bounds);
}

ir::LoopNest row_nest(const MaskSource& source, const NestNames& names, const StageLog& log) {
  IslContext context;
  ir::LoopNest nest;
  Plane plane;
  isl_stage(context, log, "build", [&] { plane = whole_plane(context, source); });
  isl_stage(context, log, "nest", [&] { nest = read_nest(disjoint_pieces(plane.allowed), 0, plane.context, plane.parameters, names); });
  return nest;
}

TileStages::Work& TileStages::work(const MaskSource& source, TileShape shape, const StageLog& log) {
  Outcome& known = known_[{&source, shape}];
  if (known.error) std::rethrow_exception(known.error);
  if (known.work) return *known.work;
  auto fresh = std::make_unique<Work>();
  try {
    isl_stage(fresh->context, log, "build", [&] { fresh->plane = whole_plane(fresh->context, source); });
    isl_stage(fresh->context, log, "relation", [&] { fresh->sets = tile_sets(fresh->plane, shape); });
  } catch (...) {
    known.error = std::current_exception();
    throw;
  }
  known.work = std::move(fresh);
  return *known.work;
}

TileNests TileStages::nests(const MaskSource& source, TileShape shape, bool transposed, const NestNames& names, const StageLog& log) {
  Work& found = work(source, shape, log);
  const int outer = transposed ? 1 : 0;
  TileNests nests;
  try {
    isl_stage(found.context, log, "nests", [&] {
      nests.partial = read_nest(found.sets.partial, outer, found.plane.context, found.plane.parameters, names);
      nests.full = read_nest(found.sets.full, outer, found.plane.context, found.plane.parameters, names);
    });
  } catch (...) {
    known_.erase({&source, shape});  // Nothing survives an aborted stage.
    throw;
  }
  return nests;
}

MaskFacts::Lattice lattice_of(const MaskSource& source, const Expr& outer, const StageLog& log) {
  IslContext context;
  MaskFacts::Lattice lattice;
  isl_stage(context, log, "stride", [&] {
    lattice = stride_of(whole_plane(context, source), outer);
  });
  return lattice;
}

}  // namespace heddle::analysis
