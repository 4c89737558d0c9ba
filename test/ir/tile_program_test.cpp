// The tile verifier refuses every kind of broken program by the name of its rule; the printer shows every statement.
#include "src/ir/tile_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <ostream>

#include "heddle/error.h"

namespace heddle::ir {
namespace {

Expr real_arg(int index) { return arg(index, Type::Real); }
Expr causal() { return make(Op::Le, {var("k"), var("q")}); }

enum Id { kQ, kM, kO, kMIn, kOIn, kK, kS, kMasked, kMNext, kV, kONext, kMOut, kOOut };

LoopNest all_tiles() {
  return {{{{}, {{"kb", {int_const(0)}, {make(Op::Sub, {var("NK"), int_const(1)})}, 1, nullptr}}, {}, var("kb")}}};
}

KeyLoop key_loop() {
  KeyLoop loop;
  loop.source = LoopSource::Nest;
  loop.partial = all_tiles();
  loop.carried = {{kM, kMIn, kMNext, kMOut}, {kO, kOIn, kONext, kOOut}};
  const Expr minus_infinity = real_const(-std::numeric_limits<double>::infinity());
  loop.body.push_back({Stage{kK, TensorId::K}});
  loop.body.push_back({Mma{kS, kQ, kK, true, kNoValue, nullptr}});
  loop.body.push_back({Map{kMasked, {kS}, make(Op::Select, {causal(), real_arg(0), minus_infinity}), true}});
  loop.body.push_back({RowReduce{kMNext, kMasked, Reduction::Max}});
  loop.body.push_back({Stage{kV, TensorId::V}});
  loop.body.push_back({Mma{kONext, kMasked, kV, false, kOIn, causal()}});
  return loop;
}

/// A small program with every statement: the sum of masked scores times V, and the last step's row maximum.
TileProgram program() {
  TileProgram p;
  p.name = "example";
  p.int_params = {"width"};
  const auto row = [](const char* name) { return ValueInfo{ValueKind::Row, Extent::BlockRows, Extent::One, name}; };
  const auto fragment = [](const char* name, Extent cols) { return ValueInfo{ValueKind::Fragment, Extent::BlockRows, cols, name}; };
  const auto tile = [](const char* name, Extent rows, Extent cols) { return ValueInfo{ValueKind::Tile, rows, cols, name}; };
  p.values = {tile("q", Extent::BlockRows, Extent::HeadDim), row("m"), fragment("o", Extent::ValueDim), row("m_in"),
              fragment("o_in", Extent::ValueDim), tile("k", Extent::StepKeys, Extent::HeadDim), fragment("s", Extent::StepKeys),
              fragment("masked", Extent::StepKeys), row("m_next"), tile("v", Extent::StepKeys, Extent::ValueDim),
              fragment("o_next", Extent::ValueDim), row("m_out"), fragment("o_out", Extent::ValueDim)};
  p.body.push_back({Stage{kQ, TensorId::Q, true}});
  p.body.push_back({Fill{kM, 0}});
  p.body.push_back({Fill{kO, 0}});
  p.body.push_back({key_loop()});
  p.body.push_back({Store{TensorId::O, kOOut}});
  p.body.push_back({Store{TensorId::Lse, kMOut}});
  return p;
}

KeyLoop& loop_of(TileProgram& p) { return std::get<KeyLoop>(p.body[3].op); }
template <typename T>
T& in_loop(TileProgram& p, size_t index) {
  return std::get<T>(loop_of(p).body[index].op);
}

struct Broken {
  const char* rule;
  std::function<void(TileProgram&)> breakage;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.rule; }

class TileVerifier : public testing::TestWithParam<Broken> {};

TEST_P(TileVerifier, RefusesNamingTheRule) {
  TileProgram p = program();
  GetParam().breakage(p);
  try {
    verify(p);
    FAIL() << "accepted, though broken: " << GetParam().rule;
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().rule), std::string::npos) << error.what();
  }
}

