// Reads the text of PTX into statements: labels, guards, opcodes and operands, each with its line. It knows no opcode.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::emulator {

/// The text is not what this reader or the machine takes; the message names the line.
class PtxError : public std::exception {
 public:
  PtxError(int line, const std::string& message) : message_("PTX line " + std::to_string(line) + ": " + message) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// `%r1`, `-3`, `0f3F800000`, `symbol`, `_`; `[%rd1+16]`: in_memory with offset; `{%r1,%r2}`: elements; `%r1|%p1`: alternative.
struct Operand {
  std::string name;
  std::string alternative;
  bool negated = false;  ///< `!%p1`
  bool in_memory = false;
  int64_t offset = 0;
  std::vector<Operand> elements;
};

struct Statement {
  int line = 0;
  std::string guard;  ///< Predicate register, or empty.
  bool guard_negated = false;
  std::vector<std::string> opcode;  ///< Split at dots: {"ld", "global", "v4", "u32"}.
  std::vector<Operand> operands;

  std::string opcode_text() const;
  /// Whether a qualifier stands anywhere behind the first part.
  bool has(std::string_view qualifier) const;
};

struct Parameter {
  std::string name;
  int bytes = 0, offset = 0;
};

struct SharedArray {
  std::string name;
  int offset = 0;  ///< In the block's shared memory; dynamic memory begins behind all static arrays.
  int bytes = 0;   ///< 0: `.extern`, sized by the launch.
};

/// One `.entry`.
struct KernelText {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<SharedArray> shared;
  int static_shared_bytes = 0;
  std::map<std::string, std::string>
      registers;  ///< Prefix or name -> type: {"%r", "b32"}; names of inline scopes are made unique.
  std::vector<Statement> statements;
  std::map<std::string, size_t> labels;  ///< -> index of the statement behind it.
  int last_line = 0;
};

/// All entries of a module. Throws PtxError.
std::vector<KernelText> read_ptx(std::string_view text);

}  // namespace heddle::emulator
