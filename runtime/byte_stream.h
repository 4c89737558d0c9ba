// Bounds-checked reading and writing of small binary records: little-endian integers, length-prefixed strings and lists, and records of
// those: types for which `fields(record)`, found by argument-dependent lookup, ties all members in stored order.
#pragma once
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace heddle::runtime {

template <typename T>
concept FieldRecord = requires(T& record) { fields(record); };
template <typename T>
concept Enumeration = std::is_enum_v<T>;

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
  void put(const std::string& text) { put(std::string_view(text)); }
  template <Enumeration T>
  void put(T value) {
    put(static_cast<std::underlying_type_t<T>>(value));
  }
  template <FieldRecord T>
  void put(const T& record) {
    std::apply([this](const auto&... field) { (put(field), ...); }, fields(record));
  }
  template <typename T>
  void put(const std::vector<T>& list) {
    put<uint64_t>(list.size());
    for (const T& entry : list) put(entry);
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
  /// The value may be none of the enumerators.
  template <Enumeration T>
  bool get(T& value) {
    std::underlying_type_t<T> raw{};
    if (!get(raw)) return false;
    value = static_cast<T>(raw);
    return true;
  }
  template <FieldRecord T>
  bool get(T& record) {
    return std::apply([this](auto&... field) { return (get(field) && ...); }, fields(record));
  }
  /// Grows entry by entry, so that a wrong count cannot ask for more memory than the input has entries.
  template <typename T>
  bool get(std::vector<T>& list) {
    uint64_t count = 0;
    if (!get(count)) return false;
    list.clear();
    for (uint64_t i = 0; i < count; ++i) {
      if (!get(list.emplace_back())) return false;
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
