#include "src/engine/compiler/bounded_counts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/bind.h"
#include "src/ir/rewrite.h"
#include "src/lower/bind_program.h"

namespace heddle::engine {
namespace {

constexpr int64_t kFewPairs = int64_t{1} << 22;  ///< Up to here every pair is evaluated.
constexpr double kWorthRanges = 0.5;              ///< Share of open pairs from which on all are evaluated.
constexpr int64_t kBlockRows = 64, kBlockKeys = 16;
constexpr int64_t kSampledPairs = int64_t{1} << 20, kSampledTiles = 1024;

/// The mask at the given values, lengths among them.
ir::Expr at_values(const ir::Expr& mask, const std::map<std::string, int64_t>& ints) {
  return ir::simplify(ir::substitute(mask, [&](const ir::ExprNode& leaf) -> ir::Expr {
    const auto found = leaf.op == ir::Op::Var || leaf.op == ir::Op::Param ? ints.find(leaf.name) : ints.end();
    return found == ints.end() ? nullptr : ir::int_const(found->second);
  }));
}

analysis::KnownRanges ranges_of(const runtime::TileLists& lists, int64_t keys) {
  analysis::KnownRanges known{kBlockRows, lists.offsets, {}};
  known.ranges.reserve(lists.runs.size());
  for (const TileRun& run : lists.runs) {
    const int64_t first = run.first * kBlockKeys, end = first + std::abs(run.count) * kBlockKeys;
    known.ranges.push_back({first, std::min(end, keys), run.count > 0});
  }
  return known;
}

analysis::KnownRanges find_ranges(const ir::Expr& mask, const FactsRequest& request, BoundedCounts::BindLimits limits) {
  std::vector<TableDeclaration> declared;
  runtime::BindInput input;
  for (const auto& [name, table] : ir::tables(mask)) {
    declared.push_back(table);
    input.tables.push_back(request.tables.at(name));
  }
  const BindProgram program = lower::bind_program(mask, {}, declared);
  input.program = &program;
  input.sq = request.sq, input.sk = request.sk;
  input.tile_rows = kBlockRows, input.tile_keys = kBlockKeys;
  input.most_pairs = limits.pairs, input.most_ranges = limits.ranges;
  runtime::ThreadPool pool(std::max(request.threads, 1));
  return ranges_of(runtime::bind_tiles(input, pool), request.sk);
}

template <typename Count>
auto within_limits(const Count& count) -> std::optional<decltype(count())> try {
  return count();
} catch (const analysis::OverWork&) {
  return std::nullopt;
}

}  // namespace

BoundedCounts::BoundedCounts(const FactsRequest& request, BindLimits bind)
    : request_(request),
      bind_(bind),
      ints_(request.ints.begin(), request.ints.end()),
      facts_(request.mask, {.lengths = analysis::Lengths{request.sq, request.sk}}) {
  analysis::check_inputs(facts_, lengths(), ints_, request.tables);
  ints_["Sq"] = request.sq, ints_["Sk"] = request.sk;
}

bool BoundedCounts::has_many_pairs() const {
  return facts_.proof() == analysis::Proof::Enumerated && request_.sq > 0 && request_.sk > kFewPairs / request_.sq;
}

double BoundedCounts::open_share() {
  if (!open_share_) {
    const analysis::Share partial = sample_tiles({kBlockRows, kBlockKeys}).partial;
    open_share_ = std::max(0.0, partial.value - partial.error);
  }
  return *open_share_;
}

bool BoundedCounts::is_hopeless(int64_t most_steps) {
  const double pairs = static_cast<double>(request_.sq) * static_cast<double>(request_.sk);
  return has_many_pairs() && open_share() * pairs * analysis::kPairSteps > static_cast<double>(most_steps);
}

analysis::CountLimits BoundedCounts::limits(int64_t most_steps) {
  if (!known_ && has_many_pairs() && open_share() < kWorthRanges) {
    known_ = find_ranges(at_values(request_.mask, ints_), request_, bind_);
  }
  return {most_steps, known_ ? &*known_ : nullptr};
}

std::optional<analysis::MaskCounts> BoundedCounts::count(analysis::CountRequest wanted, int64_t most_steps) {
  if (is_hopeless(most_steps)) return std::nullopt;
  wanted.limits = limits(most_steps);
  wanted.threads = request_.threads;
  return within_limits([&] { return analysis::count(facts_, lengths(), wanted, ints_, request_.tables); });
}

std::optional<analysis::CellGrid> BoundedCounts::cells(analysis::TileShape cell, int64_t most_steps) {
  if (is_hopeless(most_steps)) return std::nullopt;
  const analysis::CountLimits limit = limits(most_steps);
  return within_limits([&] { return analysis::count_cells(facts_, lengths(), cell, request_.threads, ints_, request_.tables, limit); });
}

analysis::PairSample BoundedCounts::sample_pairs() const {
  return analysis::sample_pairs(request_.mask, lengths(), kSampledPairs, {ints_, request_.tables}, request_.threads);
}

analysis::TileSample BoundedCounts::sample_tiles(analysis::TileShape shape) const {
  return analysis::sample_tiles(request_.mask, lengths(), shape, kSampledTiles, {ints_, request_.tables}, request_.threads);
}

analysis::CellGrid BoundedCounts::sample_cells(analysis::TileShape cell, int64_t points) const {
  return analysis::sample_cells(request_.mask, lengths(), cell, points, {ints_, request_.tables}, request_.threads);
}

}  // namespace heddle::engine
