// What memory that nobody attends may hold, and how far values that are not finite spread: semantics of attention, section 2.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <limits>

#include "src/codegen/reference/judge.h"
#include "src/ir/evaluate.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/launch_data.h"

namespace heddle::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
const std::vector<float> kGarbage = {kNan, kInfinity, -kInfinity, std::numeric_limits<float>::max()};

const std::vector<std::string> kMasks = {
    "k <= q",         "k <= q && (q - k < 20 || k < 4)", "abs(q - k) % 5 == 0", "q / 24 == k / 24",
    "q * k % 7 == 0", "h % 2 == 0 ? k <= q : k > q"};

/// The kernels of a mask: every target, with and without nests.
void each_kernel(const KernelSpec& like, const std::function<void(const KernelSpec&, const EmittedKernel&)>& visit) {
  for (const Target& target : runnable_targets()) {
    for (bool nests : {true, false}) {
      KernelSpec spec = like;
      spec.target = target, spec.use_nests = nests, spec.tile_rows = 2 * target.lanes();
      SCOPED_TRACE(fmt::format("mask '{}' score '{}' {} nests {}", spec.mask, spec.score, target.to_string(), nests));
      visit(spec, EmittedKernel(spec));
    }
  }
}

class Pairs {
 public:
  Pairs(const KernelSpec& spec, const Launch& launch) : mask_(problem_of(spec).mask) {
    values_.ints = {{"B", launch.batch}, {"H", launch.heads}, {"Hkv", launch.kv_heads}, {"Sq", launch.sq}, {"Sk", launch.sk}};
  }
  bool allowed(int64_t b, int64_t h, int64_t q, int64_t k) {
    values_.ints["b"] = b, values_.ints["h"] = h, values_.ints["q"] = q, values_.ints["k"] = k;
    return !mask_ || ir::evaluate_bool(mask_, values_);
  }

 private:
  ir::Expr mask_;
  ir::Environment values_;
};

/// Results of a row and its LSE as bits, so that NaN compare too.
std::vector<uint32_t> bits_of_row(const LaunchData& data, int64_t b, int64_t h, int64_t q) {
  const Launch& c = data.launch();
  std::vector<uint32_t> bits;
  for (int64_t d = 0; d < c.value_dim; ++d) bits.push_back(std::bit_cast<uint32_t>(data.o.row(b, h, q)[d]));
  bits.push_back(std::bit_cast<uint32_t>(data.lse[static_cast<size_t>((b * c.heads + h) * c.sq + q)]));
  return bits;
}

Launch grouped_launch() {
  Launch launch;
  launch.batch = 2, launch.heads = 4, launch.kv_heads = 2, launch.sq = 53, launch.sk = 61;
  return launch;
}

TEST(Garbage, OfAKeyReachesOnlyTheRowsThatAttendIt) {
  const Launch launch = grouped_launch();
  for (const std::string& mask : kMasks) {
    for (const char* score : {"", "softcap(s, 4.0)"}) {
      each_kernel({.mask = mask, .score = score}, [&](const KernelSpec& spec, const EmittedKernel& kernel) {
        LaunchData clean(launch);
        kernel.run(clean.args);
        Pairs pairs(spec, launch);
        for (size_t i = 0; i < kGarbage.size(); ++i) {
          const int64_t key = std::vector<int64_t>{3, 17, 40, 60}[i];
          LaunchData data(launch);
          std::fill_n(data.k.row(1, 1, key), launch.head_dim, kGarbage[i]);
          kernel.run(data.args);
          data.each_row([&](int64_t b, int64_t h, int64_t q) {
            if (b == 1 && h / 2 == 1 && pairs.allowed(b, h, q, key)) return;
            ASSERT_EQ(bits_of_row(data, b, h, q), bits_of_row(clean, b, h, q)) << b << " " << h << " " << q << " key " << key;
          });
          if (!std::isfinite(kGarbage[i])) {
            ASSERT_EQ(difference(reference::judge(problem_of(spec), data.args), data, 4 * accuracy_bar(launch.head_dim)), "");
          }
        }
      });
    }
  }
}

TEST(Garbage, OfOneElementOfAKeyGivesInfiniteScoresBySign) {
  const Launch launch = grouped_launch();
  for (const std::string& mask : {kMasks[0], kMasks[3]}) {
    each_kernel({.mask = mask}, [&](const KernelSpec& spec, const EmittedKernel& kernel) {
      for (float garbage : {kInfinity, -kInfinity}) {
        LaunchData data(launch);
        for (int64_t key : {0, 24, 25, 48}) data.k.row(0, 0, key)[key % launch.head_dim] = garbage;
        kernel.run(data.args);
        ASSERT_EQ(difference(reference::judge(problem_of(spec), data.args), data, accuracy_bar(launch.head_dim)), "");
      }
    });
  }
}

