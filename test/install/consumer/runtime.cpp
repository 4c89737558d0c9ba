// Runs the kernel file it is given on ones, without an engine; every wrong use must be a UserError.
#include <cstdio>
#include <vector>
#include "heddle/error.h"
#include "heddle/kernel_file.h"

template <typename F>
bool refused(F&& call) try {
  call();
  return false;
} catch (const heddle::UserError& error) {
  std::printf("%s\n", error.what());
  return true;
}

int main(int argc, char** argv) {
  std::vector<float> x(16 * 8, 1.0f), o(x.size());
  const heddle::KernelFile kernel = heddle::KernelFile::open(argv[1], 1);
  heddle::AttentionArgs args;
  args.q = args.k = args.v = x.data(), args.o = o.data();
  args.batch = args.heads = args.kv_heads = 1, args.sq = args.sk = 16;
  for (auto* stride : {args.q_stride, args.k_stride, args.v_stride, args.o_stride}) stride[0] = stride[1] = 128, stride[2] = 8;
  kernel.launch(args);
  args.kv_heads = 0;
  const bool groups = refused([&] { kernel.launch(args); });
  args.kv_heads = 1, args.k = nullptr;
  const bool pointers = refused([&] { kernel.launch(args); });
  const bool sizes = refused([&] { args.sq = -1, kernel.launch(args); });
  const bool files = refused([&] { heddle::KernelFile::open(argv[0]); }) && refused([] { heddle::KernelFile::open("missing.kernel"); });
  const bool threads = refused([&] { heddle::KernelFile::open(argv[1], -1); });
  return argc == 2 && o == x && kernel.record().head_dim == 8 && groups && pointers && sizes && files && threads ? 0 : 1;
}
