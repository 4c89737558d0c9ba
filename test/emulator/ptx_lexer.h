// Splits PTX text into tokens: words (names, numbers, opcodes with their qualifiers), strings and single signs; comments are
// left out.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::emulator {

struct Token {
  std::string text;  ///< A word, a sign of one character, or a string with its quotes; empty at the end of the text.
  int line = 0;
};

/// The last token is the empty one of the end.
std::vector<Token> tokenize(std::string_view text);

}  // namespace heddle::emulator
