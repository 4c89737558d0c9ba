// Document ids of every type, sorted or not, few or one a token, shared or of each batch or head: lists against brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "test/runtime/bind_masks.h"

namespace heddle::runtime {
namespace {

/// What the ids are, beside their number.
enum class Values { Small, Negative, Huge };
enum class Order { Sorted, Falling, Unsorted };

/// The id with the number `at` of `count`: ascending in `at`, as far apart as the type allows where they are huge.
template <typename T>
T id(int64_t at, int64_t count, Values values) {
  const int64_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  if (values == Values::Small) return static_cast<T>(std::min(at, high));
  if (values == Values::Negative) return static_cast<T>(std::max(low, at - count / 2));
  const auto part = static_cast<double>(at + 1) / static_cast<double>(count + 1);
  return at == 0 ? static_cast<T>(low) : at + 1 == count ? static_cast<T>(high) : static_cast<T>(static_cast<double>(low) * (1 - part) + static_cast<double>(high) * part);
}

/// `size` ids, each of `count` numbers at least once where there are enough.
template <typename T>
std::vector<T> ids(int64_t size, int64_t count, Values values, Order order, std::mt19937& random) {
  std::vector<int64_t> numbers(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) numbers[static_cast<size_t>(i)] = i < count ? i : static_cast<int64_t>(random() % static_cast<uint64_t>(count));
  std::shuffle(numbers.begin(), numbers.end(), random);
  if (order != Order::Unsorted) std::sort(numbers.begin(), numbers.end());
  if (order == Order::Falling) std::reverse(numbers.begin(), numbers.end());
  std::vector<T> made;
  for (const int64_t number : numbers) made.push_back(id<T>(number, count, values));
  return made;
}

/// Which dimension of the table is not the token.
enum class Owner { None, Batch, Head };

int32_t id_at(ProgramBuilder& p, Owner owner, const char* position) {
  if (owner == Owner::None) return p.read(0, {p.var(position)});
  return p.read(0, {p.var(owner == Owner::Batch ? "b" : "h"), p.var(position)});
}

void expect_exact(const BindInput& input, const std::string& what) {
  ThreadPool pool(2);
  const TileLists lists = bind_tiles(input, pool);
  EXPECT_EQ(listed_classes(input, lists), exact_classes(input)) << what;
}

struct Case {
  int64_t size, count;
  Owner owner;
};

/// doc[q] == doc[k], alone, with q >= k, and its opposite.
template <typename T>
void check(const Case& at, Values values, Order order, DType dtype, std::mt19937& random) {
  BindInput input;
  input.sq = input.sk = at.size;
  input.tile_rows = 32;
  if (at.owner == Owner::Batch) input.batch = 2;
  if (at.owner == Owner::Head) input.heads = 3;
  const int64_t copies = input.batch * input.heads;
  std::vector<T> table;
  for (int64_t i = 0; i < copies; ++i) {
    const std::vector<T> line = ids<T>(at.size, at.count, values, i % 2 == 0 ? order : Order::Unsorted, random);
    table.insert(table.end(), line.begin(), line.end());
  }
  const std::vector<int64_t> shape = at.owner == Owner::None ? std::vector{at.size} : std::vector{copies, at.size};
  input.tables = {Tensor::dense(table.data(), shape, dtype)};
  for (const int kind : {0, 1, 2}) {
    ProgramBuilder p;
    const int32_t same = p.op(kind == 2 ? BindOp::Ne : BindOp::Eq, id_at(p, at.owner, "q"), id_at(p, at.owner, "k"));
    if (kind == 1) p.op(BindOp::And, same, p.op(BindOp::Ge, p.var("q"), p.var("k")));
    input.program = &p.program;
    expect_exact(input, "type " + to_string(dtype) + ", " + std::to_string(at.count) + " ids of " + std::to_string(at.size) + ", order " +
                            std::to_string(static_cast<int>(order)) + ", mask " + std::to_string(kind));
  }
}

template <typename T>
void check_all(DType dtype, std::initializer_list<Values> all) {
  std::mt19937 random(17);
  for (const Values values : all) {
    for (const Order order : {Order::Sorted, Order::Falling, Order::Unsorted}) {
      for (const int64_t size : {int64_t{1}, int64_t{33}, int64_t{150}}) {
        for (const int64_t count : {int64_t{1}, int64_t{2}, size}) check<T>({size, count, Owner::None}, values, order, dtype, random);
      }
      for (const Owner owner : {Owner::Batch, Owner::Head}) check<T>({100, 4, owner}, values, order, dtype, random);
    }
  }
}

TEST(BindIds, Int32) { check_all<int32_t>(DType::Int32, {Values::Small, Values::Negative, Values::Huge}); }

TEST(BindIds, Int64BeyondInt32) { check_all<int64_t>(DType::Int64, {Values::Small, Values::Negative, Values::Huge}); }

TEST(BindIds, UInt8) { check_all<uint8_t>(DType::UInt8, {Values::Small, Values::Huge}); }

/// Any byte but 0 is true, so ids 1 and 255 are the same.
TEST(BindIds, Bool) { check_all<uint8_t>(DType::Bool, {Values::Small, Values::Huge}); }

/// Ids that are equal in their lower 32 bits only.
TEST(BindIds, UpperHalvesCount) {
  std::vector<int64_t> doc(130);
  for (size_t i = 0; i < doc.size(); ++i) doc[i] = (static_cast<int64_t>(i / 30) << 32) + 7 - (i % 3 == 0 ? int64_t{1} << 40 : 0);
  ProgramBuilder p;
  p.op(BindOp::Eq, p.read(0, {p.var("q")}), p.read(0, {p.var("k")}));
  BindInput input;
  input.program = &p.program;
  input.sq = input.sk = 130;
  input.tables = {Tensor::dense(doc.data(), {130}, DType::Int64)};
  expect_exact(input, "upper halves");
}

/// With few pairs or ranges to look at, what is left open is listed as partial, and nothing that has an allowed pair is left out.
TEST(BindIds, WhatMayNotBeLookedAtIsListed) {
  std::mt19937 random(3);
  std::vector<int32_t> doc = ids<int32_t>(200, 50, Values::Small, Order::Unsorted, random);
  ProgramBuilder p;
  p.op(BindOp::Eq, p.read(0, {p.var("q")}), p.read(0, {p.var("k")}));
  BindInput input;
  input.program = &p.program;
  input.sq = input.sk = 200;
  input.tables = {Tensor::dense(doc.data(), {200}, DType::Int32)};
  input.tile_keys = 5;
  const std::vector<TileClass> exact = exact_classes(input);
  ThreadPool pool(1);
  for (const auto& [pairs, ranges] : {std::pair<int64_t, int64_t>{0, 1 << 20}, {1 << 20, 4}, {1 << 20, 40}, {0, 0}}) {
    input.most_pairs = pairs, input.most_ranges = ranges;
    const std::vector<TileClass> listed = listed_classes(input, bind_tiles(input, pool));
    ASSERT_EQ(listed.size(), exact.size());
    bool more = false;
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_FALSE(exact[i] != TileClass::Empty && listed[i] == TileClass::Empty) << i;
      EXPECT_FALSE(exact[i] != TileClass::Full && listed[i] == TileClass::Full) << i;
      more = more || (exact[i] == TileClass::Empty && listed[i] == TileClass::Partial);
    }
    EXPECT_TRUE(more) << "everything was looked at";
  }
}

}  // namespace
}  // namespace heddle::runtime
