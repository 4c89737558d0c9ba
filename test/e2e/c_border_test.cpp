// Attentions through the C border: dynamic parameters, LSE, tables and bindings give what the C++ API gives, bit by bit.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "heddle/c.h"
#include "test/e2e/half_fixture.h"
#include "test/temporary_folder.h"

namespace heddle::test {
namespace {

constexpr int64_t kRows = 100, kDim = 32;
const Shape kShape{.batch = 1, .heads = 2, .kv_heads = 1, .sq = kRows, .sk = kRows, .dim = kDim, .value_dim = kDim};

/// A DLPack view of a dense array of any element type.
struct Dense {
  Dense(void* data, std::vector<int64_t> dims, DLDataType type = {kDLFloat, 32, 1}) : shape(std::move(dims)) {
    tensor = {data, {kDLCPU, 0}, static_cast<int>(shape.size()), type, shape.data(), nullptr, 0};
  }
  std::vector<int64_t> shape;
  DLTensor tensor;
};

struct Views {
  explicit Views(Data& d)
      : q(d.q.data(), {1, 2, kRows, kDim}),
        k(d.k.data(), {1, 1, kRows, kDim}),
        v(d.v.data(), {1, 1, kRows, kDim}),
        o(d.o.data(), {1, 2, kRows, kDim}),
        lse(d.lse.data(), {1, 2, kRows}) {}
  Dense q, k, v, o, lse;
};

class CBorder : public ::testing::Test {
 protected:
  void SetUp() override {
    heddle_engine_options options{};
    options.size = sizeof options;
    options.cache_dir = folder_.path().c_str();
    ASSERT_EQ(heddle_engine_create(&options, &engine_), HEDDLE_OK) << heddle_last_error();
  }
  void TearDown() override {
    heddle_attention_destroy(attention_);
    heddle_engine_destroy(engine_);
  }
  void compile(heddle_spec spec, const heddle_parameter& first, size_t count = 1) {
    spec.size = sizeof spec;
    spec.head_dim = kDim;
    spec.parameters = &first;
    spec.parameter_count = count;
    ASSERT_EQ(heddle_attention_create(engine_, &spec, &attention_), HEDDLE_OK) << heddle_last_error();
  }
  heddle_status run(Data& data, const heddle_launch_options& options, bool lse = false) {
    Views views(data);
    return heddle_attention_run(attention_, &views.q.tensor, &views.k.tensor, &views.v.tensor, &views.o.tensor,
                                lse ? &views.lse.tensor : nullptr, &options);
  }

