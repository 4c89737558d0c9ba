#include "src/analysis/batch_program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "heddle/error.h"
#include "src/analysis/table_lanes.h"

namespace heddle::analysis {
namespace {

using ir::Op;

struct Operand {
  const int64_t* data;
  bool varies;
};

int64_t add_wrap(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t sub_wrap(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
int64_t mul_wrap(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }

int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return sub_wrap(0, a);
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

template <typename F>
void map2(Operand a, Operand b, int64_t* __restrict out, int n, F f) {
  if (a.varies && b.varies) {
    for (int i = 0; i < n; ++i) out[i] = f(a.data[i], b.data[i]);
  } else if (a.varies) {
    const int64_t y = *b.data;
    for (int i = 0; i < n; ++i) out[i] = f(a.data[i], y);
  } else {
    const int64_t x = *a.data;
    for (int i = 0; i < n; ++i) out[i] = f(x, b.varies ? b.data[i] : *b.data);
  }
}

template <typename F>
void map1(Operand a, int64_t* __restrict out, int n, F f) {
  for (int i = 0; i < n; ++i) out[i] = f(a.data[i]);
}

void select(Operand test, Operand yes, Operand no, int64_t* __restrict out, int n) {
  for (int i = 0; i < n; ++i) {
    const Operand& from = test.data[test.varies ? i : 0] ? yes : no;
    out[i] = from.data[from.varies ? i : 0];
  }
}

/// True when every lane is exactly a double with room for a quotient correction.
bool small(const int64_t* data, int n) {
  uint64_t seen = 0;
  for (int i = 0; i < n; ++i) seen |= static_cast<uint64_t>(data[i] ^ (data[i] >> 63));
  return seen < (uint64_t{1} << 50);
}

/// Floor quotients by a positive divisor through its reciprocal: off by at most one, then corrected.
void reciprocal_quotients(const int64_t* data, int64_t divisor, int64_t* __restrict out, int n) {
  const double reciprocal = 1.0 / static_cast<double>(divisor);
  for (int i = 0; i < n; ++i) {
    const auto guess = static_cast<int64_t>(static_cast<double>(data[i]) * reciprocal);
    const int64_t rest = data[i] - guess * divisor;
    out[i] = guess + (rest >= divisor) - (rest < 0);
  }
}

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdULL;
}

}  // namespace

int BatchProgram::declare(const std::string& name, Slot slot) {
  const int node = static_cast<int>(nodes_.size());
  nodes_.push_back({.op = Op::Var, .depends = static_cast<uint8_t>(slot)});
  values_.resize(index(node + 1));
  names_[name] = node;
  return node;
}

void BatchProgram::declare_fixed(const std::map<std::string, int64_t>& values) {
  for (const auto& [name, value] : values) {
    if (!declares(name)) set(declare(name, Slot::Fixed), value);
  }
}

void BatchProgram::declare_tables(const ir::Tables& tables) {
  for (const auto& [name, table] : tables) {
    table_names_[name] = static_cast<int64_t>(tables_.size());
    tables_.push_back(table);
  }
}

int BatchProgram::push(Node node) {
  for (int operand : node.operands) {
    if (operand >= 0) node.depends |= nodes_[operand].depends;
  }
  uint64_t hash = mix(static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.integer));
  for (int operand : node.operands) hash = mix(hash, static_cast<uint64_t>(operand));
  for (auto [at, end] = known_.equal_range(hash); at != end; ++at) {
    const Node& other = nodes_[at->second];
    if (other.op == node.op && other.operands == node.operands && other.integer == node.integer) return at->second;
  }
  const int number = static_cast<int>(nodes_.size());
  nodes_.push_back(node);
  values_.resize(index(number + 1));
  stages_[node.depends].push_back(number);
  known_.emplace(hash, number);
  return number;
}

int BatchProgram::constant(int64_t value) { return push({.op = Op::IntConst, .integer = value}); }

int BatchProgram::add(Op op, int a, int b) { return push({.op = op, .operands = {a, b, -1, -1}}); }

int BatchProgram::add(const ir::Expr& expr) {
  if (expr->op == Op::IntConst || expr->op == Op::BoolConst) return constant(expr->integer);
  if (expr->type == ir::Type::Real) throw InternalError("row sweep", "a real value in a mask: " + ir::print(expr));
  if (expr->op == Op::Var || expr->op == Op::Param) {
    const auto found = names_.find(expr->name);
    if (found == names_.end()) throw InternalError("row sweep", "no value for '" + expr->name + "'");
    return found->second;
  }
  Node node{.op = expr->op};
  if (expr->op == Op::Read) {
    const auto found = table_names_.find(expr->name);
    if (found == table_names_.end()) throw InternalError("row sweep", "no table '" + expr->name + "'");
    node.integer = found->second;
  }
  for (size_t i = 0; i < expr->operands.size(); ++i) node.operands[i] = add(expr->operands[i]);
  return push(node);
}

void BatchProgram::run(int stage, int n) {
  work_ += static_cast<int64_t>(stages_[stage].size()) * n;
  for (int number : stages_[stage]) step(nodes_[number], &values_[index(number)], n);
}

void BatchProgram::divide(const Node& node, int64_t* out, int n) const {
  const int dividend = node.operands[0], by = node.operands[1];
  const Operand a{data(dividend), varies(dividend)}, b{data(by), varies(by)};
  const bool quotient = node.op == Op::Div;
  const int64_t divisor = *b.data;
  if (!a.varies || b.varies || divisor <= 0) {
    quotient ? map2(a, b, out, n, floor_quotient) : map2(a, b, out, n, floor_remainder);
  } else if (std::has_single_bit(static_cast<uint64_t>(divisor))) {
    const int shift = std::countr_zero(static_cast<uint64_t>(divisor));
    quotient ? map1(a, out, n, [shift](int64_t x) { return x >> shift; })
             : map1(a, out, n, [divisor](int64_t x) { return x & (divisor - 1); });
  } else if (divisor < (int64_t{1} << 50) && small(a.data, n)) {
    reciprocal_quotients(a.data, divisor, out, n);
    if (!quotient) {
      for (int i = 0; i < n; ++i) out[i] = a.data[i] - out[i] * divisor;
    }
  } else {
    quotient ? map2(a, b, out, n, floor_quotient) : map2(a, b, out, n, floor_remainder);
  }
}

void BatchProgram::read(const Node& node, int64_t* out, int n) const {
  const Tensor& table = tables_[static_cast<size_t>(node.integer)];
  std::array<LaneIndex, kMaxTableRank> indices{};
  const size_t rank = table.shape.size();
  for (size_t d = 0; d < rank; ++d) indices[d] = {data(node.operands[d]), varies(node.operands[d])};
  read_lanes(table, {indices.data(), rank}, out, n);
}

void BatchProgram::step(const Node& node, int64_t* out, int n) const {
  using I = int64_t;
  if (node.op == Op::IntConst) {
    *out = node.integer;
    return;
  }
  if (node.op == Op::Read) return read(node, out, n);
  const auto operand = [&](int number) { return Operand{data(number), varies(number)}; };
  const Operand a = operand(node.operands[0]), b = node.operands[1] < 0 ? a : operand(node.operands[1]);
  switch (node.op) {
    case Op::Neg: return map1(a, out, n, [](I x) { return sub_wrap(0, x); });
    case Op::Not: return map1(a, out, n, [](I x) { return I{x == 0}; });
    case Op::Abs: return map1(a, out, n, [](I x) { return x < 0 ? sub_wrap(0, x) : x; });
    case Op::Add: return map2(a, b, out, n, [](I x, I y) { return add_wrap(x, y); });
    case Op::Sub: return map2(a, b, out, n, [](I x, I y) { return sub_wrap(x, y); });
    case Op::Mul: return map2(a, b, out, n, [](I x, I y) { return mul_wrap(x, y); });
    case Op::Div:
    case Op::Mod: return divide(node, out, n);
    case Op::Min: return map2(a, b, out, n, [](I x, I y) { return std::min(x, y); });
    case Op::Max: return map2(a, b, out, n, [](I x, I y) { return std::max(x, y); });
    case Op::Lt: return map2(a, b, out, n, [](I x, I y) { return I{x < y}; });
    case Op::Le: return map2(a, b, out, n, [](I x, I y) { return I{x <= y}; });
    case Op::Gt: return map2(a, b, out, n, [](I x, I y) { return I{x > y}; });
    case Op::Ge: return map2(a, b, out, n, [](I x, I y) { return I{x >= y}; });
    case Op::Eq: return map2(a, b, out, n, [](I x, I y) { return I{x == y}; });
    case Op::Ne: return map2(a, b, out, n, [](I x, I y) { return I{x != y}; });
    case Op::And: return map2(a, b, out, n, [](I x, I y) { return x & y; });
    case Op::Or: return map2(a, b, out, n, [](I x, I y) { return x | y; });
    case Op::Select: return select(a, b, operand(node.operands[2]), out, n);
    default: throw InternalError("row sweep", std::string("unexpected operation ") + ir::op_text(node.op));
  }
}

}  // namespace heddle::analysis
