#include "src/codegen/clike/step_text.h"

#include <algorithm>

#include "heddle/error.h"
#include "src/ir/rewrite.h"

namespace heddle::codegen::clike {
namespace {

using ir::Op;

/// The condition of `c ? Arg(0) : -inf` in partial tiles.
const ir::ExprNode* masking(const ir::Map& map) {
  const ir::ExprNode& e = *map.expr;
  const bool masks = map.only_partial && e.op == Op::Select && e.operands[1]->op == Op::Arg && e.operands[2]->op == Op::RealConst;
  return masks ? &e : nullptr;
}

}  // namespace

void StatementText::outside(const ir::Statement& statement) { std::visit(*this, statement.op); }

void StatementText::step(const ir::KeyLoop& loop) {
  declared_.clear();
  if (names_.program().has_mask_bits) out_.line("vu32 live = splat(0u);  // bit c: some row of the warp may attend the lane's column c");
  for (const ir::Statement& statement : loop.body) std::visit(*this, statement.op);
  for (const ir::Carried& c : loop.carried) {
    if (names_.array(c.yield) == names_.array(c.inner)) continue;
    each_row_line(out_, names_.layout().rows, fmt::format("{}[i] = {}[i];", names_.array(c.inner), names_.array(c.yield)));
  }
}

void StatementText::sum_lanes(const ir::KeyLoop& loop) {
  for (const ir::Carried& c : loop.carried) {
    if (!names_.program().partial_sum.contains(c.yield)) continue;
    out_.comment(fmt::format("{}: the parts of a row's lanes", names_.array(c.out)));
    across(names_.array(c.out), "+");
  }
}

/// Arrays that only this step uses are declared at their first value.
void StatementText::declare(ir::ValueId value) {
  const ir::RegisterArray& array = names_.home(value);
  if (array.carried || !declared_.insert(array.name).second) return;
  out_.line(fmt::format("vf32 {}{};", array.name, names_.extents(array)));
}

void StatementText::operator()(const ir::Fill& s) {
  declare(s.out);
  const std::string value = fmt::format("splat({})", real_literal(s.value));
  if (names_.is_row(s.out)) return each_row_line(out_, names_.layout().rows, fmt::format("{}[i] = {};", names_.array(s.out), value));
  each_element_line(out_, names_.chunks(names_.home(s.out).columns), names_.layout().elements(), fmt::format("{}[n][j] = {};", names_.array(s.out), value));
}

void StatementText::operator()(const ir::Mma& s) {
  declare(s.out);
  if (!s.rhs_transposed) {
    out_.comment(fmt::format("{} += {} v", names_.array(s.out), names_.value_name(s.lhs)));
    return products_.with_values(out_, names_, s);
  }
  const ir::MmaFactor& factor = names_.program().factor.at(s.out);
  std::string scale = factor.softmax_scale ? "scale" : "";
  if (factor.factor != 1.0) scale += fmt::format("{}{}", scale.empty() ? "" : " * ", real_literal(factor.factor));
  out_.comment(fmt::format("{} = {}q k^T", names_.array(s.out), scale.empty() ? "" : scale + " * "));
  products_.with_keys(out_, names_, s);
  if (factor.none()) return;
  out_.line(fmt::format("const f32 factor = {};", scale));
  each_element_line(out_, names_.chunks(ir::Extent::StepKeys), names_.layout().elements(), fmt::format("{0}[n][j] = {0}[n][j] * factor;", names_.array(s.out)));
}

void StatementText::operator()(const ir::Map& s) {
  declare(s.out);
  if (names_.is_row(s.out)) return row_map(s);
  if (masking(s)) return masked(s);
  if (s.only_partial) throw InternalError("clike emitter", "a map of partial tiles that does not mask");
  fragment_map(s, names_.row_index());
}

std::string StatementText::text_of(const ir::Map& s) const {
  ExprText text = formula_;
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const bool row = names_.is_row(s.out);
    text.argument(static_cast<int>(i), row ? names_.array(s.inputs[i]) + "[i]" : names_.element(s.inputs[i]));
  }
  const std::string query = fmt::format("q[{}]", names_.is_row(s.out) ? "i" : names_.row_index());
  text.define("q", {query, true, 32, {0, ir::Interval{0, (int64_t{1} << 30) - 1}.high}});
  text.define("k", {"k", true, 32, {0, (int64_t{1} << 30) + 127}});
  return text.varying(s.expr);
}

