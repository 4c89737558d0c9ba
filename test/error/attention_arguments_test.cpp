// Every mistake in a launch, by its exact message; nothing runs and nothing is written.
#include <gtest/gtest.h>
#include <functional>
#include <limits>
#include "test/engine/fake_attention.h"

namespace heddle::engine {
namespace {

void must_not_run(const AttentionArgs*, int64_t, int64_t, void*) { ADD_FAILURE() << "the kernel ran"; }

LaunchRecord record_of(bool lse) {
  LaunchRecord record = fake_record(lse);
  record.int_params = {"offset", "window"};
  record.real_params = {"slope"};
  return record;
}

const LaunchOptions kGood{.scale = {}, .ints = {{"offset", 1}, {"window", 2}}, .reals = {{"slope", 0.5}}};

/// The message and hint of running with tensors changed by `change`.
std::string error_of(const std::function<void(FakeTensors&)>& change, const LaunchOptions& options = kGood) {
  FakeTensors t;
  change(t);
  const std::vector<float> before = t.memory;
  try {
    fake_attention(record_of(true), must_not_run).run(t.q, t.k, t.v, t.o, &t.lse, options);
  } catch (const UserError& error) {
    EXPECT_EQ(t.memory, before);
    return error.message() + (error.hint().empty() ? "" : " | " + error.hint());
  }
  return "ran";
}

void nothing(FakeTensors&) {}

TEST(AttentionArguments, NullPointers) {
  EXPECT_EQ(error_of([](auto& t) { t.q.data = nullptr; }), "q [2, 6, 5, 8] is a null pointer");
  EXPECT_EQ(error_of([](auto& t) { t.o.data = nullptr; }), "o [2, 6, 5, 4] is a null pointer");
  EXPECT_EQ(error_of([](auto& t) { t.lse.data = nullptr; }), "lse [2, 6, 5] is a null pointer");
}

TEST(AttentionArguments, MisalignedPointers) {
  FakeTensors t;
  char* odd = reinterpret_cast<char*>(t.memory.data()) + 4002;
  t.k.data = odd;
  try {
    fake_attention(fake_record(), must_not_run).run(t.q, t.k, t.v, t.o);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_TRUE(error.message().starts_with("k [2, 3, 7, 8] is at 0x")) << error.message();
    EXPECT_TRUE(error.message().ends_with(", which is no multiple of 4 bytes")) << error.message();
  }
}

TEST(AttentionArguments, Rank) {
  EXPECT_EQ(error_of([](auto& t) { t.k = Tensor::dense(t.k.data, {2, 7, 24}); }),
            "k [2, 7, 24] has 3 dimensions; expected 4: [batch, heads, rows, head dim]");
  EXPECT_EQ(error_of([](auto& t) { t.lse = Tensor::dense(t.lse.data, {2, 30}); }),
            "lse [2, 30] has 2 dimensions; expected 3: [batch, heads, query rows]");
  EXPECT_EQ(error_of([](auto& t) { t.v.strides.pop_back(); }), "v [2, 3, 7, 4] has 3 strides for 4 dimensions");
  EXPECT_EQ(error_of([](auto& t) { t.v.shape[2] = -7; }), "v [2, 3, -7, 4] has a negative dimension");
}

TEST(AttentionArguments, DType) {
  EXPECT_EQ(error_of([](auto& t) { t.k.dtype = DType::Float16; }), 
            "k is float16; this kernel takes float32 | compile with AttentionSpec::dtype as q, k, v and o have it");
  EXPECT_EQ(error_of([](auto& t) { t.lse.dtype = DType::Float64; }), "lse is float64; expected float32");
}

TEST(AttentionArguments, LastDimensionMustBeContiguous) {
  EXPECT_EQ(error_of([](auto& t) { t.v = Tensor{t.v.data, DType::Float32, {2, 3, 7, 4}, {84, 28, 1, 7}}; }),
            "the last dimension of v [2, 3, 7, 4] has stride 7; it must be contiguous (stride 1)");
  EXPECT_EQ(error_of([](auto& t) { t.o.strides[3] = 0; }),
            "the last dimension of o [2, 6, 5, 4] has stride 0; it must be contiguous (stride 1)");
}

TEST(AttentionArguments, HeadsMustDivide) {
  EXPECT_EQ(error_of([](auto& t) { t.k.shape[1] = t.v.shape[1] = 4; }),
            "q [2, 6, 5, 8] and k [2, 4, 7, 8]: 6 query heads are no multiple of 4 key and value heads");
  EXPECT_EQ(error_of([](auto& t) { t.k.shape[1] = t.v.shape[1] = 0; }),
            "q [2, 6, 5, 8] and k [2, 0, 7, 8]: 6 query heads are no multiple of 0 key and value heads");
}

TEST(AttentionArguments, ShapesMustAgree) {
  EXPECT_EQ(error_of([](auto& t) { t.k.shape[0] = 1; }), "q [2, 6, 5, 8] and k [1, 3, 7, 8] disagree on the batch: 2 and 1");
  EXPECT_EQ(error_of([](auto& t) { t.v.shape[1] = 6; }), "k [2, 3, 7, 8] and v [2, 6, 7, 4] disagree on the heads: 3 and 6");
  EXPECT_EQ(error_of([](auto& t) { t.v.shape[2] = 8; }), "k [2, 3, 7, 8] and v [2, 3, 8, 4] disagree on the key rows: 7 and 8");
  EXPECT_EQ(error_of([](auto& t) { t.o.shape[1] = 3; }), "q [2, 6, 5, 8] and o [2, 3, 5, 4] disagree on the heads: 6 and 3");
  EXPECT_EQ(error_of([](auto& t) { t.o.shape[2] = 6; }), "q [2, 6, 5, 8] and o [2, 6, 6, 4] disagree on the query rows: 5 and 6");
  EXPECT_EQ(error_of([](auto& t) { t.lse.shape[2] = 4; }), "lse [2, 6, 4] does not fit q [2, 6, 5, 8]; expected [batch, heads, query rows]");
}

TEST(AttentionArguments, HeadDimsAreCompiledIn) {
  EXPECT_EQ(error_of([](auto& t) { t.q.shape[3] = 4; }), "q [2, 6, 5, 4] has head dim 4; this kernel is compiled for 8");
  EXPECT_EQ(error_of([](auto& t) { t.k.shape[3] = 4; }), "k [2, 3, 7, 4] has head dim 4; this kernel is compiled for 8");
  EXPECT_EQ(error_of([](auto& t) { t.v.shape[3] = 2; }), "v [2, 3, 7, 2] has value dim 2; this kernel is compiled for 4");
  EXPECT_EQ(error_of([](auto& t) { t.o.shape[3] = 2; }), "o [2, 6, 5, 2] has value dim 2; this kernel is compiled for 4");
}

TEST(AttentionArguments, DynamicParameters) {
  const auto with = [](std::map<std::string, int64_t> ints, std::map<std::string, double> reals) {
    return error_of(nothing, {.scale = {}, .ints = std::move(ints), .reals = std::move(reals)});
  };
  EXPECT_EQ(with({{"offset", 1}}, {{"slope", 1}}), "the parameter 'window' has no value | give it in LaunchOptions::ints");
  EXPECT_EQ(with({{"offset", 1}, {"window", 1}}, {}), "the parameter 'slope' has no value | give it in LaunchOptions::reals");
  EXPECT_EQ(with({{"offset", 1}, {"window", 1}, {"widow", 2}}, {{"slope", 1}}),
            "unknown parameter 'widow'; this kernel takes offset, window, slope | did you mean 'window'?");
  EXPECT_EQ(with({{"offset", 1}, {"window", 1}}, {{"slope", 1}, {"zz", 1}}),
            "unknown parameter 'zz'; this kernel takes offset, window, slope");
  EXPECT_EQ(with({{"offset", 1}, {"window", 1}, {"slope", 1}}, {}),
            "the parameter 'slope' is given in LaunchOptions::ints; it belongs into LaunchOptions::reals");
  EXPECT_EQ(with({{"offset", 1}}, {{"slope", 1}, {"window", 1}}),
            "the parameter 'window' is given in LaunchOptions::reals; it belongs into LaunchOptions::ints");
  EXPECT_EQ(with({{"offset", (int64_t{1} << 40) + 1}, {"window", 1}}, {{"slope", 1}}),
            "the dynamic parameter offset is 1099511627777; expected -1099511627776 to 1099511627776");
}

TEST(AttentionArguments, ParametersOfAKernelWithoutAny) {
  FakeTensors t;
  try {
    fake_attention(fake_record(), must_not_run).run(t.q, t.k, t.v, t.o, nullptr, {.scale = {}, .ints = {{"w", 1}}, .reals = {}});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "unknown parameter 'w'; this kernel takes none");
  }
}

TEST(AttentionArguments, ScaleMustBeFinite) {
  LaunchOptions options = kGood;
  options.scale = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of(nothing, options), "the scale is nan; expected a finite number");
  options.scale = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of(nothing, options), "the scale is inf; expected a finite number");
}

