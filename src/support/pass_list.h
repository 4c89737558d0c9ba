// The one ordered list of passes of a compiler: each has a name, a function and a verifier, is timed, and can be dumped.
//
// A pass changes a state that all passes of the list share. Optional passes can be switched off by name; results must stay right
// with any of them off, which tests check by running every list without each of its optional passes.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/support/timer.h"

namespace heddle::support {

struct TimedPass {
  std::string name;
  double milliseconds = 0;  ///< Verifier not included.
};

/// How a list is run.
struct PassContext {
  std::set<std::string> disabled;  ///< Names of optional passes to leave out; other names are ignored.
  std::function<void(const std::string& name, const std::string& text)> dump;  ///< Called after each pass that has a text; may be empty.
};

template <typename State>
struct Pass {
  std::string name;
  std::function<void(State&)> run;
  std::function<void(const State&)> verify;       ///< Throws InternalError; empty: nothing to check.
  std::function<std::string(const State&)> text;  ///< What a dump shows; empty: nothing.
  bool optional = false;
};

template <typename State>
std::vector<TimedPass> run_passes(const std::vector<Pass<State>>& passes, State& state, const PassContext& context = {}) {
  std::vector<TimedPass> times;
  for (const Pass<State>& pass : passes) {
    if (pass.optional && context.disabled.contains(pass.name)) continue;
    Timer timer;
    pass.run(state);
    times.push_back({pass.name, timer.milliseconds()});
    if (pass.verify) pass.verify(state);
    if (context.dump && pass.text) context.dump(pass.name, pass.text(state));
  }
  return times;
}

}  // namespace heddle::support
