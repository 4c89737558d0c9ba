#!/usr/bin/env bash
# Installs what is missing, builds with warnings as errors, and runs every test: first the tests of the rooms under address and
# undefined behaviour sanitizers (build/sanitize), then all tests of the plain build. Fails when either part fails.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)

scripts/setup.sh
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -S . -B build -G Ninja "${launcher[@]}"
cmake --build build --parallel "$jobs"
# Sanitized code makes GCC warn of what is not there, so warnings are errors in the plain build only.
cmake -S . -B build/sanitize -G Ninja "${launcher[@]}" -DHEDDLE_SANITIZE=ON -DHEDDLE_BENCH=OFF -DHEDDLE_WERROR=OFF \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1"
cmake --build build/sanitize --parallel "$jobs" --target core_tests

echo "== address and undefined behaviour sanitizers"
sanitized=0
ctest --test-dir build/sanitize --label-regex core --output-on-failure --parallel 2 || sanitized=$?
echo "== all tests"
ctest --test-dir build --output-on-failure --parallel 2
if [ "$sanitized" -ne 0 ]; then
  echo "test: the sanitizer part failed, see above" >&2
  exit "$sanitized"
fi
