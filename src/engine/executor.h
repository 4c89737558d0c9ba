// Runs the nodes of a graph one after the other, freeing each value after its last reader.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "heddle/graph.h"
#include "src/engine/op_run.h"
#include "src/ir/graph.h"

namespace heddle::engine {

struct ExecuteOptions {
  bool reference = false;  ///< float64; leaves that are float32 are converted first.
  bool keep_attention = false;
};

class Executor {
 public:
  /// `kernels` holds one entry a node, empty but for Attention. All must outlive the executor.
  Executor(const ir::Graph& graph, const std::vector<std::optional<Attention>>& kernels, runtime::ThreadPool& pool,
           BufferPool& buffers)
      : graph_(graph), kernels_(kernels), pool_(pool), buffers_(buffers) {}
  /// `values` has one entry a value of the graph, those of inputs and weights filled.
  RunResult execute(std::vector<Array> values, const ExecuteOptions& options) const;

 private:
  void step(size_t index, const ExecuteOptions& options, std::vector<Array>& values, RunResult& result) const;

  const ir::Graph& graph_;
  const std::vector<std::optional<Attention>>& kernels_;
  runtime::ThreadPool& pool_;
  BufferPool& buffers_;
};

}  // namespace heddle::engine
