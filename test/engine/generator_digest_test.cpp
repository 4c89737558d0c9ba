// The digest that names the code generator in every cache key follows its sources, byte by byte, and the versions of its tools.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "runtime/disk_cache.h"
#include "src/engine/compiler.h"
#include "src/engine/kernel_cache.h"
#include "src/engine/problem.h"
#include "src/ir/attention_problem.h"
#include "test/process.h"

namespace heddle::test {
namespace {

namespace fs = std::filesystem;

/// What the build hashes, as paths from the root.
std::vector<std::string> generator_sources() {
  std::istringstream list(read_file(std::string(HEDDLE_BINARY_DIR) + "/generated/generator_sources.txt"));
  std::vector<std::string> sources;
  for (std::string one; std::getline(list, one, ';');) sources.push_back(fs::relative(one, HEDDLE_SOURCE_DIR).string());
  return sources;
}

/// The digest that the build's own script makes of the sources in `root`.
std::string digest_of(const std::string& root, const std::vector<std::string>& sources, const std::string& versions = "1") {
  std::vector<std::string> paths;
  for (const std::string& source : sources) paths.push_back(root + "/" + source);
  const std::string out = root + "/digest";
  const Outcome done = run_process(
      "/usr/bin/env", {"cmake", fmt::format("-DSOURCES={}", fmt::join(paths, ";")), "-DOUT=" + out, "-DROOT=" + root,
                       "-DVERSIONS=" + versions, "-P", std::string(HEDDLE_SOURCE_DIR) + "/cmake/digest.cmake"});
  EXPECT_EQ(done.status, 0) << done.err;
  return read_file(out);
}

TEST(FieldReports, R083_EveryByteOfTheGeneratorIsInItsDigest) {
  const std::vector<std::string> sources = generator_sources();
  const Folder copy;
  const std::string root = copy.path().string();
  std::set<std::string> folders, digests;
  for (const std::string& source : sources) {
    fs::create_directories(fs::path(root + "/" + source).parent_path());
    fs::copy_file(std::string(HEDDLE_SOURCE_DIR) + "/" + source, root + "/" + source);
  }
  digests.insert(digest_of(root, sources));
  digests.insert(digest_of(root, sources, "2"));
  for (const std::string& source : sources) {
    if (!folders.insert(fs::path(source).parent_path().string()).second) continue;
    const std::string path = root + "/" + source;
    std::string bytes = read_file(path);
    bytes[bytes.size() / 2] ^= 1;
    write_file(path, bytes);
    EXPECT_TRUE(digests.insert(digest_of(root, sources)).second) << source;
  }
  EXPECT_GE(folders.size(), 8u);
}

TEST(FieldReports, R083_AllOfTheGeneratorIsHashed) {
  const std::vector<std::string> sources = generator_sources();
  const std::set<std::string> hashed(sources.begin(), sources.end());
  for (const char* room :
       {"src/ir", "src/analysis", "src/plan", "src/lower", "src/codegen", "src/jit", "src/engine/compiler"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(HEDDLE_SOURCE_DIR) / room)) {
      const std::string path = fs::relative(entry.path(), HEDDLE_SOURCE_DIR).string();
      EXPECT_TRUE(entry.is_directory() || hashed.contains(path)) << path;
    }
  }
}

TEST(FieldReports, R083_EveryKeyHoldsTheDigest) {
  for (const char* mask : {"k <= q", "q == k"}) {
    AttentionSpec spec;
    spec.mask = Mask::parse(mask);
    const ir::AttentionProblem problem = engine::problem_of(spec, Target::host());
    const std::string text = engine::key_text(problem);
    EXPECT_NE(text.find(std::string("generator ") + engine::generator_digest()), std::string::npos) << text;
    engine::KernelCache cache(std::nullopt);
    EXPECT_EQ(cache.find(problem).kernel->key, runtime::digest(text));
  }
}

}  // namespace
}  // namespace heddle::test
