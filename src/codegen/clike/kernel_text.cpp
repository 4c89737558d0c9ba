#include "src/codegen/clike/kernel_text.h"

#include <algorithm>

#include "src/codegen/clike/argument_text.h"
#include "src/codegen/clike/load_text.h"
#include "src/codegen/clike/nest_text.h"
#include "src/codegen/clike/dialect.h"
#include "src/codegen/clike/product_text.h"
#include "src/codegen/clike/step_text.h"
#include "src/ir/attention_problem.h"
#include "src/ir/rewrite.h"

namespace heddle::codegen::clike {
namespace {

constexpr ir::Interval kPositions = {0, ir::kMaxPositions}, kCount = {0, kMaxGridHeads};

class KernelWriter {
 public:
  KernelWriter(const ir::GpuProgram& program, const std::string& symbol) : p_(program), names_(program), products_(product_text(program.unit)), symbol_(symbol) {
    each_statement(p_.tile.body, [&](const auto& s) {
      using S = std::decay_t<decltype(s)>;
      if constexpr (std::is_same_v<S, ir::Store>) lse_ = lse_ || s.tensor == ir::TensorId::Lse;
      if constexpr (std::is_same_v<S, ir::KeyLoop>) loops_.push_back(&s), lists_ = lists_ || s.source == ir::LoopSource::Listed;
    });
    for (const char* size : {"Sq", "Sk", "NK", "NF", "qb"}) formula_.define(size, {size, false, 32, kPositions});
    for (const char* size : {"b", "h", "B", "H", "Hkv"}) formula_.define(size, {size, false, 32, kCount});
    define_formula(formula_, p_, "f");
  }

  KernelText write(const std::string& comment) {
    header(comment);
    write_argument_structs(out_, p_, lse_, lists_);
    chunk_functions(out_, p_);
    load_functions(out_, p_);
    attention();
    kernel();
    return {prelude(p_.target, p_.shared_bytes), out_.text(), launch()};
  }

 private:
  static void each_statement(const ir::Body& body, const auto& see) {
    for (const ir::Statement& statement : body) std::visit(see, statement.op);
  }
  bool pipelined() const { return dialect(p_.target.vendor).background; }

  GpuLaunch launch() const {
    GpuLaunch launch;
    launch.symbol = symbol_;
    launch.threads = p_.threads();
    launch.shared_bytes = dialect(p_.target.vendor).dynamic_shared ? p_.shared_bytes : 0;
    launch.block_rows = p_.tile.tile_rows, launch.tile_keys = p_.tile.tile_keys;
    launch.arguments = arguments(p_, lse_, lists_);
    return launch;
  }

  void header(const std::string& comment) {
    if (!comment.empty()) out_.comment(comment);
    out_.comment(fmt::format("A block of {} threads computes {} query rows of one head; each warp owns 16 of them. Keys come in tiles of {}.",
                             p_.threads(), p_.tile.tile_rows, p_.tile.tile_keys));
    out_.line("");
  }

  void attention() {
    out_.open("struct Attention");
    fields();
    begin();
    for (size_t i = 0; i < loops_.size(); ++i) step(i);
    for (size_t i = 0; i < loops_.size(); ++i) visit(i);
    finish();
    out_.close("};\n");
  }

  void fields() {
    const char* element = element_type(p_.dtype);
    out_.line("i32 b, h, B, H, Hkv, Sq, Sk, NK;");
    out_.line(fmt::format("const {} *Q, *K, *V;  // the block's queries, the head's keys and values", element));
    out_.line(fmt::format("{}* O;", element));
    if (lse_) out_.line("f32* LSE;");
    out_.line("i64 Q_row, K_row, V_row, O_row;  // strides of rows");
    out_.line("i32 rows;  // of the block that exist");
    out_.line("f32 scale;");
    if (has_formula_fields(p_)) out_.line("Formula f;");
    out_.line("i32 shared, warp_row;");
    out_.line("vi32 lane, lane_row, lane_column;");
    out_.line(fmt::format("vi32 q[{}];  // query rows of the lane; rows that do not exist repeat the last one", p_.layout.rows));
    for (const ir::RegisterArray& array : p_.registers) {
      if (array.carried) out_.line(fmt::format("vf32 {}{};", array.name, names_.extents(array)));
    }
    products_.fields(out_, names_);
    if (pipelined()) out_.line("i32 pending, stage;  // the tile on its way (-1: none), and the buffer of the next one");
    out_.line("");
  }

