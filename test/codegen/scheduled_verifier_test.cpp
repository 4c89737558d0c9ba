// The verifier of scheduled programs refuses every kind of broken program by the name of its rule.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "heddle/error.h"
#include "src/ir/scheduled_program.h"
#include "test/codegen/emitted_kernel.h"

namespace heddle::test {
namespace {

using namespace ir;  // NOLINT: the statements of the program under test

ScheduledProgram program(const char* target = "cpu:avx512", DType dtype = DType::Float32) {
  KernelSpec spec = {.mask = "k <= q && q - k < 40", .score = "softcap(s, 3.0)"};
  spec.target = Target::parse(target), spec.dtype = dtype, spec.tile_rows = 32, spec.head_dim = 24, spec.value_dim = 16;
  return schedule_of(problem_of(spec));
}

KeyLoopSchedule& loop_of(ScheduledProgram& p) {
  for (ScheduledStatement& statement : p.body) {
    if (auto* loop = std::get_if<KeyLoopSchedule>(&statement.op)) return *loop;
  }
  throw std::logic_error("no loop");
}
/// The first statement of a kind, in the loop or outside.
template <typename T>
T& first(
    ScheduledBody& body, const std::function<bool(const T&)>& wanted = [](const T&) { return true; }) {
  for (ScheduledStatement& statement : body) {
    auto* found = std::get_if<T>(&statement.op);
    if (found && wanted(*found)) return *found;
  }
  throw std::logic_error("no such statement");
}
Contract& contract(ScheduledProgram& p, Contraction kind) {
  return first<Contract>(loop_of(p).body, [kind](const Contract& c) { return c.kind == kind; });
}
template <typename T>
T& first_op(ScheduledProgram& p) {
  for (ScheduledStatement& statement : loop_of(p).body) {
    auto* sweep = std::get_if<Sweep>(&statement.op);
    if (!sweep) continue;
    for (SweepOp& op : sweep->ops) {
      if (auto* found = std::get_if<T>(&op)) return *found;
    }
  }
  throw std::logic_error("no such operation");
}
Sweep& sweep_of(ScheduledProgram& p) { return first<Sweep>(loop_of(p).body); }
BufferId buffer(const ScheduledProgram& p, BufferKind kind) {
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    if (p.buffers[i].kind == kind) return static_cast<BufferId>(i);
  }
  throw std::logic_error("no such buffer");
}
Buffer& of(ScheduledProgram& p, BufferId id) { return p.buffers.at(static_cast<size_t>(id)); }

struct Broken {
  const char* name;
  const char* rule;
  std::function<void(ScheduledProgram&)> breakage;
  DType dtype = DType::Float32;
  const char* target = "cpu:avx512";
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

const Broken kBroken[] = {
    {"RowsOfHalfAVector", "rows fill whole vectors", [](auto& p) { p.tile_rows = 24; }},
    {"NoRows", "rows fill whole vectors", [](auto& p) { p.tile_rows = 0; }},
    {"NoKeys", "sizes are positive", [](auto& p) { p.tile_keys = 0; }},
    {"NoDims", "sizes are positive", [](auto& p) { p.value_dim = 0; }},
    {"Unaligned", "buffers are aligned", [](auto& p) { p.buffers.back().offset += 32; }},
    {"Overlapping", "buffers are disjoint and large enough", [](auto& p) { p.buffers.back().offset = 0; }},
    {"TooSmall", "buffers are disjoint and large enough", [](auto& p) { p.buffers.back().bytes = 0; }},
    {"BeyondScratch", "buffers lie inside scratch", [](auto& p) { p.scratch_bytes -= 64; }},
    {"NoFrame", "operands are buffers of the program", [](auto& p) { p.frame = kNoBuffer; }},
    {"UnknownBuffer", "operands are buffers of the program", [](auto& p) { contract(p, Contraction::OverDims).out = 1000; }},
    {"ShortSink", "operands have the kind and size their use needs", [](auto& p) { of(p, p.sink).columns = 23; }},
    {"PackedKeys", "packed rows are query rows", [](auto& p) { first<PackRows>(p.body).tensor = TensorId::K; }},
    {"FilledFlags", "fills and copies are of reals",
     [](auto& p) { first<FillBuffer>(p.body).out = buffer(p, BufferKind::Flags); }},
    {"UnequalCopy", "copies keep the shape",
     [](auto& p) {
       p.body.insert(p.body.begin(), {CopyBuffer{buffer(p, BufferKind::Row), buffer(p, BufferKind::Matrix)}});
     }},
    {"ListedQueries", "listed keys are rows of K or V", [](auto& p) { first<ListKeys>(p.body).tensor = TensorId::Q; }},
    {"ShortList", "operands have the kind and size their use needs",
     [](auto& p) { of(p, contract(p, Contraction::OverKeys).all_keys).columns = 1; }},
    {"RowMapOfAMatrix", "operands have the kind and size their use needs",
     [](auto& p) { first<RowMap>(loop_of(p).body).inputs[0] = buffer(p, BufferKind::Matrix); }},
    {"RowMapOfIntegers", "maps have Real expressions", [](auto& p) { first<RowMap>(loop_of(p).body).expr = int_const(1); }},
    {"ContractOutside", "contracts stand in loops: they need keys",
     [](auto& p) { p.body.insert(p.body.begin(), {contract(p, Contraction::OverDims)}); }},
    {"ContractOfQueries", "right operands are K and V",
     [](auto& p) { contract(p, Contraction::OverDims).rhs.tensor = TensorId::Q; }},
    {"TooManyRegisters", "a register tile keeps to the registers",
     [](auto& p) { contract(p, Contraction::OverDims).tile_columns = 16; }},
    {"NoColumns", "a register tile keeps to the registers",
     [](auto& p) { contract(p, Contraction::OverKeys).tile_columns = 0; }},
    {"WrongLeft", "matrices have the columns their use needs",
     [](auto& p) { contract(p, Contraction::OverDims).lhs = contract(p, Contraction::OverKeys).out; }},
    {"WrongOut", "matrices have the columns their use needs",
     [](auto& p) { contract(p, Contraction::OverKeys).rhs.tensor = TensorId::K; }},
    {"AccumulatedDims", "contracts over dims start from 0",
     [](auto& p) { contract(p, Contraction::OverDims).accumulate.matrix = contract(p, Contraction::OverDims).out; }},
    {"Overwritten", "contracts do not overwrite their left operand",
     [](auto& p) {
       p.head_dim = p.value_dim = p.keys_per_step(loop_of(p));
       for (Buffer& b : p.buffers) {
         if (b.kind == BufferKind::Matrix || b.kind == BufferKind::Sink) b.columns = p.head_dim;
       }
       int64_t end = 0;
       for (Buffer& b : p.buffers) b.offset = end, b.bytes = 1 << 20, end += b.bytes;
       p.scratch_bytes = end;
       contract(p, Contraction::OverDims).out = contract(p, Contraction::OverDims).lhs;
     }},
    {"ScaleOfAMatrix", "operands have the kind and size their use needs",
     [](auto& p) { contract(p, Contraction::OverKeys).accumulate.scale = buffer(p, BufferKind::Matrix); }},
    {"PassOutside", "passes over keys stand in loops", [](auto& p) { p.body.insert(p.body.begin(), {sweep_of(p)}); }},
    {"PassOverRows", "passes go over keys or dims", [](auto& p) { sweep_of(p).columns = Extent::BlockRows; }},
    {"LoadOfFlags", "operands have the kind and size their use needs",
     [](auto& p) { first_op<SweepLoad>(p).buffer = buffer(p, BufferKind::Flags); }},
    {"UndefinedLocal", "locals are defined before use", [](auto& p) { first_op<SweepMap>(p).expr = arg(77, Type::Real); }},
    {"DefinedTwice", "locals are defined once", [](auto& p) { sweep_of(p).ops.push_back(first_op<SweepLoad>(p)); }},
    {"MapOfABool", "maps have Real expressions", [](auto& p) { first_op<SweepMap>(p).expr = bool_const(true); }},
    {"FlagOfAnInt", "flags have Bool predicates", [](auto& p) { first_op<SweepFlag>(p).predicate = var("k"); }},
    {"TwoLists", "a pass lists live keys once",
     [](auto& p) {
       for (ScheduledStatement& statement : loop_of(p).body) {
         auto* sweep = std::get_if<Sweep>(&statement.op);
         if (!sweep) continue;
         const auto ops = sweep->ops;
         for (const SweepOp& op : ops) {
           if (std::holds_alternative<SweepStore>(op) && std::get<SweepStore>(op).compact) sweep->ops.push_back(op);
         }
       }
     }},
    {"LoopInALoop", "key loops do not nest", [](auto& p) { loop_of(p).body.push_back({KeyLoopSchedule(loop_of(p))}); }},
    {"EmptyStep", "a step holds a tile", [](auto& p) { loop_of(p).tiles_per_step = 0; }},
    {"TestedByNothing", "tested and listed loops have a predicate", [](auto& p) { loop_of(p).source = LoopSource::Tested; }},
    {"StoreInALoop", "stores stand after the loops", [](auto& p) { loop_of(p).body.push_back({first<StoreRows>(p.body)}); }},
    {"StoreOfQueries", "results are O and LSE", [](auto& p) { first<StoreRows>(p.body).tensor = TensorId::Q; }},
    {"StoreOfScores", "matrices have the columns their use needs",
     [](auto& p) { first<StoreRows>(p.body).in.matrix = contract(p, Contraction::OverDims).out; }},
    {"TypeOfNoOperand", "tensors are float32, bfloat16 or float16", [](auto& p) { p.dtype = DType::Int32; }},
    {"StagedOutside", "rows of keys are staged in loops",
     [](auto& p) { p.body.insert(p.body.begin(), {first<StageRows>(loop_of(p).body)}); }, DType::Float16},
    {"StagedQueries", "staged rows are those of K or V", [](auto& p) { first<StageRows>(loop_of(p).body).tensor = TensorId::Q; }, DType::Float16},
    {"StagedTooNarrow", "staged rows are as wide as the tensor's",
     [](auto& p) { of(p, first<StageRows>(loop_of(p).body).out).width -= 1; }, DType::Float16},
    {"HalvesInPlace", "operands in place are f32 in memory, or pairs of dims",
     [](auto& p) { contract(p, Contraction::OverKeys).rhs.staged = kNoBuffer; }, DType::Float16},
    {"PairsWithoutDots", "pairs are packed as they are", [](auto& p) { p.target.bfloat16_dots = false; }, DType::BFloat16, "cpu:avx512-bf16"},
    {"ScaledPairs", "pairs are packed as they are", [](auto& p) { first<PackRows>(p.body).factor = 2; }, DType::BFloat16, "cpu:avx512-bf16"},
    {"PairsTimesReals", "both operands are pairs, or none is",
     [](auto& p) { contract(p, Contraction::OverKeys).lhs = first<RoundPairs>(loop_of(p).body).in; }, DType::BFloat16, "cpu:avx512-bf16"},
    {"PassOverPairs", "pairs are for dot products alone",
     [](auto& p) { first_op<SweepStore>(p).matrix = first<RoundPairs>(loop_of(p).body).out; }, DType::BFloat16, "cpu:avx512-bf16"},
    {"RoundedToReals", "rounding makes pairs",
     [](auto& p) { first<RoundPairs>(loop_of(p).body).out = first<RoundPairs>(loop_of(p).body).in; }, DType::BFloat16, "cpu:avx512-bf16"},
};

class ScheduledVerifier : public testing::TestWithParam<Broken> {};

TEST_P(ScheduledVerifier, RefusesNamingTheRule) {
  ScheduledProgram p = program(GetParam().target, GetParam().dtype);
  GetParam().breakage(p);
  try {
    verify(p);
    FAIL() << "accepted\n" << print(p);
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(std::string(GetParam().rule) + ": broken by"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, ScheduledVerifier, testing::ValuesIn(kBroken),
                         [](const auto& broken) { return std::string(broken.param.name); });

TEST(ScheduledProgram, AsScheduledIsAcceptedAndPrintsItsStatements) {
  const ScheduledProgram programs[] = {program(), program("cpu:avx2", DType::Float16), program("cpu:avx512-bf16", DType::BFloat16)};
  for (const ScheduledProgram& p : programs) {
    EXPECT_NO_THROW(verify(p));
    const std::string text = print(p);
    for (const Buffer& b : p.buffers) EXPECT_NE(text.find(b.name), std::string::npos) << b.name << "\n" << text;
  }
  EXPECT_NE(print(programs[1]).find("K.staged = K[keys.k]"), std::string::npos) << print(programs[1]);
  EXPECT_NE(print(programs[2]).find("p.pairs = pairs of s"), std::string::npos) << print(programs[2]);
}

TEST(ScheduledProgram, KeepsItsRegisterTilesToTheRegistersOfTheTarget) {
  for (const Target& target : Target::all()) {
    for (int64_t vectors : {1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 31, 64}) {
      KernelSpec spec;
      spec.target = target, spec.tile_rows = vectors * target.lanes();
      ScheduledProgram p = schedule_of(problem_of(spec));
      ASSERT_EQ(p.tile_rows, *spec.tile_rows);
      for (Contraction kind : {Contraction::OverDims, Contraction::OverKeys}) {
        const int64_t columns = contract(p, kind).tile_columns, registers = target.vector_registers();
        EXPECT_TRUE(columns == 1 || (columns + 1) * vectors + 1 <= registers) << target.to_string() << " " << vectors;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::test
