#include "dsl/parser.h"
#include <fmt/format.h>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>
#include "dsl/checked_node.h"
#include "dsl/lexer.h"
#include "dsl/name_scope.h"
#include "dsl/names.h"
#include "src/support/text.h"

namespace heddle::dsl {

namespace {

using ir::Expr;
using ir::Op;
using ir::Type;
using support::quote;

struct BinaryOperator {
  std::string_view text;
  Op op;
  int binding;
};
constexpr std::array<BinaryOperator, 13> kOperators = {{{"||", Op::Or, 1},
                                                        {"&&", Op::And, 2},
                                                        {"==", Op::Eq, 3},
                                                        {"!=", Op::Ne, 3},
                                                        {"<", Op::Lt, 4},
                                                        {"<=", Op::Le, 4},
                                                        {">", Op::Gt, 4},
                                                        {">=", Op::Ge, 4},
                                                        {"+", Op::Add, 5},
                                                        {"-", Op::Sub, 5},
                                                        {"*", Op::Mul, 6},
                                                        {"/", Op::Div, 6},
                                                        {"%", Op::Mod, 6}}};

const BinaryOperator* find_operator(const Token& token) {
  for (const BinaryOperator& op : kOperators) {
    if (token.is(op.text)) return &op;
  }
  return nullptr;
}

/// An expression and the text it came from. For a comparison without parentheses, also the texts of its sides.
struct Parsed {
  Expr expr;
  Range range;
  std::optional<std::pair<Range, Range>> compared;
};

/// What to write instead of a spelling of other languages.
std::string translation(const Token& token) {
  constexpr std::array<std::pair<std::string_view, const char*>, 9> kForeign = {{{"=", "equality is written =="},
                                                                                 {"&", "write && for 'and'"},
                                                                                 {"|", "write || for 'or'"},
                                                                                 {"^", "there is no power or xor; use * or !="},
                                                                                 {"and", "write &&"},
                                                                                 {"or", "write ||"},
                                                                                 {"not", "write !"},
                                                                                 {"if", "write condition ? a : b"},
                                                                                 {"[", "only a table's name can be indexed"}}};
  for (const auto& [spelling, hint] : kForeign) {
    if (token.text == spelling) return hint;
  }
  return {};
}

std::string shown(const Token& token) { return token.kind == Token::Kind::End ? "the end of the formula" : quote(token.text); }

class Parser {
 public:
  Parser(const Source& source, const NameScope& scope) : source_(source), scope_(scope), lexer_(source) { advance(); }

  Parsed formula() {
    if (token_.kind == Token::Kind::End) source_.fail("the formula is empty", token_.range);
    Parsed result = choice();
    if (token_.is(")")) source_.fail("')' closes nothing", token_.range, "remove it, or open a '(' before it");
    if (token_.is("]")) source_.fail("']' closes nothing", token_.range, "remove it, or open a '[' before it");
    if (token_.kind != Token::Kind::End) unexpected("an operator");
    return result;
  }

 private:
  /// Counts a level of nesting while it lives.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.level_ > kMaxNesting + 1) {
        parser_.source_.fail(fmt::format("the formula nests more than {} levels deep", kMaxNesting), parser_.token_.range, "take it apart");
      }
    }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  void advance() { token_ = lexer_.next(); }

  bool accept(std::string_view symbol) {
    if (!token_.is(symbol)) return false;
    advance();
    return true;
  }

  [[noreturn]] void unexpected(const std::string& expected) const {
    source_.fail(fmt::format("expected {}, found {}", expected, shown(token_)), token_.range, translation(token_));
  }

  Parsed choice() {
    const Level level(*this);
    std::vector<Parsed> parts = {binary(1)};
    while (accept("?")) {
      parts.push_back(choice());
      if (!accept(":")) unexpected("':' and the other branch of '?'");
      parts.push_back(binary(1));
    }
    while (parts.size() > 1) {
      Parsed &c = parts[parts.size() - 3], &a = parts[parts.size() - 2], &b = parts.back();
      const Place place{source_, join(c.range, b.range), {c.range, a.range, b.range}};
      c = {checked(Op::Select, "?:", {c.expr, a.expr, b.expr}, place), place.node, std::nullopt};
      parts.resize(parts.size() - 2);
    }
    return std::move(parts[0]);
  }

