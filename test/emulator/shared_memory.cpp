#include "test/emulator/shared_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heddle::emulator {

namespace {

constexpr uint8_t kPoison = 0xff;

}  // namespace

void SharedMemory::begin_block(int bytes, int threads, int warp) {
  bytes_ = bytes;
  warp_ = warp;
  block_epoch_ = 1;
  const size_t cells = (static_cast<size_t>(bytes) + kCell - 1) / kCell;
  memory_.assign(cells * kCell, kPoison);
  cells_.assign(cells, {});
  is_split_.assign(cells, 0);
  parts_.resize(cells * kParts);
  warp_epochs_.assign((threads + warp - 1) / warp, 1);
  groups_.assign(threads, 0);
  copies_.resize(threads);
  for (auto& copies : copies_) copies.clear();
}

void SharedMemory::end_block() {
  for (size_t thread = 0; thread < copies_.size(); ++thread) {
    if (copies_[thread].empty()) continue;
    findings_.add(FindingKind::NeverWaited, static_cast<int>(thread),
                  fmt::format("{} copies of cp.async", copies_[thread].size()));
  }
}

bool SharedMemory::bad(int thread, int64_t address, int bytes, const char* what) {
  if (address < 0 || address + bytes > bytes_) {
    findings_.add(FindingKind::OutOfBounds, thread,
                  fmt::format("shared {} of {} bytes at {} of {}", what, bytes, address, bytes_));
    return true;
  }
  if ((address & (bytes - 1)) != 0) {
    findings_.add(FindingKind::Misaligned, thread, fmt::format("shared {} of {} bytes at {}", what, bytes, address));
    return true;
  }
  return false;
}

SharedMemory::Stamp SharedMemory::now(int thread, bool atomic) const {
  return {Scope::Thread, atomic, static_cast<uint16_t>(thread), block_epoch_, warp_epochs_[thread / warp_]};
}

bool SharedMemory::ordered(const Stamp& earlier, int thread) const {
  if (earlier.scope == Scope::Nobody || earlier.block_epoch != block_epoch_) return true;
  if (earlier.scope == Scope::Block) return false;
  if (earlier.scope == Scope::Thread && earlier.who == thread) return true;
  const int warp = thread / warp_, other = earlier.scope == Scope::Warp ? earlier.who : earlier.who / warp_;
  return warp == other && earlier.warp_epoch != warp_epochs_[warp];
}

void SharedMemory::add_reader(Stamp& readers, int thread) const {
  const Stamp mine = now(thread);
  if (ordered(readers, thread)) {
    readers = mine;
    return;
  }
  const int warp = thread / warp_, other = readers.scope == Scope::Warp ? readers.who : readers.who / warp_;
  if (readers.scope == Scope::Block || other != warp) {
    readers.scope = Scope::Block;
  } else {
    readers = {Scope::Warp, false, static_cast<uint16_t>(warp), mine.block_epoch, mine.warp_epoch};
  }
}

void SharedMemory::note_read(Cell& cell, int thread, int64_t address) {
  if (cell.state != State::Ready) {
    const bool flying = cell.state == State::InFlight;
    findings_.add(flying ? FindingKind::ReadInFlight : FindingKind::UninitialisedRead, thread,
                  fmt::format("shared byte {}", address));
    cell.state = State::Ready;
  }
  if (!ordered(cell.writer, thread)) {
    findings_.add(FindingKind::Race, thread,
                  fmt::format("reads shared byte {}, which thread {} wrote", address, cell.writer.who));
    cell.writer = {};
  }
  add_reader(cell.readers, thread);
}

