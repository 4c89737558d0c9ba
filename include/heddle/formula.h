// Formulas in C++: index variables, operators and functions that build the same nodes as the text grammar.
//
//   using namespace heddle;
//   Mask window = mask([](Index q, Index k) { return k <= q && q - k < 256; });
//   Score capped = score([](Real s) { return softcap(s, 30.0); });
//   Mask text = Mask::parse("abs(q - k) <= w || k < g", {{"w", 256}, {"g", 16}});
//
// Tables are arrays read at integer expressions, whose contents are bound after compiling:
//
//   const IntTable doc("doc");
//   Mask packed = mask([&](Index q, Index k) { return doc[q] == doc[k] && k <= q; });
//   Score biased = Score::parse("s + bias[h, q, k]", {{"bias", TableOf{DType::Float32}}});
//
// Every index is clamped into the table, so no read leaves its memory; a dimension of extent 1 is broadcast (as NumPy does). An index
// that certainly leaves the table is an error when the table and the lengths are bound. Indices may be guarded by conditions of the
// same && chain: `k >= 5 && t[k - 5] == 1`.
//
// Integer / and % are floor division and floor modulo, as in Python. A pair at which a run-time divisor is zero is masked.
// Names: b batch, h query head, q query position, k key position; sizes B H Hkv Sq Sk; s the score (scale * <Q[q], K[k]>).
#pragma once
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>
#include "heddle/tensor.h"

namespace heddle::ir {
struct ExprNode;
}

namespace heddle {

using ExprHandle = std::shared_ptr<const ir::ExprNode>;

/// An integer expression.
class Index {
 public:
  /// Any integer type; not a real one, so that `0.1 * abs(q - k)` is a real product.
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T constant) : Index(leaf(static_cast<int64_t>(constant))) {}
  explicit Index(ExprHandle node) : node_(std::move(node)) {}
  const ExprHandle& node() const { return node_; }

 private:
  static ExprHandle leaf(int64_t constant);
  ExprHandle node_;
};

/// A real expression; integers promote.
class Real {
 public:
  Real(double constant);
  Real(const Index& integer);
  explicit Real(ExprHandle node) : node_(std::move(node)) {}
  const ExprHandle& node() const { return node_; }

 private:
  ExprHandle node_;
};

/// A boolean expression. `&&`, `||`, `!` build nodes (both sides are always built; nothing is evaluated).
class Condition {
 public:
  Condition(bool constant);
  explicit Condition(ExprHandle node) : node_(std::move(node)) {}
  const ExprHandle& node() const { return node_; }

 private:
  ExprHandle node_;
};

Index operator+(const Index& a, const Index& b);
Index operator-(const Index& a, const Index& b);
Index operator*(const Index& a, const Index& b);
Index operator/(const Index& a, const Index& b);  ///< Floor. Throws UserError for the constant 0.
Index operator%(const Index& a, const Index& b);  ///< Floor modulo. Throws UserError for the constant 0.
Index operator-(const Index& a);
Condition operator<(const Index& a, const Index& b);
Condition operator<=(const Index& a, const Index& b);
Condition operator>(const Index& a, const Index& b);
Condition operator>=(const Index& a, const Index& b);
Condition operator==(const Index& a, const Index& b);
Condition operator!=(const Index& a, const Index& b);
Condition operator&&(const Condition& a, const Condition& b);
Condition operator||(const Condition& a, const Condition& b);
Condition operator!(const Condition& a);
Index abs(const Index& x);
Index min(const Index& a, const Index& b);
Index max(const Index& a, const Index& b);
Index clamp(const Index& x, const Index& low, const Index& high);  ///< min(max(x, low), high), as NumPy.
Index select(const Condition& c, const Index& a, const Index& b);

Real operator+(const Real& a, const Real& b);
Real operator-(const Real& a, const Real& b);
Real operator*(const Real& a, const Real& b);
Real operator/(const Real& a, const Real& b);
Real operator-(const Real& a);
Condition operator<(const Real& a, const Real& b);
Condition operator<=(const Real& a, const Real& b);
Condition operator>(const Real& a, const Real& b);
Condition operator>=(const Real& a, const Real& b);
Real abs(const Real& x);
Real min(const Real& a, const Real& b);
Real max(const Real& a, const Real& b);
Real clamp(const Real& x, const Real& low, const Real& high);
Real exp(const Real& x);
Real log(const Real& x);
Real tanh(const Real& x);
Real sigmoid(const Real& x);
Real sqrt(const Real& x);
Real softcap(const Real& x, const Real& cap);  ///< cap * tanh(x / cap)
Real select(const Condition& c, const Real& a, const Real& b);

