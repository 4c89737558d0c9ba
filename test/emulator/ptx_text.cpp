#include "test/emulator/ptx_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "test/emulator/ptx_lexer.h"

namespace heddle::emulator {

namespace {

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

bool is_number(const std::string& text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) || (text[0] == '-' && text.size() > 1));
}

/// Bytes of a type name: "u32", ".b64".
int type_bytes(const Token& token) {
  const size_t digits = token.text.find_first_of("0123456789");
  if (digits == std::string::npos) throw PtxError(token.line, "no type: " + token.text);
  return std::stoi(token.text.substr(digits)) / 8;
}

std::vector<std::string> split_at_dots(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(tokenize(text)) {}

  std::vector<KernelText> module() {
    while (!peek().text.empty()) {
      if (accept(".version") || accept(".target") || accept(".address_size")) {
        skip_line();
      } else if (accept(".extern") || accept(".visible") || accept(".weak")) {
        continue;
      } else if (accept(".shared")) {
        module_shared_.push_back(array());
      } else if (accept(".entry")) {
        kernels_.push_back(kernel());
      } else {
        throw PtxError(peek().line, "unsupported at module level: " + peek().text);
      }
    }
    return std::move(kernels_);
  }

 private:
  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() {
    const Token& token = peek();
    if (token.text.empty()) throw PtxError(token.line, "the text ends early");
    ++at_;
    return token;
  }
  bool accept(std::string_view text) {
    if (peek().text != text) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) throw PtxError(peek().line, "expected " + std::string(text) + ", found " + peek().text);
  }
  /// The rest of the line of the token before.
  void skip_line() {
    const int line = tokens_[at_ - 1].line;
    while (!peek().text.empty() && peek().line == line) ++at_;
  }

  struct Array {
    std::string name;
    int bytes = 0, alignment = 1;
  };

  /// `[.align N] .b8 name[bytes];` behind `.shared`.
  SharedArray array() {
    const Array declared = declaration();
    expect(";");
    return place(declared);
  }

  Array declaration() {
    Array declared;
    if (accept(".align")) declared.alignment = std::stoi(next().text);
    const int element = type_bytes(next());
    declared.alignment = std::max(declared.alignment, element);
    pointee();
    declared.name = next().text;
    declared.bytes = element;
    if (accept("[")) {
      declared.bytes = is_number(peek().text) ? element * std::stoi(next().text) : 0;
      expect("]");
    }
    return declared;
  }

  /// `.ptr [space] [.align N]` of a parameter says what it points to.
  void pointee() {
    if (!accept(".ptr")) return;
    while (accept(".global") || accept(".shared")) continue;
    if (accept(".align")) next();
  }

  SharedArray place(const Array& declared) {
    if (declared.bytes == 0) return {declared.name, 0, 0};
    const int offset = round_up(shared_bytes_, std::max(declared.alignment, 16));
    shared_bytes_ = offset + declared.bytes;
    return {declared.name, offset, declared.bytes};
  }

  KernelText kernel() {
    KernelText kernel;
    shared_bytes_ = 0;
    kernel.name = next().text;
    if (accept("(")) parameters(kernel);
    while (peek().text != "{") next();  // .maxntid and other bounds of the launch
    next();
    scope(kernel, "");
    kernel.last_line = tokens_[at_ - 1].line;
    kernel.shared.insert(kernel.shared.end(), module_shared_.begin(), module_shared_.end());
    kernel.static_shared_bytes = round_up(shared_bytes_, 16);
    return kernel;
  }

  void parameters(KernelText& kernel) {
    int offset = 0;
    while (!accept(")")) {
      expect(".param");
      const Array declared = declaration();
      offset = round_up(offset, declared.alignment);
      kernel.parameters.push_back({declared.name, declared.bytes, offset});
      offset += declared.bytes;
      accept(",");
    }
  }

  /// Statements up to the brace that closes the scope. Inside inline assembly names are local: `suffix` tells them apart.
  void scope(KernelText& kernel, const std::string& suffix) {
    std::vector<std::string> local;
    const size_t first = kernel.statements.size();
    while (!accept("}")) {
      if (accept("{")) {
        scope(kernel, std::string("#").append(std::to_string(++scopes_)));
      } else if (accept(".reg")) {
        registers(kernel, suffix, local);
      } else if (accept(".shared")) {
        kernel.shared.push_back(array());
      } else if (accept(".loc") || accept(".pragma")) {
        skip_line();
      } else if (peek().text.starts_with('.')) {
        throw PtxError(peek().line, "unsupported directive " + peek().text);
      } else if (peek(1).text == ":") {
        kernel.labels[next().text + suffix] = kernel.statements.size();
        if (!suffix.empty()) local.push_back(tokens_[at_ - 1].text);
        next();
      } else {
        kernel.statements.push_back(statement());
      }
    }
    for (size_t i = first; i < kernel.statements.size(); ++i) rename(kernel.statements[i], local, suffix);
  }

  static void rename(std::string& name, const std::vector<std::string>& local, const std::string& suffix) {
    if (std::find(local.begin(), local.end(), name) != local.end()) name += suffix;
  }
  static void rename(Operand& operand, const std::vector<std::string>& local, const std::string& suffix) {
    rename(operand.name, local, suffix);
    rename(operand.alternative, local, suffix);
    for (Operand& element : operand.elements) rename(element, local, suffix);
  }
  static void rename(Statement& statement, const std::vector<std::string>& local, const std::string& suffix) {
    if (local.empty()) return;
    rename(statement.guard, local, suffix);
    for (Operand& operand : statement.operands) rename(operand, local, suffix);
  }

  /// `.b32 %r<9>;` or `.b32 a, b;`
  void registers(KernelText& kernel, const std::string& suffix, std::vector<std::string>& local) {
    const std::string type = next().text.substr(1);
    do {
      const std::string name = next().text;
      if (accept("<")) {
        next();
        expect(">");
      }
      if (!suffix.empty()) local.push_back(name);
      kernel.registers[name + suffix] = type;
    } while (accept(","));
    expect(";");
  }

  Statement statement() {
    Statement statement;
    statement.line = peek().line;
    if (accept("@")) {
      statement.guard_negated = accept("!");
      statement.guard = next().text;
    }
    statement.opcode = split_at_dots(next().text);
    while (!accept(";")) {
      statement.operands.push_back(operand());
      if (!accept(",") && peek().text != ";") throw PtxError(peek().line, "expected , or ; before " + peek().text);
    }
    return statement;
  }

  Operand operand() {
    Operand operand;
    if (accept("{")) {
      while (!accept("}")) {
        operand.elements.push_back(this->operand());
        accept(",");
      }
      return operand;
    }
    if (accept("[")) return memory();
    operand.negated = accept("!");
    operand.name = next().text;
    if (accept("|")) operand.alternative = next().text;
    return operand;
  }

  /// Behind `[`: `%rd1]`, `%rd1+16]`, `name+-4]`.
  Operand memory() {
    Operand operand;
    operand.in_memory = true;
    operand.name = next().text;
    if (accept("+")) {
      operand.offset = std::stoll(next().text);
    } else if (is_number(peek().text)) {
      operand.offset = std::stoll(next().text);
    }
    expect("]");
    return operand;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int scopes_ = 0, shared_bytes_ = 0;
  std::vector<SharedArray> module_shared_;
  std::vector<KernelText> kernels_;
};

}  // namespace

std::string Statement::opcode_text() const {
  std::string text = opcode[0];
  for (size_t i = 1; i < opcode.size(); ++i) text.append(1, '.').append(opcode[i]);
  return text;
}

bool Statement::has(std::string_view qualifier) const {
  return std::find(opcode.begin() + 1, opcode.end(), qualifier) != opcode.end();
}

std::vector<KernelText> read_ptx(std::string_view text) { return Reader(text).module(); }

}  // namespace heddle::emulator
