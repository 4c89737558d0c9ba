#include "src/engine/attention.h"
#include <cmath>
#include "runtime/dispatcher.h"
#include "src/engine/acsr.h"
#include "src/engine/binding.h"
#include "src/engine/kernel_pair.h"
#include "src/engine/launch_arguments.h"
#include "src/engine/matrix.h"
#include "src/engine/paged_keys.h"

namespace heddle {

namespace engine {

KernelReport report_of(const Kernel& kernel, KernelReport::Origin origin, double milliseconds) {
  KernelReport report;
  report.origin = origin;
  report.milliseconds = milliseconds;
  if (origin == KernelReport::Origin::Compiled) report.passes = kernel.passes;
  report.key = kernel.key;
  report.path = kernel.path;
  report.facts = kernel.record.facts;
  report.plan = kernel.record.plan;
  report.scratch_bytes = kernel.record.scratch_bytes;
  report.block_rows = kernel.record.block_rows;
  report.tile_keys = kernel.record.tile_keys;
  return report;
}

}  // namespace engine

const std::shared_ptr<const engine::Kernel>& Attention::State::kernel_for(bool few_queries) const {
  return kernels ? kernels->kernel(few_queries) : kernel;
}

const std::shared_ptr<const engine::Kernel>& Attention::State::kernel_for(int64_t sq, int64_t sk) const {
  return kernel_for(engine::takes_few_queries(spec, sq, sk));
}

const Attention::State& Attention::made() const {
  if (!state_) throw UserError("this Attention is empty", "make it with Engine::attention()");
  return *state_;
}

void Attention::run(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& o, const Tensor* lse,
                    const LaunchOptions& options) const {
  const State& state = made();
  if (!state.kernel->refusal.empty()) throw UserError(state.kernel->refusal);
  if (options.paged && state.spec.probabilities) throw UserError("probabilities are not kept of pages", "copy the keys together");
  thread_local engine::PagedLaunch pages;
  const engine::LaunchTensors tensors{q, k, v, o, lse, options.probabilities, options.paged ? &pages : nullptr};
  engine::check_tensors(tensors, state.kernel->record);
  if (options.paged) engine::check_pages(*options.paged, q, k, state.kernel->record, *tensors.paged);
  engine::check_matrix_launch(state.spec, q.shape[2], k.shape[2], options.paged != nullptr);
  const std::shared_ptr<const engine::Kernel>& chosen = options.paged ? state.kernel_for(true) : state.kernel_for(q.shape[2], k.shape[2]);
  const engine::Kernel& kernel = *chosen;
  const auto bind_here = [&] {
    const BindOptions bound = engine::with_matrix_table(state.spec, engine::bind_options(tensors, options));
    return engine::bind_tables(state, bound, chosen, "LaunchOptions::ints");
  };
  const Binding here = options.tables.empty() ? Binding() : Binding(bind_here());
  const Binding* binding = options.tables.empty() ? options.binding : &here;
  const std::shared_ptr<const Binding> own = binding || !state.matrix_binding ? nullptr : state.matrix_binding->of(*this, tensors, options);
  if (own) binding = own.get();
  engine::check_binding(binding, tensors, kernel);
  thread_local engine::ParameterValues values;
  engine::bind_parameters(options, kernel.record, binding, values);
  AttentionArgs args = engine::arguments(tensors, kernel.record, options, values);
  if (binding) engine::add_tables(*binding->state(), args);
  if (kernel.record.probabilities) engine::add_probabilities(*options.probabilities, state.acsr_widths->of(kernel.record, args), args);
  runtime::launch(*state.pool, kernel.entry, args, kernel.record);
}

AcsrLayout Attention::acsr_layout(const AcsrSizes& sizes) const {
  const LaunchRecord& record = made().kernel->record;
  if (!record.probabilities) throw UserError("this kernel keeps no probabilities", "compile with AttentionSpec::probabilities = true");
  engine::check_matrix_lengths(made().spec, sizes.sq, sizes.sk);
  std::vector<int64_t> ints;
  engine::bind_ints(sizes.ints, "AcsrSizes::ints", record, ints);
  return engine::acsr_layout(record, sizes, ints);
}

Binding Attention::bind(const BindOptions& options) const {
  const State& state = made();
  const BindOptions bound = engine::with_matrix_table(state.spec, options);
  return Binding(engine::bind_tables(state, bound, state.kernel_for(options.sq, options.sk), "BindOptions::ints"));
}

const KernelReport& Attention::report() const { return made().report; }

const AttentionSpec& Attention::spec() const { return made().spec; }

}  // namespace heddle
