#include "src/analysis/matrix_formula.h"

#include <algorithm>
#include <numeric>

#include "src/analysis/matrix_cover.h"
#include "src/analysis/matrix_sets.h"
#include "src/analysis/parallel.h"
#include "src/ir/rewrite.h"

namespace heddle::analysis {
namespace {

using ir::Expr;
using ir::Op;

Expr integer(int64_t value) { return ir::int_const(value); }
Expr binary(Op op, const Expr& a, const Expr& b) { return ir::make(op, {a, b}); }
Expr either(const Expr& a, const Expr& b) { return !a ? b : !b ? a : binary(Op::Or, a, b); }
Expr both(const Expr& a, const Expr& b) { return !a ? b : !b ? a : binary(Op::And, a, b); }

/// a <= b + c, without c where it is 0.
Expr at_most(const Expr& a, const Expr& b, int64_t c) {
  if (c == 0) return binary(Op::Le, a, b);
  return binary(Op::Le, a, c > 0 ? binary(Op::Add, b, integer(c)) : binary(Op::Sub, b, integer(-c)));
}

/// A condition over "x" read at an expression.
Expr read_at(const Expr& condition, const Expr& x) {
  return ir::substitute(condition, [&](const ir::ExprNode& leaf) { return leaf.op == Op::Var && leaf.name == "x" ? x : nullptr; });
}

/// The same where x is a - b: x >= 0 is b <= a.
Expr read_at_difference(const Expr& condition, const Expr& a, const Expr& b) {
  const Expr plain = ir::rebuild(condition, [&](const Expr& node) -> Expr {
    if (node->operands.size() != 2 || node->operands[0]->op != Op::Var || ir::as_int_constant(node->operands[1]) != int64_t{0}) return node;
    if (node->op == Op::Ge) return binary(Op::Le, b, a);
    if (node->op == Op::Le || node->op == Op::Eq) return binary(node->op, a, b);
    return node;
  });
  return read_at(plain, binary(Op::Sub, a, b));
}

/// Flags of bits [0, size) as bytes; `reversed`: the last bit first.
std::vector<char> bytes(const std::vector<uint64_t>& words, int64_t size, bool reversed) {
  std::vector<char> flags(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    const int64_t bit = reversed ? size - 1 - i : i;
    flags[static_cast<size_t>(i)] = words[static_cast<size_t>(bit / 64)] >> (bit % 64) & 1;
  }
  return flags;
}

void put(const std::vector<char>& flags, bool reversed, std::vector<uint64_t>& words) {
  std::fill(words.begin(), words.end(), 0);
  const int64_t size = static_cast<int64_t>(flags.size());
  for (int64_t i = 0; i < size; ++i) {
    const int64_t bit = reversed ? size - 1 - i : i;
    words[static_cast<size_t>(bit / 64)] |= static_cast<uint64_t>(flags[static_cast<size_t>(i)] != 0) << (bit % 64);
  }
}

/// A matrix whose indices q and k are expressions of a larger one's.
struct Problem {
  const BitMatrix& matrix;
  Expr q, k;
  int threads;
};

/// Chooses, kind by kind, a describable set of lines between those that are needed and those that are whole.
class CoverFormula {
 public:
  CoverFormula(const Problem& problem, Region region, int64_t block)
      : problem_(problem), region_(region), block_(block), cover_(problem.matrix, region, block), whole_(cover_.whole()) {}

  /// Null unless every allowed pair lies on a whole line and the lines needed have short conditions.
  Expr solve() {
    if (cover_.uncovered(whole_, used())) return nullptr;
    LineFlags chosen = whole_;
    unsigned kinds = used();
    Expr formula;
    for (const LineKind kind : {kColumns, kRows, kDiagonals, kBlocks}) {
      if (!(kinds & kind)) continue;
      const LineFlags needed = cover_.needed(kind, chosen, kinds & ~kind);
      if (!choose(kind, needed, chosen, formula)) return nullptr;
      if (!chosen_any_) kinds &= ~kind;
    }
    if (!cover_.exact(chosen, kinds)) return nullptr;
    const Expr inside = region_.causal ? at_most(problem_.k, problem_.q, *region_.causal) : nullptr;
    return ir::simplify(both(inside, formula ? formula : ir::bool_const(false)));
  }

  /// Block sizes that the first pair on no whole line hints at.
  std::vector<int64_t> blocks() const {
    const auto first = cover_.uncovered(whole_, used());
    if (!first) return {};
    const auto open = [&](int64_t q, int64_t k) { return problem_.matrix.at(q, k) && !cover_.covers(whole_, used(), q, k); };
    int64_t q = first->first, k = first->second;
    while (q + 1 < problem_.matrix.sq && open(q + 1, first->second)) ++q;
    while (k + 1 < problem_.matrix.sk && open(first->first, k + 1)) ++k;
    std::vector<int64_t> sizes;
    for (const int64_t size : {q + 1, k + 1, std::gcd(q + 1, first->second), std::gcd(k + 1, first->first)}) {
      const bool known = std::find(sizes.begin(), sizes.end(), size) != sizes.end();
      if (size > 1 && size < std::max(problem_.matrix.sq, problem_.matrix.sk) && !known && whole_block(*first, size)) sizes.push_back(size);
    }
    return sizes;
  }

