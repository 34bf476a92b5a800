#!/usr/bin/env bash
# From a bare Debian 12 to an answer of the Verilated accelerator: installs packages, builds the
# compiler and one accelerator, compiles a network and classifies digits it was not trained on.
#
# usage: tools/quickstart.sh [--install PREFIX]   also installs tools, libraries and Python package
set -euo pipefail
prefix=""
if (($# == 2)) && [[ $1 == --install ]]; then
  prefix=$(realpath -m "$2")
elif (($# != 0)); then
  echo "usage: tools/quickstart.sh [--install PREFIX]" >&2
  exit 2
fi
cd "$(dirname "$0")/.."
source tools/phase.sh

phase "install packages"
tools/install.sh build

phase "build the compiler and the accelerator"
# One accelerator of the four that the tests use, and all four to install; a tree that has more
# keeps them.
if [[ -n $prefix ]]; then
  cmake --preset release -DSLUICE_RTL_TARGETS="c1b4;c2b8;c6b32" -DSLUICE_RTL_WAVES=c2b8 >/dev/null
elif ! [[ -f build/release/CMakeCache.txt ]]; then
  cmake --preset release -DSLUICE_RTL_TARGETS=c6b32 -DSLUICE_RTL_WAVES= >/dev/null
fi
cmake --build --preset release --target sluice digits-classify

bin=build/release/bin
out=build/release/digits
mkdir -p "$out"
phase "compile a network for handwritten digits"
"$bin/sluice" compile tools/digits/digits.onnx --target c6b32 -o "$out/digits.sluice"
phase "run it on the simulated accelerator"
"$bin/digits-classify" "$out/digits.sluice" tools/digits/heldout.csv
if [[ -n $prefix ]]; then
  phase "install to $prefix"
  cmake --build --preset release --target installed
  cmake --install build/release --prefix "$prefix" >/dev/null
fi
phases_done

sluice=$bin/sluice
if [[ -n $prefix ]]; then
  sluice=sluice
  printf '\nto use it in this shell, and from ~/.profile in later ones:\n'
  printf '  export PATH="%s/bin:$PATH" PYTHONPATH="%s/lib/python3/dist-packages"\n' "$prefix" "$prefix"
fi
cat <<END

try next:
  $sluice explain --plan tools/digits/digits.onnx --target c6b32    where the cycles go
  $sluice run $out/digits.sluice --engine both --input pixels=random:1    one inference on both engines
  $sluice check YOUR.onnx --target c6b32    whether your network compiles
END
