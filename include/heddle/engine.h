// The engine: compiles attention formulas for this machine, caches the kernels and launches them.
//
//   heddle::Engine engine;
//   heddle::Attention attention = engine.attention({.mask = heddle::Mask::parse("k <= q && q - k < 256"), .head_dim = 64});
//   attention.run(q, k, v, o);   // heddle::Tensor views, [batch, heads, rows, head_dim]
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include "heddle/acsr.h"
#include "heddle/error.h"
#include "heddle/formula.h"
#include "heddle/matrix.h"
#include "heddle/target.h"
#include "heddle/tensor.h"

namespace heddle {

/// What to compile. Lengths, batch, heads and strides are not part of it: one kernel serves all of them.
struct AttentionSpec {
  Mask mask{};
  Score score{};
  int64_t head_dim = 64;                 ///< 1..256
  int64_t value_dim = 0;                 ///< 1..256; 0 means head_dim.
  /// Of q, k, v and o: Float32, BFloat16 or Float16. Scores, softmax and sums are float32 whatever it is; O is rounded to nearest even.
  DType dtype = DType::Float32;
  bool lse = false;                      ///< Also write LSE, the natural-log log-sum-exp of the scores.
  bool probabilities = false;            ///< Also write the probabilities, as compressed rows (heddle/acsr.h).
  /// Query rows of the launches to come, where they are known to be few (decoding: 1): finds the kernel for few queries first. 0: any
  /// number. Every Attention takes launches of every shape; a kernel that was not found first is found or compiled at its first launch.
  int64_t queries = 0;
  std::optional<int64_t> tile_rows{};    ///< Forces the plan's block rows; normally decided by cost.
  std::optional<bool> use_nests{};       ///< false: ignore facts, test every tile in the kernel (for comparison).
  std::optional<MatrixMask> matrix{};    ///< Instead of a mask. Launches must have its lengths; its table is bound by the engine.
};

/// What tables are bound at: their views, and the sizes of the launches to come.
struct BindOptions {
  std::map<std::string, Tensor> tables{};  ///< Every table of mask and score, of the declared dtype, rank 1 to 4, any strides.
  int64_t batch = 1, heads = 1, kv_heads = 1, sq = 0, sk = 0;
  std::map<std::string, int64_t> ints{};   ///< Dynamic integer parameters of the kernel, all of them.
};

/// Tables bound to a kernel: which key tiles each row block visits, found from the contents in O(elements + tiles). Immutable, cheap to
/// copy, thread safe. It views the tables: their memory must outlive it and stay as it is; bind again when contents change, which
/// compiles nothing.
class Binding {
 public:
  double milliseconds() const;      ///< Of the bind.
  int64_t full_tiles() const;       ///< Over all lists; tiles are KernelReport::block_rows x tile_keys. 0 where only scores read tables.
  int64_t partial_tiles() const;
  int64_t bytes() const;            ///< Memory of the lists. Shared by all batches and heads that the mask does not tell apart.

