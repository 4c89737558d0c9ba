#include "test/analysis/facts_check.h"
#include <fmt/format.h>
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis::test {
namespace {

Ints with(Ints ints, std::initializer_list<std::pair<const std::string, int64_t>> more) {
  for (const auto& [name, value] : more) ints.insert_or_assign(name, value);
  return ints;
}

std::string at(const DenseMask& dense, const std::string& what) {
  return fmt::format("{} at Sq = {}, Sk = {}", what, dense.lengths.sq, dense.lengths.sk);
}

/// Values of one visited line counted; out-of-range ones are an error.
std::string visit_line(const ir::LoopNest& nest, const Ints& ints, int64_t size, int mark, std::vector<int>& marks) {
  std::string wrong;
  ir::visit(nest, ints, [&](int64_t v) {
    if (v < 0 || v >= size) {
      wrong = fmt::format("visits {} outside [0, {})", v, size);
    } else if (marks[static_cast<size_t>(v)] != 0) {
      wrong = fmt::format("visits {} twice", v);
    } else {
      marks[static_cast<size_t>(v)] = mark;
    }
  });
  return wrong;
}

/// Allowed pairs of a tile, and whether some of its pairs lie past the last query.
struct TileTruth {
  int64_t allowed = 0, pairs = 0;
};

TileTruth tile_truth(const DenseMask& dense, TileShape shape, int64_t qb, int64_t kb) {
  TileTruth truth;
  for (int64_t q = qb * shape.rows; q < std::min((qb + 1) * shape.rows, dense.lengths.sq); ++q) {
    for (int64_t k = kb * shape.cols; k < std::min((kb + 1) * shape.cols, dense.lengths.sk); ++k) {
      ++truth.pairs;
      truth.allowed += dense.at(q, k) ? 1 : 0;
    }
  }
  return truth;
}

std::string check_class(int mark, const TileTruth& truth, bool whole, bool at_outer_rim) {
  if (mark == 0) return truth.allowed == 0 ? "" : "an allowed pair in no tile";
  if (mark == 2 && (truth.allowed != truth.pairs || !whole)) return "a full tile that is not";
  if (mark == 1 && truth.allowed == 0 && !at_outer_rim) return "an empty tile listed";
  if (mark == 1 && truth.allowed == truth.pairs && whole && !at_outer_rim) return "a full tile listed as partial";
  return "";
}

}  // namespace

ir::Expr parse_mask(const std::string& text, const std::vector<std::string>& dynamic) {
  dsl::ParseOptions options;
  for (const std::string& name : dynamic) options.parameters.emplace(name, Dynamic{});
  return ir::guard_divisors(dsl::parse_formula(text, options));
}

DenseMask::DenseMask(const ir::Expr& mask, Lengths l, const Ints& others) : lengths(l), ints(with(others, {{"Sq", l.sq}, {"Sk", l.sk}})) {
  std::vector<std::string> slots = {"q", "k"};
  std::vector<int64_t> values = {0, 0};
  for (const auto& [name, value] : ints) {
    slots.push_back(name);
    values.push_back(value);
  }
  const ir::CompiledExpr compiled(mask, slots);
  for (values[0] = 0; values[0] < l.sq; ++values[0]) {
    for (values[1] = 0; values[1] < l.sk; ++values[1]) bits_.push_back(compiled.run_int(values.data()) != 0);
  }
}

std::string check_rows(const MaskFacts& facts, const DenseMask& dense) {
  const int64_t sk = dense.lengths.sk;
  for (int64_t q = 0; q < dense.lengths.sq; ++q) {
    std::vector<int> marks(static_cast<size_t>(sk), 0);
    const std::string wrong = visit_line(facts.rows(), with(dense.ints, {{"q", q}}), sk, 1, marks);
    if (!wrong.empty()) return at(dense, fmt::format("row {} {}", q, wrong));
    for (int64_t k = 0; k < sk; ++k) {
      if (dense.at(q, k) != (marks[static_cast<size_t>(k)] != 0)) return at(dense, fmt::format("row {} is wrong at key {}", q, k));
    }
  }
  return "";
}

std::string check_components(const MaskFacts& facts, const DenseMask& dense) {
  const bool complete = facts.components().size() == facts.rows().pieces.size();
  for (int64_t q = 0; q < dense.lengths.sq; ++q) {
    ir::Environment environment;
    environment.ints = with(dense.ints, {{"q", q}});
    std::vector<int> keys(static_cast<size_t>(dense.lengths.sk), 0);
    for (const AffineComponent& c : facts.components()) {
      bool here = true;
      for (const ir::Expr& guard : c.rows) here = here && ir::evaluate_bool(guard, environment);
      const int64_t count = here ? ir::evaluate_int(c.count, environment) : 0;
      const int64_t offset = ir::evaluate_int(c.offset, environment);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t k = offset + i * c.stride;
        if (k < 0 || k >= dense.lengths.sk || keys[static_cast<size_t>(k)]++ != 0) {
          return at(dense, fmt::format("a component of row {} has key {}", q, k));
        }
      }
    }
    for (int64_t k = 0; k < dense.lengths.sk; ++k) {
      const bool has = keys[static_cast<size_t>(k)] != 0;
      if (has != dense.at(q, k) && (has || complete)) return at(dense, fmt::format("components of row {} are wrong at key {}", q, k));
    }
  }
  return "";
}

