// What names mean in one formula: variables and functions by the kind of formula, parameters by their values.
#pragma once
#include <string>
#include <vector>
#include "dsl/checked_node.h"
#include "dsl/lexer.h"
#include "dsl/names.h"
#include "dsl/parser.h"

namespace heddle::dsl {

/// Throws UserError when a parameter has a reserved name, no identifier for a name, or a value that is not finite. In a size
/// formula only functions and literals are reserved.
void check_parameters(const Parameters& parameters, ir::Type formula, const std::string& origin);

class NameScope {
 public:
  /// Checks the parameters. Keeps references to both arguments.
  NameScope(const Source& source, const ParseOptions& options);

  /// The node of a name that is not called. Throws UserError for an unknown one, naming the nearest and all known.
  ir::Expr resolve(const Token& token) const;
  /// Throws UserError when there is none of this name.
  const Function& function(const Token& token) const;
  /// The element type of the table that a name followed by '[' means. Throws UserError when it is none, naming the nearest table.
  DType table(const Token& token) const;
  /// Throws UserError in a mask or size: "a mask is an integer formula, but `what`".
  void require_reals(const Token& token, const std::string& what) const;

 private:
  ir::Expr parameter(const Token& token, const ParameterValue& value) const;
  /// "did you mean ...? " for the nearest of the names that may stand there, else for a name that is used in another way; empty when none
  /// is near.
  std::string guess(std::string_view name, const std::vector<std::string>& fitting) const;
  std::vector<std::string> tables() const;
  std::vector<std::string> known() const;

  const Source& source_;
  const ParseOptions& options_;
};

}  // namespace heddle::dsl
