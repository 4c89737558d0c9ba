#include "test/runtime/bind_masks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace heddle::runtime {

namespace {

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }
int64_t negative(int64_t value) { return wrap(0 - bits(value)); }

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return negative(a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}

int64_t binary(BindOp op, int64_t a, int64_t b) {
  switch (op) {
    case BindOp::Add: return wrap(bits(a) + bits(b));
    case BindOp::Sub: return wrap(bits(a) - bits(b));
    case BindOp::Mul: return wrap(bits(a) * bits(b));
    case BindOp::Div: return floor_div(a, b);
    case BindOp::Mod: return floor_mod(a, b);
    case BindOp::Min: return std::min(a, b);
    case BindOp::Max: return std::max(a, b);
    case BindOp::Lt: return a < b;
    case BindOp::Le: return a <= b;
    case BindOp::Gt: return a > b;
    case BindOp::Ge: return a >= b;
    case BindOp::Eq: return a == b;
    case BindOp::Ne: return a != b;
    case BindOp::And: return a && b;
    default: return a || b;
  }
}

int64_t value_of(const BindInput& input, const BindStep& step, const std::vector<int64_t>& values, const int64_t* variables) {
  const auto at = [&](int32_t i) { return values[static_cast<size_t>(i)]; };
  switch (step.op) {
    case BindOp::Const: return step.value;
    case BindOp::Var: return variables[step.value];
    case BindOp::Param: return input.int_params[static_cast<size_t>(step.value)];
    case BindOp::Neg: return negative(at(step.a));
    case BindOp::Abs: return at(step.a) < 0 ? negative(at(step.a)) : at(step.a);
    case BindOp::Not: return !at(step.a);
    case BindOp::Select: return at(step.a) ? at(step.b) : at(step.c);
    case BindOp::Read: break;
    default: return binary(step.op, at(step.a), at(step.b));
  }
  const Tensor& table = input.tables[static_cast<size_t>(step.value)];
  std::vector<int64_t> indices;
  for (int32_t d = 0; d < table.rank(); ++d) indices.push_back(at(input.program->reads[static_cast<size_t>(step.a + d)]));
  return element(table, indices);
}

int64_t blocks_of(const BindInput& input) { return (input.sq + input.tile_rows - 1) / input.tile_rows; }
int64_t tiles_of(const BindInput& input) { return (input.sk + input.tile_keys - 1) / input.tile_keys; }

TileClass exact_class(const BindInput& input, int64_t b, int64_t h, int64_t block, int64_t tile) {
  bool any = false, all = true;
  for (int64_t q = block * input.tile_rows; q < std::min((block + 1) * input.tile_rows, input.sq); ++q) {
    for (int64_t k = tile * input.tile_keys; k < (tile + 1) * input.tile_keys; ++k) {
      const bool taken = k < input.sk && takes_part(input, b, h, q, k);
      any = any || taken, all = all && taken;
    }
  }
  return !any ? TileClass::Empty : all ? TileClass::Full : TileClass::Partial;
}

}  // namespace

int64_t element(const Tensor& table, const std::vector<int64_t>& indices) {
  int64_t offset = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (table.shape[d] == 0) return 0;
    offset += std::clamp<int64_t>(indices[d], 0, table.shape[d] - 1) * table.strides[d];
  }
  switch (table.dtype) {
    case DType::Int32: return static_cast<const int32_t*>(table.data)[offset];
    case DType::Int64: return static_cast<const int64_t*>(table.data)[offset];
    case DType::Bool: return static_cast<const uint8_t*>(table.data)[offset] != 0;
    default: return static_cast<const uint8_t*>(table.data)[offset];
  }
}

bool takes_part(const BindInput& input, int64_t b, int64_t h, int64_t q, int64_t k) {
  const int64_t variables[] = {b, h, q, k, input.batch, input.heads, input.kv_heads, input.sq, input.sk};
  std::vector<int64_t> values;
  for (const BindStep& step : input.program->steps) values.push_back(value_of(input, step, values, variables));
  return values.back() != 0;
}

std::vector<TileClass> exact_classes(const BindInput& input) {
  std::vector<TileClass> classes;
  for (int64_t b = 0; b < (input.program->by_batch ? input.batch : 1); ++b) {
    for (int64_t h = 0; h < (input.program->by_head ? input.heads : 1); ++h) {
      for (int64_t block = 0; block < blocks_of(input); ++block) {
        for (int64_t tile = 0; tile < tiles_of(input); ++tile) classes.push_back(exact_class(input, b, h, block, tile));
      }
    }
  }
  return classes;
}

std::vector<TileClass> listed_classes(const BindInput& input, const TileLists& lists) {
  const int64_t tiles = tiles_of(input);
  std::vector<TileClass> classes((lists.offsets.size() - 1) * static_cast<size_t>(tiles), TileClass::Empty);
  EXPECT_EQ(lists.offsets.front(), 0);
  EXPECT_EQ(lists.offsets.back(), static_cast<int64_t>(lists.runs.size()));
  for (size_t i = 0; i + 1 < lists.offsets.size(); ++i) {
    int64_t end = 0, sign = 0;
    for (int64_t r = lists.offsets[i]; r < lists.offsets[i + 1]; ++r) {
      const auto [first, count] = lists.runs[static_cast<size_t>(r)];
      EXPECT_NE(count, 0);
      EXPECT_GE(first, end);
      EXPECT_FALSE(first == end && sign * count > 0) << "two runs could be one";
      end = first + std::abs(count), sign = count > 0 ? 1 : -1;
      EXPECT_LE(end, tiles);
      const auto at = classes.begin() + static_cast<int64_t>(i) * tiles;
      std::fill(at + first, at + std::min(end, tiles), count > 0 ? TileClass::Full : TileClass::Partial);
    }
  }
  return classes;
}

}  // namespace heddle::runtime
