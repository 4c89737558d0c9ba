// Counts the work of passes over the nominal grid, for the cost model and for the sentences of explain().
#pragma once
#include <map>
#include <string>

#include "src/plan/cost_model.h"
#include "src/plan/tile_facts.h"

namespace heddle::plan {

/// Values of b, h, sizes and dynamic parameters at which plans are priced (see make_plan.h).
std::map<std::string, int64_t> nominal_names(const ir::AttentionProblem& problem, int64_t length);

/// Exact counts of every pass of `plan` over the row blocks of the nominal grid. Tested and listed passes count every tile as
/// partial: which tiles are skipped is not known before tables are bound (assumed_tables.h says what is expected).
GridWork count_work(const KernelPlan& plan);

/// Allowed pairs of `mask` in the nominal grid, or nullopt where the facts do not know.
std::optional<int64_t> allowed_pairs(const ir::Expr& mask, const KernelPlan& plan, TileFacts& facts);

}  // namespace heddle::plan