 private:
  /// The block around a pair has every pair of the region.
  bool whole_block(std::pair<int64_t, int64_t> pair, int64_t size) const {
    const int64_t top = pair.first / size * size, left = pair.second / size * size;
    for (int64_t q = top; q < std::min(top + size, problem_.matrix.sq); ++q) {
      const int64_t edge = region_.causal ? q + *region_.causal + 1 : problem_.matrix.sk;
      for (int64_t k = left; k < std::min({left + size, problem_.matrix.sk, edge}); ++k) {
        if (!problem_.matrix.at(q, k)) return false;
      }
    }
    return true;
  }

  unsigned used() const { return kRows | kColumns | kDiagonals | (block_ > 0 ? kBlocks : 0u); }

  LineSet line_set(LineKind kind, const LineFlags& needed) const {
    const int64_t sq = problem_.matrix.sq, sk = problem_.matrix.sk;
    switch (kind) {
      case kRows: return {0, needed.rows, whole_.rows};
      case kColumns: return {0, bytes(needed.columns, sk, false), bytes(whole_.columns, sk, false)};
      case kDiagonals: return {1 - sk, bytes(needed.diagonals, sq + sk - 1, true), bytes(whole_.diagonals, sq + sk - 1, true)};
      case kBlocks: break;
    }
    return {1 - cover_.key_blocks(), needed.blocks, whole_.blocks};
  }

  static void store(LineKind kind, const std::vector<char>& members, LineFlags& chosen) {
    if (kind == kRows) chosen.rows = members;
    if (kind == kColumns) put(members, false, chosen.columns);
    if (kind == kDiagonals) put(members, true, chosen.diagonals);
    if (kind == kBlocks) chosen.blocks = members;
  }

  /// The condition of lines of a kind, read at q and k.
  Expr read(LineKind kind, const Expr& condition) const {
    const auto block = [this](const Expr& index) { return binary(Op::Div, index, integer(block_)); };
    switch (kind) {
      case kRows: return read_at(condition, problem_.q);
      case kColumns: return read_at(condition, problem_.k);
      case kDiagonals: return read_at_difference(condition, problem_.q, problem_.k);
      case kBlocks: break;
    }
    return read_at_difference(condition, block(problem_.q), block(problem_.k));
  }

  /// What is chosen is what the condition says, value by value.
  bool choose(LineKind kind, const LineFlags& needed, LineFlags& chosen, Expr& formula) {
    const LineSet set = line_set(kind, needed);
    const Expr condition = describe(set, kind == kDiagonals || kind == kBlocks);
    if (!condition) return false;
    const std::vector<char> held = members(condition, set);
    chosen_any_ = std::find(set.must.begin(), set.must.end(), 1) != set.must.end();
    store(kind, held, chosen);
    if (chosen_any_) formula = either(formula, read(kind, condition));
    return true;
  }