TEST(Garbage, OfAQueryStaysInItsRow) {
  const Launch launch = grouped_launch();
  for (const std::string& mask : kMasks) {
    each_kernel({.mask = mask}, [&](const KernelSpec& spec, const EmittedKernel& kernel) {
      LaunchData clean(launch), data(launch);
      const std::vector<int64_t> rows = {0, 20, 52};  // the last one stands for the rows that do not exist
      for (int64_t row : rows) data.q.row(1, 2, row)[row % 3] = row == 20 ? kInfinity : kNan;
      kernel.run(clean.args), kernel.run(data.args);
      data.each_row([&](int64_t b, int64_t h, int64_t q) {
        if (b == 1 && h == 2 && std::count(rows.begin(), rows.end(), q)) return;
        ASSERT_EQ(bits_of_row(data, b, h, q), bits_of_row(clean, b, h, q)) << b << " " << h << " " << q;
      });
      ASSERT_EQ(difference(reference::judge(problem_of(spec), data.args), data, accuracy_bar(launch.head_dim)), "");
    });
  }
}

TEST(Garbage, OfValuesThatNobodyAttendsIsNeverMultiplied) {
  Launch launch = grouped_launch();
  launch.kv_heads = 4;
  for (const char* mask :
       {"k <= q + 4 && k != 44", "k <= q && k % 5 != 2", "k < 10", "k > 33", "k == q", "q < 0", "q % 24 < 3 && k == q",
        "h % 2 == 0 ? k < 20 : k >= 20", "b == 0 && k <= q", "k * k % 3 != 1", "abs(q - k) <= 3"}) {
    for (const char* score : {"", "s - 0.1 * abs(q - k)"}) {
      each_kernel({.mask = mask, .score = score}, [&](const KernelSpec& spec, const EmittedKernel& kernel) {
        LaunchData clean(launch), data(launch);
        kernel.run(clean.args);
        Pairs pairs(spec, launch);
        for (int64_t b = 0; b < launch.batch; ++b) {
          for (int64_t h = 0; h < launch.heads; ++h) {
            for (int64_t k = 0; k < launch.sk; ++k) {
              bool attended = false;
              for (int64_t q = 0; q < launch.sq && !attended; ++q) attended = pairs.allowed(b, h, q, k);
              if (attended) continue;
              std::fill_n(data.v.row(b, h, k), launch.value_dim, kNan);
              std::fill_n(data.k.row(b, h, k), launch.head_dim, kNan);
            }
          }
        }
        kernel.run(data.args);
        ASSERT_EQ(difference(reference::judge(problem_of(spec), data.args), data, 2 * accuracy_bar(launch.head_dim)), "");
        data.each_row(
            [&](int64_t b, int64_t h, int64_t q) { ASSERT_EQ(bits_of_row(data, b, h, q), bits_of_row(clean, b, h, q)); });
      });
    }
  }
}

TEST(Garbage, OfAHeadThatSharesValuesStaysInThatHead) {
  const Launch launch = grouped_launch();
  each_kernel({.mask = "h % 2 == 0 ? k < 20 : k >= 20"}, [&](const KernelSpec& spec, const EmittedKernel& kernel) {
    LaunchData clean(launch), data(launch);
    for (int64_t k = 20; k < launch.sk; ++k) std::fill_n(data.v.row(0, 1, k), launch.value_dim, kNan);
    kernel.run(clean.args), kernel.run(data.args);
    data.each_row([&](int64_t b, int64_t h, int64_t q) {
      if (b == 0 && h == 3) return;
      ASSERT_EQ(bits_of_row(data, b, h, q), bits_of_row(clean, b, h, q)) << b << " " << h << " " << q;
    });
    EXPECT_TRUE(std::isnan(data.o.row(0, 3, 0)[0]));
  });
}

TEST(Garbage, OfAttendedValuesIsNeverFiniteAndWrong) {
  const Launch launch = grouped_launch();
  for (const std::string& mask : kMasks) {
    each_kernel({.mask = mask}, [&](const KernelSpec& spec, const EmittedKernel& kernel) {
      LaunchData data(launch);
      data.v.row(0, 0, 21)[3] = kNan, data.v.row(0, 1, 22)[4] = kInfinity, data.v.row(1, 0, 60)[0] = -kInfinity;
      kernel.run(data.args);
      const reference::AttentionResult expected = reference::judge(problem_of(spec), data.args);
      size_t index = 0;
      data.each_row([&](int64_t b, int64_t h, int64_t q) {
        for (int64_t d = 0; d < launch.value_dim; ++d, ++index) {
          const double e = expected.o[index], a = data.o.row(b, h, q)[d];
          ASSERT_TRUE(std::isfinite(e) ? std::isnan(a) || close(e, a, accuracy_bar(launch.head_dim)) : !std::isfinite(a))
              << b << " " << h << " " << q << " " << d << ": expected " << e << ", got " << a;
          ASSERT_TRUE(d == 0 || d == 3 || d == 4 || std::isfinite(a)) << "the other dims are clean";
        }
        const auto row = static_cast<size_t>((b * launch.heads + h) * launch.sq + q);
        ASSERT_TRUE(close(expected.lse[row], data.lse[row], accuracy_bar(launch.head_dim) * 4));
      });
    });
  }
}

}  // namespace
}  // namespace heddle::test
