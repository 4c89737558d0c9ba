#include "heddle/engine.h"
#include "runtime/thread_pool.h"
#include "src/engine/attention.h"
#include "src/engine/kernel_cache.h"
#include "src/engine/kernel_pair.h"
#include "src/engine/matrix.h"
#include "src/engine/problem.h"
#include "src/support/timer.h"

namespace heddle {

namespace {

std::optional<runtime::DiskCache> open_disk(const EngineOptions& options) {
  if (!options.disk_cache) return std::nullopt;
  return runtime::DiskCache(options.cache_dir.empty() ? runtime::default_cache_dir() : options.cache_dir, options.cache_bytes);
}

}  // namespace

struct Engine::State {
  explicit State(const EngineOptions& options)
      : target(options.target ? *options.target : Target::host()),
        pool(std::make_shared<runtime::ThreadPool>(runtime::thread_count(options.threads))),
        cache(std::make_shared<engine::KernelCache>(open_disk(options))) {}

  Target target;
  std::shared_ptr<runtime::ThreadPool> pool;
  std::shared_ptr<engine::KernelCache> cache;
};

Engine::Engine(EngineOptions options) : state_(std::make_shared<State>(options)) {}

Attention Engine::attention(const AttentionSpec& given) {
  const support::Timer timer;
  const AttentionSpec spec = engine::with_matrix_mask(given);
  const ir::AttentionProblem problem = engine::problem_of(spec, state_->target);
  const engine::KernelCache::Found found = state_->cache->find(problem);
  KernelReport report = engine::report_of(*found.kernel, found.origin, timer.milliseconds());
  report.matrix = engine::matrix_text(spec);
  Attention::State state = {spec, problem.mask, std::move(report), found.kernel, state_->pool};
  if (engine::binds_its_matrix(spec)) state.matrix_binding = std::make_shared<engine::MatrixBinding>();
  const auto find = [cache = state_->cache](const ir::AttentionProblem& other) { return cache->find(other).kernel; };
  if (!spec.probabilities) state.kernels = std::make_shared<const engine::KernelPair>(problem, found.kernel, find);
  return Attention(std::make_shared<const Attention::State>(std::move(state)));
}

int Engine::threads() const { return state_->pool->threads(); }

const Target& Engine::target() const { return state_->target; }

int64_t Engine::compilations() const { return state_->cache->compilations(); }

std::string Engine::cache_dir() const { return state_->cache->dir(); }

}  // namespace heddle
