#include "test/emulator/ptx_lexer.h"

#include <algorithm>
#include <cctype>

namespace heddle::emulator {

namespace {

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    for (skip(); at_ < text_.size(); skip()) take();
    tokens_.push_back({"", line_});
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  /// White space and comments.
  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(peek()))) {
        advance(1);
      } else if (peek() == '/' && peek(1) == '/') {
        advance(std::min(text_.find('\n', at_), text_.size()) - at_);
      } else if (peek() == '/' && peek(1) == '*') {
        const size_t end = text_.find("*/", at_ + 2);
        advance(end == std::string_view::npos ? text_.size() - at_ : end + 2 - at_);
      } else {
        return;
      }
    }
  }

  void advance(size_t count) {
    line_ += static_cast<int>(std::count(text_.begin() + at_, text_.begin() + at_ + count, '\n'));
    at_ += count;
  }

  static bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
  }

  /// Length of the word at the cursor; `::` belongs to qualifiers (`L2::128B`), a sign to a number.
  size_t word_length() const {
    size_t length = 0;
    if (peek() == '-' && std::isdigit(static_cast<unsigned char>(peek(1)))) length = 1;
    while (in_word(peek(length)) || (length > 0 && peek(length) == ':' && peek(length + 1) == ':')) {
      length += peek(length) == ':' ? 2 : 1;
    }
    return length;
  }

  void take() {
    size_t length = std::max<size_t>(word_length(), 1);
    if (peek() == '"') {
      const size_t end = text_.find('"', at_ + 1);
      length = end == std::string_view::npos ? text_.size() - at_ : end + 1 - at_;
    }
    tokens_.push_back({std::string(text_.substr(at_, length)), line_});
    advance(length);
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace heddle::emulator