/// The named leaves: "b", "h", "q", "k", "B", "H", "Hkv", "Sq", "Sk".
Index variable(const std::string& name);
Real score_variable();                        ///< s
Index int_parameter(const std::string& name);  ///< A dynamic parameter: given at every launch, compiled once.
Real real_parameter(const std::string& name);

/// A named table of integers, of rank 1 to 4: Int32, Int64, UInt8 or Bool (0 and 1). Throws UserError for other types and for names
/// that formulas reserve. All reads of one table have the same number of indices.
class IntTable {
 public:
  explicit IntTable(std::string name, DType element = DType::Int32);
  Index operator[](const Index& i) const { return read({i}); }
  template <class... Indices>
  Index operator()(const Indices&... indices) const { return read({Index(indices)...}); }

 private:
  Index read(const std::vector<Index>& indices) const;
  std::string name_;
  DType element_;
};

/// A named table of Float32, for scores.
class RealTable {
 public:
  explicit RealTable(std::string name);
  Real operator[](const Index& i) const { return read({i}); }
  template <class... Indices>
  Real operator()(const Indices&... indices) const { return read({Index(indices)...}); }

 private:
  Real read(const std::vector<Index>& indices) const;
  std::string name_;
};

/// Values of named parameters of a text: an integer or a real is inlined as a constant; Dynamic stays a kernel argument; TableOf makes
/// the name a table, read as `name[i]` or `name[i, j]` (the same as `name[i][j]`).
struct Dynamic { bool real = false; };
struct TableOf { DType element = DType::Int32; };
using ParameterValue = std::variant<int64_t, double, Dynamic, TableOf>;
class Parameters : public std::map<std::string, ParameterValue> {
 public:
  using std::map<std::string, ParameterValue>::map;
};

/// One axis of a grid that the tokens of a sequence are laid out on.
struct NeighbourhoodAxis {
  int64_t extent = 1;    ///< Tokens along it, at least window * dilation.
  int64_t window = 1;    ///< Keys along it of every query.
  int64_t dilation = 1;  ///< Distance of two neighbouring keys: a query attends positions of its own residue.
};

/// A boolean integer formula: true means the pair takes part.
class Mask {
 public:
  Mask();  ///< Every pair.
  explicit Mask(const Condition& condition);
  /// Throws UserError with line, column, caret and hint.
  static Mask parse(const std::string& text, const Parameters& parameters = {}, const std::string& origin = "mask");
  const ExprHandle& node() const { return node_; }
  std::string text() const;  ///< Parses back to the same mask.

  enum class Align { TopLeft, BottomRight };
  static Mask causal(Align align);  ///< `k <= q`, or `k <= q + (Sk - Sq)`.
  /// Neighbourhood attention on a grid of 1 to 3 axes, the last one fastest: along each axis a query attends the `window` keys around
  /// it, the one more of an even window before it; near a border the window is moved inside, so that every query has as many. Sq and Sk
  /// are the product of the extents. Throws UserError for an axis that is too small.
  static Mask neighbourhood(const std::vector<NeighbourhoodAxis>& axes);

 private:
  ExprHandle node_;
};

/// A real formula over s and the variables; the default is s itself.
class Score {
 public:
  Score();
  explicit Score(const Real& formula);
  static Score parse(const std::string& text, const Parameters& parameters = {}, const std::string& origin = "score");
  const ExprHandle& node() const { return node_; }  ///< Null for plain s.
  std::string text() const;

 private:
  ExprHandle node_;
};

/// mask(lambda of (q, k), (h, q, k) or (b, h, q, k)).
template <typename F>
Mask mask(F&& formula) {
  const Index q = variable("q"), k = variable("k");
  if constexpr (std::invocable<F, Index, Index>) {
    return Mask(formula(q, k));
  } else if constexpr (std::invocable<F, Index, Index, Index>) {
    return Mask(formula(variable("h"), q, k));
  } else {
    return Mask(formula(variable("b"), variable("h"), q, k));
  }
}

/// score(lambda of (s), (s, q, k), (s, h, q, k) or (s, b, h, q, k)).
template <typename F>
Score score(F&& formula) {
  const Index q = variable("q"), k = variable("k");
  const Real s = score_variable();
  if constexpr (std::invocable<F, Real>) {
    return Score(formula(s));
  } else if constexpr (std::invocable<F, Real, Index, Index>) {
    return Score(formula(s, q, k));
  } else if constexpr (std::invocable<F, Real, Index, Index, Index>) {
    return Score(formula(s, variable("h"), q, k));
  } else {
    return Score(formula(s, variable("b"), variable("h"), q, k));
  }
}

}  // namespace heddle