std::string check_lattice(const MaskFacts& facts, const DenseMask& dense) {
  const MaskFacts::Lattice lattice = facts.lattice();
  if (lattice.stride < 1) return "a lattice without a stride";
  for (int64_t q = 0; q < dense.lengths.sq; ++q) {
    ir::Environment environment;
    environment.ints = with(dense.ints, {{"q", q}});
    const int64_t offset = ir::evaluate_int(lattice.offset, environment);
    for (int64_t k = 0; k < dense.lengths.sk; ++k) {
      if (dense.at(q, k) && ir::floor_mod(k - offset, lattice.stride) != 0) return at(dense, fmt::format("({}, {}) is off the lattice", q, k));
    }
  }
  return "";
}

std::string check_tiles(const TileRelation& relation, bool transposed, const DenseMask& dense) {
  const TileShape shape = relation.shape;
  const int64_t outer_length = transposed ? dense.lengths.sk : dense.lengths.sq, outer_tile = transposed ? shape.cols : shape.rows;
  const int64_t length = transposed ? dense.lengths.sq : dense.lengths.sk, tile = transposed ? shape.rows : shape.cols;
  const int64_t count = (length + tile - 1) / tile, whole = length / tile;
  const Ints ints = with(dense.ints, {{transposed ? "NQ" : "NK", count}, {transposed ? "NQF" : "NF", whole}});
  for (int64_t outer = 0; outer * outer_tile < outer_length; ++outer) {
    const Ints names = with(ints, {{transposed ? "kb" : "qb", outer}});
    std::vector<int> marks(static_cast<size_t>(count), 0);
    std::string wrong = visit_line(relation.full, names, count, 2, marks);
    if (wrong.empty()) wrong = visit_line(relation.partial, names, count, 1, marks);
    if (!wrong.empty()) return at(dense, fmt::format("{}x{} block {} {}", shape.rows, shape.cols, outer, wrong));
    for (int64_t inner = 0; inner < count; ++inner) {
      const TileTruth truth = tile_truth(dense, shape, transposed ? inner : outer, transposed ? outer : inner);
      const bool outer_rim = (outer + 1) * outer_tile > outer_length;
      const bool rim = outer_rim || inner >= whole;
      wrong = check_class(marks[static_cast<size_t>(inner)], truth, inner < whole, rim);
      if (!wrong.empty()) return at(dense, fmt::format("{}x{} block {} tile {}{}: {}", shape.rows, shape.cols, outer, inner,
                                                       transposed ? " transposed" : "", wrong));
    }
  }
  return "";
}

Ends ends_of(const LineHulls& hulls, const Ints& ints, std::string& wrong) {
  ir::Environment environment;
  environment.ints = ints;
  Ends ends;
  for (const HullPiece& piece : hulls.pieces) {
    bool holds = true;
    for (const ir::Expr& guard : piece.guards) holds = holds && ir::evaluate_bool(guard, environment);
    if (!holds) continue;
    const int64_t first = ir::evaluate_int(piece.first, environment), last = ir::evaluate_int(piece.last, environment);
    if (first > last) wrong = "a piece holds and has nothing";
    ends = {std::min(ends.first, first), std::max(ends.last, last)};
  }
  if (ir::evaluate_bool(hulls.empty, environment) != (ends.first > ends.last)) wrong = "not empty where " + ir::print(hulls.empty);
  return ends;
}

std::string check_hulls(const LineHulls& hulls, bool transposed, const DenseMask& dense) {
  const int64_t lines = transposed ? dense.lengths.sk : dense.lengths.sq, length = transposed ? dense.lengths.sq : dense.lengths.sk;
  Ints ints = dense.ints;
  for (int64_t line = 0; line < lines; ++line) {
    Ends wanted;
    for (int64_t i = 0; i < length; ++i) {
      if (transposed ? dense.at(i, line) : dense.at(line, i)) wanted = {std::min(wanted.first, i), i};
    }
    ints[transposed ? "k" : "q"] = line;
    std::string wrong;
    const Ends found = ends_of(hulls, ints, wrong);
    if (found == wanted && wrong.empty()) continue;
    return fmt::format("{} {} at Sq = {}, Sk = {}: {} .. {} for {} .. {} {}", transposed ? "column" : "row", line, dense.lengths.sq,
                       dense.lengths.sk, found.first, found.last, wanted.first, wanted.last, wrong);
  }
  return "";
}

std::string check_facts(const MaskFacts& facts, const std::vector<TileShape>& shapes, Lengths lengths, const Ints& ints) {
  const DenseMask dense(facts.mask(), lengths, ints);
  if (facts.proof() != Proof::Enumerated) {
    for (const auto check : {check_rows, check_components, check_lattice}) {
      if (const std::string wrong = check(facts, dense); !wrong.empty()) return wrong;
    }
  }
  for (const TileShape shape : shapes) {
    for (const bool transposed : {false, true}) {
      const std::optional<TileRelation> relation = facts.tiles(shape, transposed);
      if (!relation) continue;
      if (const std::string wrong = check_tiles(*relation, transposed, dense); !wrong.empty()) return wrong;
    }
  }
  return "";
}

}  // namespace heddle::analysis::test
