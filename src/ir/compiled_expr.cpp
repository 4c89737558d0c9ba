#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_map>
#include "heddle/bind_program.h"
#include "heddle/error.h"
#include "src/ir/evaluate.h"
#include "src/ir/operations.h"
#include "src/ir/rewrite.h"

namespace heddle::ir {

namespace {

// X(Name, expression) of every step whose operands x, y, z are read as Int or as Real; And and Or are jumps.
#define HEDDLE_INT_STEPS(X)                                                                                              \
  X(Neg, wrap_neg(x)) X(Abs, x < 0 ? wrap_neg(x) : x) X(Add, wrap_add(x, y)) X(Sub, wrap_sub(x, y)) X(Mul, wrap_mul(x, y)) \
  X(Div, floor_div(x, y)) X(Mod, floor_mod(x, y)) X(Min, x < y ? x : y) X(Max, x > y ? x : y)                            \
  X(Lt, x < y) X(Le, x <= y) X(Gt, x > y) X(Ge, x >= y) X(Eq, x == y) X(Ne, x != y) X(Not, !x)
#define HEDDLE_REAL_STEPS(X)                                                                                             \
  X(Neg, -x) X(Abs, std::fabs(x)) X(Add, x + y) X(Sub, x - y) X(Mul, x * y) X(Div, x / y) X(Min, real_min(x, y))          \
  X(Max, real_max(x, y)) X(Exp, std::exp(x)) X(Log, std::log(x)) X(Tanh, std::tanh(x)) X(Sigmoid, sigmoid(x))             \
  X(Sqrt, std::sqrt(x)) X(Exp2, std::exp2(x)) X(Log2, std::log2(x))
#define HEDDLE_REAL_COMPARISONS(X) X(Lt, x < y) X(Le, x <= y) X(Gt, x > y) X(Ge, x >= y) X(Eq, x == y) X(Ne, x != y)

enum Code : uint8_t {
#define X(name, value) Int##name,
  HEDDLE_INT_STEPS(X)
#undef X
#define X(name, value) Real##name,
  HEDDLE_REAL_STEPS(X) HEDDLE_REAL_COMPARISONS(X)
#undef X
  ShiftRight,   // Floor division by 2^y.
  BitAnd,       // Floor modulo by y + 1, a power of two.
  ToReal,
  Select,
  Move,
  ReadInt,      // Read `a` of the table reads.
  ReadReal,
  SkipIfFalse,  // When register `out` is 0, continue at step `a`.
  SkipIfTrue,
};

constexpr Code kUnused = SkipIfTrue;

// Operands: two bits of space, thirty of index.
constexpr uint32_t kRegister = 0, kInt = 1u << 30, kReal = 2u << 30, kConstant = 3u << 30;
constexpr uint32_t kSpace = 3u << 30;
constexpr int kRegisters = 64;

Code int_code(Op op) {
  switch (op) {
#define X(name, value) \
  case Op::name:       \
    return Int##name;
    HEDDLE_INT_STEPS(X)
#undef X
    default: return kUnused;
  }
}

Code real_code(Op op) {
  switch (op) {
#define X(name, value) \
  case Op::name:       \
    return Real##name;
    HEDDLE_REAL_STEPS(X) HEDDLE_REAL_COMPARISONS(X)
#undef X
    default: return kUnused;
  }
}

[[noreturn]] void fail(const std::string& message) { throw InternalError("formula compilation", message); }

}  // namespace

/// Assigns registers by Sethi and Ullman (1970): the operand that needs most registers comes first, so a tree of n leaves needs
/// O(log n) of them. And and Or jump over their right side.
class ExprCompiler {
 public:
  ExprCompiler(CompiledExpr& out, const std::vector<std::string>& slots, const Tables& tables)
      : out_(out), slots_(slots), tables_(tables) {}

  void run(const Expr& expr) {
    for_each_node(expr, [&](const Expr& node) { needs_[node.get()] = needed(*node); });
    out_.type_ = expr->type;
    out_.result_ = emit(*expr, 0);
  }

 private:
  /// Emits steps that use registers from `base` on; the result is register `base`, or an input or constant.
  uint32_t emit(const ExprNode& node, uint32_t base) {
    if (base >= kRegisters) fail("too many registers");
    switch (node.op) {
      case Op::IntConst: case Op::BoolConst: return constant(std::bit_cast<uint64_t>(node.integer));
      case Op::RealConst: return constant(std::bit_cast<uint64_t>(node.real));
      case Op::Var: case Op::Param: return slot(node);
      case Op::Arg: out_.reads_reals_ = true; return kReal | static_cast<uint32_t>(slots_.size() + static_cast<size_t>(node.integer));
      case Op::And: case Op::Or: return junction(node, base);
      case Op::Read: return read(node, base);
      default: return operation(node, base);
    }
  }

