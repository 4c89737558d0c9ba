#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "heddle/error.h"
#include "src/ir/rewrite.h"
#include "src/ir/tile_program.h"
#include "src/support/half.h"

namespace heddle::ir {
namespace {

using Names = std::set<std::string>;
const Names kCoordinates = {"b", "h", "q", "k", "B", "H", "Hkv", "Sq", "Sk"};
const Names kBlockNames = {"b", "h", "qb", "B", "H", "Hkv", "Sq", "Sk", "NK", "NF"};

bool int_only(const Expr& expr) {
  if (expr->type == Type::Real) return false;
  for (const Expr& operand : expr->operands) {
    if (!int_only(operand)) return false;
  }
  return true;
}

/// Walks the statements in order, tracking which values exist where.
class Verifier {
 public:
  explicit Verifier(const TileProgram& program) : program_(program), defined_(program.values.size(), State::Never) {}

  void run() {
    sizes();
    declarations();
    body(program_.body);
    for (size_t i = 0; i < defined_.size(); ++i) {
      require(defined_[i] != State::Never, "every value has a definition", program_.values[i].name);
    }
    require(stored_.contains(TensorId::O), "O is stored", "no store");
  }

  void operator()(const Stage& s) {
    require(s.tensor != TensorId::O && s.tensor != TensorId::Lse, "stages read Q, K or V");
    require(s.tensor == TensorId::Q || in_loop_, "keys are staged inside a key loop");
    require(std::isfinite(s.factor), "stage factors are finite");
    define(s.out);
    require(info(s.out).kind == ValueKind::Tile, "stages make tiles");
    shape(s.out, s.tensor == TensorId::Q ? Extent::BlockRows : Extent::StepKeys,
          s.tensor == TensorId::V ? Extent::ValueDim : Extent::HeadDim);
  }
  void operator()(const Fill& s) {
    require(!std::isnan(s.value), "fill values are numbers");
    define(s.out);
    computed(s.out);
  }
  void operator()(const Mma& s) {
    use(s.lhs), use(s.rhs);
    const ValueInfo &lhs = info(s.lhs), &rhs = info(s.rhs);
    require(lhs.kind != ValueKind::Row && rhs.kind == ValueKind::Tile, "mma contracts a tile or fragment with a tile");
    require(lhs.cols == (s.rhs_transposed ? rhs.cols : rhs.rows), "mma contracts equal extents");
    if (s.accumulate != kNoValue) {
      use(s.accumulate);
      require(info(s.accumulate).kind == ValueKind::Fragment, "mma accumulates a fragment");
      shape(s.accumulate, lhs.rows, s.rhs_transposed ? rhs.rows : rhs.cols);
    }
    if (s.live) {
      require(lhs.cols == Extent::StepKeys, "live needs a contraction over keys");
      predicate(s.live);
    }
    define(s.out);
    require(info(s.out).kind == ValueKind::Fragment, "mma makes fragments");
    shape(s.out, lhs.rows, s.rhs_transposed ? rhs.rows : rhs.cols);
  }
  void operator()(const Map& s) {
    for (ValueId input : s.inputs) use(input);
    define(s.out);
    computed(s.out);
    for (ValueId input : s.inputs) map_input(input, s.out);
    require(s.expr && s.expr->type == Type::Real, "maps have Real expressions");
    names(s.expr, kCoordinates);
    require(info(s.out).cols == Extent::StepKeys || !mentions(s.expr, "k"), "only fragments over keys know k");
    arguments(s.expr, s.inputs.size());
    if (!s.only_partial) return;
    require(in_loop_ && !s.inputs.empty() && info(s.inputs[0]).kind == info(s.out).kind, "partial maps pass their first input on");
  }
  void operator()(const RowReduce& s) {
    use(s.in);
    define(s.out);
    require(info(s.in).kind == ValueKind::Fragment && info(s.out).kind == ValueKind::Row, "reductions turn fragments into rows");
    require(info(s.in).rows == info(s.out).rows, "reductions keep the rows");
  }
  void operator()(const KeyLoop& s) {
    require(!in_loop_, "key loops do not nest");
    source(s);
    for (const Carried& c : s.carried) use(c.init);
    const std::vector<State> outside = defined_;
    in_loop_ = true;
    for (const Carried& c : s.carried) define(c.inner);
    body(s.body);
    for (const Carried& c : s.carried) carried(c, outside);
    in_loop_ = false;
    for (size_t i = 0; i < defined_.size(); ++i) {
      if (defined_[i] == State::Live && outside[i] != State::Live) defined_[i] = State::Left;
    }
    for (const Carried& c : s.carried) define(c.out);
  }
  void operator()(const StoreValues& s) {
    require(in_loop_, "values are stored inside a key loop");
    use(s.in);
    require(info(s.in).kind == ValueKind::Fragment, "values are stored from a fragment");
    shape(s.in, Extent::BlockRows, Extent::StepKeys);
    slots(s.slot, s.allowed);
  }
  void operator()(const LoadValues& s) {
    require(in_loop_, "values are loaded inside a key loop");
    define(s.out);
    require(info(s.out).kind == ValueKind::Fragment, "values are loaded into a fragment");
    shape(s.out, Extent::BlockRows, Extent::StepKeys);
    slots(s.slot, s.allowed);
  }
  void operator()(const SoftmaxValues& s) {
    require(!in_loop_, "the softmax of values stands outside of the loops");
    define(s.lse);
    require(info(s.lse).kind == ValueKind::Row, "the LSE of values is a row");
    require(s.count && s.count->type == Type::Int && int_only(s.count), "counts are Int");
    names(s.count, kCoordinates);
    require(!mentions(s.count, "k"), "counts belong to rows");
  }
  void operator()(const Store& s) {
    require(!in_loop_, "stores stand after the loops");
    use(s.in);
    require(stored_.insert(s.tensor).second, "each result is stored once");
    if (s.tensor == TensorId::O) {
      require(info(s.in).kind == ValueKind::Fragment, "O is stored from a fragment");
      shape(s.in, Extent::BlockRows, Extent::ValueDim);
    } else {
      require(s.tensor == TensorId::Lse && info(s.in).kind == ValueKind::Row, "LSE is stored from a row");
    }
  }

