// Index maps: a tensor seen through mixed-radix digits of its coordinates, so that data movement becomes arithmetic.
//
// A map F sends coordinates (x0, x1, ...) of a shape to one offset in a base buffer (in elements). Each coordinate is written in
// mixed radix, most significant digit first, and every digit has a stride:
//     F(x) = base + sum over dimensions and digits of digit * stride.
// Worked example: identity({12}).reshape({4, 3}) has digits [4, 3] and [3, 1]; transposing it to {3, 4} gives digits [3, 1] and
// [4, 3]; reshaping that back to {12} is one dimension with two digits, (3, stride 1) and (4, stride 3): x = 5 is digit 1 of 3 and
// digit 1 of 4 (5 = 1 * 4 + 1), so F(5) = 1 * 1 + 1 * 3 = 4: row 1, column 1 of the 4 x 3 matrix. Nothing was copied.
// The same map with shape {p, n / p} and digits (p, stride 1), (n / p, stride p) visits the residue classes of a strided mask one
// after the other: class c, member j is position j * p + c.
// Sizes are 64-bit; a shape product or an offset that leaves int64 is a UserError. Dimensions of size 0 are legal.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::analysis {

/// One digit of a coordinate: it counts 0 .. radix - 1 and moves the offset by stride (any sign, 0 repeats) a step.
struct Digit {
  int64_t radix = 1, stride = 0;
  bool operator==(const Digit&) const = default;
};

/// Digits of one coordinate, most significant first; the extent is the product of the radices. No digit has radix 1.
using Digits = std::vector<Digit>;

class IndexMap;

/// F as bulk copies: for every coordinate of `starts`, in row-major order, `length` adjacent elements from its offset.
struct ContiguousRuns;

class IndexMap {
 public:
  /// Row-major offsets of a dense tensor.
  static IndexMap identity(const std::vector<int64_t>& shape);
  /// One digit a dimension. Shape and strides have one length; extents are not negative.
  static IndexMap strided(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, int64_t base = 0);

  const std::vector<int64_t>& shape() const { return shape_; }
  const Digits& digits(size_t dimension) const { return dimensions_[dimension]; }
  int64_t base() const { return base_; }
  int64_t elements() const;
  /// F(x); x has one entry a dimension, each inside its extent.
  int64_t operator()(std::span<const int64_t> x) const;

  /// G(x) with G's dimension i being F's dimension order[i]. `order` is a permutation (UserError).
  IndexMap transpose(const std::vector<int>& order) const;
  /// G(y) = F(x) where y and x have the same row-major number. The products must agree (UserError).
  /// nullopt when a digit would have to be cut where its radix does not divide.
  std::optional<IndexMap> reshape(const std::vector<int64_t>& shape) const;
  /// G(.., i, ..) = F(.., start + i * step, ..) for i in [0, count); all of them must exist (UserError). Step may be negative.
  /// nullopt when the slice does not follow the digits of that dimension.
  std::optional<IndexMap> slice(size_t dimension, int64_t start, int64_t count, int64_t step = 1) const;
  /// True when distinct coordinates are proved to have distinct offsets: sorted by size, each stride passes the reach of the
  /// smaller ones. (False says "not proved", as for strides 2 and 3 with radix 2.)
  bool one_to_one() const;
  /// For a one-to-one map onto [base, base + elements): the one-dimensional map from offset - base to the row-major number of x.
  /// nullopt for any other map.
  std::optional<IndexMap> inverse() const;
  ContiguousRuns contiguous_runs() const;
  /// "{4, 3}: base 0, [4:3] [3:1]" with [radix:stride ...] a dimension.
  std::string print() const;
  bool operator==(const IndexMap&) const = default;

 private:
  friend std::optional<IndexMap> compose(const IndexMap& outer, const IndexMap& inner);
  IndexMap(std::vector<int64_t> shape, std::vector<Digits> dimensions, int64_t base);
  Digits flat_digits() const;

  std::vector<int64_t> shape_;
  std::vector<Digits> dimensions_;
  int64_t base_ = 0;
};

struct ContiguousRuns {
  int64_t length = 0;
  IndexMap starts;
};

/// outer after inner: G(x) = outer(y) where inner(x) is the row-major number of y. Every offset of inner must be a valid number
/// (UserError). nullopt when digits of the two do not line up, i.e. an addition would carry from one outer digit to the next.
/// Example: a page table of 4 pages of 16 slots read through a window of 8 positions from 8: both stay digits of 16.
std::optional<IndexMap> compose(const IndexMap& outer, const IndexMap& inner);

}  // namespace heddle::analysis
