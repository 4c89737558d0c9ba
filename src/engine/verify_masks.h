// Runs a case file of masks (test/cases/README.md) against the facts of the compiler: every recorded result must come out again.
#pragma once
#include <string>
#include <vector>

namespace heddle::engine {

/// A recorded result that did not come out. `field` is a path such as "tiles/16x16/full"; a field that was not counted has the
/// found text "nothing".
struct FieldDifference {
  std::string field, expected, found;
};

struct MaskCaseOutcome {
  enum class Status { Passed, Failed };
  std::string name;
  Status status = Status::Passed;
  std::vector<FieldDifference> differences;  ///< Of a failed case.
  double milliseconds = 0;
};
const char* to_string(MaskCaseOutcome::Status status);

struct VerifyMasksOptions {
  std::string only;  ///< Cases whose name contains this; empty: all.
  int threads = 2;   ///< Cases at a time.
};

/// Outcomes in the order of the file: `cases`, then `huge`. Where all of a mask is affine components, their counts must add up to
/// nnz too. Throws UserError, with the place in `text`, on anything that is no case file and on a wrong formula, and when `only`
/// leaves no case. `origin` is what messages call the text.
std::vector<MaskCaseOutcome> verify_masks(const std::string& text, const std::string& origin, const VerifyMasksOptions& options = {});

}  // namespace heddle::engine
