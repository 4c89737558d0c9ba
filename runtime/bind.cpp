#include "runtime/bind.h"

namespace heddle::runtime {

TileLists bind_tiles(const BindInput& input, ThreadPool&) {
  TileLists lists;
  const int64_t blocks = (input.sq + input.tile_rows - 1) / input.tile_rows, tiles = (input.sk + input.tile_keys - 1) / input.tile_keys;
  const int64_t heads = input.program->by_head ? input.heads : 1, batch = input.program->by_batch ? input.batch : 1;
  lists.head_stride = input.program->by_head ? blocks : 0;
  lists.batch_stride = input.program->by_batch ? blocks * heads : 0;
  lists.offsets.push_back(0);
  for (int64_t i = 0; i < batch * heads * blocks; ++i) {
    if (tiles > 0) lists.runs.push_back({0, static_cast<int32_t>(-tiles)});
    lists.offsets.push_back(static_cast<int64_t>(lists.runs.size()));
    lists.partial_tiles += tiles;
  }
  return lists;
}

}  // namespace heddle::runtime
