#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "heddle/error.h"
#include "src/cli/command.h"

namespace heddle::cli {
namespace {

struct Outcome {
  int status;
  std::string message;
};

template <typename Work>
Outcome outcome_of(Work work) {
  testing::internal::CaptureStderr();
  const int status = guarded(work);
  return {status, testing::internal::GetCapturedStderr()};
}

TEST(Guarded, PassesTheStatusOn) {
  EXPECT_EQ(outcome_of([] { return 0; }).status, 0);
  const Outcome check = outcome_of([] { return static_cast<int>(kCheckFailed); });
  EXPECT_EQ(check.status, 1);
  EXPECT_EQ(check.message, "");
}

TEST(Guarded, FaultsOfUserAndMachineAreStatusTwo) {
  const Outcome user = outcome_of([]() -> int { throw UserError("wrong shape", "transpose it"); });
  EXPECT_EQ(user.status, 2);
  EXPECT_EQ(user.message, "heddle: wrong shape\nhint: transpose it\n");
  EXPECT_EQ(outcome_of([]() -> int { throw ToolchainError("no compiler"); }).status, 2);
  EXPECT_EQ(outcome_of([]() -> int { throw RuntimeError("no device"); }).message, "heddle: no device\n");
  EXPECT_EQ(outcome_of([]() -> int { throw std::bad_alloc(); }).status, 2);
}

TEST(Guarded, FaultsOfHeddleAreStatusThreeAndSayHowToReport) {
  const Outcome known = outcome_of([]() -> int { throw InternalError("plan", "no tile shape"); });
  EXPECT_EQ(known.status, 3);
  EXPECT_TRUE(known.message.starts_with("heddle: internal error in plan: no tile shape\n")) << known.message;
  const Outcome unknown = outcome_of([]() -> int { throw std::logic_error("vector"); });
  EXPECT_EQ(unknown.status, 3);
  for (const Outcome& outcome : {known, unknown})
    EXPECT_NE(outcome.message.find("report"), std::string::npos) << outcome.message;
}

}  // namespace
}  // namespace heddle::cli
