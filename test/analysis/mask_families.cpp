#include "test/analysis/mask_families.h"
#include <fmt/format.h>

namespace heddle::analysis::test {
namespace {

/// One-dimensional neighbourhood attention of `window` keys on an axis of `length`.
std::string neighbourhood(const std::string& q, const std::string& k, const std::string& length, int window) {
  const std::string start = fmt::format("max(0, min({} - {}, {} - {}))", q, window / 2, length, window);
  return fmt::format("({0} >= {1} && {0} < {1} + {2})", k, start, window);
}

std::string image_neighbourhood(const std::string& width, const std::string& height, int window) {
  return neighbourhood("q / " + width, "(k / " + width + ")", height, window) + " && " +
         neighbourhood("q % " + width, "(k % " + width + ")", width, window);
}

/// Shifted windows of an image: same window, and same region of the shifted border.
std::string shifted_windows(int width, int window, int shift) {
  const auto region = [&](const std::string& x) {
    return fmt::format("({0} < {1} ? 0 : ({0} < {2} ? 1 : 2))", x, width - window, width - shift);
  };
  const auto same = [&](const char* digit) {
    const std::string q = fmt::format("(q {} {})", digit, width), k = fmt::format("(k {} {})", digit, width);
    return fmt::format("{} / {} == {} / {} && {} == {}", q, window, k, window, region(q), region(k));
  };
  return same("/") + " && " + same("%");
}

}  // namespace

std::vector<MaskFamily> mask_families() {
  return {
      {"causal", "k <= q"},
      {"causal bottom right", "k <= q + Sk - Sq"},
      {"causal window", "k <= q && q - k < 256"},
      {"causal window bottom right", "k <= q + Sk - Sq && q + Sk - Sq - k < 200"},
      {"window", "abs(q - k) <= 128"},
      {"odd window", "abs(q - k) <= 100"},
      {"dilated window", "(q - k) % 2 == 0 && abs(q - k) <= 128"},
      {"dilated causal window", "(q - k) % 3 == 0 && q - k >= 0 && q - k < 300"},
      {"strided 32", "abs(q - k) % 32 == 0"},
      {"strided 100", "(q - k) % 100 == 0"},
      {"sparse transformer strided", "k <= q && (q - k < 128 || (q - k) % 128 == 0)"},
      {"sparse transformer strided 45", "k <= q && (q - k < 45 || (q - k) % 45 == 0)"},
      {"sparse transformer fixed", "(q / 128 == k / 128 || k % 128 >= 128 - 8) && k <= q"},
      {"sparse transformer fixed 100", "(q / 100 == k / 100 || k % 100 >= 100 - 12) && k <= q"},
      {"longformer", "abs(q - k) <= 256 || k < 16 || q < 16"},
      {"dilated longformer", "(abs(q - k) <= 256 && (q - k) % 2 == 0) || k < 16 || q < 16"},
      {"sinks and window", "k <= q && (q - k < 256 || k < 4)"},
      {"prefix", "k <= q || k < 100"},
      {"block diagonal 128", "q / 128 == k / 128"},
      {"block diagonal 100", "q / 100 == k / 100"},
      {"chunked causal", "q / 192 == k / 192 && k <= q"},
      {"block causal", "k / 96 <= q / 96"},
      {"natten 1-D", neighbourhood("q", "k", "Sk", 13)},
      {"natten 1-D dilated", "q % 2 == k % 2 && " + neighbourhood("q / 2", "(k / 2)", "(Sk / 2)", 7)},
      {"axial row 64", "q / 64 == k / 64"},
      {"axial column 64", "q % 64 == k % 64"},
      {"axial column 56", "q % 56 == k % 56"},
      {"axial 56", "q / 56 == k / 56 || q % 56 == k % 56"},
      {"banded", "k <= 2 * q"},
      {"banded below", "k <= 2 * q && 2 * k >= q"},
      {"banded 3 to 2", "3 * k <= 2 * q + 17 && 5 * k >= q"},
      {"longnet level", "q / 256 == k / 256 && q % 2 == 0 && k % 2 == 0"},
      {"longnet residues", "q / 512 == k / 512 && q % 4 == k % 4"},
      {"longnet levels",
       "q / 128 == k / 128 || (q / 256 == k / 256 && q % 2 == 0 && k % 2 == 0) || "
       "(q / 512 == k / 512 && q % 4 == 0 && k % 4 == 0)"},
      {"blocked previous", "q / 128 == k / 128 || q / 128 == k / 128 + 1"},
      {"blocked previous 100 causal", "(q / 100 == k / 100 || q / 100 == k / 100 + 1) && k <= q"},
      {"bigbird without random", "k < 64 || q < 64 || abs(q / 64 - k / 64) <= 1"},
      {"checkerboard", "(q + k) % 2 == 0"},
      {"checkered tiles", "(q / 64 + k / 64) % 2 == 0"},
      {"checkered tiles 48", "(q / 48 + k / 48) % 2 == 0"},
      {"outside a window", "k <= q && !(q - k < 256)"},
      {"outside longformer", "!(abs(q - k) <= 256 || k < 16 || q < 16)"},
      {"outside strided", "!((q - k) % 32 == 0)"},
      {"window and stride without a column class", "(abs(q - k) <= 64 || (q - k) % 96 == 0) && !(k % 7 == 3)"},
      {"sinks, window and summaries", "k <= q && (k < 4 || q - k < 128 || (k % 64 >= 60 && q - k < 1024))"},
      {"unequal conditions", "q / 128 == k / 128 ? abs(q - k) > 100 : abs(q - k) <= 100"},
      {"causal without own block", "k <= q && !(q / 100 == k / 100) && (q - k) % 3 != 1"},
      {"full", "true"},
      {"empty", "q < 0"},
      {"one column", "k == 5"},
      {"identity", "k == q"},
      {"causal with offset", "k <= q + off", {{"off", 37}}},
      {"window of dynamic width", "k <= q && q - k < w", {{"w", 150}}},
      {"dynamic longformer", "abs(q - k) <= w || k < g || q < g", {{"w", 100}, {"g", 20}}},
      {"sinks and window with offset", "k <= q + off && (q + off - k < 256 || k < 4)", {{"off", 300}}},
      {"heads with windows", "k <= q && q - k < 64 * (h + 1)", {{"h", 2}}},
  };
}

std::vector<MaskFamily> image_families() {
  std::vector<MaskFamily> families;
  for (const int width : {16, 56, 64}) {
    families.push_back({fmt::format("natten 2-D {}", width), image_neighbourhood(std::to_string(width), fmt::format("(Sk / {})", width), 7), {}, width});
    families.push_back({fmt::format("natten 2-D {} fixed", width), image_neighbourhood(std::to_string(width), std::to_string(width), 5), {}, width});
  }
  families.push_back({"swin 56", shifted_windows(56, 7, 3), {}, 56});
  families.push_back({"swin 64", shifted_windows(64, 8, 4), {}, 64});
  families.push_back({"swin 28",
                      "q / 28 / 7 == k / 28 / 7 && q % 28 / 7 == k % 28 / 7 && (q / 28 + 3) / 28 == (k / 28 + 3) / 28 && "
                      "(q % 28 + 3) / 28 == (k % 28 + 3) / 28", {}, 28});
  families.push_back({"column pairs", "q % 16 / 4 == k % 16 / 4 && k / 16 <= q / 16", {}, 16});
  return families;
}

}  // namespace heddle::analysis::test
