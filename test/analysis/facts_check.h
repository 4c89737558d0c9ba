// Compares what facts say with the formula itself, pair by pair, at given lengths.
#pragma once
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <string>
#include <vector>
#include "dsl/parser.h"
#include "src/analysis/facts.h"

namespace heddle::analysis::test {

using Ints = std::map<std::string, int64_t>;

/// A mask in text; names in `dynamic` are dynamic Int parameters.
ir::Expr parse_mask(const std::string& text, const std::vector<std::string>& dynamic = {});

/// Every pair of an Sq x Sk mask, row by row, by evaluating the formula.
class DenseMask {
 public:
  DenseMask(const ir::Expr& mask, Lengths lengths, const Ints& ints);
  bool at(int64_t q, int64_t k) const { return bits_[static_cast<size_t>(q * lengths.sk + k)] != 0; }
  const Lengths lengths;
  const Ints ints;  ///< Of the formula, Sq and Sk included.

 private:
  std::vector<char> bits_;
};

// Each returns what is wrong, or an empty text.

/// Rows of the nest are exactly the rows of the mask, each key once.
std::string check_rows(const MaskFacts& facts, const DenseMask& dense);
/// Components are the loops of rows() as progressions, disjoint; complete when every piece of rows() is a component.
std::string check_components(const MaskFacts& facts, const DenseMask& dense);
/// Every allowed key is ≡ offset (mod stride) in its row.
std::string check_lattice(const MaskFacts& facts, const DenseMask& dense);
/// The plane rule: every tile with an allowed pair is listed once, full tiles are whole and have nothing else, other listed tiles
/// either have an allowed pair or touch the rim of queries.
std::string check_tiles(const TileRelation& relation, bool transposed, const DenseMask& dense);

/// First and last; first > last of a line without any.
struct Ends {
  int64_t first = std::numeric_limits<int64_t>::max(), last = -1;
  bool operator==(const Ends&) const = default;
};
/// Of the pieces that hold; `wrong` gets what they contradict.
Ends ends_of(const LineHulls& hulls, const Ints& ints, std::string& wrong);
/// Hulls of rows, or of columns, are those of the mask.
std::string check_hulls(const LineHulls& hulls, bool transposed, const DenseMask& dense);

/// All of the above but hulls.
std::string check_facts(const MaskFacts& facts, const std::vector<TileShape>& shapes, Lengths lengths, const Ints& ints = {});

}  // namespace heddle::analysis::test
