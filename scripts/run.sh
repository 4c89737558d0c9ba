#!/usr/bin/env bash
# Installs what is missing, builds, and runs the main job over the licence texts that every Debian has: a Longformer-style block, and a
# block over the texts packed as documents that attend only within themselves. Each runs twice: the second run finds its kernel in the
# cache. The command is left at build/bin/heddle.
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
for pass in first second; do
  echo
  echo "== packed documents, $pass run"
  build/bin/heddle run examples/models/packed_documents_block.json --input "tokens=@$licences/BSD,$licences/Artistic,$licences/GPL-2" --check "$@"
done
