// The bind step of the engine: checks tables, runs the recipe of the kernel's record, and hands the result to launches.
#pragma once
#include <memory>
#include "heddle/engine.h"
#include "heddle/kernel_abi.h"
#include "src/engine/attention.h"
#include "src/engine/launch_arguments.h"

namespace heddle::engine {

/// Tables for launches of `kernel`, one of the attention's. Throws UserError as Attention::bind says; it names `ints_field` as the place
/// where integer parameters were given.
std::shared_ptr<const Binding::State> bind_tables(const Attention::State& attention, const BindOptions& options,
                                                  const std::shared_ptr<const Kernel>& kernel, const char* ints_field);

/// Bind options of one launch on checked tensors.
BindOptions bind_options(const LaunchTensors& tensors, const LaunchOptions& options);

/// Throws UserError unless a kernel with tables has a binding of its own at the sizes of the tensors, and one without has none.
void check_binding(const Binding* binding, const LaunchTensors& tensors, const Kernel& kernel);

/// Points `args` at the tables and lists of a binding, which must outlive the launch.
void add_tables(const Binding::State& binding, AttentionArgs& args);

}  // namespace heddle::engine
