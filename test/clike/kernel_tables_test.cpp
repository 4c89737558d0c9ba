// Emitted kernels with tables, tile lists, dynamic parameters, and memory that nothing may read.
#include "runtime/bind.h"
#include "src/lower/bind_program.h"
#include "test/clike/vector_machine.h"

namespace heddle {
namespace {

using test::GpuCase;
using test::GpuData;
using test::GpuShape;

/// A kernel compiled for the host, with the problem it computes.
struct Compiled {
  ir::AttentionProblem problem;
  ir::GpuProgram program;
  codegen::clike::KernelText kernel;
  test::VectorKernel library;
  Compiled(const GpuCase& c, const Parameters& parameters)
      : problem(test::gpu_problem(c, parameters)), program(test::gpu_program(c, problem)), kernel(codegen::clike::kernel_text(program, "heddle_attention")),
        library(test::vector_prelude_cuda(), kernel.text, "heddle_attention") {}
};

void expect_right(const Compiled& compiled, GpuData& data, test::VectorMachine& machine) {
  ASSERT_NE(compiled.library.run, nullptr);
  machine.allow(data);
  machine.launch(compiled.library, compiled.kernel.launch, data.kernel_args());
  const auto [o, lse] = data.errors(reference::judge(compiled.problem, data.judge_args()));
  EXPECT_LE(o, 2e-3);
  EXPECT_LE(lse, 2e-5);
  EXPECT_TRUE(machine.faults().empty()) << *machine.faults().begin();
}

class KernelTables : public test::VectorTest {};

TEST_F(KernelTables, DocumentsVisitTheListsThatABindMade) {
  const GpuCase c = {"doc[q] == doc[k] && k <= q", ""};
  const Compiled compiled(c, {{"doc", TableOf{}}});
  const GpuShape shape = {1, 2, 1, 300, 300};
  GpuData data(c, shape);
  std::vector<int32_t> doc(300);
  for (size_t i = 0; i < doc.size(); ++i) doc[i] = static_cast<int32_t>(i / 70 + (i > 200));
  TableArg table;
  table.data = doc.data(), table.extent[0] = 300, table.stride[0] = 1;
  const BindProgram program = lower::bind_program(compiled.problem.mask, {}, compiled.program.tile.tables);
  runtime::ThreadPool pool(1);
  const runtime::TileLists lists = runtime::bind_tiles({&program, {Tensor::dense(doc.data(), {300}, DType::Int32)}, {}, 1, 2, 1, 300, 300, 64, 64}, pool);
  data.args.tables = &table, data.args.list_offsets = lists.offsets.data(), data.args.list_runs = lists.runs.data();
  data.args.list_stride[0] = lists.batch_stride, data.args.list_stride[1] = lists.head_stride;
  test::VectorMachine machine(compiled.program.warps, compiled.kernel.launch.shared_bytes);
  machine.allow(doc.data(), doc.size() * 4, false), machine.allow(&table, 0, false);
  machine.allow(lists.offsets.data(), lists.offsets.size() * 8, false), machine.allow(lists.runs.data(), lists.runs.size() * 8, false);
  expect_right(compiled, data, machine);
}

TEST_F(KernelTables, ScoresReadTablesOfReals) {
  const GpuCase c = {"k <= q", "s + rel[h, q - k]"};
  const Compiled compiled(c, {{"rel", TableOf{DType::Float32}}});
  GpuData data(c, {1, 2, 2, 100, 90});
  std::vector<float> rel(2 * 128);
  for (size_t i = 0; i < rel.size(); ++i) rel[i] = std::sin(static_cast<float>(i));
  TableArg table;
  table.data = rel.data(), table.extent[0] = 2, table.extent[1] = 128, table.stride[0] = 128, table.stride[1] = 1;
  data.args.tables = &table;
  test::VectorMachine machine(compiled.program.warps, compiled.kernel.launch.shared_bytes);
  machine.allow(rel.data(), rel.size() * 4, false);
  expect_right(compiled, data, machine);
}

TEST_F(KernelTables, DynamicParametersAreArguments) {
  const GpuCase c = {"k <= q + off && q + off - k < window", "s * temper"};
  const Compiled compiled(c, {{"off", Dynamic{false}}, {"window", Dynamic{false}}, {"temper", Dynamic{true}}});
  for (const auto& [off, window] : {std::pair<int64_t, int64_t>{0, 50}, {20, 1}, {-30, 1 << 20}, {int64_t{1} << 40, int64_t{1} << 40}}) {
    GpuData data(c, {1, 1, 1, 130, 150});
    const int64_t ints[] = {off, window};
    const double reals[] = {0.5};
    data.args.int_params = ints, data.args.real_params = reals;
    test::VectorMachine machine(compiled.program.warps, compiled.kernel.launch.shared_bytes);
    expect_right(compiled, data, machine);
  }
}

TEST_F(KernelTables, GarbageThatNobodyMayAttendIsHarmless) {
  const GpuCase c = {"k % 3 != 1 && k <= q + 100 && k < 140", ""};
  const Compiled compiled(c, {});
  GpuData data(c, {1, 1, 1, 100, 170});
  for (int64_t key = 0; key < 170; ++key) {
    for (int64_t d = 0; d < 64; ++d) {
      const auto place = static_cast<size_t>(key * 64 + d);
      if (key % 3 == 1 || key >= 140) data.k.set(place, std::nanf("")), data.v.set(place, std::nanf(""));
    }
  }
  test::VectorMachine machine(compiled.program.warps, compiled.kernel.launch.shared_bytes);
  expect_right(compiled, data, machine);
}

TEST_F(KernelTables, NanInAnAttendedRowReachesItsQueries) {
  const GpuCase c = {"k <= q", ""};
  const Compiled compiled(c, {});
  GpuData data(c, {1, 1, 1, 70, 70});
  data.v.set(65 * 64, std::nanf(""));
  test::VectorMachine machine(compiled.program.warps, compiled.kernel.launch.shared_bytes);
  machine.allow(data);
  machine.launch(compiled.library, compiled.kernel.launch, data.kernel_args());
  EXPECT_FALSE(std::isnan(data.o.get(0)));
  EXPECT_TRUE(std::isnan(data.o.get(65 * 64)));
  EXPECT_TRUE(std::isnan(data.o.get(69 * 64)));
}

TEST_F(KernelTables, NamesOfTheFormulaMayBeWordsOfTheLanguage) {
  const GpuCase c = {"k <= q + int && q - k < lane_last", ""};
  const Compiled compiled(c, {{"int", Dynamic{false}}, {"lane_last", Dynamic{false}}});
  GpuData data(c, {1, 1, 1, 70, 70});
  const int64_t ints[] = {5, 30};
  data.args.int_params = ints;
  test::VectorMachine machine(compiled.program.warps, compiled.kernel.launch.shared_bytes);
  expect_right(compiled, data, machine);
}

}  // namespace
}  // namespace heddle