 private:
  enum class State { Never, Live, Left };  ///< Left: its loop body has ended.

  [[noreturn]] void broken(const std::string& rule, const std::string& detail) const {
    throw InternalError("tile verifier", fmt::format("program \"{}\": {}: broken by {}{}", program_.name, rule,
                                                     path_.empty() ? "the header" : "statement " + path_,
                                                     detail.empty() ? "" : " (" + detail + ")"));
  }
  void require(bool holds, const std::string& rule, const std::string& detail = {}) const {
    if (!holds) broken(rule, detail);
  }

  void sizes() const {
    const TileProgram& p = program_;
    require(p.tile_rows > 0 && p.tile_keys > 0, "tile sizes are positive");
    require(p.head_dim > 0 && p.value_dim > 0, "head dims are positive");
    require(support::is_operand_type(p.dtype), "tensors are float32, bfloat16 or float16");
    require(p.keys_per_step >= p.tile_keys, "a step holds a tile");
  }
  void declarations() const {
    Names seen;
    for (const ValueInfo& value : program_.values) {
      require(!value.name.empty() && seen.insert(value.name).second, "value names are unique", value.name);
      require(value.kind != ValueKind::Row || (value.rows == Extent::BlockRows && value.cols == Extent::One),
              "rows hold one value a block row", value.name);
      require(value.kind != ValueKind::Fragment || value.rows == Extent::BlockRows, "fragments hold block rows", value.name);
    }
  }
  void body(const Body& statements) {
    const std::string outer = path_;
    bool stores = false;
    for (size_t i = 0; i < statements.size(); ++i) {
      static constexpr const char* kNames[] = {
#define X(name) #name,
          HEDDLE_TILE_STATEMENTS(X)
#undef X
      };
      path_ = fmt::format("{}{}{} {}", outer, outer.empty() ? "" : " / ", i + 1, kNames[statements[i].op.index()]);
      const bool is_store = std::holds_alternative<Store>(statements[i].op);
      require(is_store || !stores, "stores come last");
      stores = stores || is_store;
      std::visit(*this, statements[i].op);
    }
    path_ = outer;
  }

  const ValueInfo& info(ValueId id) const { return program_.values[static_cast<size_t>(id)]; }
  State& state(ValueId id) {
    require(id >= 0 && static_cast<size_t>(id) < defined_.size(), "values are declared", fmt::format("value {}", id));
    return defined_[static_cast<size_t>(id)];
  }
  void define(ValueId id) {
    require(state(id) == State::Never, "each value is defined once", info(id).name);
    state(id) = State::Live;
  }
  void use(ValueId id) {
    const State found = state(id);
    require(found != State::Never, "values are defined before use", info(id).name);
    require(found == State::Live, "values of a loop body stay inside it", info(id).name);
  }
  void shape(ValueId id, Extent rows, Extent cols) const {
    require(info(id).rows == rows && info(id).cols == cols, "extents fit the use", info(id).name);
  }
  void computed(ValueId id) const { require(info(id).kind != ValueKind::Tile, "only stages make tiles", info(id).name); }

