#include "test/emulator/global_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::emulator {

namespace {

constexpr uint64_t kSpan = uint64_t{1} << 40;  // between buffers; each lies in the middle of its span

}  // namespace

uint64_t GlobalMemory::add(const std::string& name, void* data, size_t bytes, BufferUse use, int element) {
  const size_t elements = use == BufferUse::Input ? 0 : (bytes + element - 1) / element;
  buffers_.push_back(
      {name, static_cast<uint8_t*>(data), static_cast<int64_t>(bytes), use, element, std::vector<uint64_t>(elements)});
  return buffers_.size() * kSpan + kSpan / 2;
}

void GlobalMemory::begin(Findings& findings, int threads) {
  findings_ = &findings;
  threads_ = threads;
  for (Buffer& buffer : buffers_) std::fill(buffer.owners.begin(), buffer.owners.end(), 0);
}

void GlobalMemory::end() {
  findings_->line = 0;
  for (const Buffer& buffer : buffers_) {
    if (buffer.use != BufferUse::Output) continue;
    const auto first = std::find(buffer.owners.begin(), buffer.owners.end(), uint64_t{0});
    if (first == buffer.owners.end()) continue;
    const auto missing = std::count(buffer.owners.begin(), buffer.owners.end(), uint64_t{0});
    findings_->add(FindingKind::NeverWritten, -1,
                   fmt::format("{} elements of {}, the first at {}", missing, buffer.name, first - buffer.owners.begin()));
  }
}

uint8_t* GlobalMemory::access(int thread, uint64_t address, int bytes, Access kind) {
  const char* what = kind == Access::Read ? "read" : kind == Access::Write ? "write" : "atomic";
  const uint64_t index = address / kSpan;
  if (index == 0 || index > buffers_.size()) {
    findings_->add(FindingKind::OutOfBounds, thread,
                   fmt::format("global {} of {} bytes at 0x{:x}, in no buffer", what, bytes, address));
    return nullptr;
  }
  Buffer& buffer = buffers_[index - 1];
  const int64_t offset = static_cast<int64_t>(address % kSpan) - static_cast<int64_t>(kSpan / 2);
  if (offset < 0 || offset + bytes > buffer.bytes) {
    findings_->add(FindingKind::OutOfBounds, thread,
                   fmt::format("global {} of {} bytes at {}{:+} of {} bytes", what, bytes, buffer.name, offset, buffer.bytes));
    return nullptr;
  }
  if ((offset & (bytes - 1)) != 0) {
    findings_->add(FindingKind::Misaligned, thread,
                   fmt::format("global {} of {} bytes at {}{:+}", what, bytes, buffer.name, offset));
    return nullptr;
  }
  if (kind != Access::Read && buffer.use == BufferUse::Input) {
    findings_->add(FindingKind::WriteToInput, thread, fmt::format("global {} at {}{:+}", what, buffer.name, offset));
    return nullptr;
  }
  if (buffer.use != BufferUse::Input) note(buffer, thread, offset, bytes, kind);
  return buffer.data + offset;
}

void GlobalMemory::note(Buffer& buffer, int thread, int64_t offset, int bytes, Access kind) {
  const int64_t last = (offset + bytes - 1) / buffer.element;
  for (int64_t element = offset / buffer.element; element <= last; ++element) {
    uint64_t& owner = buffer.owners[element];
    if (kind == Access::Write) {
      note_write(buffer, owner, thread, element);
    } else if (kind == Access::Read) {
      note_read(buffer, owner, thread, element);
    } else if (buffer.use == BufferUse::Output) {
      findings_->add(FindingKind::Race, thread, fmt::format("atomic on {}, an output that is written once", buffer.name));
    }
  }
}

void GlobalMemory::note_write(Buffer& buffer, uint64_t& owner, int thread, int64_t element) {
  if (owner != 0 && buffer.use == BufferUse::Output) {
    findings_->add(FindingKind::WrittenTwice, thread,
                   fmt::format("element {} of {}, before by thread {} of block {}", element, buffer.name,
                               (owner - 1) % threads_, (owner - 1) / threads_));
  } else if (owner != 0 && static_cast<int64_t>((owner - 1) / threads_) != block_) {
    findings_->add(FindingKind::Race, thread,
                   fmt::format("writes element {} of {}, which another block wrote", element, buffer.name));
  }
  owner = 1 + static_cast<uint64_t>(block_ * threads_ + thread);
}

void GlobalMemory::note_read(const Buffer& buffer, uint64_t owner, int thread, int64_t element) {
  if (owner == 0 && buffer.use == BufferUse::Output) {
    findings_->add(FindingKind::UninitialisedRead, thread, fmt::format("element {} of the output {}", element, buffer.name));
  } else if (owner != 0 && static_cast<int64_t>((owner - 1) / threads_) != block_) {
    findings_->add(FindingKind::Race, thread,
                   fmt::format("reads element {} of {}, which another block wrote", element, buffer.name));
  }
}

}  // namespace heddle::emulator
