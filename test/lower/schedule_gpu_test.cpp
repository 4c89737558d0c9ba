// GPU schedules: rewrites keep the meaning of programs, homes of values never clash, tiles fit; broken schedules are refused.
#include "src/lower/schedule_gpu.h"

#include "heddle/error.h"
#include "src/codegen/reference/interpreter.h"
#include "src/lower/gpu_rewrite.h"
#include "src/lower/lower_attention.h"
#include "src/lower/pipeline.h"
#include "src/plan/gpu_plan.h"
#include "test/lower/attention_data.h"

namespace heddle {
namespace {

using test::AttentionData;
using test::Shape;

ir::TileProgram tile_program(const std::string& mask, const std::string& score, const Shape& shape, DType dtype = DType::Float16) {
  return lower::run_pipeline(test::problem(mask, score, shape), lower::GpuChoice{GpuTarget::parse("cuda:sm_80"), dtype}).state.tile;
}

ir::GpuProgram schedule(const std::string& mask, const char* target, DType dtype, int64_t dims = 64) {
  return lower::schedule_gpu(tile_program(mask, "", {1, 1, 1, 1, 1, dims, dims}, dtype), GpuTarget::parse(target), dtype);
}

TEST(ScheduleGpu, ClippingKeysKeepsTheMeaning) {
  const Shape shape = {1, 2, 1, 70, 150, 16, 16};
  const AttentionData data(shape);
  for (const char* mask : {"", "k <= q", "abs(q - k) <= 20 || k < 3", "false"}) {
    for (const char* score : {"", "softcap(s, 2.0)"}) {
      const ir::TileProgram before = tile_program(mask, score, shape);
      ir::TileProgram after = before;
      lower::clip_keys(after);
      const auto expected = reference::interpret(before, data.args()), actual = reference::interpret(after, data.args());
      EXPECT_EQ(test::difference(expected.o, actual.o, 0), "") << mask << "\n" << print(after);
      EXPECT_EQ(test::difference(expected.lse, actual.lse, 0), "") << mask;
    }
  }
}

TEST(ScheduleGpu, EveryMaximumSeesClippedKeys) {
  for (const char* mask : {"", "k <= q"}) {
    ir::TileProgram program = tile_program(mask, "", {1, 1, 1, 1, 1, 16, 16});
    lower::clip_keys(program);
    EXPECT_NE(print(program).find("k < Sk ? s : -inf"), std::string::npos) << print(program);
  }
}

TEST(ScheduleGpu, ARunningSoftmaxNeedsFewRegisters) {
  const ir::GpuProgram program = schedule("k <= q", "cuda:sm_80", DType::Float16);
  std::vector<std::string> carried, fragments;
  for (const ir::RegisterArray& array : program.registers) {
    if (array.carried) carried.push_back(array.name);
    if (array.kind == ir::ValueKind::Fragment) fragments.push_back(array.name);
  }
  EXPECT_EQ(carried, (std::vector<std::string>{"m", "l", "o"}));
  EXPECT_EQ(fragments, (std::vector<std::string>{"o", "s"}));
  EXPECT_EQ(program.partial_sum.size(), 3u);
  EXPECT_TRUE(program.has_mask_bits);
}

TEST(ScheduleGpu, TilesOfEveryTargetFit) {
  for (const GpuTarget& target : GpuTarget::all()) {
    for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float32}) {
      for (const int64_t dims : {16, 64, 80, 128}) {
        const ir::GpuProgram program = schedule("k <= q", target.to_string().c_str(), dtype, dims);
        EXPECT_LE(program.shared_bytes, target.shared_bytes());
        EXPECT_EQ(program.threads() / target.lanes(), 4);
      }
    }
  }
}

TEST(ScheduleGpu, BrokenSchedulesAreRefused) {
  const ir::GpuProgram good = schedule("k <= q", "cuda:sm_80", DType::Float16);
  const auto refused = [&](const auto& change) {
    ir::GpuProgram program = good;
    change(program);
    EXPECT_THROW(ir::verify(program), InternalError);
  };
  refused([](ir::GpuProgram& p) { p.warps = 3; });
  refused([](ir::GpuProgram& p) { p.shared_bytes = 1 << 20; });
  refused([](ir::GpuProgram& p) { p.tiles[1].offset = p.tiles[0].offset; });
  refused([](ir::GpuProgram& p) { p.tiles[0].offset += 16; });
  refused([](ir::GpuProgram& p) { p.home.erase(p.home.begin()); });
  // Two rows in one home: the running maximum and the sum.
  refused([](ir::GpuProgram& p) {
    for (auto& [value, home] : p.home) home = p.registers[static_cast<size_t>(home)].name == "l" ? home - 1 : home;
  });
}

TEST(ScheduleGpu, ProgramsThatNeedMoreAreRefused) {
  ir::TileProgram program = tile_program("k <= q", "", {1, 1, 1, 1, 1, 64, 64});
  for (ir::Statement& statement : program.body) {
    auto* loop = std::get_if<ir::KeyLoop>(&statement.op);
    if (!loop) continue;
    for (ir::Statement& inner : loop->body) {
      auto* mma = std::get_if<ir::Mma>(&inner.op);
      if (mma && mma->live) mma->live = ir::make(ir::Op::Lt, {ir::var("k"), ir::var("q")});  // another mask than the step's
    }
  }
  EXPECT_THROW(lower::schedule_gpu(program, GpuTarget::parse("cuda:sm_80"), DType::Float16), InternalError);
}

TEST(GpuPlan, HeadDimsThatNoKernelTakesAreUserErrors) {
  plan::AnalysedFacts facts;
  const GpuTarget target = GpuTarget::parse("cuda:sm_80");
  for (const int64_t dims : {8, 50, 144, 256}) {
    EXPECT_THROW(plan::make_gpu_plan(test::problem("k <= q", "", {1, 1, 1, 1, 1, dims, 64}), target, DType::Float16, facts), UserError);
    EXPECT_THROW(plan::make_gpu_plan(test::problem("k <= q", "", {1, 1, 1, 1, 1, 64, dims}), target, DType::Float16, facts), UserError);
  }
  ir::AttentionProblem rows = test::problem("k <= q", "", {1, 1, 1, 1, 1, 64, 64});
  rows.options.tile_rows = 40;
  EXPECT_THROW(plan::make_gpu_plan(rows, target, DType::Float16, facts), UserError);
}

TEST(GpuPlan, PlansFollowTheFacts) {
  plan::AnalysedFacts facts;
  const GpuTarget target = GpuTarget::parse("cuda:sm_80");
  const Shape shape = {1, 1, 1, 1, 1, 64, 64};
  EXPECT_EQ(plan::make_gpu_plan(test::problem("k <= q", "", shape), target, DType::Float16, facts).passes.at(0).source, plan::TileSource::Nest);
  EXPECT_EQ(plan::make_gpu_plan(test::problem("q * k % 3 == 1", "", shape), target, DType::Float16, facts).passes.at(0).source, plan::TileSource::Tested);
  EXPECT_TRUE(plan::make_gpu_plan(test::problem("false", "", shape), target, DType::Float16, facts).passes.empty());
}

}  // namespace
}  // namespace heddle