  void map_input(ValueId input, ValueId out) const {
    computed(input);
    require(info(out).kind == ValueKind::Fragment || info(input).kind == ValueKind::Row, "row maps read rows only",
            info(input).name);
    if (info(input).kind == ValueKind::Fragment) shape(input, info(out).rows, info(out).cols);
  }
  void arguments(const Expr& expr, size_t inputs) const {
    if (expr->op == Op::Arg) {
      const bool known = expr->integer >= 0 && static_cast<size_t>(expr->integer) < inputs && expr->type == Type::Real;
      require(known, "arguments name inputs", fmt::format("argument {}", expr->integer));
    }
    for (const Expr& operand : expr->operands) arguments(operand, inputs);
  }
  void names(const Expr& expr, const Names& known) const {
    for (const std::string& name : variables(expr)) require(known.contains(name), "free names are known", name);
    for (const auto& [name, type] : parameters(expr)) {
      const std::vector<std::string>& list = type == Type::Real ? program_.real_params : program_.int_params;
      require(std::find(list.begin(), list.end(), name) != list.end(), "parameters are declared", name);
    }
    for (const auto& [name, use] : tables(expr)) {
      require(std::find(program_.tables.begin(), program_.tables.end(), use) != program_.tables.end(), "tables are declared", name);
    }
  }
  void predicate(const Expr& expr) const {
    require(expr->type == Type::Bool && int_only(expr), "masks are Bool over Ints");
    names(expr, kCoordinates);
    arguments(expr, 0);
  }

  void slots(const Expr& slot, const Expr& allowed) const {
    require(slot && slot->type == Type::Int && int_only(slot), "slots are Int");
    names(slot, kCoordinates);
    if (allowed) predicate(allowed);
  }

  void source(const KeyLoop& s) const {
    const bool empty = s.full.pieces.empty() && s.partial.pieces.empty();
    if (s.source != LoopSource::Nest) {
      require(s.predicate && empty, "tested and listed loops have a predicate and no nests");
      predicate(s.predicate);
      return;
    }
    require(!s.predicate, "nest loops have no predicate");
    for (const LoopNest* nest : {&s.full, &s.partial}) {
      for (const NestPiece& piece : nest->pieces) nest_piece(piece);
    }
  }
  void nest_expr(const Expr& expr, Type type, const Names& known) const {
    require(expr && expr->type == type && int_only(expr), "nests are made of Int and Bool expressions");
    names(expr, known);
  }
  void nest_piece(const NestPiece& piece) const {
    Names known = kBlockNames;
    for (const Expr& guard : piece.guards) nest_expr(guard, Type::Bool, known);
    for (const Loop& loop : piece.loops) {
      require(!loop.lower.empty() && !loop.upper.empty(), "nest loops are bounded", loop.variable);
      require(loop.stride >= 1 && (loop.stride == 1 || loop.offset), "strided nest loops have an offset", loop.variable);
      for (const Expr& bound : loop.lower) nest_expr(bound, Type::Int, known);
      for (const Expr& bound : loop.upper) nest_expr(bound, Type::Int, known);
      if (loop.offset) nest_expr(loop.offset, Type::Int, known);
      require(known.insert(loop.variable).second, "loop variables are new names", loop.variable);
    }
    for (const Expr& guard : piece.inner) nest_expr(guard, Type::Bool, known);
    nest_expr(piece.value, Type::Int, known);
  }
  void carried(const Carried& c, const std::vector<State>& outside) {
    use(c.yield);
    require(outside[static_cast<size_t>(c.yield)] != State::Live, "carried values are made in the body", info(c.yield).name);
    state(c.out);
    for (ValueId id : {c.inner, c.yield, c.out}) {
      require(info(id).kind == info(c.init).kind, "carried values keep their kind", info(id).name);
      shape(id, info(c.init).rows, info(c.init).cols);
    }
  }

  const TileProgram& program_;
  std::vector<State> defined_;
  std::set<TensorId> stored_;
  std::string path_;
  bool in_loop_ = false;
};

}  // namespace

void verify(const TileProgram& program) { Verifier(program).run(); }

}  // namespace heddle::ir
