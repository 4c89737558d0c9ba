// The choices that the grid of emitted kernels is drawn from: masks and scores with values of their parameters, sizes, options.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "test/codegen/emitted_kernel.h"
#include "test/codegen/launch_data.h"
#include "test/codegen/pair_cover.h"

namespace heddle::test {

/// A formula and, for each dynamic parameter, the values it is launched with.
struct GridFormula {
  std::string text;
  std::map<std::string, std::vector<int64_t>> ints{};
  std::map<std::string, std::vector<double>> reals{};
  double bar = 1;  ///< How much the formula enlarges the rounding of scores, as a factor of the accuracy bar.
};

inline const std::vector<GridFormula>& grid_masks() {
  static const std::string natten =
      "k / 16 >= max(0, min(q / 16 - 2, Sk / 16 - 5)) && k / 16 < max(0, min(q / 16 - 2, Sk / 16 - 5)) + 5 && "
      "k % 16 >= max(0, min(q % 16 - 2, 11)) && k % 16 < max(0, min(q % 16 - 2, 11)) + 5";
  static const std::string shifted =
      "q / 28 / 7 == k / 28 / 7 && q % 28 / 7 == k % 28 / 7 && "
      "(q / 28 < 21 ? 0 : (q / 28 < 25 ? 1 : 2)) == (k / 28 < 21 ? 0 : (k / 28 < 25 ? 1 : 2)) && "
      "(q % 28 < 21 ? 0 : (q % 28 < 25 ? 1 : 2)) == (k % 28 < 21 ? 0 : (k % 28 < 25 ? 1 : 2))";
  static const std::vector<int64_t> shifts = {0, 5, -7, int64_t{1} << 40, -(int64_t{1} << 40)};
  static const std::vector<GridFormula> masks = {
      {""},
      {"k <= q"},
      {"k <= q + (Sk - Sq)"},
      {"k <= q && q - k < 37"},
      {"abs(q - k) <= 20"},
      {"k <= q && (q - k) % 7 == 0"},
      {"k <= q && (q / 16 == k / 16 || k % 16 >= 13)"},
      {"(q - k) % 3 == 0 && abs(q - k) <= 40"},
      {"k <= q || k < 11"},
      {"k <= q && (q - k < 29 || k < 4)"},
      {"k >= max(0, min(q - 6, Sk - 13)) && k < max(0, min(q - 6, Sk - 13)) + 13"},
      {natten},
      {shifted},
      {"q / 24 == k / 24"},
      {"q < 0"},
      {"k == q"},
      {"k == q + 5"},
      {"q + k == Sk - 1"},
      {"k <= q && q - k < 8 * (h + 1)"},
      {"b % 2 == 0 ? k <= q : k > q"},
      {"h % 2 == 0 || k < Hkv * 16 + b"},
      {"k <= q + off && q + off - k < w", {{"off", shifts}, {"w", {16, 1, -3, 200, int64_t{1} << 33}}}},
      {"abs(q - k) <= w || k < g || q < g", {{"w", {0, 9, -1, 64, 1 << 20}}, {"g", {0, 3, -5, 17, 1000}}}},
      {"q / m == k / m && (q - k) % n >= 0",
       {{"m", {1, 7, 0, -16, int64_t{1} << 35}}, {"n", {1, 0, -3, 5, -(int64_t{1} << 31)}}}},
      {"q * k % 7 == 0"},
      {"k % (q % 3) != 1"},
      {"q * 123456789 * (k + 1) % 1000003 < 500000"},
      {"q * q * q * p - k * k * k * p < c",
       {{"p", {1, -1, 40000, 0, 1 << 30}}, {"c", {0, 1, -1, int64_t{1} << 40, -(int64_t{1} << 40)}}}},
      {"(q * p + k) % 5 != 0 || k == q", {{"p", {0, INT64_MAX, INT64_MIN, int64_t{1} << 62, -3}}}},
      {"max(q, k) % 5 != 0 && min(q, 2 * k) < 300 && !(k % -5 == -2)"},
      {"k / 32 <= q / 32 ? (q + k) % 2 == 0 : q % 48 == 3"},
  };
  return masks;
}

inline const std::vector<GridFormula>& grid_scores() {
  static const std::vector<GridFormula> scores = {
      {""},
      {"s - 0.25 * exp(-0.35 * (h + 1)) * abs(q - k)", {}, {}, 8},
      {"exp(0.5 * s) + log(abs(s) + 0.5)", {}, {}, 4},
      {"sqrt(abs(s) + 0.25) / (1.0 + sigmoid(s)) + min(s, 0.5) - clamp(s * s, 0.1, 2.0)", {}, {}, 4},
      {"q - k > 3 || k % 4 == 1 ? s : 0.5 * s - 1.0"},
      {"slope * s - bias * abs(q - k + 1)", {}, {{"slope", {1, 0, -0.5, 2, 1e-3}}, {"bias", {0, 0.01, 1, -0.02, 1e-30}}}, 16},
      {"s - 0.1 * min(abs(q - k - off), cap)",
       {{"off", {0, 3, -40, int64_t{1} << 33, -(int64_t{1} << 40)}}, {"cap", {10, 1, 0, 30, -2}}},
       {},
       2},
      {"softcap(s, 2.5) + (k % 3) * 0.25 - (b * 7 + h) / 4.0 + s / (1.0 + (q / 8) % 5)", {}, {}, 4},
  };
  return scores;
}

inline const std::vector<int64_t> kHeadDims = {1, 3, 16, 24, 40, 41, 64, 80, 128, 200, 256};
inline const std::vector<int64_t> kValueDims = {0, 1, 8, 33, 64, 100, 256};  ///< 0: as the head dim.
inline const std::vector<int64_t> kVectorsOfRows = {0, 1, 2, 3, 8};          ///< 0: the planner decides.

struct GridLengths {
  int64_t sq, sk;
};
inline const std::vector<GridLengths> kGridLengths = {
    {0, 0},     {0, 7},       {5, 0},    {1, 1},  {15, 15},  {16, 16},  {17, 17},  {63, 63},  {64, 64},  {65, 65},   {100, 100},
    {333, 333}, {1000, 1000}, {1, 1000}, {1, 17}, {1000, 1}, {17, 100}, {100, 17}, {64, 333}, {333, 64}, {65, 1000}, {16, 65}};

struct GridHeads {
  int64_t batch, heads, kv_heads;
};
inline const std::vector<GridHeads> kGridHeads = {{1, 1, 1}, {2, 2, 2}, {1, 4, 2}, {2, 6, 1}, {3, 3, 3}};

template <typename T>
const T& pick(const std::vector<T>& list, int i) {
  return list.at(static_cast<size_t>(i) % list.size());
}
int count(const auto& list) { return static_cast<int>(list.size()); }

/// All launches of one kernel: rows that agree in what is compiled.
using KernelRows = std::vector<PairCover::Row>;

/// Kernels for every pair of the choices `compiled`, then launches of them until every pair of choices occurs.
inline std::vector<KernelRows> make_grid(PairCover& cover, const std::vector<size_t>& compiled) {
  std::vector<KernelRows> grid;
  const std::vector<PairCover::Row> kernels = cover.rows(compiled);
  for (const PairCover::Row& kernel : kernels) grid.push_back({cover.complete(kernel)});
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (cover.promise(kernels[i]) == 0) continue;
      const int64_t before = cover.missing();
      grid[i].push_back(cover.complete(kernels[i]));
      more = more || cover.missing() < before;
    }
  }
  return grid;
}

