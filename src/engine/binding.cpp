#include "src/engine/binding.h"

#include <fmt/format.h>

#include "runtime/bind.h"
#include "src/engine/launch_arguments.h"
#include "src/ir/attention_problem.h"
#include "src/ir/table_bounds.h"
#include "src/support/timer.h"

namespace heddle::engine {
namespace {

enum Axis { kBatch, kHeads, kRows };

std::map<std::string, ir::Interval> ranges(const BindOptions& options) {
  const auto below = [](int64_t size) { return ir::Interval{0, size - 1}; };
  const auto exactly = [](int64_t value) { return ir::Interval{value, value}; };
  std::map<std::string, ir::Interval> found = {
      {"b", below(options.batch)}, {"h", below(options.heads)},        {"q", below(options.sq)},
      {"k", below(options.sk)},    {"B", exactly(options.batch)},      {"H", exactly(options.heads)},
      {"Hkv", exactly(options.kv_heads)}, {"Sq", exactly(options.sq)}, {"Sk", exactly(options.sk)}};
  for (const auto& [name, value] : options.ints) found.insert_or_assign(name, exactly(value));
  return found;
}

runtime::BindInput input_of(const LaunchRecord& record, const BindOptions& options, const std::vector<int64_t>& ints) {
  runtime::BindInput input;
  input.program = &record.bind;
  for (const TableDeclaration& table : record.tables) input.tables.push_back(options.tables.at(table.name));
  input.int_params = ints;
  input.batch = options.batch, input.heads = options.heads, input.kv_heads = options.kv_heads;
  input.sq = options.sq, input.sk = options.sk;
  input.tile_rows = record.block_rows, input.tile_keys = record.tile_keys;
  return input;
}

}  // namespace

std::shared_ptr<const Binding::State> bind_tables(const Attention::State& attention, const BindOptions& options,
                                                  const std::shared_ptr<const Kernel>& kernel, const char* ints_field) {
  const support::Timer timer;
  const LaunchRecord& record = kernel->record;
  check_sizes({options.batch, options.heads, options.kv_heads, options.sq, options.sk, {}}, record);
  auto made = std::make_shared<Binding::State>();
  made->kernel = kernel;
  bind_ints(options.ints, ints_field, record, made->ints);
  ir::check_tables(attention.mask, attention.spec.score.node(), ir::Tables(options.tables.begin(), options.tables.end()), ranges(options));
  for (const TableDeclaration& table : record.tables) made->tables.push_back(ir::table_argument(options.tables.at(table.name)));
  made->batch = options.batch, made->heads = options.heads, made->kv_heads = options.kv_heads;
  made->sq = options.sq, made->sk = options.sk;
  if (!record.bind.steps.empty()) made->lists = runtime::bind_tiles(input_of(record, options, made->ints), *attention.pool);
  made->milliseconds = timer.milliseconds();
  return made;
}

BindOptions bind_options(const LaunchTensors& tensors, const LaunchOptions& options) {
  BindOptions made;
  made.tables = options.tables;
  made.batch = tensors.q.shape[kBatch], made.heads = tensors.q.shape[kHeads], made.kv_heads = tensors.k.shape[kHeads];
  made.sq = tensors.q.shape[kRows], made.sk = tensors.sk();
  made.ints = options.ints;
  return made;
}

void check_binding(const Binding* binding, const LaunchTensors& tensors, const Kernel& kernel) {
  const bool wanted = !kernel.record.tables.empty();
  if (!wanted && !binding) return;
  if (!wanted) throw UserError("a binding is given, but this attention reads no tables");
  if (!binding) {
    throw UserError(fmt::format("the table '{}' is missing", kernel.record.tables[0].name), "give LaunchOptions::tables, or a binding that Attention::bind() made");
  }
  if (!binding->state()) throw UserError("this Binding is empty", "make it with Attention::bind()");
  const Binding::State& state = *binding->state();
  if (state.kernel.get() != &kernel) throw UserError("the binding was made by another attention", "bind the tables with this one");
  const auto check = [](const char* name, int64_t bound, int64_t found) {
    if (bound != found) throw UserError(fmt::format("the binding was made for {} = {}, but the launch has {}", name, bound, found), "bind the tables at these sizes");
  };
  check("batch", state.batch, tensors.q.shape[kBatch]);
  check("heads", state.heads, tensors.q.shape[kHeads]);
  check("kv_heads", state.kv_heads, tensors.k.shape[kHeads]);
  check("sq", state.sq, tensors.q.shape[kRows]);
  check("sk", state.sk, tensors.sk());
}

void add_tables(const Binding::State& binding, AttentionArgs& args) {
  args.tables = binding.tables.data();
  args.list_offsets = binding.lists.offsets.data();
  args.list_runs = binding.lists.runs.data();
  args.list_stride[0] = binding.lists.batch_stride;
  args.list_stride[1] = binding.lists.head_stride;
}

}  // namespace heddle::engine

namespace heddle {

const Binding::State& Binding::made() const {
  if (!state_) throw UserError("this Binding is empty", "make it with Attention::bind()");
  return *state_;
}

double Binding::milliseconds() const { return made().milliseconds; }
int64_t Binding::full_tiles() const { return made().lists.full_tiles; }
int64_t Binding::partial_tiles() const { return made().lists.partial_tiles; }
int64_t Binding::bytes() const { return made().lists.bytes(); }

}  // namespace heddle
