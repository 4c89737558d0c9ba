// Options of the benchmarks that start themselves as children: [--json] [--samples N] [--filter TEXT].
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

struct Options {
  bool json = false;
  int samples = 1;
  std::string filter;  ///< Only what has this text in its name.
};

/// Throws on anything else.
inline Options parse_options(const std::vector<std::string>& arguments, int samples) {
  Options options;
  options.samples = samples;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool more = i + 1 < arguments.size();
    if (arguments[i] == "--json") {
      options.json = true;
    } else if (arguments[i] == "--samples" && more) {
      options.samples = std::max(1, std::stoi(arguments[++i]));
    } else if (arguments[i] == "--filter" && more) {
      options.filter = arguments[++i];
    } else {
      throw std::invalid_argument("unexpected " + arguments[i] + "; usage: [--json] [--samples N] [--filter TEXT]");
    }
  }
  return options;
}

}  // namespace bench
