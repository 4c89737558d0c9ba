#include "src/support/npy.h"
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <cstdio>
#include <cstring>
#include <fstream>
#include "heddle/error.h"

namespace heddle::support {
namespace {

std::string npy(const std::string& header, const std::string& data, char major = 1) {
  std::string file = "\x93NUMPY";
  file += major;
  file += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string header(const std::string& descr, const std::string& shape) {
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}   \n", descr, shape);
}

template <typename T>
void expect_integers(const std::string& descr, ArrayType type, const std::vector<T>& values) {
  const Array array = parse_npy(npy(header(descr, fmt::format("({},)", values.size())), bytes_of(values)), "t");
  EXPECT_EQ(array.type, type);
  EXPECT_EQ(array.integers(), std::vector<int64_t>(values.begin(), values.end()));
  EXPECT_EQ(array.reals(), std::vector<double>(values.begin(), values.end()));
}

std::string refusal(const std::string& file) {
  try {
    parse_npy(file, "t.npy");
  } catch (const UserError& error) {
    return error.message();
  }
  return "accepted";
}

std::string write(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(Npy, ReadsEveryElementType) {
  expect_integers<uint8_t>("|b1", ArrayType::Bool, {0, 1, 1});
  expect_integers<uint8_t>("|u1", ArrayType::UInt8, {0, 200, 255});
  expect_integers<int8_t>("<i1", ArrayType::Int8, {-128, 127});
  expect_integers<int16_t>("<i2", ArrayType::Int16, {-32768, 258});
  expect_integers<int32_t>("<i4", ArrayType::Int32, {-70000, 70000});
  expect_integers<int64_t>("<i8", ArrayType::Int64, {INT64_MIN / 2, 1});
  EXPECT_EQ(parse_npy(npy(header("<f4", "(2,)"), bytes_of<float>({0.5f, -1})), "t").reals(), (std::vector<double>{0.5, -1}));
  EXPECT_EQ(parse_npy(npy(header("<f8", "()"), bytes_of<double>({2.5})), "t").reals(), (std::vector<double>{2.5}));
}

TEST(Npy, ReadsLaterVersionsAndShapes) {
  for (const char major : {1, 2, 3}) {
    const Array array = parse_npy(npy(header("<i2", "(2, 3)"), bytes_of<int16_t>({0, 256, 2, 0, 0, -1}), major), "t");
    EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(array.nonzero(), (std::vector<uint8_t>{0, 1, 1, 0, 0, 1}));
  }
  EXPECT_EQ(parse_npy(npy(header("<i8", "(0, 5)"), ""), "t").elements(), 0);
}

TEST(Npy, RefusesWhatItDoesNotRead) {
  EXPECT_EQ(refusal("nothing"), "'t.npy': no .npy file: it does not start with NumPy's magic bytes");
  EXPECT_EQ(refusal(npy(header(">i4", "(1,)"), "1234")), "'t.npy': elements of type '>i4' are not read");
  EXPECT_EQ(refusal(npy(header("|O", "(1,)"), "1234")), "'t.npy': elements of type '|O' are not read");
  EXPECT_EQ(refusal(npy("{'descr': '<i4', 'fortran_order': True, 'shape': (1, 1)}", "1234")), "'t.npy': the array is in Fortran order");
  EXPECT_EQ(refusal(npy(header("<i4", "(2,)"), "1234")), "'t.npy': the .npy file has 75 bytes; its header promises 79");
  EXPECT_EQ(refusal(npy(header("<i4", "(4294967296, 4294967296)"), "")), "'t.npy': the array has more than 4294967296 bytes");
  EXPECT_EQ(refusal(npy(header("<i4", "(-1,)"), "")), "'t.npy': the .npy header is malformed at byte 51: expected a dimension of 0 or more");
  EXPECT_EQ(refusal(npy("{'descr': '<i4'}", "")),
            "'t.npy': the .npy header is malformed at byte 16: expected the keys 'descr', 'fortran_order' and 'shape'");
  EXPECT_EQ(refusal(npy(header("<i4", "(1,)"), "1234").substr(0, 40)), "'t.npy': the .npy file ends inside its header");
}

TEST(Npy, EveryShortenedFileIsRefused) {
  const std::string whole = npy(header("<i4", "(2,)"), "12345678");
  for (size_t length = 0; length < whole.size(); ++length) EXPECT_NE(refusal(whole.substr(0, length)), "accepted") << length;
}

TEST(Npy, ReadsWhiteSpacedIntegers) {
  EXPECT_EQ(parse_integers_text(" 1\t-2\r\n3\n", "t").integers(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(parse_integers_text("", "t").elements(), 0);
  try {
    parse_integers_text("1 2\n3 4x", "t.txt");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "'t.txt': line 2: '4x' is no 64-bit integer");
  }
}

TEST(Npy, ReadsFiles) {
  const std::string array = write("npy_test_array.npy", npy(header("<i4", "(2, 1)"), bytes_of<int32_t>({5, 6})));
  EXPECT_EQ(read_array(array).shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(read_array(array).integers(), (std::vector<int64_t>{5, 6}));
  const std::string text = write("npy_test_text.txt", "7 8 9");
  EXPECT_EQ(read_array(text).integers(), (std::vector<int64_t>{7, 8, 9}));
  EXPECT_THROW(read_array(testing::TempDir() + "npy_test_missing"), UserError);
  EXPECT_THROW(read_array(write("npy_test_short.npy", "\x93NUM")), UserError);
  EXPECT_THROW(parse_npy(npy(header("<f4", "(1,)"), "1234"), "t").integers(), UserError);
}

}  // namespace
}  // namespace heddle::support
