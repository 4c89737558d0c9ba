#include "heddle/kernel_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "heddle/error.h"
#include "heddle/target.h"
#include "runtime/disk_cache.h"
#include "runtime/dispatcher.h"
#include "runtime/object_loader.h"

namespace heddle {

struct KernelFile::State {
  State(LaunchRecord r, runtime::LoadedCode c, int threads) : record(std::move(r)), code(std::move(c)), pool(threads) {}
  LaunchRecord record;
  runtime::LoadedCode code;
  runtime::ThreadPool pool;
};

namespace {

void check_runnable(const std::string& path, const LaunchRecord& record) {
  std::string why;
  if (!Target::parse(record.target).runs_here(&why)) {
    throw UserError(fmt::format("{} is compiled for {}, which this machine cannot run: {}", path, record.target, why));
  }
  if (!record.tables.empty()) {
    throw UserError(fmt::format("{} reads the table '{}'", path, record.tables[0].name),
                    "run it through heddle::Engine, which binds tables");
  }
}

void check_sizes(const AttentionArgs& args, const LaunchRecord& record) {
  const auto check = [](const char* name, int64_t size, int64_t most) {
    if (size < 0 || size > most) throw UserError(fmt::format("{} is {}; expected 0 to {}", name, size, most));
  };
  check("batch", args.batch, INT32_MAX);
  check("heads", args.heads, INT32_MAX);
  check("kv_heads", args.kv_heads, INT32_MAX);
  check("sq", args.sq, record.max_positions);
  check("sk", args.sk, record.max_positions);
  if (args.kv_heads > 0 ? args.heads % args.kv_heads != 0 : args.heads > 0 && args.sk > 0) {
    throw UserError(fmt::format("{} query heads are no multiple of {} key and value heads", args.heads, args.kv_heads));
  }
}

void check_pointers(const AttentionArgs& args, const LaunchRecord& record) {
  const auto check = [](const char* name, const void* pointer, bool used) {
    if (used && !pointer) throw UserError(fmt::format("{} is a null pointer", name));
  };
  const bool rows = args.batch > 0 && args.heads > 0 && args.sq > 0, pairs = rows && args.sk > 0;
  check("q", args.q, rows);
  check("o", args.o, rows);
  check("k", args.k, pairs);
  check("v", args.v, pairs);
  check("lse", args.lse, rows && record.lse);
  check("int_params", args.int_params, !record.int_params.empty());
  check("real_params", args.real_params, !record.real_params.empty());
}

}  // namespace

KernelFile KernelFile::open(const std::string& path, int threads) {
  const int count = runtime::thread_count(threads);
  std::optional<runtime::StoredKernel> stored = runtime::read_kernel(path);
  if (!stored) {
    throw UserError(fmt::format("{} is no kernel that this version of Heddle can read", path),
                    "it must be a whole .kernel file of the cache, made by the same version, and belong to this user");
  }
  check_runnable(path, stored->record);
  runtime::LoadedCode code = runtime::load_object(stored->object, stored->record.symbol);
  return KernelFile(std::make_shared<State>(std::move(stored->record), std::move(code), count));
}

const LaunchRecord& KernelFile::record() const { return state_->record; }

void KernelFile::launch(const AttentionArgs& args) const {
  check_sizes(args, state_->record);
  check_pointers(args, state_->record);
  runtime::launch(state_->pool, reinterpret_cast<AttentionKernel>(state_->code.entry), args, state_->record);
}

}  // namespace heddle
