// Lists of numbers as one writes them: [0, 0, 1], [[1.5, 2], [3, 4]].
#pragma once
#include <string>
#include <string_view>

#include "src/support/npy.h"

namespace heddle::cli::repl {

/// Rank 1 to 4: Bool when all elements are true or false, Float64 when one has a fraction or exponent, else Int64. Throws UserError, naming
/// the table, for anything else.
support::Array parse_list(const std::string& table, std::string_view text);

}  // namespace heddle::cli::repl
