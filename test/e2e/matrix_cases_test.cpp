// The masks of the case files as raw matrices, through the public API: the attention of the matrix is that of the case's formula.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "dsl/json_reader.h"
#include "dsl/parser.h"
#include "heddle/matrix.h"
#include "src/engine/case_tables.h"
#include "src/ir/evaluate.h"
#include "src/ir/rewrite.h"
#include "test/e2e/attention_fixture.h"

namespace heddle::test {
namespace {

using dsl::JsonView;

constexpr int64_t kDim = 16;
constexpr int kShards = 8;
constexpr int64_t kMostPairs = int64_t{1} << 21;  ///< Cases beyond are recognized, not run.

std::string case_file() {
  const std::ifstream file(HEDDLE_SOURCE_DIR "/test/cases/masks.json");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Case {
  explicit Case(const JsonView& view)
      : name(view.at("name").string()), sq(view.at("seq_q").integer()), sk(view.at("seq_k").integer()), pairs(view.at("results").at("nnz").integer()) {
    const std::shared_ptr<const engine::CaseTables> tables = engine::read_tables(view);
    Parameters declared;
    ir::Tables views;
    for (const engine::CaseTable& table : *tables) {
      declared[table.name] = TableOf{DType::Int64};
      views[table.name] = table.view;
    }
    const ir::Expr mask = dsl::parse_formula(view.at("formula").string(), {.parameters = declared});
    const ir::CompiledExpr program(ir::guard_divisors(mask), {"q", "k", "Sq", "Sk"}, views);
    bytes.reserve(static_cast<size_t>(sq * sk));
    for (int64_t at[] = {0, 0, sq, sk}; at[0] < sq; ++at[0]) {
      for (at[1] = 0; at[1] < sk; ++at[1]) bytes.push_back(program.run_int(at) != 0);
    }
  }
  Tensor matrix() { return Tensor::dense(bytes.data(), {sq, sk}, DType::Bool); }

  std::string name;
  int64_t sq, sk, pairs;
  std::vector<uint8_t> bytes;
};

/// Every kShards-th case: neighbours in the file are of one family, so a shard has some of each.
class MatrixCaseRuns : public testing::TestWithParam<int> {};

TEST_P(MatrixCaseRuns, AttendAsTheirFormulasDo) {
  const std::vector<JsonView> cases = JsonView(dsl::JsonDocument::parse(case_file(), "masks.json", {.bytes = size_t{1} << 26})).at("cases").elements();
  Engine engine(without_disk());
  int formulas = 0;
  for (size_t i = static_cast<size_t>(GetParam()); i < cases.size(); i += kShards) {
    Case one(cases[i]);
    SCOPED_TRACE(one.name);
    AttentionSpec spec;
    spec.matrix = recognize(one.matrix());
    EXPECT_EQ(spec.matrix->findings().pairs, one.pairs);
    formulas += spec.matrix->form() == MatrixMask::Form::Formula;
    if (one.sq * one.sk > kMostPairs) continue;
    expect_right(engine, spec, {.batch = 1, .heads = 1, .kv_heads = 1, .sq = one.sq, .sk = one.sk, .dim = kDim, .value_dim = kDim},
                 [&](const Pair& pair) { return one.bytes[static_cast<size_t>(pair.q * one.sk + pair.k)] != 0; });
  }
  EXPECT_GE(formulas, 15);
}

INSTANTIATE_TEST_SUITE_P(Shards, MatrixCaseRuns, testing::Range(0, kShards));

}  // namespace
}  // namespace heddle::test
