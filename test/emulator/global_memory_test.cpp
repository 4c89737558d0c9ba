// Buffers far apart: every access is held against its own buffer, and outputs are written once.
#include "test/emulator/global_memory.h"

#include <gtest/gtest.h>

namespace heddle::emulator {
namespace {

struct Memory {
  std::vector<uint16_t> input = std::vector<uint16_t>(10), output = std::vector<uint16_t>(10),
                        shared = std::vector<uint16_t>(10);
  Findings findings;
  GlobalMemory memory;
  uint64_t in = memory.add_input("in", input.data(), 20);
  uint64_t out = memory.add("out", output.data(), 20, BufferUse::Output);
  uint64_t both = memory.add("both", shared.data(), 20, BufferUse::Shared);

  Memory() {
    memory.begin(findings, 64);
    memory.begin_block(0);
  }
};

TEST(GlobalMemory, AnOverrunIsNamedAfterItsOwnBuffer) {
  Memory m;
  EXPECT_EQ(m.memory.read(0, m.in + 20, 2), nullptr);
  EXPECT_EQ(m.memory.read(0, m.in - 2, 2), nullptr);
  EXPECT_EQ(m.memory.write(0, m.out + 4000000, 4), nullptr);
  EXPECT_EQ(m.memory.read(0, 16, 2), nullptr);
  EXPECT_EQ(m.findings.count(FindingKind::OutOfBounds), 4u);
  EXPECT_NE(m.findings.kept()[0].text.find("in+20"), std::string::npos) << m.findings.to_string();
  EXPECT_NE(m.findings.kept()[1].text.find("in-2"), std::string::npos);
  EXPECT_NE(m.findings.kept()[2].text.find("out+4000000"), std::string::npos);
  EXPECT_NE(m.memory.read(0, m.in + 18, 2), nullptr);
}

TEST(GlobalMemory, AddressesAreAligned) {
  Memory m;
  EXPECT_EQ(m.in % 256, 0u);
  EXPECT_EQ(m.memory.read(0, m.in + 2, 4), nullptr);
  EXPECT_EQ(m.findings.count(FindingKind::Misaligned), 1u);
}

TEST(GlobalMemory, OutputsAreWrittenOnceAndWhole) {
  Memory m;
  for (int i = 0; i < 9; ++i) EXPECT_NE(m.memory.write(i, m.out + 2 * i, 2), nullptr);
  m.memory.write(1, m.out + 4, 2);
  EXPECT_EQ(m.findings.count(FindingKind::WrittenTwice), 1u);
  m.memory.end();
  EXPECT_EQ(m.findings.count(FindingKind::NeverWritten), 1u);
  EXPECT_NE(m.findings.kept().back().text.find("1 elements of out, the first at 9"), std::string::npos)
      << m.findings.to_string();
}

TEST(GlobalMemory, InputsAreNotWritten) {
  Memory m;
  EXPECT_EQ(m.memory.write(0, m.in, 2), nullptr);
  EXPECT_EQ(m.memory.atomic(0, m.in, 4), nullptr);
  EXPECT_EQ(m.findings.count(FindingKind::WriteToInput), 2u);
}

TEST(GlobalMemory, BlocksDoNotSeeEachOthersStores) {
  Memory m;
  m.memory.read(0, m.out, 2);
  EXPECT_EQ(m.findings.count(FindingKind::UninitialisedRead), 1u);
  m.memory.write(0, m.both, 2);
  EXPECT_NE(m.memory.read(5, m.both, 2), nullptr);
  EXPECT_EQ(m.findings.count(FindingKind::Race), 0u);
  m.memory.begin_block(1);
  m.memory.read(0, m.both, 2);
  m.memory.write(0, m.both, 2);
  EXPECT_EQ(m.findings.count(FindingKind::Race), 2u);
  EXPECT_NE(m.memory.atomic(0, m.both + 4, 4), nullptr);
  EXPECT_EQ(m.findings.count(FindingKind::Race), 2u);
  m.memory.atomic(0, m.out + 4, 4);
  EXPECT_GT(m.findings.count(FindingKind::Race), 2u);
}

}  // namespace
}  // namespace heddle::emulator