  uint32_t constant(uint64_t bits) {
    const auto [at, fresh] = constants_.try_emplace(bits, static_cast<uint32_t>(out_.constants_.size()));
    if (fresh) out_.constants_.push_back(bits);
    return kConstant | at->second;
  }

  uint32_t slot(const ExprNode& node) {
    const auto found = std::find(slots_.begin(), slots_.end(), node.name);
    if (found == slots_.end()) fail(fmt::format("'{}' has no slot", node.name));
    out_.reads_reals_ |= node.type == Type::Real;
    return (node.type == Type::Real ? kReal : kInt) | static_cast<uint32_t>(found - slots_.begin());
  }

  uint32_t junction(const ExprNode& node, uint32_t base) {
    move(emit(*node.operands[0], base), base);
    const size_t skip = out_.steps_.size();
    push(node.op == Op::And ? SkipIfFalse : SkipIfTrue, base, {});
    move(emit(*node.operands[1], base), base);
    out_.steps_[skip].a = static_cast<uint32_t>(out_.steps_.size());
    return base;
  }

  uint32_t read(const ExprNode& node, uint32_t base) {
    const auto table = tables_.find(node.name);
    if (table == tables_.end()) fail(fmt::format("the table '{}' has no values", node.name));
    if (table->second.dtype != element_type(node) || table->second.shape.size() != node.operands.size()) {
      fail(fmt::format("the table '{}' has another type or rank than its reads", node.name));
    }
    std::vector<uint32_t> indices;
    uint32_t next = base;
    for (const Expr& index : node.operands) {
      indices.push_back(emit(*index, next));
      next += (indices.back() & kSpace) == kRegister;
    }
    push(node.type == Type::Real ? ReadReal : ReadInt, base, {static_cast<uint32_t>(out_.reads_.size())});
    out_.reads_.push_back({table->second, std::move(indices)});
    return base;
  }

  void move(uint32_t from, uint32_t to) {
    if (from != to) push(Move, to, {from});
  }

  uint32_t operation(const ExprNode& node, uint32_t base) {
    const std::array<size_t, 3> order = order_of(node);
    std::array<uint32_t, 3> operands{};
    uint32_t next = base;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      operands[order[i]] = emit(*node.operands[order[i]], next);
      next += (operands[order[i]] & kSpace) == kRegister;
    }
    push_operation(node, base, operands);
    return base;
  }

  /// Operands by the registers they need, most first.
  [[gnu::noinline]] std::array<size_t, 3> order_of(const ExprNode& node) const {
    std::array<size_t, 3> order{0, 1, 2};
    std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(node.operands.size()),
                     [&](size_t a, size_t b) { return need(node, a) > need(node, b); });
    return order;
  }

  [[gnu::noinline]] void push_operation(const ExprNode& node, uint32_t out, std::array<uint32_t, 3> operands) {
    if (node.op == Op::ToReal || node.op == Op::Select) return push(node.op == Op::ToReal ? ToReal : Select, out, operands);
    const bool real = node.operands[0]->type == Type::Real;
    Code code = real ? real_code(node.op) : int_code(node.op);
    if (code == IntDiv || code == IntMod) code = power_of_two(code, *node.operands[1], operands[1]);
    if (code == kUnused) fail(fmt::format("'{}' cannot be evaluated", op_text(node.op)));
    push(code, out, operands);
  }

  /// Shifts and masks replace the slow division by a constant power of two.
  Code power_of_two(Code code, const ExprNode& divisor, uint32_t& operand) {
    if (divisor.op != Op::IntConst || divisor.integer <= 0 || !std::has_single_bit(static_cast<uint64_t>(divisor.integer))) return code;
    const auto value = static_cast<uint64_t>(divisor.integer);
    operand = constant(code == IntDiv ? static_cast<uint64_t>(std::countr_zero(value)) : value - 1);
    return code == IntDiv ? ShiftRight : BitAnd;
  }

  void push(Code code, uint32_t out, std::array<uint32_t, 3> operands) {
    out_.steps_.push_back({code, static_cast<uint8_t>(out), operands[0], operands[1], operands[2]});
  }

  int need(const ExprNode& node, size_t operand) const { return needs_.at(node.operands[operand].get()); }

  /// Registers that emit() uses for a node, once those of its operands are known.
  int needed(const ExprNode& node) const {
    if (node.operands.empty()) return 0;
    std::vector<int> all;
    for (size_t i = 0; i < node.operands.size(); ++i) all.push_back(need(node, i));
    if (node.op != Op::Read) std::sort(all.rbegin(), all.rend());
    const bool junction = node.op == Op::And || node.op == Op::Or;
    int most = 1;
    for (size_t i = 0; i < all.size(); ++i) most = std::max(most, all[i] + (junction || all[i] == 0 ? 0 : static_cast<int>(i)));
    return most;
  }

  CompiledExpr& out_;
  const std::vector<std::string>& slots_;
  const Tables& tables_;
  std::unordered_map<uint64_t, uint32_t> constants_;
  std::unordered_map<const ExprNode*, int> needs_;
};

