#include "src/analysis/facts.h"
#include <algorithm>
#include <map>
#include "heddle/error.h"
#include "src/analysis/components.h"
#include "src/analysis/digits.h"
#include "src/analysis/empty_lengths.h"
#include "src/analysis/hulls.h"
#include "src/ir/attention_problem.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;

constexpr int64_t kMaxPosition = int64_t{1} << 30;

/// One rung of the ladder: the mask as isl is to see it.
struct Rung {
  Proof proof = Proof::Symbolic;
  MaskSource source;
  std::optional<DigitMask> digits;
};

struct RowFacts {
  Proof proof = Proof::Enumerated;
  ir::LoopNest nest;
  std::vector<AffineComponent> components;
  int64_t digit_period = 0;
  std::optional<size_t> rung;  ///< That gave the nest.
};

void reject_reals(const Expr& mask) {
  ir::for_each_node(mask, [](const Expr& e) {
    if (e->type != ir::Type::Real) return;
    throw UserError("a mask has only integers, but found " + ir::print(e), "Use / as integer division, and scores for reals.");
  });
}

/// Why no isl fact may be asked for, or empty.
std::string obstacle(const Expr& mask) {
  std::map<std::string, ir::Interval> ranges = {{"q", {0, kMaxPosition}}, {"k", {0, kMaxPosition}}};
  for (const std::string& name : ir::variables(mask)) ranges.emplace(name, ir::Interval{0, kMaxPosition});
  for (const auto& [name, type] : ir::parameters(mask)) {
    static constexpr const char* kNestNames[] = {"qb", "kb", "NK", "NF", "NQ", "NQF", "qy", "qx", "ky", "kx"};
    for (const char* reserved : kNestNames) {
      if (name == reserved) return "a parameter has the name " + name + " of loop nests";
    }
    ranges.insert_or_assign(name, ir::Interval{-ir::kMaxParameter, ir::kMaxParameter});
  }
  if (!ir::tables(mask).empty()) return "it reads tables";
  constexpr int64_t kExact = int64_t{1} << 62;
  return ir::fits(mask, ranges, {-kExact, kExact}) ? "" : "integers of the formula may overflow";
}

Expr at_lengths(const Expr& mask, Lengths lengths) {
  return ir::simplify(ir::substitute(mask, [&](const ir::ExprNode& leaf) -> Expr {
    if (leaf.op != ir::Op::Var) return nullptr;
    if (leaf.name == "Sq") return ir::int_const(lengths.sq);
    return leaf.name == "Sk" ? ir::int_const(lengths.sk) : nullptr;
  }));
}

Rung make_rung(Proof proof, const Expr& mask, const PlaneBounds& bounds) {
  return {proof, {mask, {}, bounds}, split_digits(mask, bounds)};
}

/// Its rows are the columns.
Rung exchanged_rung(const Rung& rung) {
  return make_rung(rung.proof, exchanged(rung.source.mask), {rung.source.bounds.k, rung.source.bounds.q});
}

}  // namespace

const char* to_string(Proof proof) {
  switch (proof) {
    case Proof::Symbolic: return "symbolic";
    case Proof::FixedLengths: return "fixed lengths";
    case Proof::Enumerated: return "enumerated";
  }
  return "";
}

struct MaskFacts::State {
  Expr mask;
  AnalysisOptions options;
  std::vector<Rung> rungs;
  std::vector<StageCost> costs;
  std::optional<RowFacts> rows;
  std::optional<Lattice> lattice;
  std::map<bool, std::optional<LineHulls>> hulls;
  TileStages tile_stages;
  std::map<std::pair<TileShape, bool>, std::optional<TileRelation>> tiles;

