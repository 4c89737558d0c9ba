#include "src/codegen/reference/null_target.h"

#include <algorithm>
#include <fmt/format.h>

#include "src/codegen/reference/key_tiles.h"

namespace heddle::reference {
namespace {

/// Adds up the statements of every block.
class Counter {
 public:
  Counter(const ir::TileProgram& program, const AttentionArgs& args)
      : program_(program), args_(args), slots_(args, program.int_params, program.real_params, program.tables) {}

  LaunchCounts run() {
    for (int64_t b = 0; b < args_.batch; ++b) {
      for (int64_t h = 0; h < args_.heads; ++h) {
        slots_.set(LeafSlots::kBatch, b);
        slots_.set(LeafSlots::kHead, h);
        for (qb_ = 0; qb_ * program_.tile_rows < args_.sq; ++qb_) block();
      }
    }
    counts_.launches = counts_.blocks > 0 ? 1 : 0;
    return counts_;
  }

  void operator()(const ir::Stage& s) {
    const int64_t dim = s.tensor == ir::TensorId::V ? program_.value_dim : program_.head_dim;
    counts_.bytes_read += (s.tensor == ir::TensorId::Q ? rows_ : keys_) * dim * size_of(program_.dtype);
  }
  void operator()(const ir::Mma& s) {
    const ir::ValueInfo &lhs = info(s.lhs), &out = info(s.out);
    counts_.mma_flops += 2 * extent(lhs.rows) * extent(lhs.cols) * extent(out.cols);
  }
  void operator()(const ir::KeyLoop& s) {
    const KeyTiles tiles = key_tiles(program_, s, args_, slots_, qb_);
    counts_.full_tiles += static_cast<int64_t>(tiles.full.size());
    counts_.partial_tiles += static_cast<int64_t>(tiles.partial.size());
    keys_ = 0;
    for (const std::vector<int64_t>* list : {&tiles.full, &tiles.partial}) {
      for (int64_t kb : *list) keys_ += std::min(program_.tile_keys, args_.sk - kb * program_.tile_keys);
    }
    for (const ir::Statement& statement : s.body) std::visit(*this, statement.op);
  }
  void operator()(const ir::Store& s) {
    const DType dtype = s.tensor == ir::TensorId::O ? program_.dtype : DType::Float32;
    counts_.bytes_written += rows_ * extent(info(s.in).cols) * size_of(dtype);
  }
  void operator()(const ir::StoreValues&) { counts_.bytes_written += rows_ * keys_ * int64_t{sizeof(float)}; }
  void operator()(const ir::LoadValues&) { counts_.bytes_read += rows_ * keys_ * int64_t{sizeof(float)}; }
  void operator()(const ir::SoftmaxValues&) {}
  void operator()(const ir::Fill&) {}
  void operator()(const ir::Map&) {}
  void operator()(const ir::RowReduce&) {}

 private:
  void block() {
    ++counts_.blocks;
    rows_ = std::min(program_.tile_rows, args_.sq - qb_ * program_.tile_rows);
    for (const ir::Statement& statement : program_.body) std::visit(*this, statement.op);
  }
  const ir::ValueInfo& info(ir::ValueId id) const { return program_.values[static_cast<size_t>(id)]; }
  int64_t extent(ir::Extent extent) const {
    switch (extent) {
      case ir::Extent::BlockRows: return rows_;
      case ir::Extent::StepKeys: return keys_;
      case ir::Extent::HeadDim: return program_.head_dim;
      case ir::Extent::ValueDim: return program_.value_dim;
      case ir::Extent::One: break;
    }
    return 1;
  }

  const ir::TileProgram& program_;
  const AttentionArgs& args_;
  LeafSlots slots_;
  LaunchCounts counts_;
  int64_t qb_ = 0, rows_ = 0;
  int64_t keys_ = 0;  ///< Of all steps of the current loop.
};

}  // namespace

LaunchCounts count_launch(const ir::TileProgram& program, const AttentionArgs& args) {
  ir::verify(program);
  return Counter(program, args).run();
}

std::string print(const LaunchCounts& counts) {
  return fmt::format("{} launch, {} blocks, {} full and {} partial tiles, {} flops, {} bytes read, {} bytes written\n", counts.launches,
                     counts.blocks, counts.full_tiles, counts.partial_tiles, counts.mma_flops, counts.bytes_read,
                     counts.bytes_written);
}

}  // namespace heddle::reference
