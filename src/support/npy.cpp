#include "src/support/npy.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "heddle/error.h"
#include "src/support/text.h"

namespace heddle::support {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxText = size_t{1} << 26;

struct TypeName {
  ArrayType type;
  std::string_view kind;  ///< Without the byte order.
  const char* name;
  int64_t size;
};
constexpr TypeName kTypes[] = {
    {ArrayType::Bool, "b1", "bool", 1},     {ArrayType::UInt8, "u1", "uint8", 1},     {ArrayType::Int8, "i1", "int8", 1},
    {ArrayType::Int16, "i2", "int16", 2},   {ArrayType::Int32, "i4", "int32", 4},     {ArrayType::Int64, "i8", "int64", 8},
    {ArrayType::Float32, "f4", "float32", 4}, {ArrayType::Float64, "f8", "float64", 8},
};

const TypeName& entry(ArrayType type) { return kTypes[static_cast<size_t>(type)]; }

[[noreturn]] void fail(const std::string& name, const std::string& what, const std::string& hint = {}) {
  throw UserError(fmt::format("{}: {}", quote(name), what), hint);
}

struct Header {
  std::string descr;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
};

/// Reads the Python dictionary of a header: the keys descr, fortran_order and shape, each once.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header read() {
    expect('{');
    while (!accept('}')) {
      entry();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (peek() != '\0') wrong("the end of the header");
    if (header_.descr.empty() || !header_.fortran || !header_.shape) wrong("the keys 'descr', 'fortran_order' and 'shape'");
    return header_;
  }

 private:
  void entry() {
    const std::string key = quoted();
    expect(':');
    if (key == "descr" && header_.descr.empty()) {
      header_.descr = quoted();
    } else if (key == "fortran_order" && !header_.fortran) {
      header_.fortran = boolean();
    } else if (key == "shape" && !header_.shape) {
      header_.shape = tuple();
    } else {
      wrong("each of 'descr', 'fortran_order' and 'shape' once");
    }
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) wrong(fmt::format("'{}'", wanted));
  }
  std::string quoted() {
    const char mark = peek();
    if (mark != '\'' && mark != '"') wrong("a quoted text");
    const size_t end = text_.find(mark, at_ + 1);
    if (end == std::string_view::npos) wrong("a closing quote");
    const std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }
  bool boolean() {
    peek();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    wrong("True or False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      if (values.size() == kMaxArrayRank) wrong(fmt::format("at most {} dimensions", kMaxArrayRank));
      values.push_back(dimension());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }
  int64_t dimension() {
    peek();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) wrong("a dimension of 0 or more");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }
  [[noreturn]] void wrong(const std::string& expected) {
    fail(name_, fmt::format("the .npy header is malformed at byte {}: expected {}", at_, expected), "write the file with numpy.save");
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  Header header_;
};

ArrayType type_of(const std::string& descr, const std::string& name) {
  const std::string_view kind = std::string_view(descr).substr(1);
  for (const TypeName& type : kTypes) {
    if (kind == type.kind && (descr[0] == '<' || (descr[0] == '|' && type.size == 1))) return type.type;
  }
  fail(name, fmt::format("elements of type {} are not read", quote(descr)),
       "expected little-endian bool, uint8, int8, int16, int32, int64, float32 or float64; convert with array.astype(...)");
}

int64_t checked_bytes(const std::vector<int64_t>& shape, ArrayType type, const std::string& name) {
  int64_t bytes = size_of(type);
  bool too_many = false, none = false;
  for (const int64_t extent : shape) {
    none = none || extent == 0;
    too_many = too_many || __builtin_mul_overflow(bytes, extent == 0 ? 1 : extent, &bytes) || bytes > kMaxArrayBytes;
  }
  if (too_many) fail(name, fmt::format("the array has more than {} bytes", kMaxArrayBytes));
  return none ? 0 : bytes;
}

/// Bytes before the header's text, and of it; version 1 has a length of two bytes, later ones of four.
struct Preamble {
  size_t start = 0, length = 0;
};

Preamble preamble(std::string_view file, const std::string& name) {
  if (!file.starts_with(kMagic)) fail(name, "no .npy file: it does not start with NumPy's magic bytes", "write it with numpy.save");
  if (file.size() < 12) fail(name, "the .npy file ends inside its header");
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(file[at])); };
  const size_t major = byte(6);
  if (major < 1 || major > 3) fail(name, fmt::format("version {}.{} of .npy; expected 1.0, 2.0 or 3.0", major, byte(7)));
  const Preamble made = major == 1 ? Preamble{10, byte(8) | byte(9) << 8}
                                   : Preamble{12, byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24};
  if (made.length > kMaxArrayHeader) fail(name, fmt::format("a .npy header of {} bytes; expected at most {}", made.length, kMaxArrayHeader));
  return made;
}

/// The array that the first bytes of a file announce, without elements, and where they start.
struct Announced {
  Array array;
  size_t start = 0;
  int64_t bytes = 0;
};

