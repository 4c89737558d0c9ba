#include <gtest/gtest.h>
#include <random>
#include "heddle/error.h"
#include "test/analysis/mask_families.h"
#include "test/analysis/matrix_check.h"

namespace heddle::analysis::test {
namespace {

const MatrixOptions kTiles{.tiles = {{64, 64}, {16, 16}, {128, 64}, {5, 7}}};

std::vector<std::string> int_names(const Ints& ints) {
  std::vector<std::string> names;
  for (const auto& [name, value] : ints) {
    if (name != "h") names.push_back(name);
  }
  return names;
}

MatrixFacts found_in(const std::string& formula, Lengths lengths, const MatrixOptions& options = kTiles) {
  const ByteMatrix matrix = matrix_of(parse_mask(formula), lengths);
  MatrixFacts facts = matrix_facts(matrix.view(), options);
  EXPECT_EQ(check_matrix(matrix, facts), "") << formula;
  return facts;
}

std::string suggested(const std::string& formula, Lengths lengths) {
  const MatrixFacts facts = found_in(formula, lengths);
  return facts.formula ? ir::print(facts.formula) : "none";
}

class MatrixFamilies : public testing::TestWithParam<MaskFamily> {};

TEST_P(MatrixFamilies, FactsAreThoseOfTheMatrix) {
  const MaskFamily& family = GetParam();
  const ir::Expr mask = parse_mask(family.text, int_names(family.dynamic));
  for (const Lengths lengths : {Lengths{1, 1}, {65, 130}, {333, 129}, {257, 257}, {600, 515}}) {
    const ByteMatrix matrix = matrix_of(mask, lengths, family.dynamic);
    const MatrixFacts facts = matrix_facts(matrix.view(), kTiles);
    ASSERT_EQ(check_matrix(matrix, facts), "") << family.name << " " << lengths.sq << "x" << lengths.sk;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatrixFamilies, testing::ValuesIn(mask_families()),
                         [](const auto& param) { return "f" + std::to_string(param.index); });

TEST(MatrixFacts, EmptyAndTinyMatrices) {
  for (const Lengths lengths : {Lengths{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 64}, {64, 1}, {1, 65}}) {
    for (const char* formula : {"true", "q < 0", "k <= q", "k % 2 == 1"}) found_in(formula, lengths);
  }
}

TEST(MatrixFacts, ReadsRowsThatLieApartAndAnyByte) {
  const ByteMatrix dense = matrix_of(parse_mask("k <= q"), {70, 90});
  ByteMatrix apart{70, 90, 128, std::vector<uint8_t>(70 * 128, 1)};
  for (int64_t q = 0; q < 70; ++q) {
    for (int64_t k = 0; k < 90; ++k) apart.bytes[static_cast<size_t>(q * 128 + k)] = dense.at(q, k) ? static_cast<uint8_t>(1 << (k % 8)) : 0;
  }
  const MatrixFacts facts = matrix_facts(apart.view(), kTiles);
  EXPECT_EQ(check_matrix(apart, facts), "");
  EXPECT_EQ(ir::print(facts.formula), "k <= q");
}

TEST(MatrixFacts, RandomBitsAreIrregularAndCountedAllTheSame) {
  std::mt19937 random(7);
  for (const Lengths lengths : {Lengths{200, 333}, {70, 5000}}) {  // The second has more pieces a row than are kept.
    ByteMatrix matrix{lengths.sq, lengths.sk, lengths.sk, std::vector<uint8_t>(static_cast<size_t>(lengths.sq * lengths.sk))};
    for (uint8_t& byte : matrix.bytes) byte = random() & 1;
    const MatrixFacts facts = matrix_facts(matrix.view(), kTiles);
    EXPECT_EQ(check_matrix(matrix, facts), "");
    EXPECT_TRUE(facts.irregular);
    EXPECT_EQ(facts.formula, nullptr);
  }
}

TEST(MatrixFacts, OneChangedPairIsNeverOverlooked) {
  const ByteMatrix causal = matrix_of(parse_mask("k <= q && q - k < 40"), {150, 150});
  std::mt19937 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    ByteMatrix changed = causal;
    changed.bytes[random() % changed.bytes.size()] ^= 1;
    const MatrixFacts facts = matrix_facts(changed.view(), kTiles);
    ASSERT_EQ(check_matrix(changed, facts), "");
  }
}

TEST(MatrixFacts, RandomAffineMasks) {
  std::mt19937 random(11);
  const auto pick = [&](int low, int high) { return std::to_string(low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1))); };
  const auto atom = [&]() -> std::string {
    switch (random() % 6) {
      case 0: return "k <= q + " + pick(-20, 20);
      case 1: return "abs(q - k) < " + pick(1, 60);
      case 2: return "(q - k) % " + pick(2, 9) + " == 0";
      case 3: return "q / " + pick(2, 50) + " == k / " + pick(2, 50);
      case 4: return "k < " + pick(0, 30);
      default: return "k % " + pick(2, 20) + " < " + pick(1, 5);
    }
  };
  for (int trial = 0; trial < 300; ++trial) {
    std::string formula = atom();
    for (uint32_t n = random() % 3; n > 0; --n) formula = "(" + formula + ")" + (random() % 2 ? " && " : " || ") + "(" + atom() + ")";
    found_in(formula, {1 + static_cast<int64_t>(random() % 160), 1 + static_cast<int64_t>(random() % 160)});
  }
}

