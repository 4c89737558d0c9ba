// Lines of C-like text with indentation.
#pragma once
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace heddle::codegen::clike {

class TextWriter {
 public:
  explicit TextWriter(int depth = 0) : depth_(depth) {}

  void line(std::string_view text) { text_ += text.empty() ? "\n" : fmt::format("{:{}}{}\n", "", 2 * depth_, text); }
  /// `head {`; close() ends it.
  void open(std::string_view head) {
    line(fmt::format("{} {{", head));
    ++depth_;
  }
  void close(std::string_view tail = "}") {
    --depth_;
    line(tail);
  }
  /// A comment; line breaks in it start new comment lines.
  void comment(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      line(fmt::format("// {}", text.substr(0, end)));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }
  const std::string& text() const { return text_; }

 private:
  int depth_;
  std::string text_;
};

}  // namespace heddle::codegen::clike
