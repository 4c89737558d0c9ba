#!/usr/bin/env bash
# Installs what is missing, builds, and runs the main job twice: a Longformer-style block over the licence texts that every
# Debian has. The second run finds its kernel in the cache. The command is left at build/bin/heddle.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -S . -B build -G Ninja "${launcher[@]}"
cmake --build build --parallel "$(nproc)" --target heddle_command heddle_compiler

licences=/usr/share/common-licenses
for pass in first second; do
  echo
  echo "== $pass run"
  build/bin/heddle run examples/models/longformer_block.json --input "tokens=@$licences/BSD,$licences/Artistic" --check "$@"
done
