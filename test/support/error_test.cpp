#include "heddle/error.h"
#include <gtest/gtest.h>
#include <algorithm>
#include <sstream>
#include <vector>

namespace heddle {
namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

TEST(SourceSpan, CountsLinesAndColumnsFromOne) {
  const std::string text = "ab\ncd\n";
  EXPECT_EQ((SourceSpan{text, "mask", 0, 1}.line()), 1u);
  EXPECT_EQ((SourceSpan{text, "mask", 2, 1}.column()), 3u);
  EXPECT_EQ((SourceSpan{text, "mask", 3, 1}.line()), 2u);
  EXPECT_EQ((SourceSpan{text, "mask", 4, 1}.column()), 2u);
  EXPECT_EQ((SourceSpan{text, "mask", 6, 0}.line()), 3u);
  EXPECT_EQ((SourceSpan{text, "mask", 100, 0}.column()), 1u);
}

TEST(SourceSpan, MarksTheWholeSpan) {
  EXPECT_EQ((SourceSpan{"k <= q && kk", "mask", 10, 2}.caret()), "mask:1:11\n  k <= q && kk\n            ^^");
  EXPECT_EQ((SourceSpan{"k <= q &&", "mask", 9, 0}.caret()), "mask:1:10\n  k <= q &&\n           ^");
}

TEST(SourceSpan, MarksOnlyTheFirstLineOfALongSpan) {
  EXPECT_EQ((SourceSpan{"q\n<\nk", "mask", 2, 3}.caret()), "mask:2:1\n  <\n  ^");
}

TEST(SourceSpan, EscapesControlCharactersAndStrayBytes) {
  EXPECT_EQ((SourceSpan{"q\t\x1b\xff z", "mask", 5, 1}.caret()), "mask:1:6\n  q\\t\\x1b\\xff z\n              ^");
}

TEST(SourceSpan, CountsACharacterOfSeveralBytesAsOneColumnOnScreen) {
  EXPECT_EQ((SourceSpan{"q \xe2\x89\xa4 k", "mask", 6, 1}.caret()), "mask:1:7\n  q \xe2\x89\xa4 k\n      ^");
}

TEST(SourceSpan, ShortensLongLinesAroundTheSpan) {
  const std::string text = std::string(500, 'a') + "BAD" + std::string(500, 'c');
  const auto shown = lines(SourceSpan{text, "mask", 500, 3}.caret());
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0], "mask:1:501");
  EXPECT_LE(shown[1].size(), 110u);
  EXPECT_EQ(shown[1].find("BAD"), shown[2].find("^^^"));
  EXPECT_EQ(shown[1].substr(2, 3), "...");
  EXPECT_EQ(shown[1].substr(shown[1].size() - 3), "...");
}

TEST(SourceSpan, ReadsOnlyTheSurroundingsOfASpanInMegabytes) {
  const std::string text(10'000'000, 'x');
  const auto shown = lines(SourceSpan{text, "mask", 5'000'000, 5'000'000}.caret());
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0], "mask:1:5000001");
  EXPECT_LE(shown[1].size(), 110u);
  EXPECT_LE(shown[2].size(), 110u);
}

TEST(UserError, SaysMessagePlaceAndHint) {
  const UserError error("unknown name 'kk'", SourceSpan{"kk", "mask", 0, 2}, "did you mean 'k'?");
  EXPECT_STREQ(error.what(), "unknown name 'kk'\nmask:1:1\n  kk\n  ^^\nhint: did you mean 'k'?");
  EXPECT_EQ(error.message(), "unknown name 'kk'");
  EXPECT_EQ(error.hint(), "did you mean 'k'?");
  EXPECT_EQ(error.span().length, 2u);
}

TEST(UserError, NeedsNeitherPlaceNorHint) {
  EXPECT_STREQ(UserError("no").what(), "no");
  EXPECT_STREQ(UserError("no", "say yes").what(), "no\nhint: say yes");
}

TEST(InternalError, NamesTheStageAndHowToReport) {
  const std::string what = InternalError("lowering", "no such value").what();
  EXPECT_EQ(what.find("internal error in lowering: no such value\n"), 0u);
  EXPECT_NE(what.find("report"), std::string::npos);
}

TEST(ToolchainError, CarriesTheLog) {
  EXPECT_STREQ(ToolchainError("compiler missing", "not found").what(), "compiler missing\nnot found");
  EXPECT_STREQ(ToolchainError("compiler missing").what(), "compiler missing");
}

}  // namespace
}  // namespace heddle
