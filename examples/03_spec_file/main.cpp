// Lesson 3: a spec file.
//
// A model spec is a JSON file: sizes, masks as formulas, inputs, weights and ONNX-style nodes. attention.json beside this file
// is one attention layer. Steps:
//   (1) load the spec, once as it stands and once at another length,
//   (2) bind it to an engine and run it on its generated input,
//   (3) see how long each node took and where the attention kernel came from,
//   (4) compare the output with the same graph in double precision.
// Usage: example_03_spec_file attention.json
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "heddle/graph.h"

namespace {

/// Elements of a dense float32 or float64 array as doubles.
double element(const heddle::Array& array, int64_t i) {
  return array.view.dtype == heddle::DType::Float64 ? static_cast<const double*>(array.view.data)[i]
                                                    : static_cast<const float*>(array.view.data)[i];
}

double largest_difference(const heddle::Array& a, const heddle::Array& b) {
  double worst = 0;
  for (int64_t i = 0; i < a.view.elements(); ++i) worst = std::max(worst, std::abs(element(a, i) - element(b, i)));
  return worst;
}

const char* origin(heddle::KernelReport::Origin origin) {
  switch (origin) {
    case heddle::KernelReport::Origin::Compiled:
      return "compiled";
    case heddle::KernelReport::Origin::Disk:
      return "found on disk";
    case heddle::KernelReport::Origin::Memory:
      return "found in memory";
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s attention.json\n", argv[0]);
    return 2;
  }
  heddle::Engine engine;
  // (1) Dims can be overridden, as `heddle run --dim S=200` does; 200 is no multiple of any tile.
  for (const int64_t length : {384, 200}) {
    const heddle::Spec spec = heddle::Spec::load(argv[1], {.dims = {{"S", length}}});

    // (2) A missing input is generated from its `fill`, the same on every machine.
    heddle::Model model(engine, spec);
    const heddle::RunResult result = model.run();

    // (3) One kernel serves all lengths: the second time it is found in memory.
    std::printf("S = %lld\n", static_cast<long long>(length));
    for (const heddle::NodeTime& node : result.times)
      std::printf("  %-12s %-10s %7.3f ms\n", node.name.c_str(), node.op.c_str(), node.milliseconds);
    for (const heddle::AttentionUse& use : result.attentions) {
      std::printf("  kernel of %s: %s in %.2f ms\n", use.node.c_str(), origin(use.kernel.report().origin),
                  use.kernel.report().milliseconds);
    }

    // (4) The judge evaluates every node in double precision, straight from the formulas.
    const double error = largest_difference(result.outputs.at("y"), model.run_reference().outputs.at("y"));
    std::printf("  largest difference from the judge: %.2g\n", error);
    if (!(error < 1e-4)) return 1;
  }
  return engine.compilations() <= 1 ? 0 : 1;
}
