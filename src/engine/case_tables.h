// The tables of a mask case: lists of integers, or ones made by the case files' generator (test/cases/README.md).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "dsl/json_reader.h"
#include "heddle/tensor.h"

namespace heddle::engine {

struct CaseTable {
  std::string name;
  std::vector<int64_t> elements;
  Tensor view;  ///< Int64, of the elements.
};
using CaseTables = std::vector<CaseTable>;

inline constexpr int64_t kMaxCaseElements = int64_t{1} << 26;  ///< Of one table.

/// The members `tables` and `lcg_tables` of a case, either may be absent. A list of lists of one length is a table of two dimensions.
/// Throws UserError, with the place in the file, on anything else and on a name that is given twice.
std::shared_ptr<const CaseTables> read_tables(const dsl::JsonView& view);

}  // namespace heddle::engine
