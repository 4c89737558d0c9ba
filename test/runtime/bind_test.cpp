#include "runtime/bind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "test/runtime/bind_masks.h"

namespace heddle::runtime {
namespace {

template <typename T>
Tensor view(std::vector<T>& values, DType dtype, std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return Tensor::dense(values.data(), shape, dtype);
}

std::vector<int32_t> documents(int64_t size, int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> doc(static_cast<size_t>(size));
  for (int i = 1; i < count; ++i) ++doc[random() % doc.size()];
  for (size_t i = 1; i < doc.size(); ++i) doc[i] += doc[i - 1];
  return doc;
}

TileLists bind(const BindInput& input, int threads = 2) {
  ThreadPool pool(threads);
  return bind_tiles(input, pool);
}

void expect_exact(const BindInput& input) {
  const std::vector<TileClass> listed = listed_classes(input, bind(input)), exact = exact_classes(input);
  ASSERT_EQ(listed.size(), exact.size());
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_EQ(listed[i], exact[i]) << "list and tile " << i;
}

/// Binds one mask over one table at odd and even sizes.
template <typename Mask>
BindInput one_table(const Mask& mask, ProgramBuilder& builder, std::vector<Tensor> tables, int64_t sq, int64_t sk) {
  mask(builder);
  BindInput input;
  input.program = &builder.program;
  input.tables = std::move(tables);
  input.sq = sq, input.sk = sk;
  return input;
}

int32_t same_document(ProgramBuilder& p) { return p.op(BindOp::Eq, p.read(0, {p.var("q")}), p.read(0, {p.var("k")})); }
int32_t causal(ProgramBuilder& p) { return p.op(BindOp::Ge, p.var("q"), p.var("k")); }

TEST(BindTest, DocumentsAreClassifiedExactly) {
  for (const int64_t size : {1, 63, 64, 500, 777}) {
    for (const int count : {1, 3, 40}) {
      std::vector<int32_t> doc = documents(size, count, 7);
      ProgramBuilder plain, ordered;
      expect_exact(one_table(same_document, plain, {view(doc, DType::Int32)}, size, size));
      const auto mask = [](ProgramBuilder& p) { p.op(BindOp::And, same_document(p), causal(p)); };
      expect_exact(one_table(mask, ordered, {view(doc, DType::Int32)}, size, size));
    }
  }
}

TEST(BindTest, DocumentsWithAWindowAreClassifiedExactly) {
  std::vector<int32_t> doc = documents(700, 9, 5);
  ProgramBuilder p;
  const auto mask = [](ProgramBuilder& b) {
    const int32_t distance = b.op(BindOp::Abs, b.op(BindOp::Sub, b.var("q"), b.var("k")));
    b.op(BindOp::And, same_document(b), b.op(BindOp::Le, distance, b.constant(100)));
  };
  expect_exact(one_table(mask, p, {view(doc, DType::Int32)}, 700, 700));
}

TEST(BindTest, LengthsAreClassifiedExactlyPerBatch) {
  std::vector<int64_t> len = {0, 5, 160, 161, 300, 1000};
  ProgramBuilder p;
  const auto mask = [](ProgramBuilder& b) { b.op(BindOp::Lt, b.var("k"), b.read(0, {b.var("b")})); };
  BindInput input = one_table(mask, p, {view(len, DType::Int64)}, 130, 300);
  input.batch = 6, input.heads = 3;
  const TileLists lists = bind(input);
  EXPECT_EQ(lists.batch_stride, 3);
  EXPECT_EQ(lists.head_stride, 0);
  EXPECT_EQ(lists.offsets.size(), 6u * 3u + 1u);
  expect_exact(input);
}

TEST(BindTest, PrefixesAreClassifiedExactly) {
  std::vector<int32_t> prefix(300);
  for (size_t i = 0; i < prefix.size(); ++i) prefix[i] = i < 100 ? 90 : i < 200 ? 150 : 20;
  ProgramBuilder p;
  const auto mask = [](ProgramBuilder& b) {
    b.op(BindOp::Or, b.op(BindOp::Le, b.var("k"), b.var("q")), b.op(BindOp::Lt, b.var("k"), b.read(0, {b.var("q")})));
  };
  expect_exact(one_table(mask, p, {view(prefix, DType::Int32)}, 300, 300));
}

/// rnd[q / 64 * 16 + k / 64] == 1
void block_list(ProgramBuilder& p) {
  const int32_t width = p.constant(64);
  const int32_t row = p.op(BindOp::Mul, p.op(BindOp::Div, p.var("q"), width), p.constant(16));
  p.op(BindOp::Eq, p.read(0, {p.op(BindOp::Add, row, p.op(BindOp::Div, p.var("k"), width))}), p.constant(1));
}

TEST(BindTest, BlockListsAreClassifiedExactly) {
  std::mt19937 random(3);
  std::vector<uint8_t> chosen(16 * 16);
  for (uint8_t& bit : chosen) bit = random() % 4 == 0;
  ProgramBuilder p;
  expect_exact(one_table(block_list, p, {view(chosen, DType::UInt8)}, 1024, 1024));
}

TEST(BindTest, MatricesThroughAnyStridesAreClassifiedExactly) {
  constexpr int64_t kRows = 200, kKeys = 230;
  std::mt19937 random(11);
  std::vector<uint8_t> bits(kRows * kKeys);
  for (int64_t i = 0; i < kRows * kKeys; ++i) bits[static_cast<size_t>(i)] = static_cast<uint8_t>(i / kKeys / 70 == i % kKeys / 50 ? 2 : random() % 40 == 0);
  const Tensor plain = view(bits, DType::Bool, {kRows, kKeys}), other = view(bits, DType::Bool, {kKeys, kRows}).transposed({1, 0});
  Tensor backward = plain, one_row = plain, one_key = plain;
  backward.data = bits.data() + bits.size() - 1, backward.strides = {-kKeys, -1};
  one_row.strides[0] = 0, one_key.strides[1] = 0;
  for (const Tensor& table : {plain, other, backward, one_row, one_key}) {
    ProgramBuilder p;
    expect_exact(one_table([](ProgramBuilder& b) { b.read(0, {b.var("q"), b.var("k")}); }, p, {table}, kRows, kKeys));
  }
}

TEST(BindTest, VerticalSlashListsNoEmptyTileOffTheDiagonal) {
  std::vector<uint8_t> vertical(400), slash(400);
  for (const size_t i : {0u, 17u, 130u, 333u}) vertical[i] = 1;
  for (const size_t i : {0u, 1u, 90u}) slash[i] = 1;
  ProgramBuilder p;
  const auto mask = [](ProgramBuilder& b) {
    const int32_t line = b.op(BindOp::Eq, b.read(0, {b.var("k")}), b.constant(1));
    const int32_t diagonal = b.op(BindOp::Eq, b.read(1, {b.op(BindOp::Sub, b.var("q"), b.var("k"))}), b.constant(1));
    b.op(BindOp::And, causal(b), b.op(BindOp::Or, line, diagonal));
  };
  const BindInput input = one_table(mask, p, {view(vertical, DType::UInt8), view(slash, DType::UInt8)}, 400, 400);
  const std::vector<TileClass> listed = listed_classes(input, bind(input)), exact = exact_classes(input);
  for (size_t i = 0; i < exact.size(); ++i) {
    const size_t block = i / 25, tile = i % 25;
    if (tile * 16 + 15 < block * 64) {
      EXPECT_EQ(listed[i], exact[i]) << block << ' ' << tile;
    }
  }
}

TEST(BindTest, HeadsHaveListsOfTheirOwn) {
  std::vector<int32_t> reach = {1, 50, 1000, 2, 20, 70};
  ProgramBuilder p;
  const auto mask = [](ProgramBuilder& b) {
    const int32_t near = b.op(BindOp::Sub, b.var("q"), b.var("k"));
    b.op(BindOp::And, b.op(BindOp::Ge, near, b.constant(0)), b.op(BindOp::Lt, near, b.read(0, {b.var("b"), b.var("h")})));
  };
  BindInput input = one_table(mask, p, {view(reach, DType::Int32, {2, 3})}, 150, 150);
  input.batch = 2, input.heads = 3;
  const TileLists lists = bind(input);
  EXPECT_EQ(lists.head_stride, 3);
  EXPECT_EQ(lists.batch_stride, 9);
  expect_exact(input);
}

TEST(BindTest, NothingToListGivesEmptyLists) {
  std::vector<int32_t> doc(1);
  for (const auto& [sq, sk] : {std::pair(0, 0), {0, 100}, {100, 0}}) {
    ProgramBuilder p;
    const TileLists lists = bind(one_table(same_document, p, {view(doc, DType::Int32)}, sq, sk));
    EXPECT_EQ(lists.offsets, std::vector<int64_t>(static_cast<size_t>((sq + 63) / 64 + 1)));
    EXPECT_TRUE(lists.runs.empty());
  }
}

TEST(BindTest, ReadsOfAnEmptyTableGiveZero) {
  std::vector<int32_t> none(1);
  const Tensor empty = view(none, DType::Int32, {0});
  ProgramBuilder p;
  const TileLists lists = bind(one_table(same_document, p, {empty}, 64, 40));
  EXPECT_EQ(lists.runs, (std::vector<TileRun>{{0, 2}, {2, -1}}));
  EXPECT_EQ(lists.full_tiles, 2);
  EXPECT_EQ(lists.partial_tiles, 1);
}

TEST(BindTest, TablesThatOnlyScoresReadAreLeftAlone) {
  std::vector<int32_t> doc(64);
  ProgramBuilder p;
  EXPECT_EQ(bind(one_table(same_document, p, {view(doc, DType::Int32), Tensor{nullptr, DType::Float32, {5}, {1}}}, 64, 64)).runs,
            (std::vector<TileRun>{{0, 4}}));
}

/// Random programs over random tables.
class RandomMask {
 public:
  explicit RandomMask(uint32_t seed) : random_(seed) {
    const auto pick = [&](auto... choices) { return std::vector<int64_t>{choices...}[random_() % sizeof...(choices)]; };
    input.sq = pick(1, 5, 64, 100, 131), input.sk = pick(1, 15, 16, 90, 129);
    input.tile_rows = pick(1, 7, 32, 64), input.tile_keys = pick(1, 5, 16, 32);
    input.batch = pick(1, 2), input.heads = pick(1, 3);
    input.int_params = {static_cast<int64_t>(random_() % 50), pick(0, 1, -7)};
    for (auto& table : numbers_) add_table(table, DType::Int32);
    add_table(wide_, DType::Int64);
    add_table(bytes_, DType::UInt8);
    add_table(flags_, DType::Bool);
    truth(4);
    input.program = &builder_.program;
  }

