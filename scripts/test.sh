#!/usr/bin/env bash
# Installs what is missing, builds with warnings as errors, and runs every test in four parts: the tests of the rooms under address and
# undefined behaviour sanitizers (build/sanitize), caches and pools under the thread sanitizer (build/threads), a short run of each
# fuzzer (build/fuzz), then all tests of the plain build. Fails when any part fails.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
fuzz_seconds=${HEDDLE_FUZZ_SECONDS:-20}
gpu_compilers=${HEDDLE_GPU_COMPILERS:-OFF}  # ON: a test that finds no NVRTC, hipRTC or clang library fails instead of being skipped

scripts/setup.sh
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

# build_in FOLDER TARGET OPTIONS...: sanitized code makes compilers warn of what is not there, so warnings are errors in the plain
# build only.
build_in() {
  local folder=$1 target=$2
  shift 2
  cmake -S . -B "$folder" -G Ninja "${launcher[@]}" -DHEDDLE_BENCH=OFF -DHEDDLE_WERROR=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DHEDDLE_GPU_COMPILERS="$gpu_compilers" "$@"
  cmake --build "$folder" --parallel "$jobs" --target $target
}

failed=()
part() {
  echo "== $1"
  shift
  "$@" || failed+=("$*")
}

# The kept corpus is where each run starts; what it finds goes into a folder of its own, an input that fails beside it.
fuzz() {
  local name=$1 longest=$2 found=build/fuzz/found/$1 dictionary=test/fuzz/$1.dict
  mkdir -p "$found"
  build/fuzz/bin/fuzz_"$name" "$found" "test/fuzz/corpus/$name" -dict="$dictionary" -max_len="$longest" \
    -max_total_time="$fuzz_seconds" -artifact_prefix="build/fuzz/$name-" -print_final_stats=1 -verbosity=0
}

cmake -S . -B build -G Ninja "${launcher[@]}" -DHEDDLE_GPU_COMPILERS="$gpu_compilers"
cmake --build build --parallel "$jobs"
build_in build/sanitize core_tests -DHEDDLE_SANITIZE=ON -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1"
build_in build/threads thread_tests -DHEDDLE_SANITIZE=thread -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1"
build_in build/fuzz fuzzers -DHEDDLE_SANITIZE=ON -DHEDDLE_FUZZ=ON -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" \
  -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19

part "address and undefined behaviour sanitizers" ctest --test-dir build/sanitize --label-regex core --output-on-failure --parallel 2
part "thread sanitizer: pools" build/threads/bin/test_runtime --gtest_brief=1 --gtest_filter='ThreadPool*:DiskCache*:Launch.*:BindTest*'
part "thread sanitizer: kernel cache and launches" build/threads/bin/test_engine --gtest_brief=1 --gtest_filter='KernelCache*:AttentionRun*-*Microseconds'
part "fuzzer of formulas, $fuzz_seconds s" fuzz formula 300
part "fuzzer of specs, $fuzz_seconds s" fuzz spec 2000
part "all tests" ctest --test-dir build --output-on-failure --parallel 2
for compiler in NVRTC hipRTC clang; do
  skipped=$(grep -c "skipped: $compiler not found" build/Testing/Temporary/LastTest.log || true)
  if [ "$skipped" -ne 0 ]; then echo "test: $skipped tests skipped: $compiler not found"; fi
done
if [ ${#failed[@]} -ne 0 ]; then
  printf 'test: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