  struct State;
  Binding() = default;
  explicit Binding(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const std::shared_ptr<const State>& state() const { return state_; }

 private:
  const State& made() const;
  std::shared_ptr<const State> state_;
};

/// Keys and values in pages: k is [pages, Hkv, page keys, D] and v [pages, Hkv, page keys, Dv], any strides with a contiguous last
/// dimension. Key j of batch b lies in row j % page keys of page pages[b, j / page keys]. `Sk` of formulas is the length of the batch.
struct PagedKeys {
  Tensor pages{};    ///< [B, pages of a sequence] int32; only the first ceil(lengths[b] / page keys) entries of a row are read.
  Tensor lengths{};  ///< [B] int32 or int64: keys of each batch.
};

/// Values for one launch.
struct LaunchOptions {
  std::optional<double> scale{};              ///< Default 1 / sqrt(head_dim).
  std::map<std::string, int64_t> ints{};      ///< Dynamic integer parameters; all of them must be given (with a binding: none or equal).
  std::map<std::string, double> reals{};
  const Binding* binding = nullptr;           ///< Of a kernel with tables: made by bind() of the same kernel at the same sizes.
  std::map<std::string, Tensor> tables{};     ///< Or the tables themselves, bound for this launch alone.
  /// k and v are pages; runs the kernel for few queries whatever Sq is. Lengths and pages out of range throw UserError.
  const PagedKeys* paged = nullptr;
  /// [B, H, Sq, W] float32 with a contiguous last dimension and W >= AcsrLayout::width(), required exactly when the spec asked for
  /// probabilities: row q holds those of its allowed keys in the order of AcsrLayout::keys(q), then zeros.
  const Tensor* probabilities = nullptr;
};

/// Where a kernel came from and what it cost.
struct KernelReport {
  enum class Origin { Compiled, Disk, Memory } origin = Origin::Compiled;
  double milliseconds = 0;               ///< From the request to a callable kernel.
  std::vector<std::pair<std::string, double>> passes;  ///< Times of compiler passes, when compiled.
  std::string key;                       ///< Hex digest of the cache key.
  std::string path;                      ///< File of the kernel on disk; empty when there is no disk cache.
  std::string facts, plan;               ///< Text.
  std::string matrix;                    ///< MatrixMask::text() of AttentionSpec::matrix; advice where a mask reads a table at every pair.
  int64_t scratch_bytes = 0;             ///< Per thread.
  int64_t block_rows = 0;
  int64_t tile_keys = 0;
};

class Engine;

/// A compiled attention. Cheap to copy; keeps its code and its engine's pool alive; run() is thread safe.
class Attention {
 public:
  /// O = softmax(score(scale * Q K^T) over allowed pairs) V.
  ///   q [B, H, Sq, D], k [B, Hkv, Sk, D], v [B, Hkv, Sk, Dv], o [B, H, Sq, Dv]; of AttentionSpec::dtype; any strides with a
  ///   contiguous last dimension; H % Hkv == 0; lse [B, H, Sq] float32, dense, required exactly when the spec asked for it.
  /// o may share a buffer with q, k and v (slices of one packed buffer) as long as no element is in both; rows of o must not overlap.
  /// Rows without an allowed key give O = 0 and LSE = -inf. Zero-size dimensions are legal. Throws UserError (naming the
  /// argument, what was found and expected) before anything is written. Allocates nothing once a thread has run before.
  void run(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& o, const Tensor* lse = nullptr,
           const LaunchOptions& options = {}) const;
  /// The bind step of a kernel with tables. Throws UserError naming the table: missing, unknown, of another dtype or rank; a dimension that
  /// a formula indexes by b, h, q or k alone and that has neither that variable's size nor extent 1 (broadcast); an index that
  /// certainly leaves the table at these sizes.
  Binding bind(const BindOptions& options) const;
  /// Where the probabilities of a launch at these sizes lie. Throws UserError when the spec did not ask for them, or on bad sizes.
  AcsrLayout acsr_layout(const AcsrSizes& sizes) const;
  /// Both throw UserError on an Attention that no engine made.
  const KernelReport& report() const;
  const AttentionSpec& spec() const;

  struct State;
  Attention() = default;
  explicit Attention(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  const State& made() const;
  std::shared_ptr<const State> state_;
};

struct EngineOptions {
  std::optional<Target> target{};        ///< Default Target::host().
  int threads = 0;                       ///< 0: one a core this process may run on.
  bool disk_cache = true;
  std::string cache_dir{};               ///< Default $HEDDLE_CACHE_DIR, else $XDG_CACHE_HOME/heddle, else ~/.cache/heddle.
  int64_t cache_bytes = int64_t{1} << 28;  ///< Bound of the disk cache; least recently used entries go first.
};

class Engine {
 public:
  explicit Engine(EngineOptions options = {});
  /// Finds (memory, then disk) or compiles the kernel. Thread safe; two threads that ask for one kernel compile it once.
  /// Throws UserError for an illegal spec, ToolchainError when the compiler library is missing. A kernel for a target that this
  /// machine cannot run is compiled and kept; its run() throws UserError with the reason.
  Attention attention(const AttentionSpec& spec);
  int threads() const;
  const Target& target() const;
  int64_t compilations() const;          ///< Kernels compiled so far by this engine.
  std::string cache_dir() const;         ///< Empty when off.

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace heddle
