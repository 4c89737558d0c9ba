// The compiler library's one exported function, and the compiler behind it.
#include <cstring>
#include <utility>

#include "src/engine/compiler.h"
#include "src/engine/compiler/facts_report.h"
#include "src/engine/compiler/gpu_stages.h"
#include "src/engine/compiler/kernel_pipeline.h"
#include "src/engine/compiler/matrix_report.h"
#include "src/engine/compiler/picture_cells.h"
#include "src/jit/orc.h"

namespace heddle::engine {
namespace {

class LlvmCompiler : public Compiler {
 public:
  CompiledKernel compile(const ir::AttentionProblem& problem) override { return compile_kernel(problem); }

  std::shared_ptr<const void> link(const CompiledKernel& kernel, AttentionKernel& entry) override {
    jit::LinkedKernel linked = linker_.link(kernel.object, kernel.record.symbol);
    entry = linked.entry;
    return std::move(linked.owner);
  }

  std::string stage(const ir::AttentionProblem& problem, StageText stage) override { return stage_text(problem, stage); }

  std::string gpu_stage(const ir::AttentionProblem& problem, const GpuTarget& target, DType dtype, StageText stage) override {
    return gpu_stage_text(problem, target, dtype, stage);
  }

  FactsReport facts(const FactsRequest& request) override { return facts_report(request); }

  PictureCells picture(const PictureRequest& request) override { return picture_cells(request); }

  MatrixReport matrix_facts(const MatrixRequest& request) override { return matrix_report(request); }

 private:
  jit::Linker linker_;
};

}  // namespace
}  // namespace heddle::engine

extern "C" __attribute__((visibility("default"))) heddle::engine::Compiler* heddle_create_compiler(const char* digest) {
  constexpr const char* kOwnDigest =
#include "generator_digest.inc"
      ;
  return std::strcmp(digest, kOwnDigest) == 0 ? new heddle::engine::LlvmCompiler : nullptr;
}
