#include "src/lower/gpu_rewrite.h"

#include <algorithm>
#include <limits>

namespace heddle::lower {
namespace {

using ir::Expr;
using ir::Op;
using ir::ValueId;

Expr minus_infinity() { return ir::real_const(-std::numeric_limits<double>::infinity()); }

void replace_reads(ir::Body& body, size_t from, ValueId old, ValueId fresh) {
  for (size_t i = from; i < body.size(); ++i) {
    if (auto* map = std::get_if<ir::Map>(&body[i].op)) std::replace(map->inputs.begin(), map->inputs.end(), old, fresh);
    if (auto* reduce = std::get_if<ir::RowReduce>(&body[i].op); reduce && reduce->in == old) reduce->in = fresh;
    if (auto* mma = std::get_if<ir::Mma>(&body[i].op); mma && mma->lhs == old) mma->lhs = fresh;
  }
}

ir::Map* definition(ir::Body& body, ValueId value) {
  for (ir::Statement& statement : body) {
    auto* map = std::get_if<ir::Map>(&statement.op);
    if (map && map->out == value) return map;
  }
  return nullptr;
}

/// Puts a masking map before statement `at`, a maximum.
void insert_mask(ir::TileProgram& program, ir::Body& body, size_t at) {
  const ValueId old = std::get<ir::RowReduce>(body[at].op).in;
  ir::ValueInfo info = program.values[static_cast<size_t>(old)];
  info.name += "_clipped";
  const auto fresh = static_cast<ValueId>(program.values.size());
  program.values.push_back(info);
  replace_reads(body, at, old, fresh);
  const Expr expr = ir::make(Op::Select, {clipped(nullptr), ir::arg(0, ir::Type::Real), minus_infinity()});
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(at), ir::Statement{ir::Map{fresh, {old}, expr, true}});
}

void clip_body(ir::TileProgram& program, ir::Body& body) {
  for (size_t i = 0; i < body.size(); ++i) {
    const auto* reduce = std::get_if<ir::RowReduce>(&body[i].op);
    if (!reduce || reduce->reduction != ir::Reduction::Max) continue;
    ir::Map* map = definition(body, reduce->in);
    const Expr condition = map ? masking_condition(*map) : nullptr;
    if (condition) {
      map->expr = ir::make(Op::Select, {clipped(condition), map->expr->operands[1], map->expr->operands[2]});
    } else {
      insert_mask(program, body, i++);
    }
  }
}

}  // namespace

Expr masking_condition(const ir::Map& map) {
  const ir::ExprNode& e = *map.expr;
  if (!map.only_partial || e.op != Op::Select || e.operands[1]->op != Op::Arg) return nullptr;
  return ir::equal(e.operands[2], minus_infinity()) ? e.operands[0] : nullptr;
}

Expr clipped(const Expr& mask) {
  const Expr exists = ir::make(Op::Lt, {ir::var("k"), ir::var("Sk")});
  return mask ? ir::make(Op::And, {mask, exists}) : exists;
}

void clip_keys(ir::TileProgram& program) {
  for (ir::Statement& statement : program.body) {
    if (auto* loop = std::get_if<ir::KeyLoop>(&statement.op)) clip_body(program, loop->body);
  }
}

}  // namespace heddle::lower