const Broken kBroken[] = {
    {"tile sizes are positive", [](TileProgram& p) { p.tile_rows = 0; }},
    {"head dims are positive", [](TileProgram& p) { p.value_dim = -1; }},
    {"a step holds a tile", [](TileProgram& p) { p.keys_per_step = p.tile_keys - 1; }},
    {"value names are unique", [](TileProgram& p) { p.values[kS].name = "q"; }},
    {"value names are unique", [](TileProgram& p) { p.values[kS].name.clear(); }},
    {"rows hold one value a block row", [](TileProgram& p) { p.values[kM].cols = Extent::StepKeys; }},
    {"fragments hold block rows", [](TileProgram& p) { p.values[kO].rows = Extent::StepKeys; }},
    {"every value has a definition", [](TileProgram& p) { p.values.push_back({ValueKind::Row, Extent::BlockRows, Extent::One, "x"}); }},
    {"each value is defined once", [](TileProgram& p) { p.body.insert(p.body.begin(), {Fill{kM, 1}}); }},
    {"values are declared", [](TileProgram& p) { std::get<Fill>(p.body[1].op).out = 99; }},
    {"values are defined before use", [](TileProgram& p) { in_loop<Mma>(p, 1).rhs = kV; }},
    {"values of a loop body stay inside it", [](TileProgram& p) { std::get<Store>(p.body[5].op).in = kMNext; }},
    {"O is stored", [](TileProgram& p) { p.body.erase(p.body.begin() + 4); }},
    {"each result is stored once", [](TileProgram& p) { p.body.push_back({Store{TensorId::Lse, kMOut}}); }},
    {"stores come last", [](TileProgram& p) { std::swap(p.body[4], p.body[5]), p.body.push_back({Fill{kM, 0}}); }},
    {"stores stand after the loops", [](TileProgram& p) { loop_of(p).body.push_back({Store{TensorId::O, kONext}}); }},
    {"O is stored from a fragment", [](TileProgram& p) { std::get<Store>(p.body[4].op).in = kMOut; }},
    {"LSE is stored from a row", [](TileProgram& p) { std::get<Store>(p.body[5].op).in = kOOut; }},
    {"LSE is stored from a row", [](TileProgram& p) { std::get<Store>(p.body[5].op).tensor = TensorId::K; }},
    {"stages read Q, K or V", [](TileProgram& p) { std::get<Stage>(p.body[0].op).tensor = TensorId::O; }},
    {"keys are staged inside a key loop", [](TileProgram& p) { std::get<Stage>(p.body[0].op).tensor = TensorId::K; }},
    {"stage factors are finite", [](TileProgram& p) { std::get<Stage>(p.body[0].op).factor = std::numeric_limits<double>::infinity(); }},
    {"extents fit the use", [](TileProgram& p) { in_loop<Stage>(p, 0).tensor = TensorId::V; }},
    {"stages make tiles", [](TileProgram& p) { p.values[kK].kind = ValueKind::Fragment, p.values[kK].rows = Extent::BlockRows; }},
    {"fill values are numbers", [](TileProgram& p) { std::get<Fill>(p.body[1].op).value = std::nan(""); }},
    {"only stages make tiles", [](TileProgram& p) { p.values[kM].kind = ValueKind::Tile; }},
    {"mma contracts a tile or fragment with a tile", [](TileProgram& p) { in_loop<Mma>(p, 1).rhs = kMIn; }},
    {"mma contracts equal extents", [](TileProgram& p) { in_loop<Mma>(p, 1).rhs_transposed = false; }},
    {"mma accumulates a fragment", [](TileProgram& p) { in_loop<Mma>(p, 5).accumulate = kMIn; }},
    {"extents fit the use", [](TileProgram& p) { in_loop<Mma>(p, 5).accumulate = kMasked; }},
    {"live needs a contraction over keys", [](TileProgram& p) { in_loop<Mma>(p, 1).live = causal(); }},
    {"masks are Bool over Ints", [](TileProgram& p) { in_loop<Mma>(p, 5).live = make(Op::Lt, {real_const(1), real_const(2)}); }},
    {"masks are Bool over Ints", [](TileProgram& p) { in_loop<Mma>(p, 5).live = var("k"); }},
    {"free names are known", [](TileProgram& p) { in_loop<Mma>(p, 5).live = make(Op::Le, {var("kb"), var("q")}); }},
    {"parameters are declared",
     [](TileProgram& p) { in_loop<Mma>(p, 5).live = make(Op::Le, {param("height", Type::Int), var("q")}); }},
    {"maps have Real expressions", [](TileProgram& p) { in_loop<Map>(p, 2).expr = var("q"); }},
    {"arguments name inputs", [](TileProgram& p) { in_loop<Map>(p, 2).expr = real_arg(1); }},
    {"row maps read rows only", [](TileProgram& p) { p.values[kMasked] = {ValueKind::Row, Extent::BlockRows, Extent::One, "masked"}; }},
    {"partial maps pass their first input on", [](TileProgram& p) { in_loop<Map>(p, 2).inputs = {kMIn}; }},
    {"only fragments over keys know k",
     [](TileProgram& p) {
       p.values.push_back({ValueKind::Row, Extent::BlockRows, Extent::One, "x"});
       p.body.insert(p.body.begin() + 2, {Map{13, {kM}, make(Op::ToReal, {var("k")})}});
     }},
    {"reductions turn fragments into rows", [](TileProgram& p) { in_loop<RowReduce>(p, 3).in = kMIn; }},
    {"key loops do not nest", [](TileProgram& p) { loop_of(p).body.push_back({key_loop()}); }},
    {"tested and listed loops have a predicate and no nests", [](TileProgram& p) { loop_of(p).source = LoopSource::Tested; }},
    {"nest loops have no predicate", [](TileProgram& p) { loop_of(p).predicate = causal(); }},
    {"nest loops are bounded", [](TileProgram& p) { loop_of(p).partial.pieces[0].loops[0].upper.clear(); }},
    {"strided nest loops have an offset", [](TileProgram& p) { loop_of(p).partial.pieces[0].loops[0].stride = 2; }},
    {"loop variables are new names", [](TileProgram& p) { loop_of(p).partial.pieces[0].loops[0].variable = "qb"; }},
    {"nests are made of Int and Bool expressions", [](TileProgram& p) { loop_of(p).partial.pieces[0].inner = {var("kb")}; }},
    {"free names are known", [](TileProgram& p) { loop_of(p).partial.pieces[0].value = var("k"); }},
    {"carried values are made in the body", [](TileProgram& p) { loop_of(p).carried[0].yield = kM; }},
    {"carried values keep their kind", [](TileProgram& p) { loop_of(p).carried[0].yield = kMasked; }},
};