  void begin() {
    out_.open("HD_MEMBER void begin(const Arguments& a)");
    out_.line("h = block_y(), b = block_z();");
    out_.line("B = (i32)a.B, H = (i32)a.H, Hkv = (i32)a.Hkv, Sq = (i32)a.Sq, Sk = (i32)a.Sk;");
    out_.line(fmt::format("NK = (Sk + {}) / {};", p_.tile.tile_keys - 1, p_.tile.tile_keys));
    out_.line(fmt::format("const i32 first_row = block_x() * {}, kv_head = h / (H / Hkv);", p_.tile.tile_rows));
    out_.line("rows = Sq - first_row;");
    for (const char* tensor : {"Q", "K", "V", "O"}) {
      const bool rows = *tensor == 'Q' || *tensor == 'O';
      out_.line(fmt::format("{0}_row = a.{0}_stride[2];", tensor));
      out_.line(fmt::format("{0} = a.{0} + b * a.{0}_stride[0] + {1} * a.{0}_stride[1]{2};", tensor, rows ? "h" : "kv_head", rows ? fmt::format(" + first_row * {}_row", tensor) : ""));
    }
    if (lse_) out_.line("LSE = a.LSE + (b * a.H + h) * a.Sq + first_row;");
    out_.line("scale = a.scale;");
    if (has_formula_fields(p_)) out_.line("f = a.f;");
    out_.line("shared = shared_base();");
    out_.line("warp_row = warp_id() * 16;");
    out_.line(fmt::format("lane = thread_id() & {};", p_.layout.lanes - 1));
    products_.place(out_);
    each_row_line(out_, p_.layout.rows, fmt::format("q[i] = imin(first_row + warp_row + lane_row + {} * i, splat(Sq - 1));", p_.layout.row_step));
    StatementText statements(out_, names_, formula_, products_);
    each_until_loop([&](const ir::Statement& statement) { statements.outside(statement); });
    products_.begin(out_, names_);
    if (!loops_.empty()) load_queries(out_, p_);
    if (pipelined()) out_.line("pending = -1, stage = 0;");
    out_.close();
    out_.line("");
  }

  void each_until_loop(const auto& see) const {
    for (const ir::Statement& statement : p_.tile.body) {
      if (std::holds_alternative<ir::KeyLoop>(statement.op)) return;
      if (std::holds_alternative<ir::Fill>(statement.op)) see(statement);
    }
  }

  std::string suffix(size_t loop) const { return loop == 0 ? "" : fmt::format("_{}", loop + 1); }

  void step(size_t index) {
    out_.comment("The tile in shared memory, with keys from first_key on. Partial tiles pay for the mask.");
    out_.open(fmt::format("template <bool kPartial> HD_MEMBER void step{}(i32 first_key, i32 at)", suffix(index)));
    const ir::KeyLoop& loop = *loops_[index];
    for (const ir::SharedTile& tile : p_.tiles) {
      const bool mine = std::ranges::any_of(loop.body, [&](const ir::Statement& statement) {
        const auto* stage = std::get_if<ir::Stage>(&statement.op);
        return stage && stage->out == tile.value;
      });
      if (mine) out_.line(fmt::format("const i32 shared_{} = {};", ir::text(tile.tensor), tile_base(tile)));
    }
    StatementText(out_, names_, formula_, products_).step(loop);
    out_.close();
    out_.line("");
  }

  void visit(size_t index) {
    if (pipelined()) {
      out_.comment("Tile kb starts its way into shared memory, and the one before it, which has arrived, is computed. kb = NK: only the latter.");
      out_.open(fmt::format("template <bool kPartial> HD_MEMBER void visit{}(i32 kb)", suffix(index)));
      out_.line("cp_async_wait<0>();");
      out_.line("block_sync();  // nobody reads the buffer of tile kb any more");
      out_.line("if (kb < NK) load_keys(kb, stage);");
      out_.line("cp_async_commit();");
      out_.line(fmt::format("if (pending >= 0) step{}<kPartial>(pending * {}, stage ^ 1);", suffix(index), p_.tile.tile_keys));
      out_.line("pending = kb < NK ? kb : -1;");
      out_.line("stage = stage ^ 1;");
    } else {
      out_.open(fmt::format("template <bool kPartial> HD_MEMBER void visit{}(i32 kb)", suffix(index)));
      out_.line("block_sync();");
      out_.line("load_keys(kb, 0);");
      out_.line("block_sync();");
      out_.line(fmt::format("step{}<kPartial>(kb * {}, 0);", suffix(index), p_.tile.tile_keys));
    }
    out_.close();
    out_.line("");
    if (index == 0) load_keys(out_, p_);
  }

