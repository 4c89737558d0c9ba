// Rows without keys, scores at the rims of float32, and sizes that pass 32 bits.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "src/codegen/reference/judge.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/launch_data.h"

namespace heddle::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void each_kernel(const KernelSpec& like, const std::function<void(const ir::AttentionProblem&, const EmittedKernel&)>& visit) {
  for (const Target& target : runnable_targets()) {
    for (bool nests : {true, false}) {
      KernelSpec spec = like;
      spec.target = target, spec.use_nests = nests, spec.tile_rows = 2 * target.lanes();
      SCOPED_TRACE(fmt::format("mask '{}' score '{}' {} nests {}", spec.mask, spec.score, target.to_string(), nests));
      const ir::AttentionProblem problem = problem_of(spec);
      visit(problem, EmittedKernel(problem));
    }
  }
}

void expect_judged(const ir::AttentionProblem& problem, const EmittedKernel& kernel, LaunchData& data, double bar = 2) {
  kernel.run(data.args);
  EXPECT_EQ(difference(reference::judge(problem, data.args), data, bar * accuracy_bar(data.launch().head_dim)), "");
}

Launch two_heads(int64_t sq, int64_t sk) {
  Launch launch;
  launch.heads = 2, launch.kv_heads = 1, launch.sq = sq, launch.sk = sk;
  return launch;
}

TEST(RowsWithoutKeys, AreZeroWhateverIsInMemory) {
  for (const char* mask : {"false", "q < 0", "k > q + 1000", "k + 10 <= q", "q % 3 == 1 && k <= q", "k % (q % 2) == 0"}) {
    each_kernel({.mask = mask}, [&](const ir::AttentionProblem& problem, const EmittedKernel& kernel) {
      for (int64_t sk : {0, 1, 40, 100}) {
        LaunchData data(two_heads(37, sk));
        expect_judged(problem, kernel, data);
      }
    });
  }
  each_kernel({.mask = "q < 0"}, [&](const ir::AttentionProblem&, const EmittedKernel& kernel) {
    LaunchData data(two_heads(20, 20));
    for (View* view : {&data.q, &data.k, &data.v}) std::fill(view->array().begin(), view->array().end(), std::nanf(""));
    kernel.run(data.args);
    data.each_row([&](int64_t b, int64_t h, int64_t q) {
      for (int64_t d = 0; d < 16; ++d) EXPECT_EQ(data.o.row(b, h, q)[d], 0.0f);
    });
    for (float lse : data.lse) EXPECT_EQ(lse, -kInfinity);
  });
}

TEST(Scores, OfMinusInfinityCountAsMasked) {
  for (const char* score : {"log(0.0)", "k % 2 == 0 ? log(0.0) : s", "q % 3 == 0 ? log(0.0) : s",
                            "q % 3 == 0 || k != 5 ? log(0.0) : s", "k < 30 ? log(0.0) : s", "k >= 16 ? s + log(0.0) : s"}) {
    for (const char* mask : {"", "k <= q", "abs(q - k) % 3 == 0"}) {
      each_kernel({.mask = mask, .score = score}, [&](const ir::AttentionProblem& problem, const EmittedKernel& kernel) {
        LaunchData data(two_heads(50, 70));
        expect_judged(problem, kernel, data);
      });
    }
  }
}

TEST(Scores, OfPlusInfinityOrNanMakeTheirRowsNan) {
  for (const char* score :
       {"k == q ? -log(0.0) : s", "k == 3 ? sqrt(s - 1000.0) : s", "q == 7 && k == 40 ? log(s - 1000.0) : s",
        "k % 20 == 19 ? 1.0 / (0.0 * s) : s", "s / (q - k)", "k == 0 ? -log(0.0) : log(0.0)"}) {
    for (const char* mask : {"", "k <= q", "k > 2 && k % 2 == 0"}) {
      each_kernel({.mask = mask, .score = score}, [&](const ir::AttentionProblem& problem, const EmittedKernel& kernel) {
        LaunchData data(two_heads(50, 70));
        expect_judged(problem, kernel, data);
      });
    }
  }
}

TEST(Scores, OfAnyMagnitudeDoNotOverflow) {
  for (const char* mask : {"", "k <= q && q - k < 20"}) {
    each_kernel({.mask = mask}, [&](const ir::AttentionProblem& problem, const EmittedKernel& kernel) {
      for (double scale : {0.0, 1e-30, -0.25, 1e3, -1e10, 1e30, 1e36, -1e36}) {
        LaunchData data(two_heads(50, 70));
        data.args.scale = scale;
        expect_judged(problem, kernel, data, scale == 1e3 ? 1000 : 2);  // rounding of scores of thousands
      }
    });
    each_kernel({.mask = mask, .score = "s * 1e35 - 1e36"},
                [&](const ir::AttentionProblem& problem, const EmittedKernel& kernel) {
                  LaunchData data(two_heads(50, 70));
                  expect_judged(problem, kernel, data);
                });
  }
}

TEST(Scores, OfDescendingAndAscendingMaximaRescaleTheState) {
  for (const char* score : {"s + 40.0 * k", "s - 40.0 * k", "s + 88.0 * (k % 3)", "s * 0.0 - 1e5 * abs(k - q)"}) {
    each_kernel({.score = score}, [&](const ir::AttentionProblem& problem, const EmittedKernel& kernel) {
      LaunchData data(two_heads(40, 150));
      expect_judged(problem, kernel, data, 300);  // scores of thousands
    });
  }
}

