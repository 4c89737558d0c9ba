// What `heddle run` found out, as text for people and as JSON for machines.
#pragma once
#include <string>
#include <vector>

#include "src/cli/run_inputs.h"
#include "src/engine/attention_measure.h"
#include "src/engine/model_measure.h"

namespace heddle::cli {

struct RunReport {
  std::string spec, name, target;
  int threads = 0;
  int64_t compilations = 0;      ///< Kernels compiled, those of the comparison included.
  bool compiler_loaded = false;  ///< False when every kernel came from the cache.
  RunInputs inputs{};
  engine::ModelMeasure model{};
  std::vector<engine::AttentionMeasure> attentions{};  ///< One each of model.last.attentions.
  std::vector<engine::OutputCheck> checks{};           ///< Empty unless checked.
  bool checked = false, profile = false;

  bool passed() const;
};

std::string text_of(const RunReport& report);
std::string json_of(const RunReport& report);

}  // namespace heddle::cli