  State(Expr formula, AnalysisOptions wanted) : mask(std::move(formula)), options(wanted) {
    reject_reals(mask);
    if (const std::string reason = obstacle(mask); !reason.empty()) {
      costs.push_back({"ranges", 0, 0, "not affine: " + reason});
      return;
    }
    rungs.push_back(make_rung(Proof::Symbolic, ir::simplify(mask), {}));
    if (const auto lengths = options.lengths; lengths && lengths->sq > 0 && lengths->sk > 0) {
      rungs.push_back(make_rung(Proof::FixedLengths, at_lengths(mask, *lengths), {lengths->sq, lengths->sk}));
    }
  }

  StageLog log(const std::string& prefix) { return {prefix, options.budget, &costs}; }
  /// For what counts and reports can do without: with fixed lengths a second try seldom finds more than the first.
  StageLog log(const std::string& prefix, const Rung& rung) {
    constexpr uint64_t kSecondTry = 8;
    return {prefix, rung.proof == Proof::Symbolic ? options.budget : std::max<uint64_t>(options.budget / kSecondTry, 1), &costs};
  }

  /// The first result of two ways.
  template <class Result, class First, class Second>
  std::optional<Result> attempt(const First& first, const Second& second) {
    const auto tried = [](const auto& work) -> std::optional<Result> {
      try {
        return work();
      } catch (const OverBudget&) {
      } catch (const NotAffine&) {
      }
      return std::nullopt;
    };
    std::optional<Result> result = tried(first);
    return result ? result : tried(second);
  }

  /// By digits first where the mask says something of both, else flat first: then nests have one loop.
  template <class Result, class Flat, class Digits>
  std::optional<Result> attempt(const DigitMask* digit_mask, const Flat& flat, const Digits& by_digits) {
    const auto digits = [&]() -> std::optional<Result> { return digit_mask ? std::optional<Result>(by_digits(*digit_mask)) : std::nullopt; };
    const bool digits_first = digit_mask && digit_mask->couples();
    return digits_first ? attempt<Result>(digits, flat) : attempt<Result>(flat, digits);
  }

  const RowFacts& row_facts() {
    if (rows) return *rows;
    rows.emplace();
    for (size_t i = 0; i < rungs.size() && !rows->rung; ++i) {
      if (auto found = rows_of(rungs[i])) {
        rows = std::move(found);
        rows->rung = i;
        rows->nest = for_empty_lengths(std::move(rows->nest));
        rows->components = affine_components(rows->nest);
      }
    }
    return *rows;
  }

  std::optional<RowFacts> rows_of(const Rung& rung) {
    const Expr last = subtract(ir::var("Sk"), ir::int_const(1));
    return attempt<RowFacts>(
        rung.digits ? &*rung.digits : nullptr,
        [&] { return RowFacts{rung.proof, row_nest(rung.source, {ir::var("q"), "k", {last}, {}}, log("rows")), {}, 0, {}}; },
        [&](const DigitMask& digits) {
          return RowFacts{rung.proof, digit_rows(digits, ir::var("Sk"), log("rows by digits")), {}, digits.period, {}};
        });
  }

  std::optional<std::vector<HullPiece>> hulls_of(const Rung& rung, bool transposed) {
    const std::string name = transposed ? "column hulls" : "row hulls";
    const Expr outer = ir::var(transposed ? "k" : "q"), length = ir::var(transposed ? "Sq" : "Sk");
    const auto by_digits = [&](const DigitMask& digits) { return digit_hulls(digits, outer, length, log(name + " by digits", rung)); };
    const auto flat = [&]() -> std::vector<HullPiece> {
      if (rung.digits && rung.digits->couples()) throw OverBudget("digits are shorter");
      return line_hulls(rung.source, {outer, subtract(length, ir::int_const(1)), {}}, log(name, rung));
    };
    return attempt<std::vector<HullPiece>>(rung.digits ? &*rung.digits : nullptr, flat, by_digits);
  }

