// Masks of neighbourhood attention against their definition, position by position, and messages of axes that are too small.
#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/error.h"
#include "heddle/formula.h"
#include "heddle/graph.h"
#include "src/ir/evaluate.h"
#include "src/ir/graph.h"

namespace heddle {
namespace {

using Axes = std::vector<NeighbourhoodAxis>;

/// Keys of a query on one axis: the places of its residue, from the window's clamped first one on.
bool attends(int64_t query, int64_t key, const NeighbourhoodAxis& axis) {
  std::vector<int64_t> places;
  for (int64_t x = query % axis.dilation; x < axis.extent; x += axis.dilation) places.push_back(x);
  const auto count = static_cast<int64_t>(places.size());
  const int64_t own = query / axis.dilation, first = std::min(std::max<int64_t>(own - axis.window / 2, 0), count - axis.window);
  return std::find(places.begin() + first, places.begin() + first + axis.window, key) != places.begin() + first + axis.window;
}

bool attends(int64_t query, int64_t key, const Axes& axes) {
  for (size_t i = axes.size(); i-- > 0;) {
    if (!attends(query % axes[i].extent, key % axes[i].extent, axes[i])) return false;
    query /= axes[i].extent, key /= axes[i].extent;
  }
  return true;
}

void expect_as_defined(const Axes& axes) {
  int64_t size = 1, window = 1;
  for (const NeighbourhoodAxis& axis : axes) size *= axis.extent, window *= axis.window;
  const Mask mask = Mask::neighbourhood(axes);
  const ir::CompiledExpr compiled(mask.node(), {"q", "k"});
  for (int64_t q = 0; q < size; ++q) {
    int64_t allowed = 0;
    for (int64_t k = 0; k < size; ++k) {
      const int64_t at[] = {q, k};
      const bool takes_part = compiled.run_int(at) != 0;
      ASSERT_EQ(takes_part, attends(q, k, axes)) << mask.text() << " at " << q << ", " << k;
      allowed += takes_part;
    }
    ASSERT_EQ(allowed, window) << mask.text() << " at " << q;
  }
}

TEST(Neighbourhood, OnOneAxisIsItsDefinition) {
  for (int64_t dilation = 1; dilation <= 4; ++dilation) {
    for (int64_t window = 1; window <= 6; ++window) {
      for (const int64_t more : {0, 1, 2, 5, 13}) expect_as_defined({{window * dilation + more, window, dilation}});
    }
  }
}

TEST(Neighbourhood, OnGridsIsTheProductOfItsAxes) {
  expect_as_defined({{7, 3}, {9, 5}});
  expect_as_defined({{12, 3, 2}, {7, 4}});
  expect_as_defined({{1, 1}, {11, 5, 2}});
  expect_as_defined({{4, 2}, {5, 3}, {6, 3, 2}});
}

TEST(Neighbourhood, IsTheFormulaOneWouldWrite) {
  EXPECT_EQ(Mask::neighbourhood({{512, 13}}).text(), "abs(min(max(q, 6), 505) - k) <= 6");
  EXPECT_EQ(Mask::neighbourhood({{64, 13}, {64, 13}}).text(),
            "abs(min(max(q / 64, 6), 57) - k / 64) <= 6 && abs(min(max(q % 64, 6), 57) - k % 64) <= 6");
  EXPECT_EQ(Mask::parse(Mask::neighbourhood({{20, 4, 3}}).text()).text(), Mask::neighbourhood({{20, 4, 3}}).text());
}

std::string message_of(const Axes& axes) {
  try {
    Mask::neighbourhood(axes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Neighbourhood, R112_TheMessageStatesTheRule) {
  EXPECT_EQ(message_of({{20, 7, 4}}), "axis 20 is smaller than window 7 x dilation 4 = 28\nhint: use a window of at most 5, or a smaller dilation");
  EXPECT_EQ(message_of({{64, 7}, {6, 7}}), "axis 6 is smaller than window 7\nhint: use a window of at most 6, or a smaller dilation");
  EXPECT_EQ(message_of({{28, 7, 4}}), "no error");
}

TEST(Neighbourhood, WrongSizesAreRefused) {
  EXPECT_EQ(message_of({}), "a neighbourhood of 0 axes; expected 1 to 3");
  EXPECT_EQ(message_of({{3, 1}, {3, 1}, {3, 1}, {3, 1}}), "a neighbourhood of 4 axes; expected 1 to 3");
  EXPECT_EQ(message_of({{0, 1}}), "axis 0: expected an extent of 1 to 1073741824");
  EXPECT_EQ(message_of({{8, 0}}), "axis 8: the window is 0; expected 1 or more");
  EXPECT_EQ(message_of({{8, 3, -1}}), "axis 8: the dilation is -1; expected 1 or more");
  EXPECT_NE(message_of({{8, INT64_MAX, 2}}).find("axis 8 is smaller than window"), std::string::npos);
  EXPECT_NE(message_of({{1 << 20, 3}, {1 << 20, 3}}).find("expected at most 1073741824"), std::string::npos);
}

std::string spec_with(const std::string& mask) {
  return R"({"heddle": 1, "dims": {"W": 20}, "masks": {"near": )" + mask +
         R"(}, "inputs": [{"name": "x", "shape": [1, "W * 8", 16]}], "nodes": [{"op": "Attention", "inputs": ["x", "x", "x"],
         "outputs": ["y"], "attrs": {"mask": "near", "q_num_heads": 1, "kv_num_heads": 1}}], "outputs": ["y"]})";
}

TEST(Neighbourhood, MayBeNamedInASpec) {
  const Spec spec = Spec::parse(spec_with(R"({"neighbourhood": [{"extent": 8, "window": 3}, {"extent": "W", "window": 5, "dilation": 2}]})"));
  EXPECT_TRUE(ir::equal(spec.graph().nodes[0].mask, Mask::neighbourhood({{8, 3}, {20, 5, 2}}).node()));
  const auto refusal = [](const std::string& mask) -> std::string {
    try {
      Spec::parse(spec_with(mask));
    } catch (const UserError& error) {
      return error.message();
    }
    return "no error";
  };
  EXPECT_EQ(refusal(R"({"neighbourhood": [{"extent": "W", "window": 7, "dilation": 4}]})"),
            "/masks/near/neighbourhood: axis 20 is smaller than window 7 x dilation 4 = 28");
  EXPECT_EQ(refusal(R"({"neighbourhood": [{"extent": 8, "window": 3}], "formula": "k <= q"})"),
            "/masks/near: expected one of \"formula\" and \"neighbourhood\"");
}

}  // namespace
}  // namespace heddle
