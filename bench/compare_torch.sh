#!/usr/bin/env bash
# Compares Heddle with PyTorch's FlexAttention and scaled_dot_product_attention on this processor; see bench/compare_torch.py.
#
#   bench/compare_torch.sh [--json] [--no-install] [BUILD_FOLDER]     default build/release, built by bench/figures.sh
#
# PyTorch comes from PyPI into a virtual environment of its own, BUILD_FOLDER/torch (some 6 GB: the wheel for x86-64 brings libraries for
# GPUs that are not used). --no-install: fail where it is not there yet.
set -euo pipefail
cd "$(dirname "$0")/.."
options=() install=yes folder=build/release
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    --*) options+=("$argument") ;;
    *) folder=$argument ;;
  esac
done
environment=${HEDDLE_TORCH_ENVIRONMENT:-$folder/torch}

if [ ! -e "$folder/lib/libheddle.so" ]; then
  echo "compare_torch: $folder has no lib/libheddle.so; bench/figures.sh builds it" >&2
  exit 2
fi
if ! "$environment/bin/python" -c 'import torch' 2>/dev/null; then
  if [ $install = no ]; then
    echo "PyTorch is not installed in $environment; bench/compare_torch.sh installs it" >&2
    exit 3
  fi
  python3 -m venv "$environment"
  if ! "$environment/bin/python" -m pip install --quiet torch numpy; then
    echo "compare_torch: PyTorch cannot be had from PyPI here; the comparison needs it in $environment" >&2
    exit 3
  fi
fi
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
exec "$environment/bin/python" bench/compare_torch.py "${options[@]}" "$folder/lib/libheddle.so"
