// The text front door: parses formulas (masks, scores, sizes) into Expr trees.
//
//   choice  := or ('?' choice ':' choice)?          or      := and ('||' and)*         and     := equal ('&&' equal)*
//   equal   := order (('==' | '!=') order)?         order   := sum (('<' | '<=' | '>' | '>=') sum)?
//   sum     := product (('+' | '-') product)*       product := unary (('*' | '/' | '%') unary)*
//   unary   := ('-' | '!') unary | primary          primary := NUMBER | 'true' | 'false' | NAME | NAME '(' choice, ... ')' | NAME ('[' choice, ... ']')+ | '(' choice ')'
//
// Comparisons do not chain. Functions: abs min max clamp exp log tanh sigmoid sqrt softcap, and real(x), the explicit promotion that
// the printer needs for formulas built in C++ (`real(q) / real(k)` is a true division). Either branch of ?: may be a condition.
#pragma once
#include <string>
#include <string_view>
#include "heddle/formula.h"
#include "src/ir/expr.h"

namespace heddle::dsl {

inline constexpr size_t kMaxFormulaBytes = 64 * 1024;
inline constexpr int kMaxNesting = 200;  ///< Of parentheses, arguments, branches and unary operators.

struct ParseOptions {
  /// Bool: a mask, over integers only. Real: a score, over `s` too; an integer formula is promoted. Int: a size, over parameters
  /// only (any name that is no function or literal).
  ir::Type type = ir::Type::Bool;
  Parameters parameters;
  std::string origin = "formula";
};

/// Throws UserError with line, column, caret and hint. Time is linear in the text, and bounded for text of any size.
ir::Expr parse_formula(std::string_view text, const ParseOptions& options);

}  // namespace heddle::dsl
