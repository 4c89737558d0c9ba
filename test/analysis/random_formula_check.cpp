#include "test/analysis/random_formula_check.h"

#include <fmt/format.h>

#include <random>
#include <vector>

#include "src/analysis/counts.h"
#include "src/analysis/cells.h"
#include "test/analysis/counts_judge.h"
#include "test/analysis/facts_check.h"
#include "test/analysis/random_formula.h"

namespace heddle::analysis::test {
namespace {

const std::vector<TileShape> kShapes = {{16, 16}, {8, 4}, {64, 64}, {7, 13}, {1, 1}, {5, 32}};

std::vector<int64_t> cells_of(const DenseMask& mask, TileShape cell) {
  const int64_t rows = (mask.lengths.sq + cell.rows - 1) / cell.rows, cols = (mask.lengths.sk + cell.cols - 1) / cell.cols;
  std::vector<int64_t> cells(static_cast<size_t>(rows * cols));
  for (int64_t q = 0; q < mask.lengths.sq; ++q) {
    for (int64_t k = 0; k < mask.lengths.sk; ++k) cells[static_cast<size_t>(q / cell.rows * cols + k / cell.cols)] += mask.at(q, k);
  }
  return cells;
}

std::string check_counts(const MaskFacts& facts, const DenseMask& dense, const std::vector<TileShape>& shapes) {
  const CountRequest request{.tiles = shapes, .pieces = true, .columns = true, .checksum = true, .threads = 1};
  const std::string wanted = text(judge(dense, shapes)), found = text(count(facts, dense.lengths, request, dense.ints));
  if (found != wanted) return "counts:\n" + found + "for\n" + wanted;
  const CellGrid grid = count_cells(facts, dense.lengths, shapes[0], 1, dense.ints);
  return grid.allowed == cells_of(dense, shapes[0]) ? "" : "cells are wrong";
}

std::string check(const MaskFacts& facts, Lengths lengths, const Ints& ints, const std::vector<TileShape>& shapes) {
  std::string wrong = check_facts(facts, shapes, lengths, ints);
  const DenseMask dense(facts.mask(), lengths, ints);
  for (const bool transposed : {false, true}) {
    const bool asked = wrong.empty() && lengths.sq > 0 && lengths.sk > 0;
    const auto hulls = asked ? facts.hulls(transposed) : std::nullopt;
    if (hulls) wrong = check_hulls(*hulls, transposed, dense);
  }
  if (wrong.empty()) wrong = check_counts(facts, dense, shapes);
  if (wrong.empty()) return "";
  return fmt::format("{}\nat {} x {}, {}: {}", ir::print(facts.mask()), lengths.sq, lengths.sk, to_string(facts.proof()), wrong);
}

}  // namespace

std::string check_random_formula(uint64_t seed) {
  static constexpr int64_t kLengths[] = {0, 1, 1, 2, 3, 7, 15, 16, 17, 31, 33, 50, 64, 65, 97, 130};
  std::mt19937_64 random(seed ^ 0x5bd1e995);
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto lengths = [&] { return Lengths{kLengths[pick(16)], kLengths[pick(16)]}; };
  const ir::Expr mask = parse_mask(RandomFormula(seed).mask(), {"w"});
  const std::vector<TileShape> shapes = {kShapes[pick(6)], kShapes[pick(6)]};
  const MaskFacts facts(mask, {.budget = 10'000, .lengths = std::nullopt});
  for (int i = 0; i < 4; ++i) {
    const Ints ints = {{"h", static_cast<int64_t>(pick(4))}, {"w", static_cast<int64_t>(pick(40)) - 5}};
    if (std::string wrong = check(facts, lengths(), ints, shapes); !wrong.empty()) return fmt::format("seed {}: {}", seed, wrong);
  }
  const Lengths fixed = lengths();
  const MaskFacts at_lengths(mask, {.budget = 2'000, .lengths = fixed});
  const std::string wrong = check(at_lengths, fixed, {{"h", 1}, {"w", 3}}, shapes);
  return wrong.empty() ? "" : fmt::format("seed {}, fixed lengths: {}", seed, wrong);
}

}  // namespace heddle::analysis::test
