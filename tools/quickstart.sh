#!/usr/bin/env bash
# From a bare Debian 12 to an answer out of the Verilated accelerator: installs,
# builds, compiles the digits model and classifies images it was not trained on.
#
# usage: tools/quickstart.sh [--install PREFIX]   installs too: tools, libraries, Python package
set -euo pipefail
prefix=""
if (($# == 2)) && [[ $1 == --install ]]; then
  prefix=$(realpath -m "$2")
elif (($# != 0)); then
  echo "usage: tools/quickstart.sh [--install PREFIX]" >&2
  exit 2
fi
cd "$(dirname "$0")/.."

tools/install.sh
cmake --preset release >/dev/null
cmake --build --preset release --target sluice digits-classify

bin=build/release/bin
out=build/release/digits
mkdir -p "$out"
"$bin/sluice" compile tools/digits/digits.onnx --target c6b32 -o "$out/digits.sluice"
"$bin/digits-classify" "$out/digits.sluice" tools/digits/heldout.csv
if [[ -n $prefix ]]; then
  cmake --build --preset release --target installed
  cmake --install build/release --prefix "$prefix" >/dev/null
  printf '\ninstalled; to have it in this shell, and from ~/.profile in later ones:\n'
  printf '  export PATH="%s/bin:$PATH" PYTHONPATH="%s/lib/python3/dist-packages"\n' "$prefix" "$prefix"
  exit
fi
if ! [[ $(command -v sluice) -ef $bin/sluice ]]; then
  printf '\nto have the command sluice in this shell, and from ~/.profile in later ones:\n  export PATH="%s:$PATH"\n' "$PWD/$bin"
fi
