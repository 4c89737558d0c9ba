#include "src/engine/c_terms.h"

#include <string_view>
#include <utility>

namespace heddle::engine {
namespace {

constexpr std::pair<std::string_view, std::string_view> kTerms[] = {
    {"LaunchOptions::ints", "heddle_launch_options.values, of kind HEDDLE_INT"},
    {"LaunchOptions::reals", "heddle_launch_options.values, of kind HEDDLE_REAL"},
    {"LaunchOptions::tables", "heddle_launch_options.tables"},
    {"BindOptions::ints", "heddle_bind_options.values, of kind HEDDLE_INT"},
    {"AttentionSpec::dtype", "heddle_spec.dtype"},
    {"AttentionSpec::lse = false", "heddle_spec.lse = 0"},
    {"AttentionSpec::lse = true", "heddle_spec.lse = 1"},
    {"Attention::bind()", "heddle_attention_bind()"},
};

}  // namespace

std::string in_c_terms(std::string message) {
  for (const auto& [ours, theirs] : kTerms) {
    for (size_t at = 0; (at = message.find(ours, at)) != std::string::npos; at += theirs.size()) message.replace(at, ours.size(), theirs);
  }
  return message;
}

}  // namespace heddle::engine