  Parsed binary(int least) {
    Parsed left = unary();
    while (const BinaryOperator* op = find_operator(token_)) {
      if (op->binding < least) break;
      advance();
      const Parsed right = binary(op->binding + 1);
      left = combine(*op, left, right);
    }
    return left;
  }

  Parsed combine(const BinaryOperator& op, const Parsed& left, const Parsed& right) {
    const bool comparison = op.binding == 3 || op.binding == 4;
    const Place place{source_, join(left.range, right.range), {left.range, right.range, {}}};
    const bool chain = left.compared ? right.expr->type != Type::Bool : right.compared && left.expr->type != Type::Bool;
    if (comparison && chain) chained(op, left, right);
    Parsed result{checked(op.op, op.text, {left.expr, right.expr}, place), place.node, std::nullopt};
    if (comparison) result.compared = {left.range, right.range};
    return result;
  }

  [[noreturn]] void chained(const BinaryOperator& op, const Parsed& left, const Parsed& right) const {
    const auto text = [&](Range range) { return support::escape(support::shorten(source_.at(range), 40)); };
    const Range middle_of_left = left.compared ? left.compared->second : left.range;
    const Range middle_of_right = right.compared ? right.compared->first : right.range;
    const std::string first = left.compared ? text(left.range) : fmt::format("{} {} {}", text(left.range), op.text, text(middle_of_right));
    const std::string second = right.compared ? text(right.range) : fmt::format("{} {} {}", text(middle_of_left), op.text, text(right.range));
    source_.fail("comparisons cannot be chained", join(left.range, right.range), fmt::format("write {} && {}", first, second));
  }

  Parsed unary() {
    const Token sign = token_;
    if (!sign.is("-") && !sign.is("!")) return primary();
    const Level level(*this);
    advance();
    if (sign.is("-") && token_.kind == Token::Kind::Integer) return integer(&sign);
    const Parsed operand = unary();
    const Place place{source_, join(sign.range, operand.range), {operand.range, {}, {}}};
    return {checked(sign.is("-") ? Op::Neg : Op::Not, sign.text, {operand.expr}, place), place.node, std::nullopt};
  }

  Parsed primary() {
    switch (token_.kind) {
      case Token::Kind::Integer: return integer(nullptr);
      case Token::Kind::Real: return real();
      case Token::Kind::Name: return name();
      default: break;
    }
    if (!token_.is("(")) unexpected("a value");
    const Token open = token_;
    advance();
    const Parsed inner = choice();
    return {inner.expr, join(open.range, close(open)), std::nullopt};
  }

  /// Consumes the bracket that belongs to `open`.
  Range close(const Token& open, std::string_view bracket = ")") {
    const Range range = token_.range;
    if (token_.kind == Token::Kind::End) {
      source_.fail(fmt::format("'{}' is never closed", open.text), open.range, fmt::format("add the missing '{}'", bracket));
    }
    if (!accept(bracket)) unexpected(fmt::format("an operator or '{}'", bracket));
    return range;
  }

