// Feeds every file of the given folders to a fuzz target: the kept corpus as a test of every build, without libFuzzer.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "test/fuzz/target.h"

namespace {

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int count, char** folders) {
  int fed = 0;
  for (int i = 1; i < count; ++i) {
    for (const auto& path : files_below(folders[i])) {
      const std::string bytes = contents(path);
      try {
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", path.c_str(), error.what());
        return 1;
      }
      ++fed;
    }
  }
  std::printf("%d files\n", fed);
  return fed > 0 ? 0 : 1;
}
