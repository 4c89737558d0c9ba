#include "src/engine/attention.h"
#include <cmath>
#include "runtime/dispatcher.h"
#include "src/engine/acsr.h"
#include "src/engine/binding.h"
#include "src/engine/launch_arguments.h"

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

const Attention::State& Attention::made() const {
  if (!state_) throw UserError("this Attention is empty", "make it with Engine::attention()");
  return *state_;
}

void Attention::run(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& o, const Tensor* lse,
                    const LaunchOptions& options) const {
  const State& state = made();
  if (!state.kernel->refusal.empty()) throw UserError(state.kernel->refusal);
  const engine::LaunchTensors tensors{q, k, v, o, lse, options.probabilities};
  engine::check_tensors(tensors, state.kernel->record);
  const Binding here = options.tables.empty() ? Binding() : bind(engine::bind_options(tensors, options));
  const Binding* binding = options.tables.empty() ? options.binding : &here;
  engine::check_binding(binding, tensors, *state.kernel);
  thread_local engine::ParameterValues values;
  engine::bind_parameters(options, state.kernel->record, binding, values);
  AttentionArgs args = engine::arguments(tensors, state.kernel->record, options, values);
  if (binding) engine::add_tables(*binding->state(), args);
  if (state.kernel->record.probabilities) {
    engine::add_probabilities(*options.probabilities, state.acsr_widths->of(state.kernel->record, args), args);
  }
  runtime::launch(*state.pool, state.kernel->entry, args, state.kernel->record);
}

AcsrLayout Attention::acsr_layout(const AcsrSizes& sizes) const {
  const LaunchRecord& record = made().kernel->record;
  if (!record.probabilities) throw UserError("this kernel keeps no probabilities", "compile with AttentionSpec::probabilities = true");
  LaunchOptions options;
  options.ints = sizes.ints;
  std::vector<int64_t> ints;
  engine::bind_ints(options, record, ints);
  return engine::acsr_layout(record, sizes, ints);
}

Binding Attention::bind(const BindOptions& options) const {
  const State& state = made();
  return Binding(engine::bind_tables(state, options));
}

const KernelReport& Attention::report() const { return made().report; }

const AttentionSpec& Attention::spec() const { return made().spec; }

}  // namespace heddle
