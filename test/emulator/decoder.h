// Turns statements of PTX into instructions: gives registers, constants and symbols their slots; what opcodes mean stands in
// the files decode_*.cpp, one a category.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "test/emulator/ptx_program.h"
#include "test/emulator/ptx_types.h"

namespace heddle::emulator {

/// The state of decoding one kernel.
class Decoder {
 public:
  explicit Decoder(const KernelText& kernel);
  Program run();

  /// Slot of an operand read as `bytes` wide (4 for all that is narrower, or 8): register, special register, number or address
  /// of a symbol.
  Slot source(const Statement& statement, const Operand& operand, int bytes);
  /// Slot of a register that is written; the sink `_` gives a slot that nobody reads.
  Slot destination(const Statement& statement, const Operand& operand, int bytes);
  /// Number of a predicate register; the sink `_` gives one that nobody reads, a number one that is never written.
  Slot predicate(const Statement& statement, const std::string& name);
  /// Predicate operand of an instruction: `%p1` or `!%p1`, which costs a slot of its own that `negate` fills. Numbers 0 and 1
  /// too.
  struct PredicateOperand {
    Slot slot;
    bool negated;
  };
  PredicateOperand predicate_source(const Statement& statement, const Operand& operand);
  /// Slot of an address `[register+offset]` or `[symbol+offset]`: sets the instruction's `immediate`, and `flag` where it has 4
  /// bytes.
  Slot address(const Statement& statement, const Operand& memory, Instruction& instruction);
  /// Offset of a shared array in the block's memory, or of a parameter among all of them; false when the name is neither.
  bool symbol_offset(const std::string& name, int64_t* offset) const;
  /// Bytes of a declared register: 4 or 8.
  int width(const Statement& statement, const std::string& name) const;
  /// The number an operand stands for. Throws PtxError for anything but a literal.
  int64_t literal(const Statement& statement, const Operand& operand) const;
  uint32_t label(const Statement& statement) const;
  Slot constant(uint64_t value, int bytes);

  /// The last qualifier that is a type. Throws PtxError.
  static Type last_type(const Statement& statement);
  /// All qualifiers that are types, in order.
  static std::vector<Type> types(const Statement& statement);
  [[noreturn]] static void refuse(const Statement& statement, const std::string& why = {});
  /// Throws unless the statement has this many operands.
  static void expect_operands(const Statement& statement, size_t count);

 private:
  Slot allocate(int bytes);
  Slot special(const Statement& statement, const std::string& name);
  std::string declared_type(const Statement& statement, const std::string& name) const;

  const KernelText& kernel_;
  Program program_;
  std::map<std::string, Slot> slots_, predicates_;
  std::map<std::pair<uint64_t, int>, Slot> constants_;
};

/// Fills `instruction` in when the opcode belongs to the category; false when it does not.
using DecodeCategory = bool (*)(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_control(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_arithmetic(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_bits(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_math(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_compare(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_convert(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_move(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_memory(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_async(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_atomic(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_warp(Decoder& decoder, const Statement& statement, Instruction& instruction);
bool decode_matrix(Decoder& decoder, const Statement& statement, Instruction& instruction);

}  // namespace heddle::emulator
