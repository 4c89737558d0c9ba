#include "src/cli/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/support/text.h"

namespace heddle::cli {
namespace {

using engine::AttentionMeasure;
using engine::Times;

std::string lines_of(const std::string& text) { return support::indented(text, "    ") + (text.ends_with('\n') ? "" : "\n"); }

std::string times_text(const Times& times) {
  return times.runs.size() == 1 ? fmt::format("{:.2f} ms", times.fastest())
                                : fmt::format("{:.2f} ms at best, {:.2f} ms median", times.fastest(), times.median());
}

std::string input_text(const InputUse& use) {
  std::string text = fmt::format("input {}: {}, {}\n", use.name, ir::to_string(use.type), use.origin);
  for (const ir::FileUse& file : use.files) text += fmt::format("  {}: {} of {} bytes\n", file.path, file.used, file.size);
  return text;
}

/// "LLVM 61.2, facts 4.1, ...": the slowest first.
std::string passes_text(const KernelReport& kernel) {
  std::vector<std::pair<std::string, double>> passes = kernel.passes;
  std::stable_sort(passes.begin(), passes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, milliseconds] : passes)
    text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", name, milliseconds);
  return text;
}

std::string origin_text(const KernelReport& kernel) {
  const std::string where = kernel.path.empty() ? "; no disk cache\n" : fmt::format("\n    at {}\n", kernel.path);
  switch (kernel.origin) {
    case KernelReport::Origin::Compiled:
      return fmt::format("compiled (JIT) in {:.2f} ms: {}{}", kernel.milliseconds, passes_text(kernel), where);
    case KernelReport::Origin::Disk:
      return fmt::format("cache hit: found on disk in {:.2f} ms{}", kernel.milliseconds, where);
    case KernelReport::Origin::Memory:
      break;
  }
  return fmt::format("cache hit: found in memory in {:.2f} ms{}", kernel.milliseconds, where);
}

std::string shape_text(const AttentionUse& use) {
  return fmt::format("batch {}, {} heads ({} of keys), head dim {}, value dim {}, {} queries, {} keys", use.batch, use.heads,
                     use.kv_heads, use.q.view.shape[3], use.v.view.shape[3], use.sq, use.sk);
}

std::string times_lines(const AttentionMeasure& measure) {
  std::string text = fmt::format("  time: {}\n", times_text(measure.kernel));
  text += measure.openblas ? fmt::format("  the same densely with OpenBLAS, masked softmax between two sgemm: {} ({})\n",
                                         times_text(*measure.openblas), measure.openblas_note)
                           : fmt::format("  the same densely with OpenBLAS: not measured: {}\n", measure.openblas_note);
  if (measure.openblas && measure.kernel.fastest() > 0) {
    text += fmt::format("  against OpenBLAS: {:.2f} times as fast\n", measure.openblas->fastest() / measure.kernel.fastest());
  }
  return text;
}

std::string efficiency_lines(const AttentionUse& use, const AttentionMeasure& measure) {
  const std::string counted =
      measure.pairs.rows == use.sq ? "" : fmt::format(", estimated from {} evenly spaced rows", measure.pairs.rows);
  const std::string ran =
      measure.dense_rows == use.sq ? "" : fmt::format(" ({} of {} query rows ran, scaled up)", measure.dense_rows, use.sq);
  return fmt::format("  our kernel without the mask: {}{}\n", times_text(measure.dense_kernel), ran) +
         fmt::format("  allowed pairs: {:.0f} of {:.0f}, {:.4g}%{}\n", measure.pairs.allowed, measure.pairs.all,
                     100 * measure.pairs.density(), counted) +
         fmt::format("  sparsity efficiency: {:.3f} = time without the mask * share of allowed pairs / time, at best\n",
                     measure.efficiency());
}

std::string error_line(const AttentionUse& use, const AttentionMeasure& measure) {
  const std::string rows = measure.judged_rows == use.sq ? fmt::format("all {} query rows", use.sq)
                                                         : fmt::format("{} evenly spaced query rows", measure.judged_rows);
  return fmt::format("  largest error against float64: {:.3g} over {} of every head; the bar is {:.3g}{}\n", measure.error,
                     rows, measure.bar, measure.accurate() ? "" : ": OVER THE BAR");
}

std::string attention_text(const AttentionUse& use, const AttentionMeasure& measure) {
  const KernelReport& kernel = use.kernel.report();
  return fmt::format("\nattention of node '{}': {}\n", use.node, shape_text(use)) + "  facts:\n" +
         lines_of(kernel.facts) + "  plan, and why:\n" + lines_of(kernel.plan) +
         "  kernel: " + origin_text(kernel) + times_lines(measure) + efficiency_lines(use, measure) + error_line(use, measure);
}

std::string compiler_line(const RunReport& report) {
  if (report.attentions.empty()) return "";
  if (!report.compiler_loaded) return "\ncompiler: not loaded, every kernel came from the cache\n";
  if (report.compilations == 0) return "\ncompiler: loaded to count pairs, every kernel came from the cache\n";
  return fmt::format("\ncompiler: {} kernels compiled\n", report.compilations);
}

std::string profile_text(const RunReport& report) {
  std::string text;
  for (const engine::NodeTimes& node : report.model.nodes) {
    const double share = report.model.total.median() > 0 ? 100 * node.times.median() / report.model.total.median() : 0;
    text += fmt::format("  {:20} {:20} {:9.2f} ms {:5.1f}%\n", node.name, node.op, node.times.median(), share);
  }
  return text;
}

std::string output_text(const RunReport& report, const std::string& name, const Array& array) {
  const ir::TensorType type{array.view.dtype, array.view.shape};
  std::string text =
      fmt::format("output {}: {}, root mean square {:.4g}", name, ir::to_string(type), engine::root_mean_square(array));
  for (const engine::OutputCheck& check : report.checks) {
    if (check.name != name) continue;
    text += fmt::format("; largest error against the float64 run {:.3g}, the bar is {:.3g}{}", check.error, check.bar,
                        check.accurate() ? "" : ": OVER THE BAR");
  }
  return text + '\n';
}

}  // namespace

bool RunReport::passed() const {
  return std::ranges::all_of(attentions, &AttentionMeasure::accurate) &&
         std::ranges::all_of(checks, &engine::OutputCheck::accurate);
}

std::string text_of(const RunReport& report) {
  std::string text = fmt::format("{} ({}), {}, {} threads\n", report.name, report.spec, report.target, report.threads);
  for (const InputUse& use : report.inputs.uses) text += input_text(use);
  text += fmt::format("bytes of input read: {}\n", report.inputs.bytes_read());
  for (size_t i = 0; i < report.attentions.size(); ++i) {
    text += attention_text(report.model.last.attentions[i], report.attentions[i]);
  }
  text += compiler_line(report);
  text += fmt::format("\nwhole model, {} nodes, {} runs: {}\n", report.model.nodes.size(), report.model.total.runs.size(),
                      times_text(report.model.total));
  if (report.profile) text += profile_text(report);
  for (const auto& [name, array] : report.model.last.outputs) text += output_text(report, name, array);
  if (report.checked) text += report.passed() ? "check: passed\n" : "check: FAILED\n";
  return text;
}

}  // namespace heddle::cli