void SharedMemory::note_write(Cell& cell, int thread, int64_t address, bool atomic) {
  if (!ordered(cell.writer, thread) && !(atomic && cell.writer.atomic)) {
    findings_.add(FindingKind::Race, thread,
                  fmt::format("writes shared byte {}, which thread {} wrote", address, cell.writer.who));
  }
  if (!ordered(cell.readers, thread)) {
    const char* who = cell.readers.scope == Scope::Thread ? "thread"
                      : cell.readers.scope == Scope::Warp ? "warp"
                                                          : "several warps, first of thread";
    findings_.add(FindingKind::Race, thread,
                  fmt::format("writes shared byte {}, read by {} {}", address, who, cell.readers.who));
  }
  if (cell.state == State::InFlight) {
    findings_.add(FindingKind::Race, thread, fmt::format("writes shared byte {} while a cp.async to it is in flight", address));
  }
  cell.writer = now(thread, atomic);
  cell.readers = {};
  cell.state = State::Ready;
}

void SharedMemory::split(int64_t cell) {
  is_split_[cell] = 1;
  std::fill_n(parts_.begin() + cell * kParts, kParts, cells_[cell]);
}

template <typename Visit>
void SharedMemory::visit(int64_t address, int bytes, Visit visit) {
  const int64_t cell = address / kCell;
  if (bytes == kCell && !is_split_[cell]) return visit(cells_[cell], address);
  if (!is_split_[cell]) split(cell);
  for (int64_t at = address; at < address + bytes; at += kPart) visit(parts_[at / kPart], at);
}

bool SharedMemory::read(int thread, int64_t address, int bytes, void* value) {
  if (bad(thread, address, bytes, "read")) {
    std::memset(value, kPoison, bytes);
    return false;
  }
  visit(address, bytes, [&](Cell& cell, int64_t at) { note_read(cell, thread, at); });
  std::memcpy(value, &memory_[address], bytes);
  return true;
}

bool SharedMemory::write(int thread, int64_t address, int bytes, const void* value) {
  if (bad(thread, address, bytes, "write")) return false;
  visit(address, bytes, [&](Cell& cell, int64_t at) { note_write(cell, thread, at, false); });
  if (const int64_t cell = address / kCell; bytes == kCell && is_split_[cell]) {
    is_split_[cell] = 0;  // one writer, no reader since: the parts are alike
    cells_[cell] = parts_[cell * kParts];
  }
  std::memcpy(&memory_[address], value, bytes);
  return true;
}

uint8_t* SharedMemory::atomic(int thread, int64_t address, int bytes) {
  if (bad(thread, address, bytes, "atomic")) return nullptr;
  visit(address, bytes, [&](Cell& cell, int64_t at) {
    if (cell.state == State::Uninitialised)
      findings_.add(FindingKind::UninitialisedRead, thread, fmt::format("atomic on shared byte {}", at));
    note_write(cell, thread, at, true);
  });
  return &memory_[address];
}

void SharedMemory::copy_async(int thread, int64_t address, int bytes, const uint8_t* source, int source_bytes) {
  if (bad(thread, address, bytes, "cp.async")) return;
  visit(address, bytes, [&](Cell& cell, int64_t at) {
    note_write(cell, thread, at, false);
    cell.state = State::InFlight;
  });
  std::memset(&memory_[address], kPoison, bytes);
  copies_[thread].push_back({static_cast<int>(address), bytes, source ? source_bytes : 0, groups_[thread], source});
}

void SharedMemory::land(int thread, const Copy& copy) {
  std::memset(&memory_[copy.address], 0, copy.bytes);
  if (copy.source_bytes > 0) std::memcpy(&memory_[copy.address], copy.source, copy.source_bytes);
  visit(copy.address, copy.bytes, [&](Cell& cell, int64_t) {
    cell.state = State::Ready;
    cell.writer = now(thread);
  });
}

void SharedMemory::wait_group(int thread, int keep, bool all) {
  auto& copies = copies_[thread];
  const int limit = all ? groups_[thread] + 1 : groups_[thread] - keep;
  std::erase_if(copies, [&](const Copy& copy) {
    if (copy.group >= limit) return false;
    land(thread, copy);
    return true;
  });
}

}  // namespace heddle::emulator
