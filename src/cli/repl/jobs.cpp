#include "src/cli/repl/jobs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heddle/error.h"
#include "src/engine/problem.h"
#include "src/engine/sources.h"
#include "src/engine/use_launch.h"

namespace heddle::cli::repl {
namespace {

using engine::AttentionMeasure;
using engine::Times;

constexpr size_t kBarColumns = 40;

Array random_array(uint64_t seed, const std::vector<int64_t>& shape, runtime::ThreadPool& pool) {
  ir::Source source;
  source.kind = ir::Source::Kind::Normal;
  source.seed = seed;
  return engine::generate(source, {DType::Float32, shape}, pool);
}

/// Operands of the attention, already run once.
AttentionUse use_of(const Subject& subject, const Attention& kernel, runtime::ThreadPool& pool) {
  const Settings& s = subject.settings;
  AttentionUse use;
  use.node = subject.title;
  use.kernel = kernel;
  use.batch = s.batch, use.heads = s.heads, use.kv_heads = s.key_heads(), use.sq = s.sq, use.sk = s.keys();
  use.scale = 1 / std::sqrt(static_cast<double>(s.head_dim));
  use.q = random_array(1, {s.batch, s.heads, s.sq, s.head_dim}, pool);
  use.k = random_array(2, {s.batch, s.key_heads(), s.keys(), s.head_dim}, pool);
  use.v = random_array(3, {s.batch, s.key_heads(), s.keys(), s.value_width()}, pool);
  use.o = Array::make({s.batch, s.heads, s.sq, s.value_width()}, DType::Float32);
  use.ints = subject.values.ints, use.reals = subject.values.reals, use.tables = subject.values.tables;
  engine::UseLaunch(use, kernel).run(use.o.view);
  return use;
}

/// A subject under measure.
struct Measured {
  explicit Measured(const Subject& subject)
      : engine({.threads = subject.settings.cores()}),
        pool(engine.threads()),
        use(use_of(subject, engine.attention(subject.spec), pool)),
        measure(engine::measure_attention(engine, use, static_cast<int>(subject.settings.repeat), pool)) {}
  Engine engine;
  runtime::ThreadPool pool;
  AttentionUse use;
  AttentionMeasure measure;
};

std::string head_line(const Subject& subject, const Measured& measured) {
  const Settings& s = subject.settings;
  const std::string kv = s.key_heads() == s.heads ? "" : fmt::format(" ({} of keys)", s.key_heads());
  const std::string value = s.value_width() == s.head_dim ? "" : fmt::format(", value dim {}", s.value_width());
  return fmt::format("{}: batch {}, {} heads{}, {} queries, {} keys, head dim {}{}; {}, {} threads\n", subject.title, s.batch, s.heads,
                     kv, s.sq, s.keys(), s.head_dim, value, measured.engine.target().to_string(), measured.engine.threads());
}

std::string origin_text(const KernelReport& report) {
  const bool compiled = report.origin == KernelReport::Origin::Compiled;
  return fmt::format("{} in {:.1f} ms", compiled ? "compiled" : "found in the cache", report.milliseconds);
}

/// Multiplications and additions of both products, over allowed pairs, in a second; in 1e9.
double rate(const Subject& subject, const AttentionMeasure& measure) {
  const double a_pair = 2.0 * static_cast<double>(subject.settings.head_dim + subject.settings.value_width());
  return measure.kernel.fastest() > 0 ? measure.pairs.allowed * a_pair / measure.kernel.fastest() * 1e-6 : 0;
}

std::string error_line(const Measured& measured) {
  const AttentionMeasure& measure = measured.measure;
  const std::string rows = measure.judged_rows == measured.use.sq ? fmt::format("all {} rows", measured.use.sq)
                                                                  : fmt::format("{} evenly spaced rows", measure.judged_rows);
  return fmt::format("  error       {:.2g} at most against float64, over {}; the bar is {:.2g}{}\n", measure.error, rows, measure.bar,
                     measure.accurate() ? "" : ": OVER THE BAR");
}

/// The kernel that ignores the facts: it tests every tile.
Times tested(const Subject& subject, Measured& measured) {
  AttentionSpec spec = subject.spec;
  spec.use_nests = false;
  const engine::UseLaunch launch(measured.use, measured.engine.attention(spec));
  launch.run(measured.use.o.view);
  Times times;
  for (int64_t i = 0; i < subject.settings.repeat; ++i) times.runs.push_back(launch.run(measured.use.o.view));
  return times;
}

std::string with_line_break(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

std::string estimate_summary(const nlohmann::json& facts) {
  const nlohmann::json& density = facts["sample"]["density"];
  return fmt::format("  about {:.3g}% (+- {:.2g}%) of the pairs allowed, estimated from {} of them; {:.1f} ms\n", 100 * density["value"].get<double>(),
                     100 * density["error"].get<double>(), facts["sample"]["pairs"].get<int64_t>(), facts["milliseconds"].get<double>());
}

}  // namespace

JobResult facts_text(const engine::FactsRequest& request) {
  return {kDone, with_line_break(engine::compiler().facts(request).text), false};
}

JobResult facts_summary(const engine::FactsRequest& request) {
  const auto json = nlohmann::json::parse(engine::compiler().facts(request).json);
  if (!json["exact"].get<bool>()) return {kDone, estimate_summary(json), false};
  const double all = static_cast<double>(request.sq) * static_cast<double>(request.sk), nnz = json["nnz"].get<double>();
  std::string text = fmt::format("  {:.0f} of {:.0f} pairs allowed ({:.4g}%), {} empty rows; {}, {:.1f} ms\n", nnz, all,
                                 all > 0 ? 100 * nnz / all : 0, json["empty_rows"].get<int64_t>(), json["proof"].get<std::string>(),
                                 json["milliseconds"].get<double>());
  for (const auto& [shape, tiles] : json["tiles"].items()) {
    text += fmt::format("  tiles {}: {} full, {} partial, {} empty\n", shape, tiles["full"].get<int64_t>(),
                        tiles["partial"].get<int64_t>(), tiles["empty"].get<int64_t>());
  }
  return {kDone, text, false};
}

JobResult picture_text(const engine::FactsRequest& request, const Settings& settings, const engine::TextStyle& style) {
  engine::TextStyle narrow = style;
  narrow.width = std::min(style.width, kPictureColumns);
  const engine::CellLimits limits = engine::text_limits(request.sq, request.sk, narrow.width);
  const engine::PictureCells cells = engine::compiler().picture({.facts = request,
                                                                 .tile_rows = settings.tile_rows,
                                                                 .tile_cols = settings.tile_keys,
                                                                 .max_rows = limits.rows,
                                                                 .max_cols = limits.cols});
  return {kDone, engine::text_picture(cells, narrow), false};
}

JobResult stage_text(const AttentionSpec& spec, engine::StageText stage) {
  return {kDone, with_line_break(engine::compiler().stage(engine::problem_of(spec, Target::host()), stage)), false};
}

JobResult run_text(const Subject& subject) {
  const Measured measured(subject);
  const AttentionMeasure& measure = measured.measure;
  std::string text = head_line(subject, measured);
  text += fmt::format("  kernel      {}\n", origin_text(measured.use.kernel.report()));
  text += fmt::format("  time        {:.3f} ms at best, {:.3f} ms median\n", measure.kernel.fastest(), measure.kernel.median());
  text += fmt::format("  pairs       {:.0f} of {:.0f} allowed ({:.4g}%)\n", measure.pairs.allowed, measure.pairs.all,
                      100 * measure.pairs.density());
  text += fmt::format("  rate        {:.1f} GFLOP/s over the allowed pairs\n", rate(subject, measure));
  text += fmt::format("  efficiency  {:.3f} = {:.3f} ms without the mask * share of allowed pairs / time\n", measure.efficiency(),
                      measure.dense_kernel.fastest());
  text += error_line(measured);
  return {measure.accurate() ? kDone : kCheckFailed, text, false};
}

JobResult bench_text(const Subject& subject) {
  Measured measured(subject);
  const AttentionMeasure& measure = measured.measure;
  std::vector<Bar> all = {{"this mask", measure.kernel.fastest()},
                          {"all tiles tested", tested(subject, measured).fastest()},
                          {"without the mask", measure.dense_kernel.fastest()}};
  std::string note;
  if (measure.openblas) all.push_back({"dense in OpenBLAS", measure.openblas->fastest()});
  if (!measure.openblas) note = fmt::format("  dense in OpenBLAS: not measured: {}\n", measure.openblas_note);
  return {kDone, head_line(subject, measured) + bars(all) + note, false};
}

void check_shape(const Settings& settings) {
  if (settings.heads % settings.key_heads() != 0) {
    throw UserError(fmt::format("{} query heads cannot share {} key heads", settings.heads, settings.key_heads()),
                    "set heads to a multiple of kv_heads");
  }
  const double queries = static_cast<double>(settings.batch) * static_cast<double>(settings.heads) * static_cast<double>(settings.sq);
  const double keys = static_cast<double>(settings.batch) * static_cast<double>(settings.key_heads()) * static_cast<double>(settings.keys());
  const double width = static_cast<double>(settings.head_dim) + 2.0 * static_cast<double>(settings.value_width());
  const double bytes = 4 * (queries * width + keys * (width - static_cast<double>(settings.value_width())));
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= 0.75 * memory) return;
  throw UserError(fmt::format("Q, K, V and O would take {:.1f} GiB; this machine has {:.1f} GiB", bytes / 0x1p30, memory / 0x1p30),
                  "set smaller sq, sk, heads or batch");
}

std::string bars(const std::vector<Bar>& all) {
  double longest = 0;
  for (const Bar& bar : all) longest = std::max(longest, bar.milliseconds);
  std::string text;
  for (const auto& [name, milliseconds] : all) {
    const double share = longest > 0 ? milliseconds / longest : 0;
    const auto columns = std::max<size_t>(1, static_cast<size_t>(std::lround(share * kBarColumns)));
    const double times = all.front().milliseconds > 0 ? milliseconds / all.front().milliseconds : 0;
    text += fmt::format("  {:18} {:<{}} {:.3f} ms, {:.1f}x\n", name, std::string(columns, '#'), kBarColumns, milliseconds, times);
  }
  return text;
}

}  // namespace heddle::cli::repl
