// Splits the text of a formula into tokens, one at a time.
#pragma once
#include <string_view>
#include "dsl/checked_node.h"

namespace heddle::dsl {

struct Token {
  enum class Kind { Integer, Real, Name, Symbol, End };
  Kind kind = Kind::End;
  Range range;
  std::string_view text;

  bool is(std::string_view symbol) const { return kind == Kind::Symbol && text == symbol; }
};

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source) {}
  /// Throws UserError at a character that no formula has, and at a malformed number.
  Token next();

 private:
  char at(size_t offset) const { return offset < source_.text.size() ? source_.text[offset] : '\0'; }
  Token token(Token::Kind kind, size_t length);
  Token number();
  Token symbol();

  const Source& source_;
  size_t offset_ = 0;
};

}  // namespace heddle::dsl
