// Blocks are independent of each other: any order, any split and any thread gives the same bits; scratch may hold anything.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "src/codegen/reference/judge.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/launch_data.h"

namespace heddle::test {
namespace {

const std::vector<std::string> kMasks = {"", "k <= q && (q - k < 20 || k < 4)", "(q - k) % 5 == 0", "q * k % 7 == 0",
                                         "h % 2 == 0 || q / 16 == k / 16"};

Launch many_blocks() {
  Launch launch;
  launch.batch = 2, launch.heads = 4, launch.kv_heads = 2, launch.sq = 100, launch.sk = 90;
  return launch;
}

template <typename F>
void each_kernel(const F& visit) {
  for (const std::string& mask : kMasks) {
    for (const Target& target : runnable_targets()) {
      SCOPED_TRACE(mask + " " + target.to_string());
      const KernelSpec spec = {
          .mask = mask, .score = mask.empty() ? "softcap(s, 3.0)" : "", .target = target, .tile_rows = target.lanes()};
      visit(EmittedKernel(spec));
    }
  }
}

std::vector<float> whole(const EmittedKernel& kernel) {
  LaunchData data(many_blocks());
  kernel.run(data.args);
  return data.results();
}

TEST(Blocks, RunInAnyOrder) {
  each_kernel([](const EmittedKernel& kernel) {
    LaunchData data(many_blocks());
    std::vector<int64_t> order(static_cast<size_t>(kernel.blocks(data.args)));
    ASSERT_GT(order.size(), 32u);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(3));
    for (int64_t block : order) kernel.run(data.args, block, block + 1, block % 2 ? Rim::Begin : Rim::End);
    EXPECT_EQ(data.results(), whole(kernel));
  });
}

TEST(Blocks, SplitAnywhereAndMayBeNone) {
  each_kernel([](const EmittedKernel& kernel) {
    LaunchData data(many_blocks());
    std::mt19937_64 random(4);
    for (int64_t first = 0, last = 0, blocks = kernel.blocks(data.args); first < blocks; first = last) {
      last = std::min<int64_t>(blocks, first + static_cast<int64_t>(random() % 7));
      kernel.run(data.args, first, last);
    }
    EXPECT_EQ(data.results(), whole(kernel));
    data.clear();
    const std::vector<float> untouched = data.results();
    for (auto [first, last] : {std::pair{0, 0}, {3, 3}, {5, 2}}) kernel.run(data.args, first, last);
    EXPECT_EQ(data.results(), untouched);
  });
}

TEST(Blocks, RunOnTwoThreads) {
  each_kernel([](const EmittedKernel& kernel) {
    LaunchData data(many_blocks());
    const auto share = [&](int64_t first) {
      for (int64_t block = first; block < kernel.blocks(data.args); block += 2) kernel.run(data.args, block, block + 1);
    };
    std::thread other(share, 1);
    share(0);
    other.join();
    EXPECT_EQ(data.results(), whole(kernel));
  });
}

TEST(Blocks, DoNotDependOnWhatScratchHolds) {
  each_kernel([](const EmittedKernel& kernel) {
    GuardedArray<std::byte> scratch(static_cast<size_t>(kernel.scratch_bytes()));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(scratch.data()) % 64, 0u);
    const std::vector<float> expected = whole(kernel);
    std::mt19937_64 random(5);
    for (int fill = 0; fill < 3; ++fill) {
      for (std::byte& byte : scratch) byte = fill == 0 ? std::byte{0} : static_cast<std::byte>(random());
      LaunchData data(many_blocks());
      kernel.entry()(&data.args, 0, kernel.blocks(data.args), scratch.data());
      EXPECT_EQ(data.results(), expected);
    }
  });
}

TEST(GuardedMemory, FaultsBesideTheArray) {
  GuardedArray<float> end(5, Rim::End), begin(5, Rim::Begin);
  end[4] = begin[0] = 1;
  const auto read = [](const float* p) { return *static_cast<const volatile float*>(p); };
  EXPECT_DEATH(read(end.data() + 5), "");
  EXPECT_DEATH(read(begin.data() - 1), "");
  EXPECT_EQ(read(end.data() + 4) + read(begin.data()), 2.0f);
}

}  // namespace
}  // namespace heddle::test
