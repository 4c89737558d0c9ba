#include "src/lower/schedule_gpu.h"

#include <algorithm>
#include <bit>
#include <set>
#include <span>

#include "heddle/error.h"
#include "src/lower/gpu_rewrite.h"

namespace heddle::lower {
namespace {

using ir::Extent;
using ir::GpuProgram;
using ir::ValueId;
using ir::ValueKind;

constexpr int64_t kAlignment = 1024;  ///< Of staged tiles: swizzles repeat every 8 rows of at most 128 bytes.

[[noreturn]] void fail(const std::string& what) { throw InternalError("gpu schedule", what); }

ir::MatrixUnit matrix_unit(const GpuTarget& target, DType dtype) {
  if (target.vendor == GpuVendor::Hip) return ir::MatrixUnit::Mfma;
  return dtype == DType::Float32 ? ir::MatrixUnit::Fma : ir::MatrixUnit::MmaSync;
}

/// Homes, factors and lane-partial sums of one program.
class Scheduler {
 public:
  explicit Scheduler(GpuProgram& program) : p_(program) {}

  void run() {
    collect_stages(p_.tile.body);
    body(p_.tile.body, nullptr);
    place_tiles();
  }

 private:
  const ir::ValueInfo& info(ValueId id) const { return p_.tile.values.at(static_cast<size_t>(id)); }
  bool is_row(ValueId id) const { return info(id).kind == ValueKind::Row; }

  void collect_stages(const ir::Body& statements) {
    for (const ir::Statement& statement : statements) {
      if (const auto* stage = std::get_if<ir::Stage>(&statement.op)) stages_[stage->out] = *stage;
      if (const auto* loop = std::get_if<ir::KeyLoop>(&statement.op)) collect_stages(loop->body);
    }
  }

  void body(const ir::Body& statements, const ir::KeyLoop* loop) {
    for (size_t i = 0; i < statements.size(); ++i) {
      rest_ = std::span(statements).subspan(i + 1);
      loop_ = loop;
      std::visit([&](const auto& s) { visit(s); }, statements[i].op);
    }
  }

  void visit(const ir::Stage& s) {
    if (s.tensor == ir::TensorId::V && (s.softmax_scale || s.factor != 1.0)) fail("V has a factor");
  }
  void visit(const ir::Fill& s) {
    own_home(s.out);
    p_.registers.back().carried = !loop_;
  }
  void visit(const ir::RowReduce& s) { own_home(s.out); }
  void visit(const ir::Mma& s) {
    if (!stages_.contains(s.rhs) || stages_.at(s.rhs).tensor == ir::TensorId::Q) fail("the right operand of an mma is no tile of K or V");
    if (s.rhs_transposed != stages_.contains(s.lhs)) fail("an mma has other operands than Q and K or a fragment and V");
    if (s.rhs_transposed) {
      const ir::Stage &q = stages_.at(s.lhs), &k = stages_.at(s.rhs);
      if (q.softmax_scale && k.softmax_scale) fail("both operands of an mma have the softmax scale");
      p_.factor[s.out] = {q.softmax_scale || k.softmax_scale, q.factor * k.factor};
      return own_home(s.out);
    }
    p_.has_mask_bits = p_.has_mask_bits || s.live;
    if (s.live && !(loop_ && masked_by(*loop_, s.live))) fail("an mma leaves out keys by another predicate than the mask of its step");
    if (s.accumulate == ir::kNoValue || read_later(s.accumulate)) fail("a product with V does not add to a fragment of its own");
    p_.home[s.out] = p_.home.at(s.accumulate);
  }
  void visit(const ir::Map& s) {
    for (ValueId input : s.inputs) {
      if (!may_take_home(s, input)) continue;
      p_.home[s.out] = p_.home.at(input);
      return;
    }
    own_home(s.out);
  }
  void visit(const ir::KeyLoop& s) {
    for (const ir::Carried& c : s.carried) {
      if (read_later(c.init)) fail("the initial value of a carried one is read later: " + info(c.init).name);
      p_.home[c.inner] = p_.home[c.out] = p_.home.at(c.init);
    }
    sum_in_lanes(s);
    const auto outer = rest_;
    body(s.body, &s);
    rest_ = outer, loop_ = nullptr;
    for (const ir::Carried& c : s.carried) p_.registers[static_cast<size_t>(p_.home.at(c.inner))].carried = true;
  }
  void visit(const ir::Store&) {}
  template <class Other>
  void visit(const Other&) { fail("compressed rows"); }

  static bool masked_by(const ir::KeyLoop& loop, const ir::Expr& live) {
    return std::any_of(loop.body.begin(), loop.body.end(), [&](const ir::Statement& statement) {
      const auto* map = std::get_if<ir::Map>(&statement.op);
      const ir::Expr condition = map ? masking_condition(*map) : nullptr;
      return condition && ir::equal(condition, clipped(live));
    });
  }

  bool read_later(ValueId value) const {
    return std::any_of(rest_.begin(), rest_.end(), [&](const ir::Statement& statement) {
      if (const auto* map = std::get_if<ir::Map>(&statement.op)) return std::ranges::count(map->inputs, value) > 0;
      if (const auto* mma = std::get_if<ir::Mma>(&statement.op)) return mma->lhs == value || mma->accumulate == value;
      if (const auto* reduce = std::get_if<ir::RowReduce>(&statement.op)) return reduce->in == value;
      if (const auto* store = std::get_if<ir::Store>(&statement.op)) return store->in == value;
      if (const auto* loop = std::get_if<ir::KeyLoop>(&statement.op)) {
        return std::ranges::any_of(loop->carried, [&](const ir::Carried& c) { return c.init == value; });
      }
      return false;
    }) || (loop_ && std::ranges::any_of(loop_->carried, [&](const ir::Carried& c) { return c.yield == value; }));
  }

