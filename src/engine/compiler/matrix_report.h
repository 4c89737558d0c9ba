// What `heddle facts --matrix` shows: what was found in a raw boolean matrix, and the formula it suggests.
#pragma once
#include "src/engine/compiler.h"

namespace heddle::engine {

/// The JSON object has the keys of a case file's `results` that a matrix has, and `sq`, `sk`, `irregular`, `components`, `lattice`,
/// `period`, `formula` (null when none was found), `milliseconds`. Throws UserError for a view that cannot be read.
MatrixReport matrix_report(const MatrixRequest& request);

}  // namespace heddle::engine