  BindInput input;

 private:
  int64_t below(int64_t end) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(end)); }

  /// A view of random rank and strides, 0 and negative too.
  template <typename T>
  void add_table(std::vector<T>& values, DType dtype) {
    Tensor table{nullptr, dtype, {}, {}};
    int64_t size = 1, start = 0;
    const int64_t rank = 1 + below(3);
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t extent = below(12) == 0 ? below(2) : 1 + below(rank == 1 ? 140 : 30), kind = below(4);
      table.shape.push_back(extent);
      table.strides.push_back(kind == 0 ? 0 : kind == 1 ? -size : size);
      if (kind == 1 && extent > 0) start += (extent - 1) * size;
      if (kind != 0) size *= std::max<int64_t>(extent, 1);
    }
    if (below(2) == 0) std::reverse(table.shape.begin(), table.shape.end()), std::reverse(table.strides.begin(), table.strides.end());
    values.resize(static_cast<size_t>(size));
    const int64_t spread = 1 + below(100), step = 1 + below(40);
    const bool sorted = below(2) == 0;
    for (int64_t i = 0; i < size; ++i) values[static_cast<size_t>(i)] = static_cast<T>(sorted ? i / step : below(spread) - spread / 8);
    if (dtype == DType::Int64 && below(2) == 0) {
      for (T& value : values) value = static_cast<T>(below(2) ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max());
    }
    table.data = values.data() + start;
    input.tables.push_back(table);
  }

  int32_t read(int64_t table, int depth) {
    std::vector<int32_t> indices;
    for (int64_t d = 0; d < input.tables[static_cast<size_t>(table)].rank(); ++d) indices.push_back(number(depth - 1));
    return builder_.read(table, indices);
  }

  int32_t number(int depth) {
    static constexpr BindOp kOps[] = {BindOp::Add, BindOp::Sub, BindOp::Sub, BindOp::Mul, BindOp::Div, BindOp::Mod, BindOp::Min, BindOp::Max};
    static constexpr int64_t kConstants[] = {0, 1, 2, 7, 16, 64, -3, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    const int64_t kind = depth <= 0 ? below(4) : below(10);
    if (kind < 3) return builder_.var(kBindVariables[kind < 2 ? 2 + below(2) : below(9)]);
    if (kind == 3) return below(3) == 0 ? builder_.param(below(2)) : builder_.constant(kConstants[below(below(4) == 0 ? 9 : 7)]);
    if (kind < 6) return read(below(4), depth);
    if (kind == 6) return builder_.op(below(2) == 0 ? BindOp::Neg : BindOp::Abs, number(depth - 1));
    const int32_t a = number(depth - 1), b = below(8) == 0 ? a : number(depth - 1);
    if (kind == 7) return builder_.op(BindOp::Select, truth(depth - 1), a, b);
    return builder_.op(kOps[below(8)], a, b);
  }

  int32_t truth(int depth) {
    static constexpr BindOp kCompare[] = {BindOp::Lt, BindOp::Le, BindOp::Gt, BindOp::Ge, BindOp::Eq, BindOp::Ne};
    const int64_t kind = depth <= 1 ? below(6) : below(10);
    if (kind == 0) return read(4, depth);
    if (kind < 6) {
      const int32_t a = number(depth - 1), b = below(8) == 0 ? a : number(depth - 1);
      return builder_.op(kCompare[below(6)], a, b);
    }
    const int32_t a = truth(depth - 1), b = truth(depth - 1);
    if (kind == 6) return builder_.op(BindOp::Not, b);
    if (kind == 7) return builder_.op(BindOp::Select, truth(depth - 1), a, b);
    return builder_.op(kind == 8 ? BindOp::And : BindOp::Or, a, b);
  }

  std::mt19937 random_;
  ProgramBuilder builder_;
  std::vector<int32_t> numbers_[2];
  std::vector<int64_t> wide_;
  std::vector<uint8_t> bytes_, flags_;
};

TEST(BindTest, RandomMasksAreExactAndTheSameOnAnyThreads) {
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    RandomMask mask(seed);
    const TileLists lists = bind(mask.input, 1);
    expect_exact(mask.input);
    for (const int threads : {2, 3, 4}) {
      const TileLists again = bind(mask.input, threads);
      EXPECT_EQ(again.runs, lists.runs);
      EXPECT_EQ(again.offsets, lists.offsets);
      EXPECT_EQ(again.full_tiles, lists.full_tiles);
      EXPECT_EQ(again.partial_tiles, lists.partial_tiles);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace heddle::runtime
