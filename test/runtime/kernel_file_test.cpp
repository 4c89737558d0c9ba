// Kernel files without an engine: what is refused, and that a launch reaches the code. The kernel is a bare `ret`.
#include "heddle/kernel_file.h"
#include <gtest/gtest.h>
#include <fstream>
#include "heddle/error.h"
#include "heddle/target.h"
#include "runtime/disk_cache.h"
#include "test/runtime/elf_builder.h"
#include "test/temporary_folder.h"

namespace heddle::runtime {
namespace {

class KernelFileTest : public testing::Test {
 protected:
  KernelFileTest() {
    ElfBuilder elf;
    elf.add_symbol("f", elf.add_code("\xc3"), 0);
    stored.object = elf.build();
    stored.record.symbol = "f";
    stored.record.target = Target::host().to_string();
    stored.record.head_dim = stored.record.value_dim = stored.record.block_rows = 1;
    stored.record.max_positions = 100;
  }
  /// Path of the stored kernel, moved out of the cache.
  std::string file() {
    DiskCache cache(folder.path() + "/cache", int64_t{1} << 30);
    EXPECT_TRUE(cache.store(digest("a"), "a", stored));
    const std::string moved = folder.path() + "/moved.kernel";
    std::filesystem::rename(cache.path(digest("a")), moved);
    return moved;
  }
  std::string open_error() {
    try {
      KernelFile::open(file(), 1);
    } catch (const UserError& error) {
      return error.message();
    }
    return "opened";
  }

  test::TemporaryFolder folder;
  StoredKernel stored;
};

TEST_F(KernelFileTest, OpensAndLaunches) {
  const KernelFile kernel = KernelFile::open(file(), 2);
  EXPECT_EQ(kernel.record(), stored.record);
  AttentionArgs args;
  EXPECT_NO_THROW(kernel.launch(args));
  float one = 1;
  args.q = args.k = args.v = &one, args.o = &one;
  args.batch = args.heads = args.kv_heads = args.sq = args.sk = 1;
  EXPECT_NO_THROW(kernel.launch(args));
  args.sk = 101;
  EXPECT_THROW(kernel.launch(args), UserError);
}

TEST_F(KernelFileTest, RefusesMissingParametersAndLse) {
  stored.record.int_params = {"w"};
  stored.record.lse = true;
  const KernelFile kernel = KernelFile::open(file(), 1);
  float one = 1;
  const int64_t w = 3;
  AttentionArgs args;
  args.q = args.k = args.v = &one, args.o = &one;
  args.batch = args.heads = args.kv_heads = args.sq = args.sk = 1;
  args.int_params = &w;
  EXPECT_THROW(kernel.launch(args), UserError);
  args.lse = &one;
  EXPECT_NO_THROW(kernel.launch(args));
  args.int_params = nullptr;
  EXPECT_THROW(kernel.launch(args), UserError);
}

TEST_F(KernelFileTest, RefusesKernelsWithTables) {
  stored.record.tables = {{"doc", DType::Int32, 1}};
  EXPECT_EQ(open_error(), folder.path() + "/moved.kernel reads the table 'doc'");
}

TEST_F(KernelFileTest, RefusesOtherTargets) {
  stored.record.target = "gpu:none";
  EXPECT_EQ(open_error().find("unknown target"), 0u) << open_error();
}

TEST_F(KernelFileTest, RefusesDamagedFiles) {
  const std::string path = file();
  EXPECT_TRUE(read_kernel(path));
  std::ofstream(path, std::ios::app) << 'x';
  EXPECT_FALSE(read_kernel(path));
  EXPECT_THROW(KernelFile::open(path, 1), UserError);
}

}  // namespace
}  // namespace heddle::runtime
