#include "src/plan/make_plan.h"

#include <algorithm>
#include <fmt/format.h>

#include "src/ir/rewrite.h"
#include "src/plan/assumed_tables.h"
#include "src/plan/pass_work.h"
#include "src/plan/three_kernels.h"

namespace heddle::plan {
namespace {

using analysis::TileShape;

constexpr int64_t kTileKeys = 16, kNarrowTileKeys = 8;
constexpr double kWorthNarrowTiles = 0.06;  ///< Share of computed keys that narrower tiles must be able to save.

struct Candidate {
  KernelPlan plan;
  GridWork work;
  double cost = 0;
};

int64_t computed_tiles(const GridWork& work) {
  int64_t tiles = 0;
  for (const PassWork& pass : work.passes) tiles += pass.full.tiles + pass.partial.tiles;
  return tiles;
}

int64_t computed_pairs(const GridWork& work) { return computed_tiles(work) * work.tile_rows * work.tile_keys; }

ir::NestPiece run_of_tiles(const ir::Expr& first, const ir::Expr& last) {
  return {{}, {{"kb", {first}, {last}, 1, nullptr}}, {}, ir::var("kb")};
}

std::vector<int64_t> row_choices(const ir::AttentionProblem& problem) {
  if (problem.options.tile_rows) return {*problem.options.tile_rows};
  const int64_t lanes = problem.target.lanes();
  const int64_t most = problem.target.vector_registers() >= 32 ? 4 : 3;  // vectors of a register tile
  return {most * lanes, 2 * lanes, lanes};
}

/// A source of facts that knows none.
class NoFacts : public TileFacts {
 public:
  std::optional<analysis::TileRelation> tiles(const ir::Expr&, TileShape) override { return std::nullopt; }
  std::optional<int64_t> pairs(const ir::Expr&, analysis::Lengths, const std::map<std::string, int64_t>&) override { return {}; }
  bool lists() const override { return false; }
  std::string reason(const ir::Expr&) override { return "the options ask for tests instead of nests"; }
  std::string text(const ir::Expr&, TileShape) override { return {}; }
};

/// Builds and prices the candidates of one problem.
class Planner {
 public:
  Planner(const ir::AttentionProblem& problem, TileFacts& facts)
      : problem_(problem), facts_(problem.options.use_nests.value_or(true) ? facts : static_cast<TileFacts&>(none_)) {
    mask_ = problem.mask ? ir::simplify(problem.mask) : nullptr;
    reads_tables_ = mask_ && !ir::tables(mask_).empty();
    if (reads_tables_ && facts_.lists()) assumed_ = assume_tables(mask_);
    if (mask_ && mask_->op == ir::Op::BoolConst) {
      empty_ = mask_->integer == 0;
      mask_ = nullptr;
    }
  }

  KernelPlan run() {
    for (int64_t rows : row_choices(problem_)) consider({rows, kTileKeys});
    if (narrow_tiles_may_pay()) consider({candidates_[cheapest()].plan.tile_rows, kNarrowTileKeys});
    return finish(cheapest());
  }

 private:
  /// Prices a tile shape, or rules it out by a bound that needs no tile relation: what it would cost without any waste.
  void consider(TileShape shape) {
    const double bound = candidates_.empty() ? 0 : price(problem_, work_without_waste(shape), costs_);
    if (!candidates_.empty() && bound >= candidates_[cheapest()].cost) {
      ruled_out_.push_back({shape, bound});
    } else {
      candidates_.push_back(candidate(shape));
    }
    if (candidates_.size() == 1 && !empty_ && !no_answer_ && (assumed_ || !reads_tables_)) {
      pairs_ = allowed_pairs(assumed_ ? assumed_->mask : mask_, candidates_[0].plan, facts_);
    }
  }

  GridWork work_without_waste(TileShape shape) const {
    const int64_t length = candidates_[0].plan.nominal_length;
    GridWork work = {shape.rows, shape.cols, length / shape.rows, {}};
    work.passes.resize(1);
    work.passes[0].full.tiles = pairs_.value_or(0) / (shape.rows * shape.cols);
    work.passes[0].full.steps = work.passes[0].full.tiles * shape.cols / kKeysPerStep;
    return work;
  }

