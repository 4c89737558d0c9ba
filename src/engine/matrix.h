// What a MatrixMask holds, and how the engine takes one: the spec's mask, the lengths of launches, the table.
#pragma once
#include <memory>
#include <string>
#include "heddle/engine.h"
#include "src/engine/compiler.h"

namespace heddle {

struct MatrixMask::State {
  Tensor view;
  MatrixFindings findings;
  std::string found;   ///< In words.
  ir::Expr formula;    ///< Null in the form Table.
};

}  // namespace heddle

namespace heddle::engine {

/// What a report says of the matrix: MatrixMask::text() of the spec's; of a mask that reads a table at every pair, the advice to
/// recognize it; else nothing.
std::string matrix_text(const AttentionSpec& spec);

/// The name of a matrix's table in formulas.
inline constexpr const char* kMatrixTable = "matrix";

/// The spec with the mask of its matrix. Throws UserError where it has another mask, or a score that reads a table of the same name.
AttentionSpec with_matrix_mask(const AttentionSpec& spec);

/// Throws UserError, naming both sizes, unless sq x sk are those of the spec's matrix, where there is one.
void check_matrix_lengths(const AttentionSpec& spec, int64_t sq, int64_t sk);
/// The same of a launch, which may not be of pages: their batches have lengths of their own.
void check_matrix_launch(const AttentionSpec& spec, int64_t sq, int64_t sk, bool paged);

/// The only table of the spec is its matrix: launches need not bring a binding.
bool binds_its_matrix(const AttentionSpec& spec);

/// The options with the matrix's table beside the caller's tables. Throws UserError where the caller gives that table.
BindOptions with_matrix_table(const AttentionSpec& spec, const BindOptions& options);

}  // namespace heddle::engine
