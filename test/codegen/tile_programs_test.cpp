// Tile programs that are no attention: scheduled, emitted and run against the interpreter.
#include <gtest/gtest.h>

#include "heddle/error.h"
#include "src/codegen/reference/interpreter.h"
#include "test/codegen/emitted_kernel.h"
#include "test/codegen/launch_data.h"
#include "test/codegen/random_program.h"

namespace heddle::test {
namespace {

constexpr double kBar = 1e-3;  ///< Relative above 1; wrong programs differ by about 1.

Launch launch_of(int64_t sk) {
  Launch launch;
  launch.batch = 2, launch.heads = 2, launch.kv_heads = 1, launch.sq = 37, launch.sk = sk, launch.head_dim = 12,
  launch.value_dim = 9;
  return launch;
}

bool alike(double expected, double actual) { return close(expected, actual, kBar * std::max(1.0, std::abs(expected))); }

/// Empty, or the first difference.
std::string compare(const reference::AttentionResult& expected, const LaunchData& data) {
  std::string found;
  size_t element = 0, row = 0;
  data.each_row([&](int64_t b, int64_t h, int64_t q) {
    for (int64_t d = 0; d < data.launch().value_dim; ++d, ++element) {
      const double e = expected.o[element], a = data.o.row(b, h, q)[d];
      if (found.empty() && !alike(e, a)) found = fmt::format("O[{}, {}, {}, {}]: expected {}, got {}", b, h, q, d, e, a);
    }
    const double e = expected.lse[row], a = data.lse[row];
    if (found.empty() && !alike(e, a)) found = fmt::format("LSE[{}, {}, {}]: expected {}, got {}", b, h, q, e, a);
    ++row;
  });
  return found;
}

void check(const ir::TileProgram& program, const Target& target) {
  const EmittedKernel kernel(lower::schedule_cpu(program, target));
  for (int64_t sk : {0, 5, 24, 61}) {
    LaunchData data(launch_of(sk));
    kernel.run(data.args);
    ASSERT_EQ(compare(reference::interpret(program, data.args), data), "")
        << "Sk " << sk << "\n"
        << print(program) << print(lower::schedule_cpu(program, target));
  }
}

class RandomPrograms : public testing::TestWithParam<int> {};

TEST_P(RandomPrograms, DoWhatTheInterpreterDoes) {
  for (uint64_t i = 0; i < 30; ++i) {
    const uint64_t seed = static_cast<uint64_t>(GetParam()) * 1000 + i;
    const std::vector<Target> targets = runnable_targets();
    const Target target = targets[i % targets.size()];
    SCOPED_TRACE(fmt::format("seed {} {}", seed, target.to_string()));
    check(RandomProgram(seed).make(target.lanes() * static_cast<int64_t>(1 + i / 2 % 2)), target);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Values(0, 1, 2, 112));

/// O = sum over k of relu(s) v, LSE = sum over k of relu(s): linear attention without a softmax, states swapped in every step.
TEST(TilePrograms, SwapTheirStateInEveryStep) {
  using ir::Extent;
  for (const Target& target : runnable_targets()) {
    ir::TileProgram p;
    p.name = "swap";
    p.tile_rows = target.lanes(), p.tile_keys = 8, p.keys_per_step = 8, p.head_dim = 12, p.value_dim = 9;
    const auto row = [&](const char* name) { return ir::ValueInfo{ir::ValueKind::Row, Extent::BlockRows, Extent::One, name}; };
    const auto fragment = [&](const char* name, Extent cols) {
      return ir::ValueInfo{ir::ValueKind::Fragment, Extent::BlockRows, cols, name};
    };
    enum { kQ, kA, kB, kO, kAIn, kBIn, kOIn, kK, kS, kRelu, kSum, kANext, kV, kONext, kAOut, kBOut, kOOut };
    p.values = {{ir::ValueKind::Tile, Extent::BlockRows, Extent::HeadDim, "q"},
                row("a"),
                row("b"),
                fragment("o", Extent::ValueDim),
                row("a_in"),
                row("b_in"),
                fragment("o_in", Extent::ValueDim),
                {ir::ValueKind::Tile, Extent::StepKeys, Extent::HeadDim, "k"},
                fragment("s", Extent::StepKeys),
                fragment("relu", Extent::StepKeys),
                row("sum"),
                row("a_next"),
                {ir::ValueKind::Tile, Extent::StepKeys, Extent::ValueDim, "v"},
                fragment("o_next", Extent::ValueDim),
                row("a_out"),
                row("b_out"),
                fragment("o_out", Extent::ValueDim)};
    const ir::Expr first = ir::arg(0, ir::Type::Real), second = ir::arg(1, ir::Type::Real);
    ir::KeyLoop loop;
    loop.source = ir::LoopSource::Tested;
    loop.predicate = ir::bool_const(true);
    loop.carried = {{kA, kAIn, kBIn, kAOut}, {kB, kBIn, kANext, kBOut}, {kO, kOIn, kONext, kOOut}};
    loop.body = {{ir::Stage{kK, ir::TensorId::K}},
                 {ir::Mma{kS, kQ, kK, true, ir::kNoValue, nullptr}},
                 {ir::Map{kRelu, {kS}, ir::make(ir::Op::Max, {first, ir::real_const(0)})}},
                 {ir::RowReduce{kSum, kRelu, ir::Reduction::Sum}},
                 {ir::Map{kANext, {kAIn, kSum}, ir::make(ir::Op::Add, {first, second})}},
                 {ir::Stage{kV, ir::TensorId::V}},
                 {ir::Mma{kONext, kRelu, kV, false, kOIn, nullptr}}};
    p.body = {{ir::Stage{kQ, ir::TensorId::Q, true}},
              {ir::Fill{kA, 1}},
              {ir::Fill{kB, 2}},
              {ir::Fill{kO, 0}},
              {loop},
              {ir::Store{ir::TensorId::O, kOOut}},
              {ir::Store{ir::TensorId::Lse, kAOut}}};
    check(p, target);
  }
}

TEST(TilePrograms, ThatTheScheduleCannotRunAreRefused) {
  ir::TileProgram program = RandomProgram(1).make(16);
  const auto first_mma = [&](bool transposed) -> ir::Mma& {
    for (ir::Statement& statement : program.body) {
      auto* loop = std::get_if<ir::KeyLoop>(&statement.op);
      if (!loop) continue;
      for (ir::Statement& inner : loop->body) {
        auto* mma = std::get_if<ir::Mma>(&inner.op);
        if (mma && mma->rhs_transposed == transposed) return *mma;
      }
    }
    throw std::logic_error("no such mma");
  };
  program.values.push_back({ir::ValueKind::Fragment, ir::Extent::BlockRows, ir::Extent::StepKeys, "before"});
  const auto before = static_cast<ir::ValueId>(program.values.size()) - 1;
  first_mma(true).accumulate = before;
  for (ir::Statement& statement : program.body) {
    if (auto* loop = std::get_if<ir::KeyLoop>(&statement.op)) {
      loop->body.insert(loop->body.begin(), {ir::Fill{before, 1}});
      break;
    }
  }
  ir::verify(program);
  EXPECT_THROW(lower::schedule_cpu(program, Target::parse("cpu:avx512")), InternalError);
}

}  // namespace
}  // namespace heddle::test
