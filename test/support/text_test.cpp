#include "src/support/text.h"
#include <gtest/gtest.h>
#include <set>
#include "src/support/glyphs.h"
#include "src/support/hash.h"
#include "src/support/timer.h"

namespace heddle::support {
namespace {

TEST(Text, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(escape("a\tb\n\r"), "a\\tb\\n\\r");
  EXPECT_EQ(escape(std::string("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(escape("\xc2\x9b"), "\\xc2\\x9b");  // A C1 control starts an escape sequence on some terminals.
  EXPECT_EQ(escape("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(escape("\xe2\x89"), "\\xe2\\x89");
  EXPECT_EQ(escape("\xe2\x89\xa4"), "\xe2\x89\xa4");
}

TEST(Text, GlyphsCoverEveryByteOnce) {
  const std::string text = "q \xe2\x89\xa4\xff\n";
  const auto all = glyphs(text);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[3].offset, 5u);
  EXPECT_EQ(all[2].columns, 1u);
  EXPECT_EQ(all[3].columns, 4u);
}

TEST(Text, ShortensTheMiddle) {
  EXPECT_EQ(shorten("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten("abcdefghijk", 10), "abcd...ijk");
  EXPECT_EQ(shorten("abcdefghijk", 3), "...");
}

TEST(Text, QuotesAndEscapes) {
  EXPECT_EQ(quote("a\nb"), "'a\\nb'");
  EXPECT_EQ(quote(std::string(100, 'x')).size(), 62u);
}

TEST(Text, EditDistanceCountsSwapsOnce) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("window", "window"), 0u);
  EXPECT_EQ(edit_distance("widnow", "window"), 1u);
  EXPECT_EQ(edit_distance("windw", "window"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Text, EditDistanceIsSymmetric) {
  for (const char* a : {"", "q", "window", "abba", "sigmoid"}) {
    for (const char* b : {"k", "widnow", "baab", "softcap"}) EXPECT_EQ(edit_distance(a, b), edit_distance(b, a)) << a << " " << b;
  }
}

TEST(Text, FindsTheNearestName) {
  const std::vector<std::string> names = {"window", "sigmoid", "Sq", "q"};
  EXPECT_EQ(nearest("windwo", names), "window");
  EXPECT_EQ(nearest("SIGMOID", names), "sigmoid");
  EXPECT_EQ(nearest("sq", names), "Sq");
  EXPECT_EQ(nearest("Q", names), "q");
  EXPECT_EQ(nearest("k", names), "");
  EXPECT_EQ(nearest("entirely", names), "");
  EXPECT_EQ(nearest(std::string(100'000, 'w'), names), "");
}

TEST(Text, ListsABoundedNumber) {
  EXPECT_EQ(list({}), "");
  EXPECT_EQ(list({"a", "b"}), "a, b");
  EXPECT_EQ(list({"a", "b", "c"}, 2), "a, b and 1 more");
}

TEST(Hash, IsTheSameInEveryProcess) {
  EXPECT_EQ(Hasher().add(uint64_t{1}).add(std::string_view("mask")).add(0.5).value(), 0xbd37cf08263d91deULL);
}

TEST(Hash, TellsOrderLengthAndSmallChangesApart) {
  std::set<uint64_t> seen;
  for (uint64_t a = 0; a < 100; ++a) {
    for (uint64_t b = 0; b < 100; ++b) seen.insert(Hasher().add(a).add(b).value());
  }
  EXPECT_EQ(seen.size(), 10'000u);
  EXPECT_NE(Hasher().add(std::string_view("ab")).add(std::string_view("c")).value(),
            Hasher().add(std::string_view("a")).add(std::string_view("bc")).value());
}

TEST(Timer, RunsForwardAndRestarts) {
  Timer timer;
  const double first = timer.milliseconds();
  EXPECT_GE(first, 0);
  EXPECT_GE(timer.milliseconds(), first);
  Timer early;
  while (timer.milliseconds() < first + 2) {
  }
  timer.restart();
  EXPECT_LT(timer.milliseconds(), early.milliseconds());
}

}  // namespace
}  // namespace heddle::support