  /// Fragments go on in the registers of an input that nothing reads later; Rows only to update a carried value.
  bool may_take_home(const ir::Map& map, ValueId input) const {
    if (info(input).kind != info(map.out).kind || info(input).cols != info(map.out).cols || read_later(input)) return false;
    if (!is_row(map.out)) return true;
    return loop_ && std::ranges::any_of(loop_->carried, [&](const ir::Carried& c) { return c.inner == input && c.yield == map.out; });
  }

  void own_home(ValueId value) {
    p_.home[value] = static_cast<int>(p_.registers.size());
    p_.registers.push_back({info(value).name, info(value).kind, info(value).cols, false});
  }

  /// A carried l with l' = l * c + sum over keys: c is the same in all lanes of a row, so the lanes may keep their own parts.
  void sum_in_lanes(const ir::KeyLoop& loop) {
    for (const ir::Carried& c : loop.carried) {
      const ir::RowReduce* sum = nullptr;
      for (const ir::Statement& statement : loop.body) {
        const auto* map = std::get_if<ir::Map>(&statement.op);
        if (map && map->out == c.yield) sum = sum_of(loop, *map, c.inner);
      }
      if (!sum || reads(loop, c.inner) != 1 || reads(loop, sum->out) != 1) continue;
      for (ValueId value : {c.inner, c.yield, sum->out}) p_.partial_sum[value] = true;
    }
  }
  static const ir::RowReduce* sum_of(const ir::KeyLoop& loop, const ir::Map& map, ValueId inner) {
    const ir::ExprNode& e = *map.expr;
    if (map.inputs.size() != 3 || map.inputs[0] != inner || map.inputs[1] == inner || e.op != ir::Op::Add) return nullptr;
    const auto is_arg = [](const ir::Expr& expr, int64_t index) { return expr->op == ir::Op::Arg && expr->integer == index; };
    const ir::ExprNode& product = *e.operands[0];
    if (product.op != ir::Op::Mul || !is_arg(product.operands[0], 0) || !is_arg(product.operands[1], 1) || !is_arg(e.operands[1], 2)) return nullptr;
    for (const ir::Statement& statement : loop.body) {
      const auto* reduce = std::get_if<ir::RowReduce>(&statement.op);
      if (reduce && reduce->out == map.inputs[2] && reduce->reduction == ir::Reduction::Sum) return reduce;
    }
    return nullptr;
  }
  static int64_t reads(const ir::KeyLoop& loop, ValueId value) {
    int64_t count = 0;
    for (const ir::Statement& statement : loop.body) {
      if (const auto* map = std::get_if<ir::Map>(&statement.op)) count += std::ranges::count(map->inputs, value);
    }
    return count;
  }

  void place_tiles() {
    const bool background = p_.target.vendor == GpuVendor::Cuda;
    for (const auto& [value, stage] : stages_) {
      const bool query = stage.tensor == ir::TensorId::Q, v = stage.tensor == ir::TensorId::V;
      if (query && p_.unit == ir::MatrixUnit::Mfma) continue;  // lanes keep their elements of Q
      ir::SharedTile tile = {value, stage.tensor, query ? p_.tile.tile_rows : p_.tile.tile_keys,
                             v ? p_.tile.value_dim : p_.tile.head_dim, query || !background ? 1 : 2, 0, 0, true};
      set_rows(tile);
      place(tile);
    }
    if (p_.unit == ir::MatrixUnit::MmaSync) place_results();
  }
  /// Each warp reads and writes its own rows of Q only, so the same rows may take its results.
  void place_results() {
    const auto same = std::ranges::find_if(p_.tiles, [&](const ir::SharedTile& tile) {
      return tile.tensor == ir::TensorId::Q && tile.dims == p_.tile.value_dim;
    });
    p_.results = {ir::kNoValue, ir::TensorId::O, p_.tile.tile_rows, p_.tile.value_dim, 1, 0, 0, true};
    set_rows(p_.results);
    if (same != p_.tiles.end()) {
      p_.results.offset = same->offset;
    } else {
      place(p_.results);
      p_.tiles.pop_back();
    }
  }
  void set_rows(ir::SharedTile& tile) const {
    const int64_t bytes = tile.dims * size_of(p_.dtype), chunks = bytes / 16;
    tile.swizzled = chunks >= 8 && std::has_single_bit(static_cast<uint64_t>(chunks)) && p_.unit == ir::MatrixUnit::MmaSync;
    tile.row_bytes = tile.swizzled ? bytes : bytes + 16;
    const int64_t over = tile.rows * chunks % p_.threads();
    tile.slack = over == 0 ? 0 : (p_.threads() - over + chunks - 1) / chunks;
  }
  void place(ir::SharedTile& tile) {
    tile.offset = p_.shared_bytes;
    const int64_t bytes = tile.stages * tile.bytes();
    p_.shared_bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    p_.tiles.push_back(tile);
  }

  GpuProgram& p_;
  std::map<ValueId, ir::Stage> stages_;
  std::span<const ir::Statement> rest_;
  const ir::KeyLoop* loop_ = nullptr;
};

}  // namespace

ir::GpuProgram schedule_gpu(const ir::TileProgram& program, const GpuTarget& target, DType dtype) {
  GpuProgram scheduled;
  scheduled.tile = program;
  scheduled.target = target;
  scheduled.dtype = dtype;
  scheduled.unit = matrix_unit(target, dtype);
  scheduled.layout = ir::fragment_layout(scheduled.unit);
  scheduled.warps = static_cast<int>(program.tile_rows / 16);
  clip_keys(scheduled.tile);
  Scheduler(scheduled).run();
  ir::verify(scheduled);
  return scheduled;
}

}  // namespace heddle::lower
