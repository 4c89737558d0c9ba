// Bank passes and sectors of the access patterns that everybody knows.
#include "test/emulator/access_cost.h"

#include <gtest/gtest.h>

#include <array>

namespace heddle::emulator {
namespace {

constexpr uint32_t kAll = 0xffffffffu;

template <typename Address>
std::array<uint64_t, kWarp> addresses(const Address& address) {
  std::array<uint64_t, kWarp> all;
  for (int lane = 0; lane < kWarp; ++lane) all[lane] = address(lane);
  return all;
}

void expect_cost(const Cost& cost, int64_t actual, int64_t ideal) {
  EXPECT_EQ(cost.actual, actual);
  EXPECT_EQ(cost.ideal, ideal);
}

TEST(AccessCost, Banks) {
  const auto passes = [](auto address, int bytes, uint32_t mask = kAll) {
    return bank_passes(addresses(address).data(), mask, bytes);
  };
  expect_cost(passes([](int lane) { return 4 * lane; }, 4), 1, 1);
  expect_cost(passes([](int lane) { return 8 * lane; }, 4), 2, 1);
  expect_cost(passes([](int lane) { return 128 * lane; }, 4), 32, 1);
  expect_cost(passes([](int) { return 64; }, 4), 1, 1);  // broadcast
  expect_cost(passes([](int lane) { return 128 * lane; }, 4, 0x3), 2, 1);
  expect_cost(passes([](int lane) { return 8 * lane; }, 8), 2, 2);
  expect_cost(passes([](int lane) { return 16 * lane; }, 16), 4, 4);
  expect_cost(passes([](int lane) { return 64 * lane; }, 16), 16, 4);
  expect_cost(passes([](int lane) { return 2 * lane; }, 2), 1, 1);
}

TEST(AccessCost, Matrices) {
  uint64_t rows[8];
  for (int row = 0; row < 8; ++row) rows[row] = 16 * row;
  expect_cost(matrix_passes(rows), 1, 1);
  for (int row = 0; row < 8; ++row) rows[row] = 128 * row;
  expect_cost(matrix_passes(rows), 8, 1);
  for (int row = 0; row < 8; ++row) rows[row] = 128 * row + 16 * (row ^ 3);
  expect_cost(matrix_passes(rows), 1, 1);
}

TEST(AccessCost, Sectors) {
  const auto count = [](auto address, int bytes, uint32_t mask = kAll) {
    return sectors(addresses(address).data(), mask, bytes);
  };
  expect_cost(count([](int lane) { return 4 * lane; }, 4), 4, 4);
  expect_cost(count([](int lane) { return 16 * lane; }, 16), 16, 16);
  expect_cost(count([](int lane) { return 64 * lane; }, 4), 32, 4);
  expect_cost(count([](int) { return 96; }, 4), 1, 1);
  expect_cost(count([](int lane) { return 4 * lane + 16; }, 4), 5, 4);
  expect_cost(count([](int lane) { return 4 * lane; }, 4, 0), 0, 0);
}

}  // namespace
}  // namespace heddle::emulator