CompiledExpr::CompiledExpr(const Expr& expr, const std::vector<std::string>& slots, const Tables& tables) {
  ExprCompiler(*this, slots, tables).run(expr);
}

uint64_t CompiledExpr::run(const void* ints, const void* reals) const {
  uint64_t registers[kRegisters];
  const void* spaces[] = {registers, ints, reals, constants_.data()};
  const auto load = [&](uint32_t operand) {
    uint64_t bits;
    std::memcpy(&bits, static_cast<const char*>(spaces[operand >> 30]) + sizeof bits * (operand & ~kSpace), sizeof bits);
    return bits;
  };
  const auto as_int = [&](uint32_t operand) { return static_cast<int64_t>(load(operand)); };
  const auto as_real = [&](uint32_t operand) { return std::bit_cast<double>(load(operand)); };
  const Step* const begin = steps_.data();
  for (const Step *step = begin, *end = begin + steps_.size(); step != end; ++step) {
    uint64_t& out = registers[step->out];
    switch (static_cast<Code>(step->code)) {
#define X(name, value)                                                                      \
  case Int##name: {                                                                         \
    [[maybe_unused]] const int64_t x = as_int(step->a), y = as_int(step->b);                \
    out = static_cast<uint64_t>(value);                                                     \
    break;                                                                                  \
  }
      HEDDLE_INT_STEPS(X)
#undef X
#define X(name, value)                                                                      \
  case Real##name: {                                                                        \
    [[maybe_unused]] const double x = as_real(step->a), y = as_real(step->b);               \
    out = std::bit_cast<uint64_t>(value);                                                   \
    break;                                                                                  \
  }
      HEDDLE_REAL_STEPS(X)
#undef X
#define X(name, value)                                                                      \
  case Real##name: {                                                                        \
    const double x = as_real(step->a), y = as_real(step->b);                                \
    out = value;                                                                            \
    break;                                                                                  \
  }
      HEDDLE_REAL_COMPARISONS(X)
#undef X
      case ShiftRight: out = static_cast<uint64_t>(as_int(step->a) >> load(step->b)); break;
      case BitAnd: out = load(step->a) & load(step->b); break;
      case ToReal: out = std::bit_cast<uint64_t>(static_cast<double>(as_int(step->a))); break;
      case Select: out = load(step->a) ? load(step->b) : load(step->c); break;
      case Move: out = load(step->a); break;
      case ReadInt: case ReadReal: {
        const TableRead& read = reads_[step->a];
        int64_t indices[kMaxTableRank] = {};
        for (size_t i = 0; i < read.indices.size(); ++i) indices[i] = as_int(read.indices[i]);
        out = step->code == ReadInt ? static_cast<uint64_t>(int_element(read.table, indices))
                                    : std::bit_cast<uint64_t>(real_element(read.table, indices));
        break;
      }
      case SkipIfFalse: if (out == 0) step = begin + step->a - 1; break;
      case SkipIfTrue: if (out != 0) step = begin + step->a - 1; break;
    }
  }
  return load(result_);
}

int64_t CompiledExpr::run_int(const int64_t* inputs) const {
  if (type_ == Type::Real || reads_reals_) fail("run_int() of a formula with reals");
  return static_cast<int64_t>(run(inputs, nullptr));
}

double CompiledExpr::run_real(const int64_t* inputs, const double* reals) const {
  const uint64_t result = run(inputs, reals);
  return type_ == Type::Real ? std::bit_cast<double>(result) : static_cast<double>(static_cast<int64_t>(result));
}

}  // namespace heddle::ir