  const Problem& problem_;
  Region region_;
  int64_t block_;
  LineCover cover_;
  LineFlags whole_;
  bool chosen_any_ = false;
};

/// The greatest k - q of an allowed pair; the matrix has one.
int64_t upper_diagonal(const BitMatrix& matrix) {
  int64_t most = -matrix.sq;
  for (int64_t q = 0; q < matrix.sq; ++q) {
    for (int64_t w = matrix.words - 1; w >= 0; --w) {
      const uint64_t word = matrix.row(q)[w];
      if (word == 0) continue;
      most = std::max(most, w * 64 + 63 - __builtin_clzll(word) - q);
      break;
    }
  }
  return most;
}

void keep_shorter(const Expr& candidate, Expr& best) {
  if (candidate && (!best || candidate->size < best->size)) best = candidate;
}

Expr in_region(const Problem& problem, Region region) {
  CoverFormula plain(problem, region, 0);
  Expr best = plain.solve();
  if (best) return best;
  for (const int64_t block : plain.blocks()) keep_shorter(CoverFormula(problem, region, block).solve(), best);
  return best;
}

Expr by_lines(const Problem& problem) {
  const Region regions[] = {Region{upper_diagonal(problem.matrix)}, Region{}};
  Expr found[2];
  parallel_units(problem.threads, 2, [&](int, int64_t i) { found[i] = in_region(problem, regions[i]); });
  keep_shorter(found[1], found[0]);
  return found[0];
}

/// Rows or columns that matter: index = step * i + base.
struct Lattice {
  int64_t step = 1, base = 0;
};

Lattice lattice_of(const std::vector<int64_t>& used) {
  int64_t step = 0;
  for (const int64_t index : used) step = std::gcd(step, index - used[0]);
  return step > 1 ? Lattice{step, used[0] % step} : Lattice{};
}

struct Used {
  std::vector<int64_t> rows, columns;
};

Used used_lines(const BitMatrix& matrix) {
  Used used;
  std::vector<uint64_t> any(static_cast<size_t>(matrix.words), 0);
  for (int64_t q = 0; q < matrix.sq; ++q) {
    uint64_t some = 0;
    for (int64_t w = 0; w < matrix.words; ++w) any[static_cast<size_t>(w)] |= matrix.row(q)[w], some |= matrix.row(q)[w];
    if (some != 0) used.rows.push_back(q);
  }
  each_bit(any.data(), matrix.words, [&](int64_t k) { used.columns.push_back(k); });
  return used;
}

/// Greatest common divisors of the rows and columns where a line differs from the one before it; 0: none does.
std::pair<int64_t, int64_t> change_steps(const BitMatrix& matrix) {
  int64_t rows = 0, keys = 0;
  std::vector<uint64_t> changes(static_cast<size_t>(matrix.words), 0);
  for (int64_t q = 0; q < matrix.sq; ++q) {
    const uint64_t* row = matrix.row(q);
    if (q > 0 && rows != 1 && !std::equal(row, row + matrix.words, matrix.row(q - 1))) rows = std::gcd(rows, q);
    uint64_t before = 0;
    for (int64_t w = 0; w < matrix.words; ++w) changes[static_cast<size_t>(w)] |= (row[w] ^ (row[w] << 1 | before)) & matrix.inside(w), before = row[w] >> 63;
  }
  if (!changes.empty()) changes[0] &= ~uint64_t{1};
  each_bit(changes.data(), matrix.words, [&](int64_t k) { keys = std::gcd(keys, k); });
  return {rows, keys};
}

/// Every step-th row and column from the bases on.
BitMatrix sampled(const BitMatrix& matrix, Lattice rows, Lattice keys) {
  BitMatrix made((matrix.sq - rows.base + rows.step - 1) / rows.step, (matrix.sk - keys.base + keys.step - 1) / keys.step);
  for (int64_t q = 0; q < made.sq; ++q) {
    for (int64_t k = 0; k < made.sk; ++k) {
      if (matrix.at(rows.base + q * rows.step, keys.base + k * keys.step)) made.set(q, k);
    }
  }
  return made;
}

Expr solve(const Problem& problem, int depth);

/// A matrix of equal blocks is a small matrix over q / rows and k / keys.
Expr by_blocks(const Problem& problem, int depth) {
  const auto [rows, keys] = change_steps(problem.matrix);
  if (rows < 2 || keys < 2) return nullptr;
  const BitMatrix small = sampled(problem.matrix, {rows, 0}, {keys, 0});
  return solve({small, binary(Op::Div, problem.q, integer(rows)), binary(Op::Div, problem.k, integer(keys)), problem.threads}, depth - 1);
}

/// Where only every step-th row or column has an allowed pair, the matrix of those.
Expr by_residues(const Problem& problem, int depth) {
  const Used used = used_lines(problem.matrix);
  const Lattice rows = lattice_of(used.rows), keys = lattice_of(used.columns);
  if (rows.step == 1 && keys.step == 1) return nullptr;
  const auto index = [](const Expr& x, Lattice line) { return line.step == 1 ? x : binary(Op::Div, x, integer(line.step)); };
  const auto guard = [](const Expr& x, Lattice line) {
    return line.step == 1 ? nullptr : binary(Op::Eq, binary(Op::Mod, x, integer(line.step)), integer(line.base));
  };
  const BitMatrix small = sampled(problem.matrix, rows, keys);
  const Expr inner = solve({small, index(problem.q, rows), index(problem.k, keys), problem.threads}, depth - 1);
  if (!inner) return nullptr;
  return ir::simplify(both(both(guard(problem.q, rows), guard(problem.k, keys)), inner));
}

/// Where the last rows or columns have no allowed pair, the matrix without them.
Expr by_ends(const Problem& problem, int depth) {
  const Used used = used_lines(problem.matrix);
  const int64_t sq = used.rows.back() + 1, sk = used.columns.back() + 1;
  if (sq == problem.matrix.sq && sk == problem.matrix.sk) return nullptr;
  BitMatrix small(sq, sk);
  for (int64_t q = 0; q < sq; ++q) std::copy_n(problem.matrix.row(q), small.words, small.row(q));
  const Expr inner = solve({small, problem.q, problem.k, problem.threads}, depth - 1);
  if (!inner) return nullptr;
  const Expr rows = sq < problem.matrix.sq ? binary(Op::Lt, problem.q, integer(sq)) : nullptr;
  const Expr keys = sk < problem.matrix.sk ? binary(Op::Lt, problem.k, integer(sk)) : nullptr;
  return ir::simplify(both(both(rows, keys), inner));
}

Expr solve(const Problem& problem, int depth) {
  const auto& bits = problem.matrix.bits;
  if (std::all_of(bits.begin(), bits.end(), [](uint64_t word) { return word == 0; })) return ir::bool_const(false);
  Expr best = by_lines(problem);
  if (depth == 0) return best;
  keep_shorter(by_blocks(problem, depth), best);
  for (const auto attempt : {by_residues, by_ends}) {
    if (!best) best = attempt(problem, depth);
  }
  return best;
}

}  // namespace

ir::Expr matrix_formula(const BitMatrix& matrix, int threads) { return solve({matrix, ir::var("q"), ir::var("k"), threads}, 2); }

}  // namespace heddle::analysis
