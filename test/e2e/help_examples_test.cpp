// The example in every --help runs as it stands, from the root of the repository.
#include <gtest/gtest.h>

#include "test/process.h"

namespace heddle::test {
namespace {

class HelpExamples : public testing::TestWithParam<std::string> {};

TEST_P(HelpExamples, EndWithStatusZero) {
  const Outcome help = run_process("/bin/sh", {"-c", HEDDLE_BINARY_DIR "/bin/heddle " + GetParam() + " --help"});
  const std::string start = "\n  heddle ";
  const size_t at = help.out.rfind(start);
  ASSERT_NE(at, std::string::npos) << help.out;
  const std::string arguments = help.out.substr(at + start.size());
  const Folder cache;
  const Outcome outcome =
      run_process("/bin/sh", {"-c", "cd '" HEDDLE_SOURCE_DIR "' && exec '" HEDDLE_BINARY_DIR "/bin/heddle' " + arguments},
                  {.environment = {{"HEDDLE_CACHE_DIR", cache.path().string()}}});
  EXPECT_EQ(outcome.status, 0) << arguments << outcome.err;
  EXPECT_EQ(outcome.err, "") << arguments;
  EXPECT_NE(outcome.out, "") << arguments;
}

INSTANTIATE_TEST_SUITE_P(Command, HelpExamples,
                         testing::Values("run", "facts", "draw", "plan", "explain", "emit", "verify masks", "cache", "cache list",
                                         "cache stats", "cache verify", "cache clear", "targets"));

}  // namespace
}  // namespace heddle::test
