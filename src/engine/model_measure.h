// Times of a whole model over several runs, node by node, and its outputs against the float64 run of the same graph.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "heddle/graph.h"
#include "src/engine/attention_measure.h"

namespace heddle::engine {

struct NodeTimes {
  std::string name, op;
  Times times;
};

struct ModelMeasure {
  Times total;
  std::vector<NodeTimes> nodes;  ///< In the order they ran.
  RunResult last;                ///< Of the last run, attentions kept.
};

/// Runs the model `repeats` (>= 1) times.
ModelMeasure measure_model(Model& model, const std::map<std::string, Array>& inputs, int repeats);

/// One output of a run: what it looks like, and how far it is from the reference.
struct OutputCheck {
  std::string name;
  double error = 0;  ///< Largest difference; infinite where one is not finite and the other differs from it.
  double bar = 0;    ///< output_bar() of the graph times the root mean square of the reference; 0 for integers.
  bool accurate() const { return error <= bar; }
};

/// Rounding of a few dozen float32 nodes stays far below this share of an output; a wrong node does not.
inline constexpr double kOutputBar = 1e-4;

/// kOutputBar, or what rounding to the narrowest real type of the graph leaves of its outputs' largest elements.
double output_bar(const ir::Graph& graph);

/// Runs the model in float64 (slow) and compares. `found` holds the outputs of run() for the same inputs.
std::vector<OutputCheck> check_outputs(Model& model, const std::map<std::string, Array>& inputs,
                                       const std::map<std::string, Array>& found);

/// Root mean square of the finite elements of a dense array; 0 when there is none.
double root_mean_square(const Array& array);

}  // namespace heddle::engine