TEST(AttentionArguments, LseGivenExactlyWhenCompiled) {
  FakeTensors t;
  const auto error = [&](bool compiled, const Tensor* lse) -> std::string {
    try {
      fake_attention(fake_record(compiled), must_not_run).run(t.q, t.k, t.v, t.o, lse);
    } catch (const UserError& found) {
      return found.message();
    }
    return "ran";
  };
  EXPECT_EQ(error(true, nullptr), "lse is missing: this kernel writes it");
  EXPECT_EQ(error(false, &t.lse), "lse is given, but this kernel does not write it");
}

TEST(AttentionArguments, LseMustBeDense) {
  EXPECT_EQ(error_of([](auto& t) { t.lse.strides = {1, 2, 12}; }), "lse [2, 6, 5] has strides [1, 2, 12]; it must be dense");
}

TEST(AttentionArguments, OutputsMustNotOverlapInputs) {
  EXPECT_EQ(error_of([](auto& t) { t.o.data = t.q.data; }),
            "the output o [2, 6, 5, 4] overlaps q [2, 6, 5, 8] in memory | give the output memory of its own");
  EXPECT_EQ(error_of([](auto& t) { t.o.data = static_cast<float*>(t.k.data) + 2 * 3 * 7 * 8 - 1; }),
            "the output o [2, 6, 5, 4] overlaps k [2, 3, 7, 8] in memory | give the output memory of its own");
  EXPECT_EQ(error_of([](auto& t) { t.o.data = static_cast<float*>(t.v.data) - 2 * 6 * 5 * 4 + 1; }),
            "the output o [2, 6, 5, 4] overlaps v [2, 3, 7, 4] in memory | give the output memory of its own");
  EXPECT_EQ(error_of([](auto& t) { t.lse.data = t.o.data; }),
            "the output lse [2, 6, 5] overlaps o [2, 6, 5, 4] in memory | give the output memory of its own");
  EXPECT_EQ(error_of([](auto& t) { t.lse.data = t.v.data; }),
            "the output lse [2, 6, 5] overlaps v [2, 3, 7, 4] in memory | give the output memory of its own");
}

