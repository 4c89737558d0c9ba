#include "src/cli/repl/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <histedit.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace heddle::cli::repl {
namespace {

constexpr wchar_t kCtrlC = 3;
constexpr size_t kMaxHistoryBytes = size_t{1} << 22;

/// Signals that are read from a file while this lives.
class SignalFile {
 public:
  SignalFile() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGINT, SIGWINCH, SIGCONT}) sigaddset(&wanted, signal);
    sigprocmask(SIG_BLOCK, &wanted, &before_);
    file_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~SignalFile() {
    if (file_ >= 0) close(file_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalFile(const SignalFile&) = delete;
  SignalFile& operator=(const SignalFile&) = delete;
  int file() const { return file_; }
  /// 0 when none has come.
  int next() const {
    signalfd_siginfo info{};
    return ::read(file_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  sigset_t before_;
  int file_ = -1;
};

std::string absolute_folder(const char* variable) {
  const char* value = std::getenv(variable);
  return value && value[0] == '/' ? value : "";
}

/// Words in columns, for the lines below the prompt.
std::string in_columns(const std::vector<std::string>& words) {
  constexpr size_t kColumns = 78;
  size_t width = 0;
  for (const std::string& word : words) width = std::max(width, word.size() + 2);
  const size_t a_line = std::max<size_t>(1, kColumns / width);
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool last = (i + 1) % a_line == 0 || i + 1 == words.size();
    text += last ? words[i] + "\n" : fmt::format("{:{}}", words[i], width);
  }
  return text;
}

/// Makes the folders of a file, private ones.
void make_folders(const std::filesystem::path& file) {
  const mode_t before = umask(077);
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  umask(before);
}

}  // namespace

struct Terminal::State {
  Completer completer;
  std::string path;
  const char* prompt = "";
  bool interrupted = false;
  SignalFile signals;
  History* history = history_init();
  EditLine* edit = el_init("heddle", stdin, stdout, stderr);

  State(Completer completer_, std::string path_) : completer(std::move(completer_)), path(std::move(path_)) {
    std::setlocale(LC_CTYPE, "");
    HistEvent event;
    ::history(history, &event, H_SETSIZE, kHistoryEntries);
    ::history(history, &event, H_SETUNIQUE, 1);
    load();
    declare();
  }
  ~State() {
    el_end(edit);
    history_end(history);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void declare() {
    el_set(edit, EL_CLIENTDATA, this);
    el_set(edit, EL_PROMPT, &show_prompt);
    el_set(edit, EL_EDITOR, "emacs");
    el_set(edit, EL_SIGNAL, 0);
    el_set(edit, EL_HIST, ::history, history);
    el_set(edit, EL_GETCFN, &next_character);
    el_set(edit, EL_ADDFN, "heddle-complete", "Complete a word", &complete_word);
    el_set(edit, EL_ADDFN, "heddle-interrupt", "Clear the line", &interrupt);
    el_set(edit, EL_BIND, "^I", "heddle-complete", nullptr);
    el_set(edit, EL_BIND, "^C", "heddle-interrupt", nullptr);
    el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  }

  static State& of(EditLine* edit) {
    void* state = nullptr;
    el_get(edit, EL_CLIENTDATA, &state);
    return *static_cast<State*>(state);
  }
  static char* show_prompt(EditLine* edit) { return const_cast<char*>(of(edit).prompt); }

  static unsigned char interrupt(EditLine* edit, int) {
    of(edit).interrupted = true;
    return CC_EOF;
  }

  static unsigned char complete_word(EditLine* edit, int) {
    const LineInfo* line = el_line(edit);
    const std::string_view typed(line->buffer, static_cast<size_t>(line->cursor - line->buffer));
    State& state = of(edit);
    const Completion found = state.completer(typed);
    if (found.words.empty()) return CC_ERROR;
    std::string more = common_prefix(found.words).substr(found.typed);
    if (found.words.size() == 1) more += found.next;
    if (!more.empty()) return el_insertstr(edit, more.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    fmt::print("\n{}", in_columns(found.words));
    std::fflush(stdout);
    return CC_REDISPLAY;
  }

  /// Acts on one signal; true when it was SIGINT.
  bool handle_signal() {
    const int signal = signals.next();
    if (signal == SIGWINCH) el_resize(edit);
    if (signal == SIGCONT) {
      el_set(edit, EL_PREP_TERM, 0);
      el_set(edit, EL_PREP_TERM, 1);
      el_set(edit, EL_REFRESH);
    }
    return signal == SIGINT;
  }

  /// libedit's reader of one character: 1, 0 at the end of input, -1 when it fails. A character of several bytes is put together.
  static int next_character(EditLine* edit, wchar_t* character) {
    State& state = of(edit);
    std::array<pollfd, 2> files = {{{STDIN_FILENO, POLLIN, 0}, {state.signals.file(), POLLIN, 0}}};
    std::mbstate_t shift{};
    for (;;) {
      if (poll(files.data(), files.size(), -1) < 0) continue;
      if ((files[1].revents & POLLIN) && state.handle_signal()) {
        *character = kCtrlC;
        return 1;
      }
      if (!files[0].revents) continue;
      char byte = 0;
      const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
      if (got <= 0) return static_cast<int>(got);
      const size_t length = std::mbrtowc(character, &byte, 1, &shift);
      if (length <= 1) return 1;
      if (length == static_cast<size_t>(-1)) shift = {};  // No character begins like this: the bytes are left out.
    }
  }

  void load() {
    if (path.empty()) return;
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    HistEvent event;
    if (!error && size <= kMaxHistoryBytes) ::history(history, &event, H_LOAD, path.c_str());
  }

  /// To a file beside it first, so that a reader never sees half of it.
  void save() {
    if (path.empty()) return;
    make_folders(path);
    std::string draft = path + ".XXXXXX";
    const int file = mkostemp(draft.data(), O_CLOEXEC);  // Mode 0600.
    if (file < 0) return;
    FILE* stream = fdopen(file, "w");
    HistEvent event;
    const bool written = stream && ::history(history, &event, H_SAVE_FP, stream) >= 0;
    const bool closed = stream ? std::fclose(stream) == 0 : close(file) == 0;
    if (!written || !closed || std::rename(draft.c_str(), path.c_str()) != 0) unlink(draft.c_str());
  }
};

std::string history_path() {
  const std::string state = absolute_folder("XDG_STATE_HOME"), home = absolute_folder("HOME");
  if (!state.empty()) return state + "/heddle/history";
  return home.empty() ? "" : home + "/.local/state/heddle/history";
}

Terminal::Terminal(Completer completer, std::string history)
    : state_(std::make_unique<State>(std::move(completer), std::move(history))) {}
Terminal::~Terminal() = default;

int Terminal::signals() const { return state_->signals.file(); }

Terminal::Read Terminal::read(const char* prompt, std::string& line) {
  state_->prompt = prompt;
  state_->interrupted = false;
  int count = 0;
  el_set(state_->edit, EL_PREP_TERM, 1);  // el_gets would show the prompt first, and keys typed at once would be echoed twice
  const char* text = el_gets(state_->edit, &count);
  if (state_->interrupted) {
    fmt::print("^C\n");
    std::fflush(stdout);
    return Read::Interrupted;
  }
  if (!text || count <= 0) return Read::End;
  line.assign(text, static_cast<size_t>(count));
  if (line.ends_with('\n')) line.pop_back();
  return Read::Line;
}

void Terminal::remember(const std::string& statement) {
  HistEvent event;
  ::history(state_->history, &event, H_ENTER, statement.c_str());
  state_->save();
}

}  // namespace heddle::cli::repl
