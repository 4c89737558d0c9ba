#include "test/e2e/child.h"

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "test/e2e/attention_fixture.h"
#include "test/process.h"

namespace heddle::test {
namespace {

const char* name_of(KernelReport::Origin origin) {
  return origin == KernelReport::Origin::Compiled ? "compiled" : origin == KernelReport::Origin::Disk ? "disk" : "memory";
}

void report(const Engine& engine, const Attention& attention, const std::string& folder) {
  const std::string maps = read_file("/proc/self/maps");
  const auto mapped = [&](const char* library) { return maps.find(library) != std::string::npos; };
  std::ostringstream text;
  text << name_of(attention.report().origin) << ' ' << engine.compilations() << ' ' << mapped("libheddle_compiler") << ' '
       << mapped("libLLVM") << ' ' << mapped("libisl") << '\n'
       << attention.report().path << '\n';
  write_file(folder + "/report", text.str());
}

pid_t start(const std::vector<std::string>& arguments, const std::string& errors, uid_t user) {
  const pid_t process = fork();
  if (process != 0) return process;
  std::vector<std::string> texts = arguments;
  const int file = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, STDERR_FILENO);
  if (user != 0 && setuid(user) != 0) _exit(126);
  execv("/proc/self/exe", detail::pointers(texts).data());
  _exit(127);
}

}  // namespace

int child_main(const std::string& cache, const std::string& mask, const std::string& folder) try {
  EngineOptions options;
  options.threads = 1, options.cache_dir = cache;
  Engine engine(options);
  Data data({.batch = 1, .heads = 2, .kv_heads = 1, .sq = 100, .sk = 100});
  const Attention attention = engine.attention(masked(Mask::parse(mask)));
  run(attention, data);
  write_file(folder + "/output", std::string(reinterpret_cast<const char*>(data.o.data()), data.o.size() * sizeof(float)));
  report(engine, attention, folder);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 2;
}

Child::Child(const std::string& cache, const std::string& mask, uid_t user) {
  folder_ = (std::filesystem::temp_directory_path() / "heddle-child-XXXXXX").string();
  if (!mkdtemp(folder_.data())) throw std::runtime_error("cannot make " + folder_);
  if (user != 0 && chown(folder_.c_str(), user, 0) != 0) throw std::runtime_error("cannot give away " + folder_);
  process_ = start({"test_e2e", "--child", cache, mask, folder_}, folder_ + "/errors", user);
}

ChildReport Child::wait() {
  ChildReport found;
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  found.status = detail::status_of(status);
  std::istringstream text(read_file(folder_ + "/report"));
  text >> found.origin >> found.compilations >> found.compiler >> found.llvm >> found.isl >> std::ws;
  std::getline(text, found.path);
  found.output = read_file(folder_ + "/output");
  found.errors = read_file(folder_ + "/errors");
  std::filesystem::remove_all(folder_);
  return found;
}

}  // namespace heddle::test
