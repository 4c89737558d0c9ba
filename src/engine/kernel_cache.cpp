#include "src/engine/kernel_cache.h"
#include <fmt/format.h>
#include <algorithm>
#include "runtime/object_loader.h"

namespace heddle::engine {

namespace {

/// Why this machine must not run code of the target; empty when it may.
std::string refusal_of(const Target& target) {
  std::string why;
  if (target.runs_here(&why)) return {};
  return fmt::format("this kernel is compiled for {}, which this machine cannot run: {}", target.to_string(), why);
}

}  // namespace

std::string key_text(const ir::AttentionProblem& problem) {
  return fmt::format("attention\n{}generator {}\n", ir::canonical_text(problem), generator_digest());
}

KernelCache::Found KernelCache::find(const ir::AttentionProblem& problem) {
  const std::string text = key_text(problem);
  const std::shared_ptr<Slot> slot = slot_of(text);
  std::lock_guard lock(slot->filling);
  Found found{slot->kernel.lock(), Origin::Memory};
  if (!found.kernel) {
    found = fill(problem, text);
    slot->kernel = found.kernel;
  }
  keep(found.kernel);
  return found;
}

/// Slots of kernels that are gone and that nobody waits for are dropped on the way.
std::shared_ptr<KernelCache::Slot> KernelCache::slot_of(const std::string& text) {
  std::lock_guard lock(mutex_);
  std::erase_if(slots_, [&](const auto& entry) {
    return entry.first != text && entry.second.use_count() == 1 && entry.second->kernel.expired();
  });
  std::shared_ptr<Slot>& slot = slots_[text];
  if (!slot) slot = std::make_shared<Slot>();
  return slot;
}

void KernelCache::keep(std::shared_ptr<const Kernel> kernel) {
  std::shared_ptr<const Kernel> oldest;  // Freed after the lock.
  std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(recent_, kernel);
  if (known != recent_.end()) return recent_.splice(recent_.begin(), recent_, known);
  recent_.push_front(std::move(kernel));
  if (recent_.size() <= kMemoryKernels) return;
  oldest = std::move(recent_.back());
  recent_.pop_back();
}

KernelCache::Found KernelCache::fill(const ir::AttentionProblem& problem, const std::string& text) {
  const std::string key = runtime::digest(text);
  if (!usable()) return {compile(problem, key, text), Origin::Compiled};
  if (auto kernel = from_disk(problem.target, key, text)) return {kernel, Origin::Disk};
  const runtime::DiskCache::Lock one_process(*disk_, key);
  if (auto kernel = from_disk(problem.target, key, text)) return {kernel, Origin::Disk};
  return {compile(problem, key, text), Origin::Compiled};
}

/// Null on a miss. An object that cannot be loaded is a miss too: it is compiled and stored anew.
std::shared_ptr<const Kernel> KernelCache::from_disk(const Target& target, const std::string& key, const std::string& text) try {
  std::optional<runtime::StoredKernel> stored = disk_->find(key, text);
  if (!stored) return nullptr;
  auto kernel = std::make_shared<Kernel>();
  kernel->refusal = refusal_of(target);
  const runtime::LoadedCode code = runtime::load_object(stored->object, stored->record.symbol);
  kernel->code = code.owner;
  kernel->entry = kernel->refusal.empty() ? reinterpret_cast<AttentionKernel>(code.entry) : nullptr;
  kernel->record = std::move(stored->record);
  kernel->key = key;
  kernel->path = disk_->path(key);
  return kernel;
} catch (const RuntimeError&) {
  return nullptr;
}

std::shared_ptr<const Kernel> KernelCache::compile(const ir::AttentionProblem& problem, const std::string& key,
                                                   const std::string& text) {
  CompiledKernel compiled = compiler_().compile(problem);
  ++compilations_;
  auto kernel = std::make_shared<Kernel>();
  kernel->key = key;
  if (usable() && disk_->store(key, text, {compiled.record, compiled.object})) kernel->path = disk_->path(key);
  kernel->refusal = refusal_of(problem.target);
  if (kernel->refusal.empty()) kernel->code = compiler_().link(compiled, kernel->entry);
  for (const support::TimedPass& pass : compiled.times) kernel->passes.emplace_back(pass.name, pass.milliseconds);
  kernel->record = std::move(compiled.record);
  return kernel;
}

}  // namespace heddle::engine
