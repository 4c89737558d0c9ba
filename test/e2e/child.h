// A process of its own that makes one kernel through the public API, runs it and says what happened.
#pragma once
#include <sys/types.h>

#include <string>

namespace heddle::test {

struct ChildReport {
  int status = -1;     ///< Exit status.
  std::string origin;  ///< "compiled", "disk" or "memory".
  int compilations = 0;
  bool compiler = false;  ///< libheddle_compiler was mapped at the end.
  bool llvm = false, isl = false;
  std::string path;    ///< Of the kernel on disk; empty when there is none.
  std::string output;  ///< Bytes of O.
  std::string errors;  ///< Standard error.
};

/// Started and not yet waited for.
class Child {
 public:
  /// `cache` is the folder that the child's engine is given, or empty for the default one. A `user` other than 0 is whom the
  /// child runs as; only root can choose.
  Child(const std::string& cache, const std::string& mask, uid_t user = 0);
  ChildReport wait();

 private:
  std::string folder_;
  pid_t process_ = -1;
};

inline ChildReport run_child(const std::string& cache, const std::string& mask = "k <= q && q - k < 77") {
  return Child(cache, mask).wait();
}

/// What a child does, by the arguments that Child gives it.
int child_main(const std::string& cache, const std::string& mask, const std::string& folder);

}  // namespace heddle::test
