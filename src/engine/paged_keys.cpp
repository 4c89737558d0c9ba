#include "src/engine/paged_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace heddle::engine {

namespace {

void check_table(const char* name, const Tensor& view, int64_t rank, int64_t batch, const char* layout) {
  const std::string found = fmt::format("{} [{}]", name, fmt::join(view.shape, ", "));
  if (view.rank() != rank || view.strides.size() != view.shape.size()) {
    throw UserError(fmt::format("{} has {} dimensions and {} strides; expected {}: {}", found, view.rank(), view.strides.size(), rank, layout));
  }
  if (view.shape[0] != batch || std::ranges::any_of(view.shape, [](int64_t dim) { return dim < 0; })) {
    throw UserError(fmt::format("{} does not fit a batch of {}; expected {}", found, batch, layout));
  }
  const auto alignment = static_cast<uintptr_t>(size_of(view.dtype));
  if (view.elements() > 0 && (!view.data || reinterpret_cast<uintptr_t>(view.data) % alignment != 0)) {
    throw UserError(fmt::format("{} is at {}, which is no multiple of {} bytes or null", found, view.data, alignment));
  }
}

int64_t length_of(const Tensor& lengths, int64_t batch) {
  const int64_t offset = batch * lengths.strides[0];
  if (lengths.dtype == DType::Int32) return static_cast<const int32_t*>(lengths.data)[offset];
  return static_cast<const int64_t*>(lengths.data)[offset];
}

void check_length(int64_t batch, int64_t length, int64_t most) {
  if (length >= 0 && length <= most) return;
  throw UserError(fmt::format("lengths[{}] is {}; expected 0 to {}, the keys that a row of the page table holds", batch, length, most));
}

void check_row(const Tensor& pages, int64_t batch, int64_t used, int64_t count) {
  const int32_t* row = static_cast<const int32_t*>(pages.data) + batch * pages.strides[0];
  for (int64_t i = 0; i < used; ++i) {
    if (row[i] >= 0 && row[i] < count) continue;
    throw UserError(fmt::format("pages[{}, {}] is {}; expected a page of k, 0 to {}", batch, i, row[i], count - 1));
  }
}

}  // namespace

void check_pages(const PagedKeys& paged, const Tensor& q, const Tensor& k, const LaunchRecord& record, PagedLaunch& launch) {
  const Tensor &pages = paged.pages, &lengths = paged.lengths;
  check_table("pages", pages, 2, q.shape[0], "[batch, pages of a sequence]");
  check_table("lengths", lengths, 1, q.shape[0], "[batch]");
  if (pages.dtype != DType::Int32) throw UserError(fmt::format("pages is {}; expected int32", to_string(pages.dtype)));
  if (lengths.dtype != DType::Int32 && lengths.dtype != DType::Int64) {
    throw UserError(fmt::format("lengths is {}; expected int32 or int64", to_string(lengths.dtype)));
  }
  if (pages.shape[1] > 1 && pages.strides[1] != 1) {
    throw UserError(fmt::format("the last dimension of pages has stride {}; it must be contiguous (stride 1)", pages.strides[1]));
  }
  const int64_t page_keys = k.shape[2];
  const __int128 reach = static_cast<__int128>(pages.shape[1]) * page_keys;
  const auto most = static_cast<int64_t>(std::min<__int128>(reach, record.max_positions));
  launch.longest = 0;
  launch.lengths.clear();
  for (int64_t b = 0; b < q.shape[0]; ++b) {
    const int64_t length = length_of(lengths, b);
    check_length(b, length, most);
    if (length > 0) check_row(pages, b, (length - 1) / page_keys + 1, k.shape[0]);
    launch.lengths.push_back(length);
    launch.longest = std::max(launch.longest, length);
  }
  launch.split.lengths = launch.lengths.data();
  launch.split.pages = static_cast<const int32_t*>(pages.data);
  launch.split.pages_stride = pages.strides[0], launch.split.page_keys = page_keys;
}

}  // namespace heddle::engine