  Candidate candidate(TileShape shape) {
    Candidate made;
    made.plan.problem = problem_;
    made.plan.tile_rows = shape.rows;
    made.plan.tile_keys = shape.cols;
    made.plan.keys_per_step = kKeysPerStep;
    if (!empty_) made.plan.passes.push_back(make_pass(mask_, shape, no_answer_ ? none_ : facts_));
    no_answer_ = !empty_ && made.plan.passes[0].source == TileSource::Tested;
    made.work = count_work(assumed_ ? assumed_plan(made.plan) : made.plan);
    made.cost = price(problem_, made.work, costs_);
    return made;
  }

  /// The plan that closed loops would make of the assumed mask, to be priced in place of `listed`.
  KernelPlan assumed_plan(const KernelPlan& listed) {
    PassPlan pass = make_pass(assumed_->mask, {listed.tile_rows, listed.tile_keys}, facts_);
    if (pass.source != TileSource::Nest) return listed;
    if (!assumed_->whole) {
      pass.partial.pieces.insert(pass.partial.pieces.end(), pass.full.pieces.begin(), pass.full.pieces.end());
      pass.full.pieces.clear();
    }
    pass.mask = mask_;
    KernelPlan plan = listed;
    plan.passes = {std::move(pass)};
    return plan;
  }

  size_t cheapest() const {
    const auto less = [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; };
    return static_cast<size_t>(std::min_element(candidates_.begin(), candidates_.end(), less) - candidates_.begin());
  }

  /// Only the keys beside the mask's edges can be saved: at most half a tile at either end of a run of partial tiles.
  bool narrow_tiles_may_pay() const {
    const Candidate& best = candidates_[cheapest()];
    if (!mask_ || empty_ || best.plan.passes[0].source != TileSource::Nest) return false;
    const auto partial = static_cast<double>(best.work.passes[0].partial.steps);
    return partial * kNarrowTileKeys > kWorthNarrowTiles * static_cast<double>(computed_tiles(best.work)) * kTileKeys;
  }

  KernelPlan finish(size_t best) {
    const Candidate& chosen = candidates_[best];
    KernelPlan plan = chosen.plan;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      plan.alternatives.push_back({name(candidates_[i]), candidates_[i].cost, verdict(candidates_[i], chosen, i == best)});
    }
    for (const auto& [shape, bound] : ruled_out_) {
      plan.alternatives.push_back({fmt::format("fused, {} rows x {} keys", shape.rows, shape.cols), bound,
                                   fmt::format("{:.2f}x at least, without any waste", bound / std::max(chosen.cost, 1.0))});
    }
    const bool nests = !chosen.plan.passes.empty() && chosen.plan.passes[0].source == TileSource::Nest;
    if (nests) plan.alternatives.push_back(three_kernels_alternative(problem_, chosen.work, chosen.cost));
    plan.notes = notes(chosen);
    return plan;
  }

  std::string name(const Candidate& c) const {
    constexpr const char* kSources[] = {"nests", "tested", "lists"};
    const TileSource source = c.plan.passes.empty() ? TileSource::Nest : c.plan.passes[0].source;
    return fmt::format("fused, {} rows x {} keys, {}", c.plan.tile_rows, c.plan.tile_keys, kSources[static_cast<size_t>(source)]);
  }

  std::string verdict(const Candidate& c, const Candidate& best, bool chosen) const {
    const auto blocks = static_cast<double>(std::max<int64_t>(1, c.work.blocks));
    const double keys = static_cast<double>(computed_tiles(c.work) * c.work.tile_keys) / blocks;
    std::string text = chosen ? "chosen" : fmt::format("{:.2f}x", c.cost / std::max(best.cost, 1.0));
    text += fmt::format(": {:.0f} keys a row block", keys);
    if (pairs_ && keys > 0) {
      const double used = static_cast<double>(*pairs_) / (blocks * static_cast<double>(c.work.tile_rows));
      text += fmt::format(", {:.0f} of them waste", keys - used);
    }
    const RegisterTile tile = register_tile(problem_.target, c.plan.tile_rows);
    return text + fmt::format(", register tile {} x {} vectors", tile.keys, tile.vectors);
  }

