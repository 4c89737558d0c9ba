// The reader and decoder of PTX on texts written by hand: structure, scopes, and refusals that name the line.
#include <gtest/gtest.h>

#include "test/emulator/emulator.h"

namespace heddle::emulator {
namespace {

std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(\n.param .u64 k_param_0\n)\n{\n.reg .pred "
         "%p<4>;\n.reg .b32 %r<9>;\n"
         ".reg .b64 %rd<9>;\n" +
         body + "\nret;\n}\n";
}

std::string refusal(const std::string& text) {
  try {
    decode_ptx(text);
  } catch (const PtxError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PtxText, StatementsHaveGuardsOperandsAndLines) {
  const auto kernels = read_ptx(kernel(
      "$L1:\n@!%p1 ld.global.v4.u32 {%r1,%r2,%r3,_}, [%rd1+-16];\n// nothing\nshfl.sync.bfly.b32 %r1|%p2, %r2, 1, 31, -1;"));
  ASSERT_EQ(kernels.size(), 1u);
  const KernelText& k = kernels[0];
  EXPECT_EQ(k.name, "k");
  EXPECT_EQ(k.parameters.at(0).bytes, 8);
  EXPECT_EQ(k.labels.at("$L1"), 0u);
  ASSERT_EQ(k.statements.size(), 3u);
  EXPECT_EQ(k.statements[0].line, 12);
  EXPECT_EQ(k.statements[0].guard, "%p1");
  EXPECT_TRUE(k.statements[0].guard_negated);
  EXPECT_EQ(k.statements[0].opcode_text(), "ld.global.v4.u32");
  EXPECT_EQ(k.statements[0].operands.at(0).elements.size(), 4u);
  EXPECT_EQ(k.statements[0].operands.at(1).offset, -16);
  EXPECT_EQ(k.statements[1].line, 14);
  EXPECT_EQ(k.statements[1].operands.at(0).alternative, "%p2");
  EXPECT_EQ(k.statements[1].operands.at(4).name, "-1");
}

TEST(PtxText, InlineScopesHaveNamesOfTheirOwn) {
  const std::string scope =
      "{ .reg .pred p; .reg .b32 t; setp.ne.b32 p, %r1, 0; @p bra DONE; mov.b32 t, 3;\nDONE:\n mov.b32 %r2, t; }\n";
  const KernelText k = read_ptx(kernel(scope + scope)).at(0);
  EXPECT_EQ(k.labels.size(), 2u);
  EXPECT_NE(k.statements[0].operands[0].name, k.statements[4].operands[0].name);
  const Program program = decode_ptx(kernel(scope + scope));
  EXPECT_EQ(program.code[1].target, 3u);
  EXPECT_EQ(program.code[5].target, 7u);
}

TEST(PtxText, StaticSharedArraysLieBeforeDynamicMemory) {
  const KernelText k = read_ptx(
                           ".extern .shared .align 1024 .b8 dyn[];\n.visible .entry k()\n{\n.shared .align 4 .b8 "
                           "a[20];\n.shared .b32 b[4];\nret;\n}\n")
                           .at(0);
  ASSERT_EQ(k.shared.size(), 3u);
  EXPECT_EQ(k.shared[0].offset, 0);
  EXPECT_EQ(k.shared[1].offset, 32);
  EXPECT_EQ(k.static_shared_bytes, 48);
}

TEST(PtxText, WhatIsUnknownIsAnErrorThatNamesTheLine) {
  EXPECT_EQ(refusal(kernel("mov.u32 %r1, 0;\nweave.sync.b32 %r1, %r2;")), "PTX line 12: weave.sync.b32: unknown opcode");
  EXPECT_EQ(refusal(kernel("mov.u32 %r1, %smid.x;")), "PTX line 11: mov.u32: unknown special register %smid.x");
  EXPECT_NE(refusal(kernel("add.sat.s32 %r1, %r1, 1;")).find("line 11: add.sat.s32: qualifier .sat"), std::string::npos);
  EXPECT_NE(refusal(kernel("bra NOWHERE;")).find("no label NOWHERE"), std::string::npos);
  EXPECT_NE(refusal(kernel("add.s32 %r1, %q1, 1;")).find("undeclared name %q1"), std::string::npos);
  EXPECT_NE(refusal(kernel("add.s64 %rd1, %r1, 1;")).find("another width"), std::string::npos);
  EXPECT_NE(refusal(kernel("bar.sync 1;")).find("barriers other than 0"), std::string::npos);
  EXPECT_NE(refusal(kernel(".local .align 4 .b8 stack[16];")).find("line 11: unsupported directive .local"), std::string::npos);
  EXPECT_NE(
      refusal(kernel("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%r3}, {%r1,%r2,%r3,%r4};"))
          .find("shape"),
      std::string::npos);
  EXPECT_NE(refusal(kernel("cp.async.bulk.shared.global [%r1], [%rd1], 16;")).find("unknown opcode"), std::string::npos);
  EXPECT_EQ(refusal(kernel("")), "accepted");
}

TEST(PtxText, ShortenedTextsAreErrors) {
  const std::string text = kernel("mov.u32 %r1, 0;");
  for (size_t length = text.find('{'); length + 3 < text.size(); ++length) {
    EXPECT_THROW(decode_ptx(text.substr(0, length)), std::exception) << length;
  }
  EXPECT_THROW(decode_ptx(text, "other"), PtxError);
}

}  // namespace
}  // namespace heddle::emulator