TEST(Denormals, ArriveUnflushed) {
  each_kernel({.mask = "k <= q"}, [&](const ir::AttentionProblem& problem, const EmittedKernel& kernel) {
    LaunchData data(two_heads(40, 40));
    for (float& v : data.v.array()) v = 1e-40f;
    for (float& q : data.q.array()) q *= 1e-38f;
    for (float& k : data.k.array()) k *= 1e-39f;
    expect_judged(problem, kernel, data);
    data.each_row([&](int64_t b, int64_t h, int64_t q) {
      for (int64_t d = 0; d < 16; ++d) EXPECT_NEAR(data.o.row(b, h, q)[d], 1e-40f, 2e-44f);
    });
  });
}

/// A mapping of address space that takes memory only where it is touched; null where the system refuses it.
class VastMemory {
 public:
  explicit VastMemory(size_t bytes) : bytes_(bytes) {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = mapped == MAP_FAILED ? nullptr : static_cast<float*>(mapped);
  }
  ~VastMemory() {
    if (data_) munmap(data_, bytes_);
  }
  VastMemory(const VastMemory&) = delete;
  float* data() { return data_; }

 private:
  size_t bytes_;
  float* data_;
};

TEST(Sizes, OfStridesAreNotComputedIn32Bits) {
  const int64_t stride = (int64_t{1} << 30) + 64, rows = 5;
  VastMemory memory(static_cast<size_t>(4 * rows + 4) * static_cast<size_t>(stride) * sizeof(float));
  if (!memory.data()) GTEST_SKIP() << "the system does not map 84 GiB of address space";
  each_kernel({.mask = "k <= q"}, [&](const ir::AttentionProblem& problem, const EmittedKernel& kernel) {
    LaunchData near(two_heads(rows, rows));
    AttentionArgs far = near.args;
    float* tensors[] = {memory.data(), memory.data() + rows * stride, memory.data() + 2 * rows * stride,
                        memory.data() + 3 * rows * stride};
    far.q = tensors[0], far.k = tensors[1], far.v = tensors[2], far.o = tensors[3];
    for (auto* strides : {&far.q_stride, &far.k_stride, &far.v_stride, &far.o_stride})
      (*strides)[1] = 64, (*strides)[2] = stride;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t h = 0; h < 2; ++h) std::copy_n(near.q.row(0, h, r), 16, tensors[0] + h * 64 + r * stride);
      std::copy_n(near.k.row(0, 0, r), 16, tensors[1] + r * stride),
          std::copy_n(near.v.row(0, 0, r), 16, tensors[2] + r * stride);
    }
    kernel.run(near.args), kernel.run(far);
    near.each_row([&](int64_t b, int64_t h, int64_t r) {
      for (int64_t d = 0; d < 16; ++d) EXPECT_EQ(near.o.row(b, h, r)[d], tensors[3][h * 64 + r * stride + d]);
    });
    expect_judged(problem, kernel, near);
  });
}

/// The address of element 0 of an array whose element `first` lies at `place`.
template <typename T>
T* shifted_back(T* place, int64_t first) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(place) - static_cast<uintptr_t>(first) * sizeof(T));
}

/// The last block of 2^30 rows against the same block at the front that has its position as a parameter.
TEST(Sizes, OfPositionsUpTo2To30KeepTheirMeaning) {
  const int64_t length = int64_t{1} << 30;
  for (const char* mask : {"abs({0} - k) <= 20", "k < 50 && {0} * {0} * 3 - k * 7 > 1000000000 * k * ({0} % 5)",
                           "({0} * {0} + k) % 11 < 4 && k < 64", "k < 30 + ({0} - 1073741000) % 7"}) {
    const bool window = std::string(mask).starts_with("abs");  // all keys are one: LSE counts them
    each_kernel(
        {.mask = fmt::format(fmt::runtime(mask), "q")}, [&](const ir::AttentionProblem& problem, const EmittedKernel& far) {
          if (window && problem.options.use_nests == std::optional(false)) return;  // would test every tile of 2^30 keys
          KernelSpec spec = {.mask = fmt::format(fmt::runtime(mask), "(q + off)"), .target = problem.target, .ints = {"off"}};
          spec.use_nests = problem.options.use_nests, spec.tile_rows = far.block_rows();
          Launch launch = two_heads(far.block_rows(), 64);
          const int64_t first = length - launch.sq;
          launch.heads = 1, launch.ints = {first};
          LaunchData expected(launch), actual(launch);
          for (LaunchData* data : {&expected, &actual}) {
            if (window) data->args.k_stride[2] = data->args.v_stride[2] = 0, data->args.sk = length;
          }
          AttentionArgs& args = actual.args;
          args.q = shifted_back(actual.q.base(), first * args.q_stride[2]),
          args.o = shifted_back(actual.o.base(), first * args.o_stride[2]);
          args.lse = shifted_back(actual.lse.data(), first), args.sq = length;
          EmittedKernel(spec).run(expected.args);
          far.run(args, length / launch.sq - 1, length / launch.sq);
          EXPECT_EQ(expected.results(), actual.results());
        });
  }
}

}  // namespace
}  // namespace heddle::test