  TemporaryFolder folder_;
  heddle_engine* engine_ = nullptr;
  heddle_attention* attention_ = nullptr;
};

TEST_F(CBorder, DynamicParametersAndLse) {
  heddle_spec spec{};
  spec.mask = "k <= q && q - k < w";
  spec.lse = 1;
  compile(spec, {"w", HEDDLE_DYNAMIC_INT, 0, 0, {}});
  Data ours(kShape), theirs(kShape);
  const heddle_value value{"w", HEDDLE_INT, 17, 0};
  heddle_launch_options options{};
  options.size = sizeof options;
  EXPECT_EQ(run(ours, options, true), HEDDLE_USER_ERROR);
  EXPECT_NE(std::string(heddle_last_error()).find("'w' has no value"), std::string::npos) << heddle_last_error();
  options.values = &value;
  options.value_count = 1;
  ASSERT_EQ(run(ours, options, true), HEDDLE_OK) << heddle_last_error();

  Engine engine(EngineOptions{.cache_dir = folder_.path()});
  const Mask mask = Mask::parse("k <= q && q - k < w", {{"w", Dynamic{}}});
  const Attention attention = engine.attention({.mask = mask, .head_dim = kDim, .lse = true});
  const Tensor lse = Tensor::dense(theirs.lse.data(), {1, 2, kRows});
  attention.run(theirs.q_view(), Tensor::dense(theirs.k.data(), {1, 1, kRows, kDim}),
                Tensor::dense(theirs.v.data(), {1, 1, kRows, kDim}), Tensor::dense(theirs.o.data(), {1, 2, kRows, kDim}), &lse,
                {.ints = {{"w", 17}}});
  EXPECT_EQ(ours.o, theirs.o);
  EXPECT_EQ(ours.lse, theirs.lse);

  heddle_report report{};
  report.size = sizeof report;
  ASSERT_EQ(heddle_attention_report(attention_, &report), HEDDLE_OK);
  EXPECT_STREQ(report.origin, "compiled");
  EXPECT_EQ(report.key, attention.report().key);
  EXPECT_EQ(report.facts, attention.report().facts);
  EXPECT_EQ(report.plan, attention.report().plan);
  EXPECT_EQ(report.tile_keys, attention.report().tile_keys);
  EXPECT_EQ(heddle_engine_compilations(engine_), 1);
}

TEST_F(CBorder, TablesForOneLaunchAndBound) {
  heddle_spec spec{};
  spec.mask = "doc[q] == doc[k] && k <= q";
  compile(spec, {"doc", HEDDLE_TABLE, 0, 0, {kDLInt, 32, 1}});
  std::vector<int32_t> doc(kRows);
  for (int64_t i = 0; i < kRows; ++i) doc[static_cast<size_t>(i)] = static_cast<int32_t>(i / 30);
  const Dense contents(doc.data(), {kRows}, {kDLInt, 32, 1});
  const heddle_table table{"doc", &contents.tensor};

  Data here(kShape), bound(kShape), formula(kShape);
  heddle_launch_options options{};
  options.size = sizeof options;
  EXPECT_EQ(run(here, options), HEDDLE_USER_ERROR);
  EXPECT_NE(std::string(heddle_last_error()).find("'doc' is missing"), std::string::npos) << heddle_last_error();
  options.tables = &table;
  options.table_count = 1;
  ASSERT_EQ(run(here, options), HEDDLE_OK) << heddle_last_error();

  heddle_bind_options bind{sizeof bind, &table, 1, nullptr, 0, 1, 2, 1, kRows, kRows};
  heddle_binding* binding = nullptr;
  ASSERT_EQ(heddle_attention_bind(attention_, &bind, &binding), HEDDLE_OK) << heddle_last_error();
  options.binding = binding;
  EXPECT_EQ(run(bound, options), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "tables and a binding are given; a launch takes one of them");
  options.table_count = 0;
  ASSERT_EQ(run(bound, options), HEDDLE_OK) << heddle_last_error();
  heddle_binding_destroy(binding);
  EXPECT_EQ(here.o, bound.o);

  heddle_attention_destroy(attention_);
  spec.mask = "q / 30 == k / 30 && k <= q && w == 0";
  compile(spec, {"w", HEDDLE_INT, 0, 0, {}});
  options.binding = nullptr;
  ASSERT_EQ(run(formula, options), HEDDLE_OK) << heddle_last_error();
  for (size_t i = 0; i < formula.o.size(); ++i) ASSERT_NEAR(here.o[i], formula.o[i], 2e-5) << i;
}

TEST_F(CBorder, MessagesNameTheFieldsOfC) {
  heddle_spec spec{};
  spec.mask = "k <= q && q - k < w && doc[q] == doc[k]";
  spec.score = "s * c";
  spec.lse = 1;
  const heddle_parameter parameters[] = {
      {"w", HEDDLE_DYNAMIC_INT, 0, 0, {}}, {"c", HEDDLE_DYNAMIC_REAL, 0, 0, {}}, {"doc", HEDDLE_TABLE, 0, 0, {kDLInt, 32, 1}}};
  compile(spec, parameters[0], 3);
  std::vector<int32_t> doc(kRows);
  const Dense contents(doc.data(), {kRows}, {kDLInt, 32, 1});
  const heddle_table table{"doc", &contents.tensor};
  Data data(kShape);
  heddle_launch_options options{};
  options.size = sizeof options;
  const auto refusal = [&](const std::vector<heddle_value>& values, bool lse = true) -> std::string {
    options.values = values.data();
    options.value_count = values.size();
    EXPECT_EQ(run(data, options, lse), HEDDLE_USER_ERROR);
    return heddle_last_error();
  };
  EXPECT_EQ(refusal({}), "the table 'doc' is missing\nhint: give heddle_launch_options.tables, or a binding that heddle_attention_bind() made");
  options.tables = &table;
  options.table_count = 1;
  EXPECT_EQ(refusal({}), "the parameter 'w' has no value\nhint: give it in heddle_launch_options.values, of kind HEDDLE_INT");
  EXPECT_EQ(refusal({{"w", HEDDLE_INT, 3, 0}}), "the parameter 'c' has no value\nhint: give it in heddle_launch_options.values, of kind HEDDLE_REAL");
  EXPECT_EQ(refusal({{"w", HEDDLE_INT, 3, 0}, {"c", HEDDLE_INT, 3, 0}}),
            "the parameter 'c' is given in heddle_launch_options.values, of kind HEDDLE_INT; "
            "it belongs into heddle_launch_options.values, of kind HEDDLE_REAL");
  EXPECT_EQ(refusal({{"w", HEDDLE_INT, 3, 0}, {"c", HEDDLE_REAL, 0, 2}}, false),
            "lse is missing: this kernel writes it\nhint: pass a tensor, or compile with heddle_spec.lse = 0");
  const heddle_bind_options bind{sizeof bind, &table, 1, nullptr, 0, 1, 2, 1, kRows, kRows};
  heddle_binding* binding = nullptr;
  EXPECT_EQ(heddle_attention_bind(attention_, &bind, &binding), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "the parameter 'w' has no value\nhint: give it in heddle_bind_options.values, of kind HEDDLE_INT");
}

TEST_F(CBorder, OperandsOf16Bits) {
  for (const DType dtype : kHalves) {
    const DLDataType type = dtype == DType::BFloat16 ? DLDataType{kDLBfloat, 16, 1} : DLDataType{kDLFloat, 16, 1};
    heddle_spec spec{};
    spec.mask = "k <= q";
    spec.dtype = type;
    compile(spec, {"unused", HEDDLE_INT, 0, 0, {}});
    Data wide(kShape);
    HalfData ours(wide, dtype), theirs(wide, dtype);
    Dense q(ours.q.data(), {1, 2, kRows, kDim}, type), k(ours.k.data(), {1, 1, kRows, kDim}, type), v(ours.v.data(), {1, 1, kRows, kDim}, type),
        o(ours.o.data(), {1, 2, kRows, kDim}, type);
    ASSERT_EQ(heddle_attention_run(attention_, &q.tensor, &k.tensor, &v.tensor, &o.tensor, nullptr, nullptr), HEDDLE_OK) << heddle_last_error();
    Engine engine(without_disk());
    heddle::test::run(engine.attention({.mask = Mask::parse("k <= q"), .head_dim = kDim, .dtype = dtype}), theirs);
    EXPECT_EQ(ours.o, theirs.o);
    heddle_attention_destroy(attention_);
    attention_ = nullptr;
  }
  heddle_spec spec{};
  spec.size = sizeof spec, spec.head_dim = kDim, spec.dtype = {kDLInt, 32, 1};
  EXPECT_EQ(heddle_attention_create(engine_, &spec, &attention_), HEDDLE_USER_ERROR);
  EXPECT_STREQ(heddle_last_error(), "the dtype is int32; expected float32, bfloat16 or float16");
}

}  // namespace
}  // namespace heddle::test
