#include "src/engine/matrix.h"
#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include "runtime/thread_pool.h"
#include "src/engine/attention.h"
#include "src/engine/binding.h"
#include "src/ir/rewrite.h"
#include "src/support/text.h"

namespace heddle::engine {

namespace {

bool is_table(const AttentionSpec& spec) { return spec.matrix && spec.matrix->form() == MatrixMask::Form::Table; }

void check(const Tensor& matrix, const MatrixOptions& options) {
  if (matrix.rank() != 2 || matrix.strides.size() != 2) {
    throw UserError(fmt::format("a matrix of {} dimensions and {} strides; expected 2: queries and keys", matrix.rank(), matrix.strides.size()));
  }
  if (matrix.dtype != DType::Bool && matrix.dtype != DType::UInt8) {
    throw UserError(fmt::format("a matrix of {}; expected bool or uint8", to_string(matrix.dtype)), "0 is masked, anything else allowed");
  }
  if (options.tile_rows < 1 || options.tile_keys < 1) {
    throw UserError(fmt::format("tiles of {} x {} to count in a matrix; expected 1 or more", options.tile_rows, options.tile_keys));
  }
}

MatrixRequest request_of(const Tensor& matrix, const MatrixOptions& options) {
  check(matrix, options);
  return {.data = static_cast<const uint8_t*>(matrix.data),
          .sq = matrix.shape[0],
          .sk = matrix.shape[1],
          .row_stride = matrix.strides[0],
          .key_stride = matrix.strides[1],
          .tiles = {{options.tile_rows, options.tile_keys}},
          .threads = runtime::thread_count(options.threads)};
}

/// Matrix reads of the mask of a table.
ir::Expr table_mask(DType element) {
  const IntTable table(kMatrixTable, element);
  return (table(variable("q"), variable("k")) != 0).node();
}

std::string use_text(const MatrixFindings& found) {
  if (found.formula) {
    return fmt::format("used as that formula, proven at {} x {}, so launched at these lengths only; where it holds at every length, give it as the mask\n",
                       found.sq, found.sk);
  }
  return fmt::format("used as a table: {}, so partial tiles read the matrix\n",
                     found.irregular ? "its rows have no short description" : "no short formula gives all of its components");
}

/// The first table that is read with `q` as one index and `k` as another.
std::optional<std::string> table_of_pairs(const ir::Expr& mask) {
  std::optional<std::string> found;
  ir::for_each_node(mask, [&](const ir::Expr& node) {
    if (node->op != ir::Op::Read || found) return;
    const auto reads = [&](const char* name) {
      return std::ranges::any_of(node->operands, [&](const ir::Expr& index) { return index->op == ir::Op::Var && index->name == name; });
    };
    if (reads("q") && reads("k")) found = node->name;
  });
  return found;
}

/// The binding fits a launch of these tensors.
bool fits(const Binding& binding, const LaunchTensors& tensors) {
  const Binding::State& state = *binding.state();
  return state.batch == tensors.q.shape[0] && state.heads == tensors.q.shape[1] && state.kv_heads == tensors.k.shape[1];
}

}  // namespace

std::string matrix_text(const AttentionSpec& spec) {
  if (spec.matrix) return spec.matrix->text();
  const std::optional<std::string> table = table_of_pairs(spec.mask.node());
  if (!table) return {};
  return fmt::format("the table {} is read at every pair: a matrix with a pattern runs as its formula, which heddle::recognize() and "
                     "--matrix find\n",
                     support::quote(*table));
}

AttentionSpec with_matrix_mask(const AttentionSpec& spec) {
  if (!spec.matrix) return spec;
  AttentionSpec made = spec;
  made.mask = spec.matrix->mask();
  if (!ir::equal(spec.mask.node(), ir::bool_const(true)) && !ir::equal(spec.mask.node(), made.mask.node())) {
    throw UserError(fmt::format("a mask, {}, and a matrix are given", spec.mask.text()), "give one of them, or put both into the matrix");
  }
  if (is_table(spec) && spec.score.node() && ir::tables(spec.score.node()).contains(kMatrixTable)) {
    throw UserError(fmt::format("the score reads a table '{}', which is the name of the mask's matrix", kMatrixTable), "use another name");
  }
  return made;
}

void check_matrix_lengths(const AttentionSpec& spec, int64_t sq, int64_t sk) {
  if (!spec.matrix || (spec.matrix->sq() == sq && spec.matrix->sk() == sk)) return;
  const std::string hint = spec.matrix->form() == MatrixMask::Form::Formula
                               ? fmt::format("if its formula holds at every length, give it as the mask: {}", *spec.matrix->formula())
                               : "recognize the matrix of these lengths";
  throw UserError(fmt::format("the mask is a matrix of {} x {} (queries x keys), but the launch has {} x {}", spec.matrix->sq(), spec.matrix->sk(), sq, sk), hint);
}

void check_matrix_launch(const AttentionSpec& spec, int64_t sq, int64_t sk, bool paged) {
  if (paged && spec.matrix) throw UserError("the mask is a matrix, which is not for keys in pages", "copy the keys together, or give a formula");
  check_matrix_lengths(spec, sq, sk);
}

BindOptions with_matrix_table(const AttentionSpec& spec, const BindOptions& options) {
  check_matrix_lengths(spec, options.sq, options.sk);
  BindOptions all = options;
  if (!is_table(spec)) return all;
  if (all.tables.contains(kMatrixTable)) {
    throw UserError(fmt::format("the table '{}' is given, but it is the matrix of the mask", kMatrixTable), "leave it out: the engine binds it");
  }
  all.tables.merge(spec.matrix->tables());
  return all;
}

bool binds_its_matrix(const AttentionSpec& spec) {
  return is_table(spec) && (!spec.score.node() || ir::tables(spec.score.node()).empty());
}

std::shared_ptr<const Binding> MatrixBinding::of(const Attention& attention, const LaunchTensors& tensors, const LaunchOptions& options) {
  std::lock_guard lock(mutex_);
  if (last_ && ints_ == options.ints && fits(*last_, tensors)) return last_;
  last_ = std::make_shared<const Binding>(attention.bind(bind_options(tensors, options)));
  ints_ = options.ints;
  return last_;
}

}  // namespace heddle::engine

namespace heddle {

MatrixMask::Form MatrixMask::form() const { return state_->formula ? Form::Formula : Form::Table; }
const MatrixFindings& MatrixMask::findings() const { return state_->findings; }
std::string MatrixMask::text() const { return state_->found + engine::use_text(state_->findings); }
const std::optional<std::string>& MatrixMask::formula() const { return state_->findings.formula; }
int64_t MatrixMask::sq() const { return state_->findings.sq; }
int64_t MatrixMask::sk() const { return state_->findings.sk; }

Mask MatrixMask::mask() const { return Mask(Condition(state_->formula ? state_->formula : engine::table_mask(state_->view.dtype))); }

std::map<std::string, Tensor> MatrixMask::tables() const {
  if (form() == Form::Formula) return {};
  return {{engine::kMatrixTable, state_->view}};
}

MatrixMask recognize(const Tensor& matrix, const MatrixOptions& options) {
  const engine::MatrixRequest request = engine::request_of(matrix, options);
  engine::MatrixReport report = engine::compiler().matrix_facts(request);
  return MatrixMask(std::make_shared<const MatrixMask::State>(
      MatrixMask::State{matrix, std::move(report.findings), std::move(report.text), std::move(report.formula)}));
}

}  // namespace heddle
