// The compiler half as one interface: libheddle_compiler.so implements it and the engine opens that library at the first miss.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include "heddle/kernel_abi.h"
#include "heddle/matrix.h"
#include "src/engine/picture/picture_cells.h"
#include "src/ir/attention_problem.h"
#include "src/ir/evaluate.h"
#include "src/support/gpu_target.h"
#include "src/support/pass_list.h"

namespace heddle::engine {

/// A stage of the compiler whose text can be shown.
enum class StageText { Formula, Facts, Plan, Explain, Tile, Schedule, Source, Asm };

struct CompiledKernel {
  LaunchRecord record;
  std::string object;            ///< Relocatable object file: bytes.
  std::vector<support::TimedPass> times;
};

/// What `heddle facts` shows, already counted; JSON text has the keys of the case files.
struct FactsReport {
  std::string text, json;
  std::optional<int64_t> nnz;  ///< Allowed pairs; nullopt where they could only be estimated.
};
/// Above this many rows or keys columns, pieces and the checksum, which visit pairs, are not counted.
inline constexpr int64_t kMaxVisitedRows = int64_t{1} << 16;
struct FactsRequest {
  ir::Expr mask;
  int64_t sq = 0, sk = 0;
  std::vector<std::pair<int64_t, int64_t>> tiles;  ///< rows x keys
  std::vector<std::pair<std::string, int64_t>> ints;
  ir::Tables tables{};  ///< That the mask reads.
  std::shared_ptr<const void> table_memory{};  ///< Of the tables; may be null where the caller keeps it.
  bool pieces = true, columns = true, checksum = false;  ///< Ignored (off) above kMaxVisitedRows.
  int threads = 2;
};

/// A picture of a mask (facts.mask at facts.sq x facts.sk; counts that `facts` asks for beside are not made) with at most
/// max_rows x max_cols cells.
struct PictureRequest {
  FactsRequest facts;
  int64_t tile_rows = 64, tile_cols = 64;  ///< Whose classes are counted.
  int64_t max_rows = 256, max_cols = 256;
};

/// A boolean matrix in the caller's memory: 0 = masked, anything else = allowed; a pair is at data + q * row_stride + k * key_stride.
struct MatrixRequest {
  const uint8_t* data = nullptr;
  int64_t sq = 0, sk = 0, row_stride = 0;
  int64_t key_stride = 1;
  std::vector<std::pair<int64_t, int64_t>> tiles;  ///< rows x keys
  int threads = 2;
};
/// What was found in a matrix; JSON keys as in FactsReport.
struct MatrixReport {
  std::string text, json;
  MatrixFindings findings;  ///< Tiles are the first of the request.
  ir::Expr formula;         ///< Gives the matrix exactly; null when none was found.
};

class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual CompiledKernel compile(const ir::AttentionProblem& problem) = 0;
  /// Links an object through ORC; the shared pointer keeps the code alive.
  virtual std::shared_ptr<const void> link(const CompiledKernel& kernel, AttentionKernel& entry) = 0;
  virtual std::string stage(const ir::AttentionProblem& problem, StageText stage) = 0;
  /// The same for a GPU, whose Q, K, V and O have the dtype.
  virtual std::string gpu_stage(const ir::AttentionProblem& problem, const GpuTarget& target, DType dtype, StageText stage) = 0;
  virtual FactsReport facts(const FactsRequest& request) = 0;
  virtual PictureCells picture(const PictureRequest& request) = 0;
  virtual MatrixReport matrix_facts(const MatrixRequest& request) = 0;
};

/// Opens libheddle_compiler.so beside libheddle.so (or the loader's path), once a process. Thread safe. Throws ToolchainError
/// that says where it looked.
Compiler& compiler();
bool compiler_loaded();

/// What the compiler library exports: `extern "C" heddle::engine::Compiler* heddle_create_compiler(const char* digest)`;
/// returns null when `digest` is not its own generator digest (libraries of two builds mixed).
inline constexpr const char* kCompilerFactory = "heddle_create_compiler";
/// Digest of all generator sources, made at build time; part of every cache key.
const char* generator_digest();

}  // namespace heddle::engine
