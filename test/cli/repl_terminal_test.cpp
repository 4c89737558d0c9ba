// `heddle repl` at a terminal: prompt, completion, history, Ctrl-C at the prompt and during a job.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <regex>

#include "test/cli/pty_session.h"
#include "test/process.h"

namespace heddle::test {
namespace {

const std::string kPrompt = "heddle>", kMore = "   ...>";
const std::string kTab = "\t", kUp = "\033[A", kCtrlC = "\003", kCtrlD = "\004";
/// Counting this takes much longer than any test waits.
const std::string kLongJob = "facts (q * q + k * k * 3) % 1001 < 77";

class ReplTerminal : public testing::Test {
 protected:
  PtySession session() {
    return {HEDDLE_BINARY_DIR "/bin/heddle", {"repl"}, {{"TERM", "vt100"},
                                                        {"LC_ALL", "C.UTF-8"},
                                                        {"XDG_STATE_HOME", state_.path().string()},
                                                        {"HEDDLE_CACHE_DIR", cache_.path().string()}}};
  }
  std::string history_file() const { return state_ / "heddle/history"; }

  Folder state_, cache_;
};

/// Types a line and waits for the next prompt.
void enter(PtySession& terminal, const std::string& line, const std::string& prompt = kPrompt) {
  ASSERT_TRUE(terminal.type_and_wait(line + "\r", prompt)) << terminal.screen();
}

bool has_children(pid_t process) {
  const std::string id = std::to_string(process);
  return !read_file("/proc/" + id + "/task/" + id + "/children").empty();
}

std::string masked(const std::string& screen) { return std::regex_replace(screen, std::regex(R"(\d+\.\d+ ms)"), "T ms"); }

TEST_F(ReplTerminal, LooksLikeTheGoldenScreen) {
  PtySession terminal = session();
  ASSERT_TRUE(terminal.wait_for_line(kPrompt)) << terminal.screen();
  enter(terminal, "let w = 256");
  enter(terminal, "mask window = k <= q &&", kMore);
  enter(terminal, "q - k < w");
  terminal.type("wi" + kTab);
  ASSERT_TRUE(terminal.wait_for("heddle> window")) << terminal.screen();
  enter(terminal, "");
  enter(terminal, "mask wrong = k <= q && q - k < v");
  terminal.type(kUp);
  ASSERT_TRUE(terminal.wait_for_line("heddle> mask wrong = k <= q && q - k < v")) << terminal.screen();
  terminal.type("\b");
  enter(terminal, "w");
  enter(terminal, "shwo");
  terminal.type("set sq 99");
  ASSERT_TRUE(terminal.wait_for_line("heddle> set sq 99")) << terminal.screen();
  ASSERT_TRUE(terminal.type_and_wait(kCtrlC, kPrompt)) << terminal.screen();
  enter(terminal, "show");
  terminal.type(kCtrlD);
  EXPECT_EQ(terminal.status(), 0);
  EXPECT_EQ(masked(terminal.screen()), std::regex_replace(read_file(HEDDLE_SOURCE_DIR "/test/golden/repl/screen.txt"),
                                                          std::regex("VERSION"), HEDDLE_VERSION));
}

TEST_F(ReplTerminal, TabListsWhatThereIs) {
  PtySession terminal = session();
  ASSERT_TRUE(terminal.wait_for_line(kPrompt));
  terminal.type("set he" + kTab);
  ASSERT_TRUE(terminal.wait_for_line("heddle> set head")) << terminal.screen();
  ASSERT_TRUE(terminal.type_and_wait(kTab, "heddle> set head")) << terminal.screen();
  EXPECT_NE(terminal.screen().find("head_dim  heads\n"), std::string::npos) << terminal.screen();
}

TEST_F(ReplTerminal, CtrlCStopsAJobAndTheSessionGoesOn) {
  PtySession terminal = session();
  ASSERT_TRUE(terminal.wait_for_line(kPrompt));
  enter(terminal, "set sq 65536");
  terminal.type(kLongJob + "\r");
  ASSERT_TRUE(terminal.wait_for("facts: 1 s (Ctrl-C cancels)")) << terminal.screen();
  EXPECT_TRUE(has_children(terminal.process()));
  ASSERT_TRUE(terminal.type_and_wait(kCtrlC, kPrompt, 5)) << terminal.screen();
  EXPECT_NE(terminal.screen().find("cancelled\n"), std::string::npos) << terminal.screen();
  EXPECT_FALSE(has_children(terminal.process()));
  enter(terminal, "set sq 64");
  enter(terminal, "k <= q");
  EXPECT_NE(terminal.screen().find("2080 of 4096 pairs allowed"), std::string::npos) << terminal.screen();
  terminal.type("quit\r");
  EXPECT_EQ(terminal.status(), 0);
}

TEST_F(ReplTerminal, AnInterruptOfTheSessionAloneStopsItsJob) {
  PtySession terminal = session();
  ASSERT_TRUE(terminal.wait_for_line(kPrompt));
  enter(terminal, "set sq 65536");
  terminal.type(kLongJob + "\r");
  ASSERT_TRUE(terminal.wait_for("Ctrl-C cancels")) << terminal.screen();
  kill(terminal.process(), SIGINT);
  ASSERT_TRUE(terminal.wait_for_line(kPrompt, 5)) << terminal.screen();
  EXPECT_FALSE(has_children(terminal.process()));
}

TEST_F(ReplTerminal, CtrlCLeavesAStatementThatGoesOn) {
  PtySession terminal = session();
  ASSERT_TRUE(terminal.wait_for_line(kPrompt));
  enter(terminal, "mask a = (k <= q", kMore);
  ASSERT_TRUE(terminal.type_and_wait(kCtrlC, kPrompt)) << terminal.screen();
  enter(terminal, "show");
  EXPECT_NE(terminal.screen().find("nothing is defined yet"), std::string::npos) << terminal.screen();
}

TEST_F(ReplTerminal, HistoryOutlivesTheSession) {
  {
    PtySession terminal = session();
    ASSERT_TRUE(terminal.wait_for_line(kPrompt));
    enter(terminal, "let speed = (1", kMore);
    enter(terminal, "");
    enter(terminal, "set sq 77");
    terminal.type(kCtrlD);
    EXPECT_EQ(terminal.status(), 0);
  }
  struct stat file {};
  ASSERT_EQ(stat(history_file().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  PtySession terminal = session();
  ASSERT_TRUE(terminal.wait_for_line(kPrompt));
  terminal.type(kUp);
  ASSERT_TRUE(terminal.wait_for_line("heddle> set sq 77")) << terminal.screen();
  terminal.type(kUp);
  ASSERT_TRUE(terminal.wait_for_line("heddle> let speed = (1")) << terminal.screen();
}

TEST_F(ReplTerminal, AHistoryThatCannotBeKeptIsNoError) {
  write_file(state_ / "heddle", "a file where a folder should be");
  PtySession terminal = session();
  ASSERT_TRUE(terminal.wait_for_line(kPrompt));
  enter(terminal, "let w = 3");
  enter(terminal, "show");
  EXPECT_NE(terminal.screen().find("let w = 3\nheddle> show\nlet w = 3\n"), std::string::npos) << terminal.screen();
  terminal.type(kCtrlD);
  EXPECT_EQ(terminal.status(), 0);
}

TEST_F(ReplTerminal, ScriptsShowNoPrompt) {
  PtySession terminal(HEDDLE_BINARY_DIR "/bin/heddle", {"repl", HEDDLE_SOURCE_DIR "/test/golden/repl/screen.heddle"},
                      {{"TERM", "vt100"}, {"HEDDLE_CACHE_DIR", cache_.path().string()}});
  EXPECT_EQ(terminal.status(), 0);
  EXPECT_EQ(terminal.screen(), "let w = 3\n");
}

}  // namespace
}  // namespace heddle::test
