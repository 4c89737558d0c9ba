#include <cmath>
#include <nlohmann/json.hpp>

#include "src/cli/run_report.h"

namespace heddle::cli {
namespace {

using engine::AttentionMeasure;
using Json = nlohmann::ordered_json;

/// JSON has no infinity and no NaN: they become null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json times_json(const engine::Times& times) {
  return {{"min", times.fastest()}, {"median", times.median()}, {"runs", times.runs}};
}

Json input_json(const InputUse& use) {
  Json files = Json::array();
  for (const ir::FileUse& file : use.files) files.push_back({{"path", file.path}, {"size", file.size}, {"used", file.used}});
  return {{"name", use.name},
          {"dtype", to_string(use.type.dtype)},
          {"shape", use.type.shape},
          {"origin", use.origin},
          {"files", files}};
}

Json kernel_json(const KernelReport& kernel) {
  constexpr const char* kOrigins[] = {"compiled", "disk", "memory"};
  Json passes = Json::object();
  for (const auto& [name, milliseconds] : kernel.passes) passes[name] = milliseconds;
  return {{"origin", kOrigins[static_cast<int>(kernel.origin)]},
          {"milliseconds", kernel.milliseconds},
          {"passes", passes},
          {"key", kernel.key},
          {"path", kernel.path}};
}

Json shape_json(const AttentionUse& use) {
  return {{"batch", use.batch},
          {"heads", use.heads},
          {"kv_heads", use.kv_heads},
          {"sq", use.sq},
          {"sk", use.sk},
          {"head_dim", use.q.view.shape[3]},
          {"value_dim", use.v.view.shape[3]},
          {"scale", use.scale}};
}

Json error_json(double error, double bar, bool accurate) {
  return {{"largest", number(error)}, {"bar", number(bar)}, {"accurate", accurate}};
}

Json attention_json(const AttentionUse& use, const AttentionMeasure& measure) {
  Json json = {{"node", use.node},
               {"shape", shape_json(use)},
               {"facts", use.kernel.report().facts},
               {"plan", use.kernel.report().plan},
               {"kernel", kernel_json(use.kernel.report())},
               {"dense_kernel", kernel_json(measure.dense_report)}};
  json["milliseconds"] = {{"attention", times_json(measure.kernel)}, {"without_mask", times_json(measure.dense_kernel)}};
  json["milliseconds"]["openblas"] = measure.openblas ? times_json(*measure.openblas) : Json(nullptr);
  json["rows_without_mask"] = measure.dense_rows;
  json["openblas_note"] = measure.openblas_note;
  json["pairs"] = {{"allowed", measure.pairs.allowed}, {"all", measure.pairs.all}, {"rows_counted", measure.pairs.rows}};
  json["efficiency"] = measure.efficiency();
  json["error"] = error_json(measure.error, measure.bar, measure.accurate());
  json["error"]["rows_judged"] = measure.judged_rows;
  return json;
}

Json output_json(const RunReport& report, const std::string& name, const Array& array) {
  Json json = {{"name", name},
               {"dtype", to_string(array.view.dtype)},
               {"shape", array.view.shape},
               {"rms", engine::root_mean_square(array)}};
  for (const engine::OutputCheck& check : report.checks) {
    if (check.name == name) json["error"] = error_json(check.error, check.bar, check.accurate());
  }
  return json;
}

Json model_json(const RunReport& report) {
  Json json = {{"milliseconds", times_json(report.model.total)}};
  if (!report.profile) return json;
  json["nodes"] = Json::array();
  for (const engine::NodeTimes& node : report.model.nodes) {
    json["nodes"].push_back({{"name", node.name}, {"op", node.op}, {"milliseconds", times_json(node.times)}});
  }
  return json;
}

}  // namespace

std::string json_of(const RunReport& report) {
  Json json = {{"spec", report.spec}, {"name", report.name}, {"target", report.target}, {"threads", report.threads}};
  json["inputs"] = json["attentions"] = json["outputs"] = Json::array();
  for (const InputUse& use : report.inputs.uses) json["inputs"].push_back(input_json(use));
  json["bytes_read"] = report.inputs.bytes_read();
  for (size_t i = 0; i < report.attentions.size(); ++i) {
    json["attentions"].push_back(attention_json(report.model.last.attentions[i], report.attentions[i]));
  }
  json["compiler"] = {{"compilations", report.compilations}, {"loaded", report.compiler_loaded}};
  json["model"] = model_json(report);
  for (const auto& [name, array] : report.model.last.outputs) json["outputs"].push_back(output_json(report, name, array));
  if (report.checked) json["check"] = report.passed() ? "passed" : "failed";
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace heddle::cli
