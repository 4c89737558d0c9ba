// Reads of tables: what they mean, how they print, and that rewrites and compiled formulas keep them.
#include <gtest/gtest.h>
#include <numeric>
#include <vector>
#include "heddle/error.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"

namespace heddle::ir {
namespace {

const Expr kQ = var("q"), kK = var("k");

struct Fixture {
  std::vector<int32_t> docs = {7, 7, 8, 9, 9};
  std::vector<float> bias = std::vector<float>(12);
  Tables tables;
  Fixture() {
    std::iota(bias.begin(), bias.end(), 0.5f);
    tables["doc"] = Tensor::dense(docs.data(), {5}, DType::Int32);
    tables["bias"] = Tensor::dense(bias.data(), {3, 4});
  }
};

Expr doc(const Expr& index) { return read("doc", DType::Int32, {index}); }

TEST(Tables, ReadGivesTheElementAndClampsTheIndex) {
  const Fixture f;
  for (int64_t q = -9; q < 15; ++q) {
    const Environment at{.ints = {{"q", q}}, .reals = {}, .args = {}, .tables = f.tables};
    EXPECT_EQ(evaluate_int(doc(kQ), at), f.docs[static_cast<size_t>(std::clamp<int64_t>(q, 0, 4))]) << q;
  }
}

TEST(Tables, CompiledReadsAgreeWithTheEvaluator) {
  const Fixture f;
  const Expr value = make(Op::Add, {read("bias", DType::Float32, {make(Op::Sub, {kQ, kK}), doc(kK)}), make(Op::Mul, {doc(kQ), kK})});
  const CompiledExpr compiled(value, {"q", "k"}, f.tables);
  for (int64_t q = -3; q < 7; ++q) {
    for (int64_t k = -3; k < 7; ++k) {
      const int64_t at[] = {q, k};
      const Environment environment{.ints = {{"q", q}, {"k", k}}, .reals = {}, .args = {}, .tables = f.tables};
      EXPECT_EQ(compiled.run_real(at, nullptr), evaluate_real(value, environment)) << q << ", " << k;
    }
  }
}

TEST(Tables, StridesBroadcastsAndEmptyTables) {
  std::vector<int64_t> memory = {10, 11, 12, 13, 14, 15};
  const int64_t at[] = {2, 9};
  EXPECT_EQ(int_element({memory.data() + 5, DType::Int64, {3, 1}, {-2, 0}}, at), 11);
  EXPECT_EQ(int_element({memory.data(), DType::Int64, {3, 0}, {1, 1}}, at), 0);
  const std::vector<uint8_t> flags = {0, 2, 1};
  EXPECT_EQ(int_element({const_cast<uint8_t*>(flags.data()), DType::Bool, {3}, {1}}, std::vector<int64_t>{1}.data()), 1);
}

TEST(Tables, PrintAndStructure) {
  const Expr e = read("rel", DType::Float32, {var("h"), make(Op::Add, {make(Op::Sub, {kQ, kK}), int_const(127)})});
  EXPECT_EQ(print(e), "rel[h, q - k + 127]");
  EXPECT_EQ(e->type, Type::Real);
  EXPECT_TRUE(equal(e, with_operands(*e, e->operands)));
  EXPECT_FALSE(equal(doc(kQ), read("doc", DType::Int64, {kQ})));
  EXPECT_FALSE(equal(doc(kQ), read("dog", DType::Int32, {kQ})));
  EXPECT_EQ(tables(make(Op::Eq, {doc(kQ), doc(kK)})).at("doc").rank, 1);
}

TEST(Tables, RewritesKeepReads) {
  const Expr e = make(Op::Eq, {doc(make(Op::Add, {kQ, int_const(0)})), doc(int_const(3))});
  EXPECT_EQ(print(simplify(e)), "doc[q] == doc[3]");
  const Expr moved = substitute(e, [](const ExprNode& leaf) { return leaf.name == "q" ? var("k") : nullptr; });
  EXPECT_EQ(print(moved), "doc[k + 0] == doc[3]");
  EXPECT_EQ(print(guard_divisors(make(Op::Eq, {make(Op::Div, {kQ, doc(kQ)}), kK}))), "q / doc[q] == k && doc[q] != 0");
}

TEST(Tables, RangesFollowTheElementType) {
  EXPECT_EQ(range(doc(kQ), {}), (Interval{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(range(read("flag", DType::Bool, {kQ}), {}), (Interval{0, 1}));
  EXPECT_EQ(range(read("wide", DType::Int64, {kQ}), {}), Interval::full());
}

TEST(Tables, RefusesWhatIsNoRead) {
  EXPECT_THROW(read("t", DType::Int32, {}), InternalError);
  EXPECT_THROW(read("t", DType::Float16, {kQ}), InternalError);
  EXPECT_THROW(read("t", DType::Int32, {bool_const(true)}), InternalError);
  EXPECT_THROW(CompiledExpr(doc(kQ), {"q"}), InternalError);
}

}  // namespace
}  // namespace heddle::ir