INSTANTIATE_TEST_SUITE_P(Rules, TileVerifier, testing::ValuesIn(kBroken));

TEST(TileProgram, TheExampleIsLegal) { EXPECT_NO_THROW(verify(program())); }

TEST(TileProgram, TextShowsEveryStatement) {
  const std::string text = print(program());
  for (const char* line : {"example: block of 32 rows, tiles of 16 keys, steps of 96 keys, head_dim 64, value_dim 64, parameters width",
                           "  q: tile[rows, head_dim] = stage Q[q] * scale\n", "  m: row[rows, 1] = fill 0\n",
                           "  keys carry(m_in = m, o_in = o):\n", "for (kb = 0; kb <= NK - 1; kb++)\n", "P(kb);\n",
                           "    s: fragment[rows, keys] = mma q . k^T\n",
                           "    masked: fragment[rows, keys] = in partial tiles k <= q ? s : -inf\n",
                           "    m_next: row[rows, 1] = max over keys of masked\n",
                           "    o_next: fragment[rows, value_dim] = mma masked . v + o_in live(k <= q)\n",
                           "    yield(m_out = m_next, o_out = o_next)\n", "  store O[q] = o_out\n", "  store LSE[q] = m_out\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  }
}

}  // namespace
}  // namespace heddle::ir
