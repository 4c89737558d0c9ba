// The option `--table`: tables of formulas, read from files or only declared.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "heddle/formula.h"
#include "heddle/graph.h"
#include "src/ir/evaluate.h"
#include "src/support/npy.h"

namespace heddle::cli {

/// The elements as formulas read them: bytes and booleans stay as they are, other integers become Int32 where all of them fit, else
/// Int64, reals Float32.
Array table_of(const support::Array& elements);

/// Tables of integers from files.
struct LoadedTables {
  Parameters declared;                 ///< TableOf the element type of each.
  ir::Tables views;
  std::shared_ptr<const void> memory;  ///< Of the views.
};

/// `name=FILE` for each: FILE is .npy or white-spaced integers, converted as by table_of. Throws UserError on another form, a name given
/// twice, real elements, and files that cannot be read.
LoadedTables load_tables(const std::vector<std::string>& texts);

/// `name` (of Int32) or `name:DTYPE` for each. Throws UserError on another form, a type that tables do not have, or a name given twice.
Parameters declared_tables(const std::vector<std::string>& texts);

/// The parameters of both; throws UserError when a name is a value and a table.
Parameters with_tables(Parameters values, const Parameters& tables);

}  // namespace heddle::cli