  std::vector<std::string> notes(const Candidate& best) const {
    if (empty_) return {"The mask allows no pair: nothing is read, O = 0 and LSE = -inf"};
    if (!mask_) return {"Every pair is allowed: all tiles but the ones at the rim run without a predicate"};
    std::vector<std::string> found = {fmt::format("The mask is `{}`", ir::print(mask_))};
    if (best.plan.passes[0].source == TileSource::Tested) {
      found.push_back("Every tile is tested in the kernel because " + facts_.reason(mask_));
      return found;
    }
    if (best.plan.passes[0].source == TileSource::Listed) {
      found.push_back("It reads tables: each bind of their contents lists the tiles to visit, full ones apart, and compiles nothing");
      found.push_back(assumed_ ? assumed_->sentence : "Tables come with each bind, so tile shapes are priced as if every tile were visited");
      return found;
    }
    const PassWork& work = best.work.passes[0];
    const int64_t tiles = computed_tiles(best.work), all = best.work.blocks * (best.plan.nominal_length / best.plan.tile_keys);
    found.push_back(fmt::format("Closed loops visit the tiles, for all lengths; at length {} they are {} of {} tiles: {} full ones, "
                                "which run without a predicate, and {} partial ones",
                                best.plan.nominal_length, tiles, all, work.full.tiles, work.partial.tiles));
    if (pairs_ && tiles > 0) {
      const auto computed = static_cast<double>(computed_pairs(best.work));
      found.push_back(fmt::format("{} pairs are allowed and {:.0f} computed: {:.1f}% are waste", *pairs_, computed,
                                  100 * (1 - static_cast<double>(*pairs_) / computed)));
    }
    return found;
  }

  const ir::AttentionProblem& problem_;
  NoFacts none_;
  TileFacts& facts_;
  ir::Expr mask_;       ///< Null: every pair.
  bool empty_ = false;  ///< No pair.
  bool reads_tables_ = false;
  std::optional<AssumedMask> assumed_;  ///< Priced in place of a mask that reads tables.
  bool no_answer_ = false;  ///< The facts could not answer for one shape: they are not asked for others.
  CpuCosts costs_ = CpuCosts::of(problem_.target);
  std::vector<Candidate> candidates_;
  std::vector<std::pair<TileShape, double>> ruled_out_;  ///< With their bounds.
  std::optional<int64_t> pairs_;  ///< Allowed pairs of the nominal grid, where known.
};

}  // namespace

analysis::TileRelation dense_tiles(TileShape shape) {
  const auto before = [](const char* name) { return ir::make(ir::Op::Sub, {ir::var(name), ir::int_const(1)}); };
  analysis::TileRelation tiles;
  tiles.shape = shape;
  tiles.full.pieces = {run_of_tiles(ir::int_const(0), before("NF"))};
  tiles.partial.pieces = {run_of_tiles(ir::var("NF"), before("NK"))};
  return tiles;
}

PassPlan make_pass(const ir::Expr& mask, TileShape shape, TileFacts& facts) {
  PassPlan pass;
  pass.mask = mask;
  pass.components = mask ? "pairs with " + ir::print(mask) : "all pairs";
  if (mask && !ir::tables(mask).empty()) {
    pass.source = facts.lists() ? TileSource::Listed : TileSource::Tested;
    return pass;
  }
  std::optional<analysis::TileRelation> tiles = mask ? facts.tiles(mask, shape) : dense_tiles(shape);
  if (!tiles) {
    pass.source = TileSource::Tested;
    return pass;
  }
  pass.full = std::move(tiles->full);
  pass.partial = std::move(tiles->partial);
  return pass;
}

KernelPlan make_plan(const ir::AttentionProblem& problem, TileFacts& facts) {
  const KernelPlan fused = Planner(problem, facts).run();
  return problem.probabilities ? three_kernels(fused, facts) : fused;
}

}  // namespace heddle::plan
