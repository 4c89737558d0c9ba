#include "src/analysis/presburger.h"
#include <malloc.h>
#include <cstdlib>
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include "src/support/timer.h"

namespace heddle::analysis {
namespace {

// isl sets max_operations but has no reader for the counter, which stands right before it in the context.
const unsigned long* find_counter(isl_ctx* context) {
  constexpr unsigned long kMark = 0x5A17B33FCAFEul;
  isl_ctx_set_max_operations(context, kMark);
  const auto* words = reinterpret_cast<const unsigned long*>(context);
  const size_t count = malloc_usable_size(context) / sizeof(unsigned long);
  const unsigned long* found = nullptr;
  for (size_t i = 1; i < count && found == nullptr; ++i) {
    if (words[i] == kMark) found = words + i - 1;
  }
  isl_ctx_set_max_operations(context, 0);
  return found;
}

}  // namespace

IslContext::IslContext() : context_(isl_ctx_alloc()) {
  if (context_ == nullptr) throw std::bad_alloc();
  isl_options_set_on_error(context_, ISL_ON_ERROR_CONTINUE);
  counter_ = find_counter(context_);
}

IslContext::~IslContext() { isl_ctx_free(context_); }

void IslContext::start(uint64_t budget) {
  isl_ctx_reset_operations(context_);
  isl_ctx_set_max_operations(context_, budget);
}

uint64_t IslContext::operations() const { return counter_ == nullptr ? 0 : *counter_; }

void IslContext::stop() {
  isl_ctx_set_max_operations(context_, 0);
  isl_ctx_reset_operations(context_);
  isl_ctx_reset_error(context_);
}

void run_stage(IslContext& context, const std::string& name, uint64_t budget, std::vector<StageCost>& log,
               const std::function<void()>& work) {
  const support::Timer timer;
  const auto finish = [&](const std::string& outcome) {
    log.push_back({name, timer.milliseconds(), context.operations(), outcome});
    context.stop();
  };
  context.start(budget);
  try {
    work();
  } catch (const NotAffine& error) {
    finish(std::string("not affine: ") + error.what());
    throw;
  } catch (const OverBudget& error) {
    finish(std::string("over budget: ") + error.what());
    throw;
  } catch (const isl::exception& error) {
    finish(std::string("over budget: ") + error.what());
    throw OverBudget(error.what());
  }
  finish("ok");
}

isl::set coalesce(const isl::set& set) {
  const isl_size before = isl_set_n_basic_set(set.get());
  if (before < 2) return set;
  isl::set merged = set.coalesce();
  if (isl_set_n_basic_set(merged.get()) == before || merged.is_subset(set)) return merged;
  return set;
}

isl::set detached(const isl::set& set) {
  char* text = checked(isl_set_to_str(set.get()));
  isl_set* read = isl_set_read_from_str(isl_set_get_ctx(set.get()), text);
  std::free(text);
  const isl::set copy = isl::manage(checked(read));  // Owned before the space exists: a refused read must leak neither.
  return isl::manage(checked(isl_set_align_params(copy.copy(), isl_set_get_space(set.get()))));
}

std::vector<isl::basic_set> disjoint_pieces(const isl::set& set) {
  const isl::set disjoint = isl::manage(checked(isl_set_make_disjoint(isl_set_compute_divs(set.copy()))));
  std::vector<isl::basic_set> pieces;
  disjoint.foreach_basic_set([&](isl::basic_set piece) {
    pieces.push_back(isl::manage(checked(isl_basic_set_remove_redundancies(piece.copy()))));
  });
  return pieces;
}

}  // namespace heddle::analysis
