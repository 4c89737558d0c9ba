// What has been defined in a session of the REPL: masks and scores as text, parameters, settings.
//
// Formulas are kept as text and read again at each use, so a later `let` changes every formula that names the parameter.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heddle/formula.h"
#include "src/cli/repl/settings.h"

namespace heddle::cli::repl {

/// Name of the mask that a formula alone defines.
inline constexpr const char* kLastFormula = "it";

/// A named number. A dynamic one is a kernel argument; facts and runs take `value` for it, where it has one.
struct Parameter {
  std::optional<std::variant<int64_t, double>> value;
  bool dynamic = false, real = false;
};

/// "256", "1.5", "dynamic", "dynamic 256", "dynamic-real 1.5". Throws UserError.
Parameter parse_parameter(std::string_view name, std::string_view text);
std::string to_string(const Parameter& parameter);

class Session {
 public:
  Settings settings;

  /// Each throws UserError and changes nothing when the name is no name, reserved or taken by something of another kind, or when
  /// the formula is wrong.
  void define_mask(std::string_view name, std::string_view formula);
  void define_score(std::string_view name, std::string_view formula);
  void let(std::string_view name, const Parameter& parameter);

  /// The mask of this name, or else the text read as a formula. With `values`, dynamic parameters have become constants. Throws
  /// UserError for an unknown name (with the nearest one), a wrong formula, or a dynamic parameter without a value.
  Mask mask(std::string_view what, bool values) const;
  Score score(std::string_view what, bool values) const;

  const std::map<std::string, std::string>& masks() const { return masks_; }
  const std::map<std::string, std::string>& scores() const { return scores_; }
  const std::map<std::string, Parameter>& parameters() const { return parameters_; }
  std::vector<std::string> mask_names() const;
  std::vector<std::string> score_names() const;
  bool is_parameter(std::string_view name) const { return parameters_.contains(std::string(name)); }

 private:
  void check_name(std::string_view kind, std::string_view name) const;
  Parameters bound(bool values) const;
  void need_values(const ExprHandle& formula) const;

  std::map<std::string, std::string> masks_, scores_;
  std::map<std::string, Parameter> parameters_;
};

}  // namespace heddle::cli::repl
