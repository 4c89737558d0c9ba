// What has been defined in a session of the REPL: masks and scores as text, parameters, tables, settings.
//
// Formulas are kept as text and read again at each use, so a later `let` or `table` changes every formula that names it.
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
#include "src/cli/repl/table.h"
#include "src/ir/evaluate.h"

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

/// What the formulas of a launch name: values of dynamic parameters, and tables.
struct Values {
  std::map<std::string, int64_t> ints;
  std::map<std::string, double> reals;
  std::map<std::string, Array> tables;

  ir::Tables views() const;
};

class Session {
 public:
  Settings settings;

  /// Each throws UserError and changes nothing when the name is no name, reserved or taken by something of another kind, or when
  /// the formula is wrong.
  void define_mask(std::string_view name, std::string_view formula);
  void define_score(std::string_view name, std::string_view formula);
  void let(std::string_view name, const Parameter& parameter);
  /// As Table::parse.
  void define_table(std::string_view left, std::string_view right);

  /// The mask of this name, or else the text read as a formula. With `values`, dynamic parameters have become constants. Throws
  /// UserError for an unknown name (with the nearest one), a wrong formula, or a dynamic parameter without a value.
  Mask mask(std::string_view what, bool values) const;
  Score score(std::string_view what, bool values) const;

  /// What these formulas, of mask() or score(), name. Throws UserError for a dynamic parameter without a value.
  Values values(const std::vector<ExprHandle>& formulas) const;

  const std::map<std::string, std::string>& masks() const { return masks_; }
  const std::map<std::string, std::string>& scores() const { return scores_; }
  const std::map<std::string, Parameter>& parameters() const { return parameters_; }
  const std::map<std::string, Table>& tables() const { return tables_; }
  /// The elements of one of tables().
  Array elements(const std::string& table) const;
  std::vector<std::string> mask_names() const;
  std::vector<std::string> score_names() const;
  /// Names of parameters and tables: what formulas may say beside the grammar's own names.
  std::vector<std::string> formula_names() const;

 private:
  void check_name(std::string_view kind, std::string_view name) const;
  Parameters numbers(bool values) const;
  Parameters bound(bool values) const;
  void need_values(const ExprHandle& formula) const;

  std::map<std::string, std::string> masks_, scores_;
  std::map<std::string, Parameter> parameters_;
  std::map<std::string, Table> tables_;
};

}  // namespace heddle::cli::repl