  void finish() {
    out_.open("HD_MEMBER void finish()");
    if (pipelined() && !loops_.empty()) out_.line("cp_async_wait<0>();");
    if (pipelined() && !loops_.empty()) out_.line("block_sync();  // nobody reads or fills the rows of Q any more");
    for (const ir::KeyLoop* loop : loops_) StatementText(out_, names_, formula_, products_).sum_lanes(*loop);
    StatementText statements(out_, names_, formula_, products_);
    for (const ir::Statement& statement : p_.tile.body) {
      const bool before = std::holds_alternative<ir::Fill>(statement.op) || std::holds_alternative<ir::Stage>(statement.op);
      if (!before && !std::holds_alternative<ir::KeyLoop>(statement.op)) statements.outside(statement);
    }
    out_.close();
  }

  void kernel() {
    out_.open(fmt::format("HD_KERNEL({}, {})(HD_ARGUMENTS Arguments a)", symbol_, p_.threads()));
    out_.line("Attention x;");
    out_.line("x.begin(a);");
    if (!loops_.empty()) {
      out_.line("const i32 qb = block_x(), b = x.b, h = x.h, Sq = x.Sq, Sk = x.Sk, B = x.B, H = x.H, Hkv = x.Hkv, NK = x.NK;");
      out_.line(fmt::format("const i32 NF = Sk / {};", p_.tile.tile_keys));
    }
    if (!loops_.empty() && has_formula_fields(p_)) out_.line("const Formula& f = x.f;");
    for (size_t i = 0; i < loops_.size(); ++i) loop(i);
    out_.line("x.finish();");
    out_.close();
  }

  void loop(size_t index) {
    const ir::KeyLoop& loop = *loops_[index];
    const std::string last = pipelined() ? "NK" : "";
    const std::string full = fmt::format("x.visit{}<false>({{}});", suffix(index)), partial = fmt::format("x.visit{}<true>({{}});", suffix(index));
    if (loop.source == ir::LoopSource::Listed) return listed(index);
    if (loop.source == ir::LoopSource::Tested) {
      out_.comment("Every tile, as a partial one.");
      out_.line("HD_LOOP");
      out_.line(fmt::format("for (i32 kb = 0; kb {} NK; ++kb) x.visit{}<true>(kb);", pipelined() ? "<=" : "<", suffix(index)));
      return;
    }
    if (!loop.full.pieces.empty()) {
      out_.comment("Full tiles:\n" + trimmed(ir::print(loop.full, "full")));
      write_nest(out_, loop.full, formula_, full);
    }
    if (!loop.partial.pieces.empty() || pipelined()) {
      out_.comment("Partial tiles:\n" + trimmed(ir::print(loop.partial, "partial")) + (pipelined() ? "\nIn the last round none, which computes the tile on its way." : ""));
      write_nest(out_, loop.partial, formula_, partial, last);
    }
  }

  static std::string trimmed(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  void listed(size_t index) {
    out_.comment("The runs of tiles that binding the tables has listed for this row block, full ones first.");
    out_.line("const i64 list = b * a.list_stride[0] + h * a.list_stride[1] + qb;");
    out_.line("const i64 first_run = ld_uniform_i64(a.list_offsets, list), end_run = ld_uniform_i64(a.list_offsets, list + 1);");
    out_.line("HD_LOOP");
    out_.open("for (i64 run = first_run; run < end_run; ++run)");
    out_.line("const i32 first = ld_uniform_i32(a.list_runs, 2 * run), count = ld_uniform_i32(a.list_runs, 2 * run + 1);");
    out_.line("HD_LOOP");
    out_.line(fmt::format("for (i32 kb = first; kb < first + count; ++kb) x.visit{}<false>(kb);", suffix(index)));
    out_.close();
    out_.line("HD_LOOP");
    out_.open(fmt::format("for (i64 run = first_run; run {} end_run; ++run)", pipelined() ? "<=" : "<"));
    if (pipelined()) {
      out_.line("i32 first = NK, count = -1;  // in the last round none, which computes the tile on its way");
      out_.line("if (run < end_run) first = ld_uniform_i32(a.list_runs, 2 * run), count = ld_uniform_i32(a.list_runs, 2 * run + 1);");
    } else {
      out_.line("const i32 first = ld_uniform_i32(a.list_runs, 2 * run), count = ld_uniform_i32(a.list_runs, 2 * run + 1);");
    }
    out_.line("HD_LOOP");
    out_.line(fmt::format("for (i32 kb = first; kb < first - count; ++kb) x.visit{}<true>(kb);", suffix(index)));
    out_.close();
  }

  const ir::GpuProgram& p_;
  Names names_;
  const ProductText& products_;
  std::string symbol_;
  ExprText formula_;
  TextWriter out_;
  std::vector<const ir::KeyLoop*> loops_;
  bool lse_ = false, lists_ = false;
};

}  // namespace

KernelText kernel_text(const ir::GpuProgram& program, const std::string& symbol, const std::string& comment) {
  return KernelWriter(program, symbol).write(comment);
}

}  // namespace heddle::codegen::clike
