// The only door to isl: contexts with an operation budget, errors as exceptions, and guards against known defects of isl 0.25.
//
// Sets are isl's own C++ handles (isl/cpp.h, which turns every isl error into an exception); they never leave src/analysis.
// isl 0.25 returns wrong answers in two ways, so coalesce() and detached() must be used instead of the direct calls:
//  - coalesce may lose a modulo constraint: { q >= 0 and (q <= 3 or q mod 4 != 0) } becomes { q >= 0 };
//  - affine hulls (inside stride queries) change their argument in place and may drop one of its constraints.
#pragma once
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>
#include <isl/cpp.h>
#include "src/analysis/facts.h"

namespace heddle::analysis {

/// isl gave up (budget, or an error of its own): the stage has no result.
class OverBudget : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The formula is outside Presburger arithmetic, e.g. `q * k`, or may leave the range in which integers are exact.
class NotAffine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One isl context. Make a fresh one for every analysis: results are then repeatable, and nothing survives an aborted stage.
class IslContext {
 public:
  IslContext();
  ~IslContext();
  IslContext(const IslContext&) = delete;
  IslContext& operator=(const IslContext&) = delete;

  isl::ctx get() const { return isl::ctx(context_); }
  /// Counts from zero and lets isl fail after `budget` operations (an operation is an allocation or a pivot); 0 is no limit.
  void start(uint64_t budget);
  uint64_t operations() const;  ///< Since start(); 0 where the layout of isl's context is unknown.
  /// Lifts the limit and clears isl's error state.
  void stop();

 private:
  isl_ctx* context_;
  const unsigned long* counter_ = nullptr;
};

/// Runs one stage under `budget` and appends its cost to `log`. Throws NotAffine and OverBudget after logging; every isl
/// exception inside counts as over budget.
void run_stage(IslContext& context, const std::string& name, uint64_t budget, std::vector<StageCost>& log,
               const std::function<void()>& work);

/// Fewer basic sets, proved equal to `set`.
isl::set coalesce(const isl::set& set);
/// A copy that shares nothing with `set`, to ask about strides.
isl::set detached(const isl::set& set);
/// Pairwise disjoint basic sets whose union is `set`, with explicit divisions and no redundant constraints.
std::vector<isl::basic_set> disjoint_pieces(const isl::set& set);

/// The pointer, or OverBudget when isl returned null.
template <class T>
T* checked(T* pointer) {
  if (pointer == nullptr) throw OverBudget("isl returned nothing");
  return pointer;
}

}  // namespace heddle::analysis