TEST(AttentionArguments, OutputRowsMustNotOverlapEachOther) {
  EXPECT_EQ(error_of([](auto& t) { t.o.strides = {120, 0, 4, 1}; }),
            "rows of the output o [2, 6, 5, 4] with strides [120, 0, 4, 1] overlap each other");
  EXPECT_EQ(error_of([](auto& t) { t.o.strides = {120, 20, 3, 1}; }),
            "rows of the output o [2, 6, 5, 4] with strides [120, 20, 3, 1] overlap each other");
}

TEST(AttentionArguments, SizesPast63Bits) {
  constexpr int64_t kHuge = int64_t{1} << 29;
  EXPECT_EQ(error_of([](auto& t) { t.q.shape = {kHuge, kHuge, 32, 8}, t.q.strides = {0, 0, 8, 1}; }),
            "q [536870912, 536870912, 32, 8] with strides [0, 0, 8, 1] is too large: its sizes pass 2^63");
  EXPECT_EQ(error_of([](auto& t) { t.k.strides[0] = INT64_MAX / 4 + 1; }),
            "k [2, 3, 7, 8] with strides [2305843009213693952, 56, 8, 1] is too large: its sizes pass 2^63");
  EXPECT_EQ(error_of([](auto& t) { t.k.strides[0] = INT64_MIN; }),
            "k [2, 3, 7, 8] with strides [-9223372036854775808, 56, 8, 1] is too large: its sizes pass 2^63");
}

TEST(AttentionArguments, LengthsPastTheKernelsBound) {
  EXPECT_EQ(error_of([](auto& t) {
              t.k.shape[2] = t.v.shape[2] = (int64_t{1} << 30) + 1;
              t.k.strides[2] = t.v.strides[2] = 0;
            }),
            "k [2, 3, 1073741825, 8] has 1073741825 rows; kernels take at most 1073741824");
}

TEST(AttentionArguments, InputsMayBeBroadcastAndOverlapEachOther) {
  FakeTensors t;
  t.k.strides = {0, 0, 8, 1};
  t.v.data = t.k.data, t.v.strides = {0, 0, 8, 1};
  fake_attention(fake_record(), [](const AttentionArgs*, int64_t, int64_t, void*) {}).run(t.q, t.k, t.v, t.o);
}

}  // namespace
}  // namespace heddle::engine
