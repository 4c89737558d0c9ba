#include "heddle/gpu_launch.h"

#include <gtest/gtest.h>

#include <bit>

namespace heddle {
namespace {

TEST(GpuLaunch, ArgumentsArePackedInOrder) {
  const float q = 0;
  const int64_t ints[] = {7, -8};
  const double reals[] = {0.25};
  TableArg table;
  table.data = &q, table.extent[1] = 12, table.stride[0] = 5;
  AttentionArgs args;
  args.q = &q, args.sk = 99, args.k_stride[2] = 64, args.scale = 0.125;
  args.int_params = ints, args.real_params = reals, args.tables = &table, args.list_stride[1] = 3;
  GpuLaunch launch;
  launch.arguments = {{GpuField::Q},           {GpuField::Sk},          {GpuField::KStride, 2},     {GpuField::TableData, 0}, {GpuField::TableLast, 0, 1},
                      {GpuField::TableStride}, {GpuField::IntParam, 1}, {GpuField::ListStride, 1}, {GpuField::Scale},        {GpuField::RealParam, 0}};
  const auto address = reinterpret_cast<uint64_t>(&q);
  const std::vector<uint64_t> expected = {address, 99, 64, address, 11, 5, static_cast<uint64_t>(int64_t{-8}), 3, std::bit_cast<uint32_t>(0.125f),
                                          std::bit_cast<uint32_t>(0.25f)};
  EXPECT_EQ(pack_arguments(launch, args), expected);
}

}  // namespace
}  // namespace heddle
