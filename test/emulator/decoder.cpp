#include "test/emulator/decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>

namespace heddle::emulator {

namespace {

constexpr int kLanes = 32;
constexpr const char* kSink = "_";

bool is_literal(const std::string& text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-');
}

/// `0f3F800000` and `0d...` are bit patterns; a float32 pattern read 8 bytes wide would be a mistake of the text.
uint64_t number(const std::string& text) {
  if (text.starts_with("0f") || text.starts_with("0F") || text.starts_with("0d") || text.starts_with("0D")) {
    return std::stoull(text.substr(2), nullptr, 16);
  }
  if (text[0] == '-') return static_cast<uint64_t>(std::stoll(text, nullptr, 0));
  return std::stoull(text, nullptr, 0);
}

struct SpecialName {
  const char* name;
  Special special;
};

constexpr std::array kSpecials = {
    SpecialName{"%tid.x", Special::ThreadX},   SpecialName{"%tid.y", Special::ThreadY},
    SpecialName{"%tid.z", Special::ThreadZ},   SpecialName{"%ctaid.x", Special::BlockX},
    SpecialName{"%ctaid.y", Special::BlockY},  SpecialName{"%ctaid.z", Special::BlockZ},
    SpecialName{"%ntid.x", Special::ThreadsX}, SpecialName{"%ntid.y", Special::ThreadsY},
    SpecialName{"%ntid.z", Special::ThreadsZ}, SpecialName{"%nctaid.x", Special::GridX},
    SpecialName{"%nctaid.y", Special::GridY},  SpecialName{"%nctaid.z", Special::GridZ},
    SpecialName{"%laneid", Special::Lane},
};

constexpr std::array<DecodeCategory, 12> kCategories = {decode_control, decode_arithmetic, decode_bits, decode_math,
                                                        decode_compare, decode_convert,    decode_move, decode_memory,
                                                        decode_async,   decode_atomic,     decode_warp, decode_matrix};

}  // namespace

Decoder::Decoder(const KernelText& kernel) : kernel_(kernel) {
  program_.name = kernel.name;
  program_.parameters = kernel.parameters;
  program_.static_shared_bytes = kernel.static_shared_bytes;
}

Program Decoder::run() {
  for (const Statement& statement : kernel_.statements) {
    Instruction instruction;
    instruction.line = statement.line;
    if (!statement.guard.empty()) {
      instruction.guarded = true;
      instruction.guard_negated = statement.guard_negated;
      instruction.guard = predicate(statement, statement.guard);
    }
    const bool known = std::any_of(kCategories.begin(), kCategories.end(),
                                   [&](DecodeCategory decode) { return decode(*this, statement, instruction); });
    if (!known) refuse(statement, "unknown opcode");
    program_.code.push_back(instruction);
    program_.opcodes.push_back(statement.opcode_text());
  }
  return std::move(program_);
}

Slot Decoder::allocate(int bytes) {
  const Slot slot = program_.slots;
  program_.slots += kLanes * bytes / 4;
  return slot;
}

std::string Decoder::declared_type(const Statement& statement, const std::string& name) const {
  if (const auto exact = kernel_.registers.find(name); exact != kernel_.registers.end()) return exact->second;
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  const auto prefix = kernel_.registers.find(name.substr(0, digits));
  if (prefix == kernel_.registers.end()) refuse(statement, "undeclared name " + name);
  return prefix->second;
}

int Decoder::width(const Statement& statement, const std::string& name) const {
  const auto type = type_of(declared_type(statement, name));
  if (!type || *type == Type::Pred) refuse(statement, "no data register: " + name);
  return std::max(bytes_of(*type), 4);
}

Slot Decoder::constant(uint64_t value, int bytes) {
  const auto [at, fresh] = constants_.try_emplace({value, bytes}, 0);
  if (fresh) {
    at->second = allocate(bytes);
    program_.constants.push_back({at->second, bytes, value});
  }
  return at->second;
}

Slot Decoder::special(const Statement& statement, const std::string& name) {
  for (const SpecialName& known : kSpecials) {
    if (name != known.name) continue;
    const auto [at, fresh] = slots_.try_emplace(name, 0);
    if (fresh) {
      at->second = allocate(4);
      program_.specials.push_back({known.special, at->second});
    }
    return at->second;
  }
  refuse(statement, "unknown special register " + name);
}

Slot Decoder::source(const Statement& statement, const Operand& operand, int bytes) {
  if (!operand.elements.empty() || operand.name.empty()) refuse(statement, "a vector where one operand is expected");
  if (is_literal(operand.name)) return constant(number(operand.name), bytes);
  if (int64_t offset = 0; symbol_offset(operand.name, &offset))
    return constant(static_cast<uint64_t>(offset + operand.offset), bytes);
  if (operand.name.starts_with('%') && operand.name.find('.') != std::string::npos) return special(statement, operand.name);
  if (operand.name == "%laneid") return special(statement, operand.name);
  return destination(statement, operand, bytes);
}

Slot Decoder::destination(const Statement& statement, const Operand& operand, int bytes) {
  if (operand.name == kSink) return constants_.try_emplace({0, -bytes}, allocate(bytes)).first->second;
  const int declared = width(statement, operand.name);
  if (declared != std::max(bytes, 4)) refuse(statement, operand.name + " has another width");
  const auto [at, fresh] = slots_.try_emplace(operand.name, 0);
  if (fresh) at->second = allocate(declared);
  return at->second;
}

Slot Decoder::predicate(const Statement& statement, const std::string& name) {
  if (is_literal(name)) {
    const auto [at, fresh] = predicates_.try_emplace(name, program_.predicates);
    if (fresh && number(name) != 0) program_.true_predicates.push_back(program_.predicates);
    if (fresh) ++program_.predicates;
    return at->second;
  }
  if (name != kSink && declared_type(statement, name) != "pred") refuse(statement, "no predicate: " + name);
  const auto [at, fresh] = predicates_.try_emplace(name, program_.predicates);
  if (fresh) ++program_.predicates;
  return at->second;
}

Decoder::PredicateOperand Decoder::predicate_source(const Statement& statement, const Operand& operand) {
  return {predicate(statement, operand.name), operand.negated};
}

Slot Decoder::address(const Statement& statement, const Operand& memory, Instruction& instruction) {
  if (!memory.in_memory) refuse(statement, "expected an address");
  int64_t symbol = 0;
  const bool named = symbol_offset(memory.name, &symbol);
  instruction.flag = !named && width(statement, memory.name) == 4;
  instruction.immediate = named ? 0 : memory.offset;
  return source(statement, memory, instruction.flag ? 4 : 8);
}

bool Decoder::symbol_offset(const std::string& name, int64_t* offset) const {
  for (const SharedArray& array : kernel_.shared) {
    if (array.name != name) continue;
    *offset = array.bytes == 0 ? kernel_.static_shared_bytes : array.offset;
    return true;
  }
  for (const Parameter& parameter : kernel_.parameters) {
    if (parameter.name != name) continue;
    *offset = parameter.offset;
    return true;
  }
  return false;
}

int64_t Decoder::literal(const Statement& statement, const Operand& operand) const {
  if (!is_literal(operand.name)) refuse(statement, "expected a number, found " + operand.name);
  return static_cast<int64_t>(number(operand.name));
}

uint32_t Decoder::label(const Statement& statement) const {
  expect_operands(statement, 1);
  const auto found = kernel_.labels.find(statement.operands[0].name);
  if (found == kernel_.labels.end()) refuse(statement, "no label " + statement.operands[0].name);
  return static_cast<uint32_t>(found->second);
}

std::vector<Type> Decoder::types(const Statement& statement) {
  std::vector<Type> found;
  for (size_t i = 1; i < statement.opcode.size(); ++i) {
    if (const auto type = type_of(statement.opcode[i])) found.push_back(*type);
  }
  return found;
}

Type Decoder::last_type(const Statement& statement) {
  const std::vector<Type> found = types(statement);
  if (found.empty()) refuse(statement, "no type");
  return found.back();
}

void Decoder::refuse(const Statement& statement, const std::string& why) {
  throw PtxError(statement.line, statement.opcode_text() + ": " + (why.empty() ? "unsupported form" : why));
}

void Decoder::expect_operands(const Statement& statement, size_t count) {
  if (statement.operands.size() != count) refuse(statement, "expected " + std::to_string(count) + " operands");
}

Program decode_ptx(std::string_view text, const std::string& name) {
  const std::vector<KernelText> kernels = read_ptx(text);
  for (const KernelText& kernel : kernels) {
    if (kernel.name == name || (name.empty() && kernels.size() == 1)) return Decoder(kernel).run();
  }
  throw PtxError(0, "no kernel '" + name + "' among " + std::to_string(kernels.size()));
}

}  // namespace heddle::emulator
