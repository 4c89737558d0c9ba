// Bounds-checked reading and writing of small binary records: little-endian integers and length-prefixed strings.
#pragma once
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime {

class ByteWriter {
 public:
  template <std::integral T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(std::string_view text) {
    put<uint64_t>(text.size());
    bytes_.append(text);
  }
  void put(const std::vector<std::string>& list) {
    put<uint64_t>(list.size());
    for (const std::string& text : list) put(std::string_view(text));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what ByteWriter wrote. After the first failure every read fails and leaves its argument alone.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  template <std::integral T>
  bool get(T& value) {
    std::string_view raw;
    if (!take(sizeof value, raw)) return false;
    if constexpr (std::is_same_v<T, bool>) {
      if (raw[0] != 0 && raw[0] != 1) return fail();
    }
    std::memcpy(&value, raw.data(), sizeof value);
    return true;
  }
  bool get(std::string_view& text) {
    uint64_t size = 0;
    return get(size) && take(size, text);
  }
  bool get(std::string& text) {
    std::string_view view;
    if (!get(view)) return false;
    text = view;
    return true;
  }
  /// Each entry takes at least its length prefix, so a wrong count cannot ask for more memory than the input has.
  bool get(std::vector<std::string>& list) {
    uint64_t count = 0;
    if (!get(count) || count > rest_.size() / sizeof(uint64_t)) return fail();
    list.resize(count);
    for (std::string& text : list) {
      if (!get(text)) return false;
    }
    return true;
  }
  std::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }
  /// Everything was read, and nothing failed.
  bool done() const { return ok_ && rest_.empty(); }

 private:
  bool fail() { return ok_ = false; }
  bool take(uint64_t size, std::string_view& out) {
    if (!ok_ || size > rest_.size()) return fail();
    out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace heddle::runtime
