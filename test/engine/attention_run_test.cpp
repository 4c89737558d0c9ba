// What Attention::run hands to a kernel, and what it costs: kernels are functions of the test.
#include <gtest/gtest.h>
#include <chrono>
#include <cmath>
#include "test/engine/counting_new.h"
#include "test/engine/fake_attention.h"

namespace heddle::engine {
namespace {

AttentionArgs seen;
std::vector<int64_t> seen_ints;
std::vector<double> seen_reals;

void remember(const AttentionArgs* args, int64_t first, int64_t last, void*) {
  EXPECT_EQ(first, 0);
  EXPECT_EQ(last, 12);
  seen = *args;
  seen_ints.assign(args->int_params, args->int_params + 2);
  seen_reals.assign(args->real_params, args->real_params + 1);
}

LaunchRecord with_parameters() {
  LaunchRecord record = fake_record(true);
  record.int_params = {"off", "w"};
  record.real_params = {"slope"};
  return record;
}

TEST(AttentionRun, PassesPointersShapesStridesAndParameters) {
  FakeTensors t;
  t.q.strides = {300, 40, -8, 1};
  t.q.data = t.memory.data() + 32;
  fake_attention(with_parameters(), remember).run(t.q, t.k, t.v, t.o, &t.lse, {.scale = 0.25, .ints = {{"w", 9}, {"off", -3}}, .reals = {{"slope", 0.5}}});
  EXPECT_EQ(seen.q, t.q.data);
  EXPECT_EQ(seen.k, t.k.data);
  EXPECT_EQ(seen.v, t.v.data);
  EXPECT_EQ(seen.o, t.o.data);
  EXPECT_EQ(seen.lse, t.lse.data);
  EXPECT_EQ(seen.batch, 2);
  EXPECT_EQ(seen.heads, 6);
  EXPECT_EQ(seen.kv_heads, 3);
  EXPECT_EQ(seen.sq, 5);
  EXPECT_EQ(seen.sk, 7);
  EXPECT_EQ(std::vector<int64_t>(seen.q_stride, seen.q_stride + 3), (std::vector<int64_t>{300, 40, -8}));
  EXPECT_EQ(std::vector<int64_t>(seen.k_stride, seen.k_stride + 3), (std::vector<int64_t>{168, 56, 8}));
  EXPECT_EQ(std::vector<int64_t>(seen.v_stride, seen.v_stride + 3), (std::vector<int64_t>{84, 28, 4}));
  EXPECT_EQ(std::vector<int64_t>(seen.o_stride, seen.o_stride + 3), (std::vector<int64_t>{120, 20, 4}));
  EXPECT_EQ(seen_ints, (std::vector<int64_t>{-3, 9}));
  EXPECT_EQ(seen_reals, std::vector<double>{0.5});
  EXPECT_EQ(seen.scale, 0.25);
}

void remember_scale(const AttentionArgs* args, int64_t, int64_t, void*) { seen.scale = args->scale; }

TEST(AttentionRun, ScaleDefaultsToTheRootOfTheHeadDim) {
  FakeTensors t;
  fake_attention(fake_record(), remember_scale).run(t.q, t.k, t.v, t.o);
  EXPECT_EQ(seen.scale, 1 / std::sqrt(8.0));
}

void add_block_number(const AttentionArgs* args, int64_t first, int64_t last, void*) {
  for (int64_t block = first; block < last; ++block) static_cast<float*>(args->o)[block * 64] += static_cast<float>(block);
}

TEST(AttentionRun, EveryBlockOnceForAnyThreadCount) {
  for (const int threads : {1, 2, 4}) {
    std::vector<float> q(8 * 16 * 300), kv(8 * 5000), o(16 * 4 * 300);
    fake_attention(fake_record(), add_block_number, threads)
        .run(Tensor::dense(q.data(), {1, 300, 16, 8}), Tensor::dense(kv.data(), {1, 1, 5000, 8}), Tensor::dense(kv.data(), {1, 1, 5000, 4}),
             Tensor::dense(o.data(), {1, 300, 16, 4}));
    for (size_t block = 0; block < 300; ++block) ASSERT_EQ(o[block * 64], static_cast<float>(block));
  }
}

void must_not_run(const AttentionArgs*, int64_t, int64_t, void*) { ADD_FAILURE() << "the kernel ran"; }

TEST(AttentionRun, EmptyGridsAreLegalAndRunNothing) {
  const Attention attention = fake_attention(fake_record(), must_not_run, 2);
  for (const int empty : {0, 1, 2}) {
    const auto shape = [&](int64_t heads, int64_t rows, int64_t dim) {
      return std::vector<int64_t>{empty == 0 ? 0 : 2, empty == 1 ? 0 : heads, rows, dim};
    };
    const int64_t rows = empty == 2 ? 0 : 5;
    attention.run(Tensor::dense(nullptr, shape(6, rows, 8)), Tensor::dense(nullptr, {empty == 0 ? 0 : 2, 3, 0, 8}),
                  Tensor::dense(nullptr, {empty == 0 ? 0 : 2, 3, 0, 4}), Tensor::dense(nullptr, shape(6, rows, 4)));
  }
}

TEST(AttentionRun, SlicesOfOnePackedBufferAreLegal) {
  LaunchRecord record = fake_record();
  record.value_dim = 8;
  std::vector<float> memory(2 * 5 * 4 * 3 * 8);
  const auto slice = [&](int64_t slot) {
    return Tensor{memory.data() + slot * 24, DType::Float32, {2, 3, 5, 8}, {5 * 96, 8, 96, 1}};
  };
  fake_attention(record, remember_scale).run(slice(0), slice(1), slice(2), slice(3));
  EXPECT_THROW(fake_attention(record, must_not_run).run(slice(0), slice(1), slice(2), slice(2)), UserError);
}

TEST(AttentionRun, AllocatesNothingAfterTheFirstCall) {
  FakeTensors t;
  std::vector<float> kv(8 * 50000);
  const Tensor k = Tensor::dense(kv.data(), {2, 3, 5000, 8}), v = Tensor::dense(kv.data(), {2, 3, 5000, 4});
  const LaunchOptions options{.scale = 0.25, .ints = {{"w", 9}, {"off", -3}}, .reals = {{"slope", 0.5}}};
  for (const int threads : {1, 3}) {
    const Attention attention = fake_attention(with_parameters(), [](const AttentionArgs*, int64_t, int64_t, void*) {}, threads);
    attention.run(t.q, k, v, t.o, &t.lse, options);
    attention.run(t.q, t.k, t.v, t.o, &t.lse, options);
    const int64_t before = allocations_so_far();
    for (int i = 0; i < 100; ++i) attention.run(t.q, i % 2 ? k : t.k, i % 2 ? v : t.v, t.o, &t.lse, options);
    EXPECT_EQ(allocations_so_far(), before);
  }
  const int64_t before = allocations_so_far();
  const Attention another = fake_attention(fake_record(), must_not_run);
  EXPECT_GT(allocations_so_far(), before);  // The counter counts.
}

TEST(AttentionRun, LaunchCostsMicroseconds) {
  FakeTensors t;
  const Attention attention = fake_attention(fake_record(), [](const AttentionArgs*, int64_t, int64_t, void*) {});
  double best = 1e9;
  for (int round = 0; round < 50; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) attention.run(t.q, t.k, t.v, t.o);
    best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / 20);
  }
  RecordProperty("microseconds", std::to_string(best));
  EXPECT_LT(best, 20) << "microseconds a launch";
}

TEST(AttentionRun, RefusesTargetsThisMachineCannotRun) {
  FakeTensors t;
  const Attention attention = fake_attention(fake_record(), nullptr, 1, "this kernel is compiled for cpu:next");
  try {
    attention.run(t.q, t.k, t.v, t.o);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "this kernel is compiled for cpu:next");
  }
}

TEST(AttentionRun, AnEmptyAttentionSaysSo) {
  FakeTensors t;
  EXPECT_THROW(Attention().run(t.q, t.k, t.v, t.o), UserError);
  EXPECT_THROW(Attention().report(), UserError);
  EXPECT_THROW(Attention().spec(), UserError);
}

}  // namespace
}  // namespace heddle::engine
