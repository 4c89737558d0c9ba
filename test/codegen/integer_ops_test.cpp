// Integer arithmetic of emitted code against the evaluator: floor division for every sign, zero divisors, wrap-around.
#include "src/codegen/llvm/integer_ops.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "src/ir/evaluate.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/function_harness.h"

namespace heddle::test {
namespace {

using codegen::IrBuilder;

template <typename T>
std::vector<T> interesting() {
  std::vector<T> values = {
      0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 16, -16, 100, -100, 12345, 1 << 20, -(1 << 20), INT32_MAX - 1, INT32_MIN + 1};
  if (sizeof(T) == 8) {
    for (int64_t wide : {INT64_MAX, INT64_MIN, INT64_MIN + 1, int64_t{1} << 40, -(int64_t{1} << 62), int64_t{INT32_MIN}}) {
      values.push_back(static_cast<T>(wide));
    }
  }
  std::mt19937_64 random(2);
  for (int i = 0; i < 20; ++i)
    values.push_back(static_cast<T>(static_cast<int64_t>(random()) >> (sizeof(T) == 8 ? random() % 60 : 33 + random() % 30)));
  return values;
}

template <typename T>
void all_pairs(std::vector<T>& a, std::vector<T>& b) {
  for (T x : interesting<T>()) {
    for (T y : interesting<T>()) a.push_back(x), b.push_back(y);
  }
}

template <typename T>
void check_division(bool modulo) {
  std::vector<T> a, b;
  all_pairs(a, b);
  for (const Target& target : runnable_targets()) {
    const ArrayFunction emitted(target, sizeof(T) * 8, [&](IrBuilder& builder, llvm::Value* x, llvm::Value* y) {
      return modulo ? codegen::floor_modulo(builder, x, y, {}) : codegen::floor_divide(builder, x, y, {});
    });
    const std::vector<T> actual = emitted(a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      const int64_t expected = modulo ? ir::floor_mod(a[i], b[i]) : ir::floor_div(a[i], b[i]);
      ASSERT_EQ(int64_t{actual[i]}, expected) << int64_t{a[i]} << (modulo ? " % " : " / ") << int64_t{b[i]};
    }
  }
}

TEST(IntegerOps, DivideAndTakeRemaindersByVectors) {
  for (bool modulo : {false, true}) check_division<int64_t>(modulo), check_division<int32_t>(modulo);
}

template <typename T>
void check_constant(int64_t divisor, bool modulo, bool non_negative) {
  std::vector<T> a;
  for (T x : interesting<T>()) {
    if (!non_negative || x >= 0) a.push_back(x);
  }
  const Target target = Target::host();
  const ArrayFunction emitted(target, sizeof(T) * 8, [&](IrBuilder& builder, llvm::Value* x, llvm::Value*) {
    llvm::Value* c = builder.splat_int(divisor, sizeof(T) * 8);
    const codegen::DivisionFacts facts = {divisor, non_negative};
    return modulo ? codegen::floor_modulo(builder, x, c, facts) : codegen::floor_divide(builder, x, c, facts);
  });
  const std::vector<T> actual = emitted(a, a);
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t expected = modulo ? ir::floor_mod(a[i], divisor) : ir::floor_div(a[i], divisor);
    ASSERT_EQ(int64_t{actual[i]}, expected) << int64_t{a[i]} << (modulo ? " % " : " / ") << divisor;
  }
}

TEST(IntegerOps, DivideAndTakeRemaindersByConstants) {
  for (int64_t divisor : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{-2}, int64_t{7}, int64_t{-7}, int64_t{64},
                          int64_t{-64}, int64_t{1000003}, INT64_MAX, INT64_MIN, int64_t{1} << 62}) {
    for (bool modulo : {false, true}) {
      for (bool non_negative : {false, true}) {
        check_constant<int64_t>(divisor, modulo, non_negative);
        if (divisor > INT32_MIN && divisor < INT32_MAX) check_constant<int32_t>(divisor, modulo, non_negative);
      }
    }
  }
}

TEST(IntegerOps, ArithmeticAndComparisonsFollowTheEvaluator) {
  using ir::Op;
  std::vector<int64_t> a, b;
  all_pairs(a, b);
  const ir::Expr x = ir::var("q"), y = ir::var("k");
  for (Op op :
       {Op::Neg, Op::Add, Op::Sub, Op::Mul, Op::Abs, Op::Min, Op::Max, Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne}) {
    const bool unary = op == Op::Neg || op == Op::Abs;
    const ir::Expr expr = unary ? ir::make(op, {x}) : ir::make(op, {x, y});
    const ir::CompiledExpr meaning(expr, {"q", "k"});
    const ArrayFunction emitted(Target::host(), 64, [&](IrBuilder& builder, llvm::Value* left, llvm::Value* right) {
      if (expr->type == ir::Type::Int) return codegen::integer_arithmetic(builder, op, left, unary ? nullptr : right);
      return builder.CreateZExt(codegen::integer_comparison(builder, op, left, right), builder.ints(64));
    });
    const std::vector<int64_t> actual = emitted(a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      const int64_t inputs[] = {a[i], b[i]};
      ASSERT_EQ(actual[i], meaning.run_int(inputs)) << ir::op_text(op) << " of " << a[i] << " and " << b[i];
    }
  }
}

TEST(IntegerOps, ComparisonsOfRealsFollowIeee) {
  using ir::Op;
  const std::vector<float> values = {0.0f, -0.0f, 1, -1, INFINITY, -INFINITY, NAN};
  std::vector<float> a, b;
  for (float x : values) {
    for (float y : values) a.push_back(x), b.push_back(y);
  }
  const std::pair<Op, std::function<bool(float, float)>> kComparisons[] = {
      {Op::Lt, std::less<float>()},          {Op::Le, std::less_equal<float>()}, {Op::Gt, std::greater<float>()},
      {Op::Ge, std::greater_equal<float>()}, {Op::Eq, std::equal_to<float>()},   {Op::Ne, std::not_equal_to<float>()}};
  for (const auto& [op, meaning] : kComparisons) {
    const ArrayFunction emitted(Target::host(), 0, [&](IrBuilder& builder, llvm::Value* x, llvm::Value* y) {
      return builder.CreateUIToFP(codegen::real_comparison(builder, op, x, y), builder.f32s());
    });
    const std::vector<float> actual = emitted(a, b);
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(actual[i] != 0, meaning(a[i], b[i])) << ir::op_text(op) << " " << a[i] << " " << b[i];
  }
}

}  // namespace
}  // namespace heddle::test
