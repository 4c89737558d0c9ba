#include "src/ir/expr.h"
#include <gtest/gtest.h>
#include <set>
#include "heddle/error.h"
#include "src/ir/rewrite.h"

namespace heddle::ir {
namespace {

TEST(Expr, EveryOperationHasTextAndArity) {
  EXPECT_STREQ(op_text(Op::Select), "?:");
  EXPECT_EQ(op_arity(Op::Select), 3);
  EXPECT_STREQ(op_text(Op::Mod), "%");
  EXPECT_EQ(op_arity(Op::Mod), 2);
  EXPECT_EQ(op_arity(Op::Var), 0);
}

TEST(Expr, IntegersBesideRealsPromote) {
  const Expr sum = make(Op::Add, {var("s", Type::Real), var("q")});
  EXPECT_EQ(sum->type, Type::Real);
  EXPECT_EQ(sum->operands[1]->op, Op::ToReal);
  EXPECT_EQ(make(Op::Exp, {var("q")})->operands[0]->op, Op::ToReal);
  EXPECT_EQ(make(Op::Lt, {var("q"), real_const(1)})->operands[0]->type, Type::Real);
  const Expr choice = make(Op::Select, {bool_const(true), var("q"), real_const(1)});
  EXPECT_EQ(choice->type, Type::Real);
  EXPECT_EQ(choice->operands[1]->op, Op::ToReal);
  EXPECT_EQ(make(Op::Select, {bool_const(true), bool_const(false), bool_const(true)})->type, Type::Bool);
}

TEST(Expr, WrongOperandsAreInternalErrors) {
  EXPECT_THROW(make(Op::And, {var("q"), bool_const(true)}), InternalError);
  EXPECT_THROW(make(Op::Add, {var("q"), bool_const(true)}), InternalError);
  EXPECT_THROW(make(Op::Eq, {bool_const(true), bool_const(true)}), InternalError);
  EXPECT_THROW(make(Op::Mod, {real_const(1), var("q")}), InternalError);
  EXPECT_THROW(make(Op::Select, {var("q"), var("q"), var("q")}), InternalError);
  EXPECT_THROW(make(Op::Select, {bool_const(true), var("q"), bool_const(true)}), InternalError);
  EXPECT_THROW(make(Op::Add, {var("q")}), InternalError);
  EXPECT_THROW(make(Op::Neg, {nullptr}), InternalError);
  EXPECT_THROW(make(Op::Var, {}), InternalError);
  EXPECT_THROW(var("x", Type::Bool), InternalError);
  EXPECT_THROW(param("x", Type::Bool), InternalError);
  EXPECT_THROW(arg(0, Type::Int), InternalError);
}

TEST(Expr, EqualityAndHashAreStructural) {
  const auto tree = [](int64_t c, const char* name) { return make(Op::Le, {make(Op::Add, {var(name), int_const(c)}), var("k")}); };
  EXPECT_TRUE(equal(tree(1, "q"), tree(1, "q")));
  EXPECT_EQ(tree(1, "q")->hash, tree(1, "q")->hash);
  EXPECT_FALSE(equal(tree(1, "q"), tree(2, "q")));
  EXPECT_FALSE(equal(tree(1, "q"), tree(1, "h")));
  EXPECT_FALSE(equal(var("x"), param("x", Type::Int)));
  EXPECT_FALSE(equal(param("x", Type::Real), param("x", Type::Int)));
  EXPECT_FALSE(equal(real_const(0.0), real_const(-0.0)));
  EXPECT_FALSE(equal(nullptr, var("x")));
  EXPECT_TRUE(equal(nullptr, nullptr));
  std::set<uint64_t> hashes;
  for (int64_t c = -500; c < 500; ++c) hashes.insert(tree(c, "q")->hash);
  EXPECT_EQ(hashes.size(), 1000u);
}

TEST(Expr, KnowsItsDepthAndSize) {
  Expr x = var("q");
  for (int i = 0; i < 100; ++i) x = make(Op::Add, {x, x});
  EXPECT_EQ(x->depth, 101);
  EXPECT_EQ(x->size, int64_t{1} << 61);
  EXPECT_EQ(make(Op::Add, {var("q"), var("k")})->size, 3);
}

TEST(Expr, RecursionIsSafeAtTheGreatestDepth) {
  Expr left = var("q"), right = var("q");
  for (int i = 1; i < kMaxDepth; ++i) {
    left = make(Op::Add, {left, var("k")});
    right = make(Op::Add, {var("k"), right});
  }
  EXPECT_EQ(left->depth, kMaxDepth);
  EXPECT_EQ(print(left).size(), 4u * (kMaxDepth - 1) + 1);
  EXPECT_EQ(print(right).size(), 6u * (kMaxDepth - 1) - 1);
  EXPECT_FALSE(equal(left, right));
  EXPECT_TRUE(equal(simplify(left), left));
  EXPECT_EQ(range(right, {{"q", {0, 1}}, {"k", {0, 1}}}), (Interval{0, kMaxDepth}));
}

}  // namespace
}  // namespace heddle::ir
