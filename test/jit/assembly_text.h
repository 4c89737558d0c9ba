// Finds loops in assembly text (AT&T syntax, as LLVM prints it).
#pragma once
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::test {

/// Instructions from a label to a jump back to it.
struct AssemblyLoop {
  size_t first, last;
  std::vector<std::string> lines;

  bool has(const std::string& text) const {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }
};

/// Loops that contain no other loop.
inline std::vector<AssemblyLoop> innermost_loops(const std::string& assembly) {
  std::vector<std::string> lines;
  std::map<std::string, size_t> labels;
  std::vector<AssemblyLoop> loops;
  std::istringstream stream(assembly);
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find('#'));
    if (line.starts_with(".L") && line.find(':') != std::string::npos) labels[line.substr(0, line.find(':'))] = lines.size();
    const size_t target = line.find(".LBB");
    if (line.starts_with("\tj") && target != std::string::npos) {
      const std::string name = line.substr(target, line.find_first_of(" \t", target) - target);
      if (labels.contains(name)) loops.push_back({labels[name], lines.size(), {}});
    }
    lines.push_back(line);
  }
  std::vector<AssemblyLoop> innermost;
  for (AssemblyLoop& loop : loops) {
    const bool holds_another = std::any_of(loops.begin(), loops.end(), [&](const AssemblyLoop& other) {
      return loop.first <= other.first && other.last <= loop.last && (loop.first != other.first || loop.last != other.last);
    });
    if (holds_another) continue;
    loop.lines.assign(lines.begin() + static_cast<ptrdiff_t>(loop.first),
                      lines.begin() + static_cast<ptrdiff_t>(loop.last + 1));
    innermost.push_back(loop);
  }
  return innermost;
}

}  // namespace heddle::test
