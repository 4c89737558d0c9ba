// Readers of what stands on the command line after an option: `name=value` pairs, tile shapes and formulas.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "heddle/formula.h"

namespace heddle::cli {

/// The names and values of `--param`: `w=256` and `c=1.5` are constants, `w=dynamic` and `c=dynamic-real` kernel arguments.
/// Throws UserError on another form, a number out of range, or a name given twice.
Parameters parse_parameters(const std::vector<std::string>& texts);

/// `name=integer` pairs of an option such as `--dim`; throws UserError, naming the option, on anything else.
std::map<std::string, int64_t> parse_integers(const std::string& option, const std::vector<std::string>& texts);

/// "64x128" as (rows, keys), each 1 to 2^20. Throws UserError.
std::pair<int64_t, int64_t> parse_tile(const std::string& text);

/// The text of a file, or of standard input for "-", without its last line break. Throws UserError when it cannot be read or
/// has more than 64 MiB.
std::string read_text(const std::string& path);

/// The formula given by --mask or --mask-file; throws UserError unless exactly one of them is set.
Mask parse_mask(const std::string& mask, const std::string& mask_file, const Parameters& params);

}  // namespace heddle::cli
