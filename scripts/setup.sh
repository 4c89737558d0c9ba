#!/usr/bin/env bash
# Installs from Debian's packages what building Heddle needs and this machine lacks. Does nothing when all of it is there.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config python3
  llvm-19-dev libzstd-dev zlib1g-dev      # the code generator; LLVM's CMake files look for zstd and zlib
  libisl-dev                              # exact facts of masks
  libopenblas-dev                         # plain dense matrix products, and the dense baseline
  libedit-dev                             # line editing of the REPL
  libpng-dev                              # pictures of masks
  libfmt-dev nlohmann-json3-dev libcli11-dev libxxhash-dev
  libdlpack-dev                           # tensors of the C border
  dpkg-dev file                           # makes and reads the .deb
  libgtest-dev libbenchmark-dev           # tests and benchmarks
  clang-19 libclang-rt-19-dev             # fuzzers of the test run
  libclang-19-dev libclang-cpp19-dev liblld-19-dev  # clang and lld as libraries: AMD GPUs that hipRTC does not know
  libamdhip64-dev libhiprtc-builtins5 hipcc         # hipRTC; NVRTC is no package of Debian, it comes with the CUDA toolkit
)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: this is no Debian; install what corresponds to these packages: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: not root and no sudo; as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