Announced announced(std::string_view file, const std::string& name) {
  const Preamble at = preamble(file, name);
  if (file.size() < at.start + at.length) fail(name, "the .npy file ends inside its header");
  const Header header = HeaderReader(file.substr(at.start, at.length), name).read();
  if (*header.fortran && header.shape->size() > 1) fail(name, "the array is in Fortran order", "expected C order: numpy.ascontiguousarray");
  Announced made;
  made.array.type = type_of(header.descr, name);
  made.array.shape = *header.shape;
  made.start = at.start + at.length;
  made.bytes = checked_bytes(made.array.shape, made.array.type, name);
  return made;
}

void check_length(const Announced& what, uint64_t found, const std::string& name) {
  const uint64_t expected = what.start + static_cast<uint64_t>(what.bytes);
  if (found != expected) fail(name, fmt::format("the .npy file has {} bytes; its header promises {}", found, expected));
}

template <typename Element, typename Value>
void convert(const std::vector<uint8_t>& bytes, std::vector<Value>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    values[i] = static_cast<Value>(element);
  }
}

template <typename Value>
std::vector<Value> converted(const Array& array) {
  std::vector<Value> values(static_cast<size_t>(array.elements()));
  switch (array.type) {
    case ArrayType::Bool:
      for (size_t i = 0; i < values.size(); ++i) values[i] = array.bytes[i] != 0;
      break;
    case ArrayType::UInt8: convert<uint8_t>(array.bytes, values); break;
    case ArrayType::Int8: convert<int8_t>(array.bytes, values); break;
    case ArrayType::Int16: convert<int16_t>(array.bytes, values); break;
    case ArrayType::Int32: convert<int32_t>(array.bytes, values); break;
    case ArrayType::Int64: convert<int64_t>(array.bytes, values); break;
    case ArrayType::Float32: convert<float>(array.bytes, values); break;
    case ArrayType::Float64: convert<double>(array.bytes, values); break;
  }
  return values;
}

void require_integers(const Array& array) {
  if (!array.is_integer()) throw UserError(fmt::format("an array of {}; expected integers or bool", to_string(array.type)));
}

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

[[noreturn]] void fail_reading(const std::string& path) { throw UserError(fmt::format("cannot read {}: {}", quote(path), std::strerror(errno))); }

std::string read_some(FILE* file, size_t limit, const std::string& path) {
  std::string text;
  std::array<char, 1 << 14> block;
  while (text.size() < limit) {
    const size_t got = std::fread(block.data(), 1, std::min(block.size(), limit - text.size()), file);
    if (got == 0) break;
    text.append(block.data(), got);
  }
  if (std::ferror(file)) fail_reading(path);
  return text;
}

Array read_npy(FILE* file, const std::string& path) {
  Announced what = announced(read_some(file, kMaxArrayHeader + 12, path), path);
  struct stat status;
  if (fstat(fileno(file), &status) != 0) fail_reading(path);
  check_length(what, static_cast<uint64_t>(status.st_size), path);
  what.array.bytes.resize(static_cast<size_t>(what.bytes));
  if (std::fseek(file, static_cast<long>(what.start), SEEK_SET) != 0) fail_reading(path);
  if (std::fread(what.array.bytes.data(), 1, what.array.bytes.size(), file) != what.array.bytes.size()) fail(path, "the file ends early");
  return std::move(what.array);
}

bool is_npy(FILE* file, const std::string& path) {
  const bool magic = read_some(file, kMagic.size(), path) == kMagic;
  if (std::fseek(file, 0, SEEK_SET) != 0) fail_reading(path);
  return magic || path.ends_with(".npy");
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

const char* to_string(ArrayType type) { return entry(type).name; }
int64_t size_of(ArrayType type) { return entry(type).size; }

int64_t Array::elements() const {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

std::vector<int64_t> Array::integers() const {
  require_integers(*this);
  return converted<int64_t>(*this);
}

std::vector<double> Array::reals() const { return converted<double>(*this); }

std::vector<uint8_t> Array::nonzero() const {
  require_integers(*this);
  std::vector<uint8_t> values(static_cast<size_t>(elements()));
  const size_t size = static_cast<size_t>(size_of(type));
  for (size_t i = 0; i < bytes.size(); ++i) values[i / size] |= bytes[i] != 0;
  return values;
}

Array parse_npy(std::string_view file, const std::string& name) {
  Announced what = announced(file, name);
  check_length(what, file.size(), name);
  what.array.bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(what.start), file.end());
  return std::move(what.array);
}

Array parse_integers_text(std::string_view text, const std::string& name) {
  std::vector<int64_t> values;
  int64_t line = 1;
  for (size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      line += text[at++] == '\n';
      continue;
    }
    size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, value);
    if (error != std::errc() || stop != text.data() + end) {
      fail(name, fmt::format("line {}: {} is no 64-bit integer", line, quote(text.substr(at, end - at))), "expected integers between white space, or .npy");
    }
    values.push_back(value);
    at = end;
  }
  Array array{ArrayType::Int64, {static_cast<int64_t>(values.size())}, std::vector<uint8_t>(values.size() * 8)};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

Array read_array(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) fail_reading(path);
  if (is_npy(file.get(), path)) return read_npy(file.get(), path);
  const std::string text = read_some(file.get(), kMaxText + 1, path);
  if (text.size() > kMaxText) fail(path, fmt::format("more than {} bytes of text", kMaxText), "save the numbers as .npy");
  return parse_integers_text(text, path);
}

}  // namespace heddle::support