TEST(MatrixFacts, SuggestsTheFormulaOfKnownMasks) {
  EXPECT_EQ(suggested("true", {100, 200}), "true");
  EXPECT_EQ(suggested("q < 0", {100, 200}), "false");
  EXPECT_EQ(suggested("k <= q", {300, 300}), "k <= q");
  EXPECT_EQ(suggested("k <= q + Sk - Sq", {300, 400}), "k <= q + 100");
  EXPECT_EQ(suggested("abs(q - k) <= 20", {300, 300}), "abs(q - k) <= 20");
  EXPECT_EQ(suggested("k <= q && q - k < 64", {300, 300}), "k <= q && q - k <= 63");
  EXPECT_EQ(suggested("k <= q && (k < 4 || q - k < 64)", {300, 300}), "k <= q && (k <= 3 || q - k <= 63)");
  EXPECT_EQ(suggested("abs(q - k) <= 20 || k < 3 || q < 3", {300, 300}), "k <= 2 || q <= 2 || abs(q - k) <= 20");
  EXPECT_EQ(suggested("k <= q && (q - k < 32 || (q - k) % 32 == 0)", {300, 300}), "k <= q && (q - k <= 31 || (q - k) % 32 == 0)");
  EXPECT_EQ(suggested("k <= q && (q / 32 == k / 32 || k % 32 >= 28)", {300, 300}), "k <= q && (k % 32 >= 28 || q / 32 == k / 32)");
  EXPECT_EQ(suggested("q / 30 == k / 30", {300, 290}), "q / 30 == k / 30");
  EXPECT_EQ(suggested("k / 30 <= q / 30", {300, 290}), "k / 30 <= q / 30");
  EXPECT_EQ(suggested("k < 70", {300, 290}), "k <= 69");
  EXPECT_EQ(suggested("(q + k) % 2 == 0", {100, 101}), "(q - k) % 2 == 0");
}

TEST(MatrixFacts, FindsPeriodAndLattice) {
  const MatrixFacts strided = found_in("(q - k) % 32 == 5", {300, 300});
  EXPECT_EQ(strided.lattice.stride, 32);
  EXPECT_TRUE(strided.lattice.affine);
  EXPECT_EQ(strided.lattice.slope, 1);
  const MatrixFacts blocks = found_in("q / 25 == k / 25", {300, 300});
  ASSERT_TRUE(blocks.period);
  EXPECT_EQ(blocks.period->rows, 25);
  EXPECT_EQ(blocks.period->keys, 25);
  EXPECT_EQ(blocks.components.size(), 1u);
  EXPECT_EQ(blocks.components[0].repeats, 12);
}

TEST(MatrixFacts, RefusesImpossibleViews) {
  const uint8_t byte = 1;
  EXPECT_THROW(matrix_facts({&byte, -1, 1, 1}), UserError);
  EXPECT_THROW(matrix_facts({&byte, 1, kMaxMatrixSide + 1, 1}), UserError);
  EXPECT_THROW(matrix_facts({nullptr, 1, 1, 1}), UserError);
}

}  // namespace
}  // namespace heddle::analysis::test
