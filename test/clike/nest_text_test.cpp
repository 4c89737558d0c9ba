// Loop nests as text visit what ir::visit visits, for nests that facts make and for nests of every form.
#include "src/codegen/clike/nest_text.h"

#include <algorithm>

#include "dsl/parser.h"
#include "src/plan/tile_facts.h"
#include "test/clike/host_library.h"

namespace heddle {
namespace {

using codegen::clike::ExprText;
using codegen::clike::TextWriter;

constexpr const char* kNames[] = {"qb", "NK", "NF", "b", "h", "B", "H", "Hkv", "Sq", "Sk", "w"};
using Visit = void(const long long* names, void (*visit)(void*, int), void* list);

ExprText leaves() {
  ExprText text;
  for (const char* name : kNames) {
    const bool parameter = std::string(name) == "w";
    text.define(name, {name, false, parameter ? 64 : 32, parameter ? ir::Interval{-(int64_t{1} << 40), int64_t{1} << 40} : ir::Interval{0, 1 << 30}});
  }
  return text;
}

std::string function(size_t number, const ir::LoopNest& nest, const std::string& last) {
  TextWriter out(1);
  codegen::clike::write_nest(out, nest, leaves(), "visit(list, {});", last);
  std::string text = fmt::format("extern \"C\" void run{}(const long long* names, void (*visit)(void*, int), void* list) {{\n", number);
  for (size_t i = 0; i < std::size(kNames); ++i) text += fmt::format("  const {} {} = names[{}];\n", std::string(kNames[i]) == "w" ? "i64" : "i32", kNames[i], i);
  return text + out.text() + "}\n";
}

std::vector<int64_t> sorted(std::vector<int64_t> tiles) {
  std::sort(tiles.begin(), tiles.end());
  return tiles;
}

/// Every nest at every row block of some lengths; with `last`, that number comes once more, behind all others.
void check(const std::vector<ir::LoopNest>& nests, bool with_last) {
  std::string text = "#define HD_LOOP\n";
  for (size_t i = 0; i < nests.size(); ++i) text += function(i, nests[i], with_last ? "NK" : "");
  const test::HostLibrary library(text);
  for (size_t i = 0; i < nests.size(); ++i) {
    auto* run = library.find<Visit>(fmt::format("run{}", i));
    ASSERT_NE(run, nullptr);
    for (const int64_t sk : {1, 64, 130, 700, 1024}) {
      for (int64_t qb = 0; qb < 14; ++qb) {
        const long long values[] = {qb, (sk + 63) / 64, sk / 64, 1, 2, 3, 4, 2, 900, sk, 200};
        std::map<std::string, int64_t> names;
        for (size_t n = 0; n < std::size(kNames); ++n) names[kNames[n]] = values[n];
        std::vector<int64_t> expected, actual;
        ir::visit(nests[i], names, [&](int64_t tile) { expected.push_back(tile); });
        if (with_last) expected.push_back(values[1]);
        run(values, [](void* list, int tile) { static_cast<std::vector<int64_t>*>(list)->push_back(tile); }, &actual);
        EXPECT_EQ(sorted(expected), sorted(actual)) << print(nests[i], "visit") << function(i, nests[i], with_last ? "NK" : "") << "qb " << qb << " Sk " << sk;
        if (with_last) {
          ASSERT_FALSE(actual.empty());
          EXPECT_EQ(actual.back(), values[1]);
        }
      }
    }
  }
}

std::vector<ir::LoopNest> nests_of_masks() {
  const std::vector<std::string> masks = {"k <= q", "q >= k && q - k < 256", "abs(q - k) <= 256 || k < 16 || q < 16", "(q - k) % 192 == 0 && k <= q",
                                          "abs(q / 32 - k / 32) <= 3 && abs(q % 32 - k % 32) <= 3", "h % 2 == 0 || k <= q + b", "k <= q && q - k < w",
                                          "abs(q / 512 - k / 512) <= 1 && abs(q % 512 - k % 512) <= 70", "q / 100 == k / 100", "k > q + 100"};
  plan::AnalysedFacts facts;
  std::vector<ir::LoopNest> nests;
  for (const std::string& mask : masks) {
    const auto tiles = facts.tiles(dsl::parse_formula(mask, {ir::Type::Bool, {{"w", Dynamic{false}}}, "mask"}), {64, 64});
    if (!tiles) {
      ADD_FAILURE() << "no tiles of " << mask;
      continue;
    }
    nests.push_back(tiles->full);
    nests.push_back(tiles->partial);
  }
  return nests;
}

/// Pieces of one and of two loops, with strides, offsets, conditions and values that are no variable.
std::vector<ir::LoopNest> nests_of_every_form() {
  const auto parse = [](const char* text) {
    ir::Expr parsed = dsl::parse_formula(text, {ir::Type::Int, {{"qb", Dynamic{false}}, {"NK", Dynamic{false}}, {"x", Dynamic{false}}, {"y", Dynamic{false}}}, "size"});
    return ir::substitute(parsed, [](const ir::ExprNode& leaf) -> ir::Expr { return leaf.op == ir::Op::Param ? ir::var(leaf.name) : nullptr; });
  };
  const ir::Expr small = ir::make(ir::Op::Lt, {parse("x + qb"), parse("NK")}), some = ir::make(ir::Op::Gt, {parse("qb"), parse("2")});
  const ir::Loop strided = {"x", {parse("qb"), parse("1")}, {parse("NK - 1"), parse("qb + 9")}, 3, parse("qb % 5")};
  const ir::Loop outer = {"y", {parse("0")}, {parse("qb / 4")}, 2, parse("1")};
  const ir::Loop inner = {"x", {parse("3 * y")}, {parse("3 * y + 1")}, 1, nullptr};
  const ir::NestPiece one = {{some}, {strided}, {}, parse("x")}, shifted = {{}, {strided}, {small}, parse("2 * x + 1")};
  const ir::NestPiece two = {{some}, {outer, inner}, {}, parse("x")}, digits = {{}, {outer, inner}, {small}, parse("16 * y + x")};
  return {{{one}}, {{shifted}}, {{two}}, {{digits}}, {{one, shifted}}, {{one, two}}, {{digits, two, shifted, one}}, {{}}};
}

TEST(NestText, NestsOfMasksVisitTheirTiles) {
  check(nests_of_masks(), false);
  check(nests_of_masks(), true);
}

TEST(NestText, NestsOfEveryFormVisitTheirTiles) {
  check(nests_of_every_form(), false);
  check(nests_of_every_form(), true);
}

TEST(NestText, OnePieceIsOneLoop) {
  TextWriter out;
  ir::LoopNest nest = {{{{}, {{"kb", {ir::int_const(0)}, {ir::var("qb")}, 1, nullptr}}, {}, ir::var("kb")}}};
  codegen::clike::write_nest(out, nest, leaves(), "visit({});");
  EXPECT_EQ(out.text(), "HD_LOOP\nfor (i32 kb = 0; kb <= qb; ++kb) {\n  visit(kb);\n}\n");
}

}  // namespace
}  // namespace heddle
