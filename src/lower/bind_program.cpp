#include "src/lower/bind_program.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "heddle/error.h"
#include "src/ir/rewrite.h"

namespace heddle::lower {
namespace {

using ir::Op;

BindOp operation(Op op) {
  switch (op) {
#define X(name) case Op::name: return BindOp::name;
    X(Neg) X(Abs) X(Not) X(Add) X(Sub) X(Mul) X(Div) X(Mod) X(Min) X(Max)
    X(Lt) X(Le) X(Gt) X(Ge) X(Eq) X(Ne) X(And) X(Or) X(Select) X(Read)
#undef X
    default: throw InternalError("bind program", std::string("a mask has no operation ") + ir::op_text(op));
  }
}

template <class List, class Projection>
int64_t position(const List& list, const std::string& name, Projection projection) {
  const auto found = std::ranges::find(list, name, projection);
  if (found == std::end(list)) throw InternalError("bind program", "'" + name + "' is not declared");
  return found - std::begin(list);
}

class Writer {
 public:
  Writer(const std::vector<std::string>& int_params, const std::vector<TableDeclaration>& tables) : int_params_(int_params), tables_(tables) {}

  void add(const ir::Expr& node) {
    places_[node.get()] = static_cast<int32_t>(program.steps.size());
    program.steps.push_back(node->operands.empty() ? leaf(*node) : step(*node));
  }

  BindProgram program;

 private:
  BindStep leaf(const ir::ExprNode& node) const {
    switch (node.op) {
      case Op::IntConst: case Op::BoolConst: return {BindOp::Const, 0, 0, 0, node.integer};
      case Op::Var: return {BindOp::Var, 0, 0, 0, position(kBindVariables, node.name, [](const char* name) { return std::string(name); })};
      case Op::Param: return {BindOp::Param, 0, 0, 0, position(int_params_, node.name, std::identity())};
      default: throw InternalError("bind program", std::string("a mask has no leaf ") + ir::op_text(node.op));
    }
  }

  BindStep step(const ir::ExprNode& node) {
    BindStep made{operation(node.op)};
    if (node.op == Op::Read) {
      made.a = static_cast<int32_t>(program.reads.size());
      made.value = position(tables_, node.name, &TableDeclaration::name);
      for (const ir::Expr& index : node.operands) program.reads.push_back(places_.at(index.get()));
      return made;
    }
    int32_t* const operands[] = {&made.a, &made.b, &made.c};
    for (size_t i = 0; i < node.operands.size(); ++i) *operands[i] = places_.at(node.operands[i].get());
    return made;
  }

  const std::vector<std::string>& int_params_;
  const std::vector<TableDeclaration>& tables_;
  std::unordered_map<const ir::ExprNode*, int32_t> places_;
};

}  // namespace

BindProgram bind_program(const ir::Expr& mask, const std::vector<std::string>& int_params, const std::vector<TableDeclaration>& tables) {
  Writer writer(int_params, tables);
  ir::for_each_node(mask, [&](const ir::Expr& node) { writer.add(node); });
  writer.program.by_batch = ir::mentions(mask, "b");
  writer.program.by_head = ir::mentions(mask, "h");
  return std::move(writer.program);
}

}  // namespace heddle::lower