  std::optional<LineHulls> find_hulls(bool transposed) {
    for (const Rung& rung : rungs) {
      const auto fixed = rung.proof == Proof::FixedLengths ? options.lengths : std::nullopt;
      auto pieces = hulls_of(transposed ? exchanged_rung(rung) : rung, transposed);
      if (pieces) return simplified(rung.proof, std::move(*pieces), fixed);
    }
    return std::nullopt;
  }

  std::optional<TileRelation> tiles_of(const Rung& rung, TileShape shape, bool transposed) {
    const std::string name = "tiles " + std::to_string(shape.rows) + "x" + std::to_string(shape.cols) + (transposed ? "^T" : "");
    const auto relation = [&](TileNests nests) {
      nests = bounded_tiles(std::move(nests), ir::var(transposed ? "NQ" : "NK"), ir::var(transposed ? "NQF" : "NF"));
      return TileRelation{shape, rung.proof, for_empty_lengths(std::move(nests.partial)), for_empty_lengths(std::move(nests.full))};
    };
    const NestNames names{ir::var(transposed ? "kb" : "qb"), transposed ? "qb" : "kb", {}, {}};
    return attempt<TileRelation>(
        rung.digits && tiles_follow_digits(*rung.digits, shape) ? &*rung.digits : nullptr,
        [&] { return relation(tile_stages.nests(rung.source, shape, transposed, names, log(name, rung))); },
        [&](const DigitMask& digits) { return relation(digit_tiles(digits, shape, transposed, tile_stages, log(name + " by digits", rung))); });
  }

  Lattice find_lattice() {
    const RowFacts& found = row_facts();
    if (!found.rung) return {1, ir::int_const(0)};
    const Rung& rung = rungs[*found.rung];
    try {
      if (found.digit_period != 0) return digit_lattice(*rung.digits, log("lattice by digits"));
      return lattice_of(rung.source, ir::var("q"), log("lattice"));
    } catch (const OverBudget&) {
    } catch (const NotAffine&) {
    }
    return {1, ir::int_const(0)};
  }
};

MaskFacts::MaskFacts(Expr mask, AnalysisOptions options) : state_(std::make_unique<State>(std::move(mask), options)) {}
MaskFacts::~MaskFacts() = default;
MaskFacts::MaskFacts(MaskFacts&&) noexcept = default;

const Expr& MaskFacts::mask() const { return state_->mask; }
Proof MaskFacts::proof() const { return state_->row_facts().proof; }
const ir::LoopNest& MaskFacts::rows() const { return state_->row_facts().nest; }
const std::vector<AffineComponent>& MaskFacts::components() const { return state_->row_facts().components; }
int64_t MaskFacts::digit_period() const { return state_->row_facts().digit_period; }

MaskFacts::Lattice MaskFacts::lattice() const {
  if (!state_->lattice) state_->lattice = state_->find_lattice();
  return *state_->lattice;
}

std::optional<TileRelation> MaskFacts::tiles(TileShape shape, bool transposed) const {
  if (shape.rows < 1 || shape.cols < 1) throw InternalError("facts", "a tile has no rows or no columns");
  const auto [entry, fresh] = state_->tiles.try_emplace({shape, transposed}, std::nullopt);
  if (!fresh) return entry->second;
  for (const Rung& rung : state_->rungs) {
    entry->second = state_->tiles_of(rung, shape, transposed);
    if (entry->second) break;
  }
  return entry->second;
}

std::optional<LineHulls> MaskFacts::hulls(bool transposed) const {
  const auto [entry, fresh] = state_->hulls.try_emplace(transposed);
  if (fresh) entry->second = state_->find_hulls(transposed);
  return entry->second;
}

bool MaskFacts::mentions_batch() const { return ir::mentions(ir::simplify(state_->mask), "b"); }
bool MaskFacts::mentions_head() const { return ir::mentions(ir::simplify(state_->mask), "h"); }

std::vector<StageCost> MaskFacts::costs() const { return state_->costs; }

}  // namespace heddle::analysis
