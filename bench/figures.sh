#!/usr/bin/env bash
# Builds the benchmarks (Release) and prints one table of Heddle's figures: bar, best, median, and the machine.
#
#   bench/figures.sh [BUILD_FOLDER [OPTIONS OF bench/figures.py]]     default build/release
#
# Takes some ten minutes beside the build, and five more where bench/compare_torch.sh has installed PyTorch for the last figure. The
# machine should have nothing else to do; see bench/figures.py on what noise does.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/release}
if [ $# -gt 0 ]; then shift; fi

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
# At -O3 GCC 12 warns of what is not there, so warnings are errors in the plain build only.
cmake -S . -B "$folder" -G Ninja "${launcher[@]}" -DCMAKE_BUILD_TYPE=Release -DHEDDLE_TESTS=OFF -DHEDDLE_WERROR=OFF >/dev/null
cmake --build "$folder" --parallel "$(nproc)" -- --quiet
exec python3 bench/figures.py "$@" "$folder"
