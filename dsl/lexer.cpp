#include "dsl/lexer.h"
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include "src/support/glyphs.h"

namespace heddle::dsl {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

constexpr std::array<std::string_view, 6> kDouble = {"&&", "||", "==", "!=", "<=", ">="};
constexpr std::string_view kSingle = "+-*/%<>!?:(),[]=&|^.";

}  // namespace

Token Lexer::next() {
  while (is_space(at(offset_)) && offset_ < source_.text.size()) ++offset_;
  if (offset_ == source_.text.size()) return token(Token::Kind::End, 0);
  if (is_digit(at(offset_)) || (at(offset_) == '.' && is_digit(at(offset_ + 1)))) return number();
  if (!is_letter(at(offset_))) return symbol();
  size_t length = 1;
  while (is_letter(at(offset_ + length)) || is_digit(at(offset_ + length))) ++length;
  return token(Token::Kind::Name, length);
}

Token Lexer::token(Token::Kind kind, size_t length) {
  const Range range{offset_, length};
  offset_ += length;
  return {kind, range, source_.at(range)};
}

Token Lexer::number() {
  size_t length = 0;
  const auto digits = [&] {
    while (is_digit(at(offset_ + length))) ++length;
  };
  digits();
  bool real = at(offset_ + length) == '.';
  if (real) ++length;
  digits();
  if (at(offset_ + length) == 'e' || at(offset_ + length) == 'E') {
    const size_t sign = at(offset_ + length + 1) == '+' || at(offset_ + length + 1) == '-';
    if (is_digit(at(offset_ + length + 1 + sign))) {
      real = true;
      length += 1 + sign;
      digits();
    }
  }
  size_t more = length;
  while (is_letter(at(offset_ + more)) || is_digit(at(offset_ + more)) || at(offset_ + more) == '.') ++more;
  if (more > length) source_.fail("malformed number", {offset_, more}, "numbers look like 64, 0.5 or 1e-3; a product needs '*'");
  return token(real ? Token::Kind::Real : Token::Kind::Integer, length);
}

Token Lexer::symbol() {
  const std::string_view pair = source_.text.substr(offset_, 2);
  if (std::find(kDouble.begin(), kDouble.end(), pair) != kDouble.end()) return token(Token::Kind::Symbol, 2);
  if (at(offset_) != '\0' && kSingle.find(at(offset_)) != std::string_view::npos) return token(Token::Kind::Symbol, 1);
  const auto glyphs = support::glyphs(source_.text.substr(offset_, 4));
  const size_t length = glyphs.size() > 1 ? glyphs[1].offset : std::min<size_t>(4, source_.text.size() - offset_);
  source_.fail(fmt::format("unexpected character '{}'", glyphs[0].shown), {offset_, length});
}

}  // namespace heddle::dsl
