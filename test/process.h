// Runs the built command in a child process, with a private cache folder, and gives back its outputs and exit status.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

extern char** environ;

namespace heddle::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int status = -1;  ///< Exit status; 128 + the signal when the process was killed.
  std::string out, err;
};

struct ProcessOptions {
  std::map<std::string, std::string> environment{};  ///< Set beside the test's own environment.
  std::string input = "/dev/null";                   ///< File read as standard input.
  std::string output{};                              ///< File written as standard output instead of Outcome::out.
  bool closed_pipe = false;                          ///< Standard output is a pipe nobody reads.
};

namespace detail {

inline std::vector<std::string> environment_of(const std::map<std::string, std::string>& added) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    all[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  for (const auto& [name, value] : added) all[name] = value;
  std::vector<std::string> list;
  for (const auto& [name, value] : all) list.push_back(name + "=" + value);
  return list;
}

inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

inline int status_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

/// The write end of a pipe whose read end is closed.
inline int pipe_without_reader() {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  close(ends[0]);
  return ends[1];
}

}  // namespace detail

/// Runs `program` with the arguments and waits for it.
inline Outcome run_process(const std::string& program, std::vector<std::string> arguments, const ProcessOptions& options = {}) {
  const Folder folder;
  const std::string out = options.output.empty() ? folder / "out" : options.output, err = folder / "err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, options.input.c_str(), O_RDONLY, 0);
  const int broken = options.closed_pipe ? detail::pipe_without_reader() : -1;
  if (broken >= 0) {
    posix_spawn_file_actions_adddup2(&actions, broken, 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);

  arguments.insert(arguments.begin(), program);
  std::vector<std::string> environment = detail::environment_of(options.environment);
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, detail::pointers(arguments).data(),
                                detail::pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (broken >= 0) close(broken);
  if (error != 0) throw std::runtime_error("cannot start " + program);
  int wait_status = 0;
  while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
  }
  return {detail::status_of(wait_status), options.output.empty() ? read_file(out) : "", read_file(err)};
}

/// Runs `heddle` with a cache folder that no other test uses, unless the options name one.
inline Outcome heddle_command(const std::vector<std::string>& arguments, ProcessOptions options = {}) {
  const Folder cache;
  options.environment.emplace("HEDDLE_CACHE_DIR", cache.path().string());
  return run_process(HEDDLE_BINARY_DIR "/bin/heddle", arguments, options);
}

}  // namespace heddle::test