  /// A literal after an optional sign, so that -2^63 can be written.
  Parsed integer(const Token* sign) {
    const Range range = sign ? join(sign->range, token_.range) : token_.range;
    const std::string digits = (sign ? "-" : "") + std::string(token_.text);
    int64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{}) {
      source_.fail(quote(digits) + " does not fit into a 64-bit integer", range, "integers reach from -2^63 to 2^63 - 1");
    }
    advance();
    return {ir::int_const(value), range, std::nullopt};
  }

  Parsed real() {
    const Token token = token_;
    scope_.require_reals(token, fmt::format("{} is a real number", quote(token.text)));
    double value = 0;
    if (std::from_chars(token.text.data(), token.text.data() + token.text.size(), value).ec != std::errc{}) {
      source_.fail(quote(token.text) + " does not fit into a double", token.range, "reals reach from 5e-324 to 1.7e308");
    }
    advance();
    return {ir::real_const(value), token.range, std::nullopt};
  }

  Parsed name() {
    const Token token = token_;
    advance();
    if (token_.is("[")) return read(token);
    if (token_.is("(")) return call(token);
    return {scope_.resolve(token), token.range, std::nullopt};
  }

  /// table[i, j] or table[i][j]
  Parsed read(const Token& token) {
    const DType element = scope_.table(token);
    std::vector<Expr> indices;
    std::vector<Range> places;
    Range end = token.range;
    while (token_.is("[")) {
      const Token open = token_;
      advance();
      do {
        const Parsed index = choice();
        indices.push_back(index.expr);
        places.push_back(index.range);
      } while (accept(","));
      end = close(open, "]");
    }
    const Range range = join(token.range, end);
    const size_t before = ranks_.emplace(token.text, indices.size()).first->second;
    if (before != indices.size()) {
      source_.fail(fmt::format("the table '{}' is read with {} and with {} indices", token.text, before, indices.size()), range,
                   "give every read one index a dimension");
    }
    return {read_node(std::string(token.text), element, indices, places, {source_, range}), range, std::nullopt};
  }

  Parsed call(const Token& token) {
    const Function& function = scope_.function(token);
    const Token open = token_;
    advance();
    std::vector<Parsed> arguments;
    if (!token_.is(")")) {
      do arguments.push_back(choice());
      while (accept(","));
    }
    const Range range = join(token.range, close(open));
    if (arguments.size() != function.arity) {
      source_.fail(fmt::format("'{}' takes {} argument{}, not {}", function.name, function.arity, function.arity == 1 ? "" : "s", arguments.size()),
                   range);
    }
    return {apply(function, arguments, range), range, std::nullopt};
  }

  Expr apply(const Function& function, const std::vector<Parsed>& arguments, Range range) const {
    Place place{source_, range};
    std::vector<Expr> operands;
    for (size_t i = 0; i < arguments.size(); ++i) {
      place.operands[i] = arguments[i].range;
      operands.push_back(arguments[i].expr);
    }
    if (function.name == "clamp") return clamp_node(operands, place);
    if (function.name == "softcap") return softcap_node(operands, place);
    return checked(*function.op, function.name, operands, place);
  }

  const Source& source_;
  const NameScope& scope_;
  Lexer lexer_;
  Token token_;
  std::map<std::string_view, size_t> ranks_;  ///< Of the tables read so far.
  int level_ = 0;
};

/// Makes a formula the kind that was asked for, or refuses it.
Expr finished(const Source& source, const Parsed& parsed, Type wanted) {
  const Type found = parsed.expr->type;
  if (wanted == Type::Bool && found != Type::Bool) {
    source.fail(fmt::format("a mask must be a condition, but this formula is {}", type_name(found)), parsed.range, "compare it, as in `... != 0`");
  }
  if (wanted != Type::Bool && found == Type::Bool) {
    source.fail(fmt::format("a {} must be a number, but this formula is a condition", wanted == Type::Real ? "score" : "size"), parsed.range,
                wanted == Type::Real ? "make it the mask, or write `condition ? a : b`" : "write `condition ? a : b`");
  }
  return wanted == Type::Real ? promoted(parsed.expr) : parsed.expr;
}

}  // namespace

Expr parse_formula(std::string_view text, const ParseOptions& options) {
  if (text.size() > kMaxFormulaBytes) {
    throw UserError(fmt::format("{}: the formula has {} bytes, but at most {} are read", options.origin, text.size(), kMaxFormulaBytes),
                    "state the pattern with /, %, min and max");
  }
  if (text.empty()) throw UserError(fmt::format("{}: the formula is empty", options.origin));
  const Source source{text, options.origin};
  const NameScope scope(source, options);
  return finished(source, Parser(source, scope).formula(), options.type);
}

}  // namespace heddle::dsl