/// A kernel of formulas and dims; `value_dim` 0: as the head dim.
inline KernelSpec grid_spec(const GridFormula& mask, const GridFormula& score, int64_t head_dim, int64_t value_dim, const Target& target) {
  KernelSpec spec;
  spec.mask = mask.text, spec.score = score.text;
  spec.head_dim = head_dim, spec.value_dim = value_dim == 0 ? head_dim : value_dim;
  spec.target = target;
  for (const GridFormula* formula : {&mask, &score}) {
    for (const auto& [name, values] : formula->ints) spec.ints.push_back(name);
    for (const auto& [name, values] : formula->reals) spec.reals.push_back(name);
  }
  return spec;
}

/// Where and on what a kernel of the grid is launched; parameters take their values number `value`.
struct GridLaunch {
  GridHeads heads;
  GridLengths lengths;
  Layout layout;
  int value;
  uint64_t seed;
};
inline Launch launch_of(const KernelSpec& spec, const GridFormula& mask, const GridFormula& score, const GridLaunch& at) {
  Launch launch;
  launch.batch = at.heads.batch, launch.heads = at.heads.heads, launch.kv_heads = at.heads.kv_heads;
  launch.sq = at.lengths.sq, launch.sk = at.lengths.sk;
  launch.head_dim = spec.head_dim, launch.value_dim = spec.value_dim;
  launch.layout = at.layout;
  launch.rim = at.seed % 2 == 0 ? Rim::End : Rim::Begin;
  launch.seed = at.seed;
  const ir::ParameterOrder order = ir::parameter_order(problem_of(spec));
  for (const std::string& name : order.ints) {
    launch.ints.push_back(pick(mask.ints.contains(name) ? mask.ints.at(name) : score.ints.at(name), at.value));
  }
  for (const std::string& name : order.reals) launch.reals.push_back(pick(score.reals.at(name), at.value));
  return launch;
}

}  // namespace heddle::test
