#include "src/plan/kernel_plan.h"

#include <fmt/format.h>

#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::plan {
namespace {

void require(bool holds, const std::string& rule) {
  if (!holds) throw InternalError("plan verifier", rule);
}

void verify_pass(const PassPlan& pass) {
  require(!pass.mask || pass.mask->type == ir::Type::Bool, "masks of passes are Bool");
  const bool empty = pass.full.pieces.empty() && pass.partial.pieces.empty();
  require(pass.source == TileSource::Nest || empty, "tested and listed passes have no nests");
}

std::string print_pass(const PassPlan& pass, size_t index) {
  std::string out = fmt::format("  pass {}: {}\n", index, pass.components);
  if (pass.slot) out += fmt::format("    slot {}\n", ir::print(pass.slot));
  if (pass.mask) out += fmt::format("    mask of partial tiles: {}\n", ir::print(pass.mask));
  if (pass.source == TileSource::Tested) return out + "    every key tile kb < NK is tested in the kernel\n";
  if (pass.source == TileSource::Listed) return out + "    key tiles come from the lists that a bind of the tables makes\n";
  return out + support::indented(ir::print(pass.full, "full") + ir::print(pass.partial, "partial"), "    ");
}

std::string block_text(const KernelPlan& plan) {
  if (!plan.problem.few_queries) return fmt::format("batch, head and {} query rows", plan.tile_rows);
  return fmt::format("batch, KV head, query, {} of its query heads and part of the keys", plan.tile_rows);
}

std::string rows_text(const KernelPlan& plan) {
  return plan.problem.few_queries ? fmt::format("one query of up to {} heads of a KV head", plan.tile_rows) : fmt::format("{} query rows", plan.tile_rows);
}

std::string as_sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text + "\n";
}

}  // namespace

void verify(const KernelPlan& plan) {
  require(plan.tile_rows > 0 && plan.tile_keys > 0, "tile sizes are positive");
  require(plan.problem.few_queries || !plan.gpu.empty() || plan.tile_rows % plan.problem.target.lanes() == 0, "rows of a block are a multiple of the lanes");
  require(plan.keys_per_step >= plan.tile_keys && plan.keys_per_step % plan.tile_keys == 0, "steps are whole tiles");
  require(plan.ranks >= 1, "at least one rank");
  for (const PassPlan& pass : plan.passes) {
    verify_pass(pass);
    require((pass.slot != nullptr) == (plan.family == Family::ThreeKernels), "passes of compressed rows have slots");
  }
  require(plan.family == Family::Fused || (plan.values_count && plan.components.size() == plan.passes.size()), "compressed rows have components");
}

std::string print(const KernelPlan& plan) {
  const char* how = plan.family == Family::Fused ? "fused attention, running softmax" : "three kernels on compressed rows: scores, softmax, product with V";
  std::string out = fmt::format("{}, one block per {}\n", how, block_text(plan));
  out += fmt::format("  tiles {} x {}, steps of {} keys, head_dim {}, value_dim {}{}, target {}, ranks {}\n", plan.tile_rows,
                     plan.tile_keys, plan.keys_per_step, plan.problem.head_dim, plan.problem.value_dim,
                     plan.problem.lse ? ", with LSE" : "", plan.gpu.empty() ? plan.problem.target.to_string() : plan.gpu, plan.ranks);
  if (plan.problem.score) out += fmt::format("  score {}\n", ir::print(plan.problem.score));
  if (plan.passes.empty()) out += "  no pass: no pair is allowed, O = 0, LSE = -inf\n";
  for (size_t i = 0; i < plan.passes.size(); ++i) out += print_pass(plan.passes[i], i);
  for (const Alternative& a : plan.alternatives) out += fmt::format("  {}: {:.4g} cycles, {}\n", a.name, a.cost, a.verdict);
  return out;
}

std::string explain(const KernelPlan& plan) {
  std::string out;
  for (const std::string& note : plan.notes) out += as_sentence(note);
  if (plan.family == Family::Fused) {
    out += fmt::format("A block computes {} in steps of up to {} keys and keeps only its running maximum, sum and output.\n",
                       rows_text(plan), plan.keys_per_step);
    if (plan.problem.few_queries) out += "Long keys are split into parts by the shape alone; their results are merged in a fixed order.\n";
  } else {
    out += fmt::format("A block of {} query rows writes its scores into compressed rows, turns them into probabilities in place, and multiplies "
                       "them with V: the probabilities are wanted, and a running softmax does not know them before its last key.\n",
                       plan.tile_rows);
  }
  if (plan.passes.size() > 1) {
    out += fmt::format("The keys of a block are visited in {} passes over disjoint parts of the mask, in this order.\n", plan.passes.size());
  }
  for (const Alternative& a : plan.alternatives) {
    out += as_sentence(fmt::format("{}: {:.3g} Mcycles a head at length {}, {}", a.name, a.cost / 1e6, plan.nominal_length, a.verdict));
  }
  return out;
}

}  // namespace heddle::plan