void StatementText::row_map(const ir::Map& s) {
  each_row_line(out_, names_.layout().rows, fmt::format("{}[i] = {};", names_.array(s.out), text_of(s)));
}

namespace {

std::string key_of_element(const Names& names) {
  const std::string offset = names.column_offset();
  return fmt::format("const vi32 k = first_key + n * {} + lane_column{};", names.layout().chunk, offset.empty() ? "" : " + " + offset);
}

}  // namespace

void StatementText::fragment_map(const ir::Map& s, const std::string&) {
  const int chunks = names_.chunks(names_.home(s.out).columns), elements = names_.layout().elements();
  const std::string line = fmt::format("{}[n][j] = {};", names_.array(s.out), text_of(s));
  if (!ir::mentions(s.expr, "k")) return each_element_line(out_, chunks, elements, line);
  out_.comment(fmt::format("{}: {}", names_.value_name(s.out), ir::print(s.expr)));
  each_element(out_, chunks, elements, [&] {
    out_.line(key_of_element(names_));
    out_.line(line);
  });
}

/// Masked pairs to -inf, and the columns that stay alive.
void StatementText::masked(const ir::Map& s) {
  ExprText text = formula_;
  text.define("q", {fmt::format("q[{}]", names_.row_index()), true, 32, {0, (int64_t{1} << 30) - 1}});
  text.define("k", {"k", true, 32, {0, (int64_t{1} << 30) + 127}});
  const int elements = names_.layout().elements(), chunks = names_.chunks(ir::Extent::StepKeys);
  const bool bits = names_.program().has_mask_bits;
  out_.open("if (kPartial)");
  out_.comment("masked: " + ir::print(masking(s)->operands[0]));
  each_element(out_, chunks, elements, [&] {
    out_.line(key_of_element(names_));
    out_.line(fmt::format("const vbool allowed = {};", text.varying(masking(s)->operands[0])));
    out_.line(fmt::format("{} = select(allowed, {}, splat(-HD_INF));", names_.element(s.out), names_.element(s.inputs[0])));
    const std::string offset = names_.column_offset();
    const int columns = *std::max_element(names_.layout().column_of.begin(), names_.layout().column_of.end()) + 1;
    if (bits) out_.line(fmt::format("live = live | select(allowed, splat(1u << ({} * n{})), splat(0u));", columns, offset.empty() ? "" : " + " + offset));
  });
  for (int mask : names_.layout().column_lanes) {
    if (bits) out_.line(fmt::format("live = live | shfl_xor(live, {});", mask));
  }
  out_.close();
}

void StatementText::across(const std::string& row, const char* combine) {
  for (int mask : names_.layout().row_lanes) {
    const std::string other = fmt::format("shfl_xor({}[i], {})", row, mask);
    const std::string combined = *combine == '+' ? fmt::format("{}[i] + {}", row, other) : fmt::format("vmax({}[i], {})", row, other);
    each_row_line(out_, names_.layout().rows, fmt::format("{}[i] = {};", row, combined));
  }
}

void StatementText::operator()(const ir::RowReduce& s) {
  declare(s.out);
  const bool sum = s.reduction == ir::Reduction::Sum;
  const std::string &row = names_.array(s.out), element = names_.element(s.in), place = fmt::format("{}[{}]", row, names_.row_index());
  each_row_line(out_, names_.layout().rows, fmt::format("{}[i] = splat({});", row, sum ? "0.0f" : "HD_LOWEST"));
  const std::string combined = sum ? fmt::format("{} + {}", place, element) : fmt::format("vmax({}, {})", place, element);
  each_element_line(out_, names_.chunks(names_.home(s.in).columns), names_.layout().elements(), fmt::format("{} = {};", place, combined));
  if (!names_.program().partial_sum.contains(s.out)) across(row, sum ? "+" : "max");
}

void StatementText::operator()(const ir::Store& s) {
  if (s.tensor == ir::TensorId::O) return products_.store(out_, names_, s.in);
  each_row_line(out_, names_.layout().rows,
                fmt::format("st_global_f32(LSE, wide(warp_row + lane_row + {} * i), {}[i], lane_column == 0 & warp_row + lane_row + {} * i < rows);",
                            names_.layout().row_step, names_.array(s.in), names_.layout().row_step));
}

}  // namespace heddle::codegen::clike
