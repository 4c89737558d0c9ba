// What `heddle facts` shows: the symbolic facts of a mask and its exact counts at given lengths.
#pragma once
#include "src/engine/compiler.h"

namespace heddle::engine {

/// Analyses the mask and counts. The JSON object has the keys of a case file's `results` (test/cases/README.md), and `mask`, `sq`,
/// `sk`, `exact`, `components`, `components_complete` (every allowed pair is in one of them), `proof`, `milliseconds`. Throws UserError when
/// the mask mentions a name without a value.
FactsReport facts_report(const FactsRequest& request);

}  // namespace heddle::engine
