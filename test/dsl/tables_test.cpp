// Tables in formulas: text and C++ build the same nodes, and mistakes are named.
#include <gtest/gtest.h>
#include "dsl/parser.h"
#include "heddle/error.h"
#include "heddle/formula.h"

namespace heddle {
namespace {

const Parameters kTables = {{"doc", TableOf{}}, {"bias", TableOf{DType::Float32}}, {"w", int64_t{3}}};

std::string error_of(const std::string& mask) {
  try {
    Mask::parse(mask, kTables);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TableFormulas, TextAndBuilderAgree) {
  const IntTable doc("doc");
  const Mask built = mask([&](Index q, Index k) { return doc[q] == doc[k] && k <= q; });
  EXPECT_TRUE(ir::equal(built.node(), Mask::parse("doc[q] == doc[k] && k <= q", kTables).node()));
  const RealTable bias("bias");
  const Score added = score([&](Real s, Index h, Index q, Index k) { return s + bias(h, q, k); });
  EXPECT_TRUE(ir::equal(added.node(), Score::parse("s + bias[h, q, k]", kTables).node()));
  EXPECT_TRUE(ir::equal(added.node(), Score::parse("s + bias[h][q][k]", kTables).node()));
}

TEST(TableFormulas, TextParsesBack) {
  for (const char* text : {"doc[q] == doc[k]", "doc[doc[max(q - k, 0)] + 1] < k", "doc[q < 3 ? q : k] != 0"}) {
    EXPECT_EQ(Mask::parse(text, kTables).text(), text);
  }
}

TEST(TableFormulas, MistakesAreNamed) {
  EXPECT_EQ(error_of("dok[q] == 1"), "unknown table 'dok'\nmask:1:1\n  dok[q] == 1\n  ^^^\nhint: did you mean 'doc'? known tables: bias, doc");
  EXPECT_EQ(error_of("w[q] == 1"), "'w' is no table\nmask:1:1\n  w[q] == 1\n  ^\nhint: known tables: bias, doc");
  EXPECT_EQ(error_of("doc(q) == 1"), "'doc' is a table\nmask:1:1\n  doc(q) == 1\n  ^^^\nhint: read an element: doc[q]");
  EXPECT_EQ(error_of("dco(q) == 1"), "unknown function 'dco'\nmask:1:1\n  dco(q) == 1\n  ^^^\nhint: did you mean the table 'doc', as in doc[q]? "
                                     "known functions: abs, min, max, clamp, exp, log, tanh, sigmoid, sqrt, softcap, real");
  EXPECT_EQ(error_of("k < q && abs[q - k] < 3"), "'abs' is a function\nmask:1:10\n  k < q && abs[q - k] < 3\n           ^^^\nhint: call it: abs(x)");
  EXPECT_EQ(error_of("clmp[q] < 3"), "unknown table 'clmp'\nmask:1:1\n  clmp[q] < 3\n  ^^^^\nhint: did you mean the function 'clamp', as in "
                                     "clamp(x, ...)? known tables: bias, doc");
  EXPECT_EQ(error_of("doc == 1"), "'doc' is a table\nmask:1:1\n  doc == 1\n  ^^^\nhint: read an element: doc[q]");
  EXPECT_EQ(error_of("doc[q == k] == 1"),
            "an index of 'doc' must be an integer, but 'q == k' is a condition\nmask:1:5\n  doc[q == k] == 1\n      ^^^^^^");
  EXPECT_EQ(error_of("doc[q == 1"), "'[' is never closed\nmask:1:4\n  doc[q == 1\n     ^\nhint: add the missing ']'");
  EXPECT_EQ(error_of("q == 1]"), "']' closes nothing\nmask:1:7\n  q == 1]\n        ^\nhint: remove it, or open a '[' before it");
  EXPECT_EQ(error_of("doc[] == 1"), "expected a value, found ']'\nmask:1:5\n  doc[] == 1\n      ^");
  EXPECT_EQ(error_of("doc[q, k] == doc[q]"), "the table 'doc' is read with 2 and with 1 indices\nmask:1:14\n  doc[q, k] == doc[q]\n               ^^^^^^\n"
            "hint: give every read one index a dimension");
  EXPECT_EQ(error_of("doc[q, k, q, k, q] == 1"), "the table 'doc' is read with 5 indices; at most 4 are\nmask:1:1\n  doc[q, k, q, k, q] == 1\n  ^^^^^^^^^^^^^^^^^^");
  EXPECT_EQ(error_of("bias[q] == 1"),
            "a mask is an integer formula, but 'bias' is a table of reals\nmask:1:1\n  bias[q] == 1\n  ^^^^\nhint: reals belong into the score");
}

TEST(TableFormulas, NamesAndElementsAreChecked) {
  EXPECT_THROW(IntTable("q"), UserError);
  EXPECT_THROW(IntTable("t", DType::Float32), UserError);
  EXPECT_THROW(Mask::parse("t[q] == 1", {{"t", TableOf{DType::Float16}}}), UserError);
  const IntTable narrow("t"), wide("t", DType::Int64);
  EXPECT_THROW(mask([&](Index q, Index k) { return narrow[q] == wide[k]; }), UserError);
  EXPECT_THROW(mask([&](Index q, Index k) { return narrow[q] == int_parameter("t") + k; }), UserError);
}

}  // namespace
}  // namespace heddle
