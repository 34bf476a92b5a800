#!/usr/bin/env bash
# From a bare Debian 12 to an answer out of the Verilated accelerator: installs,
# builds, compiles the digits model and classifies images it was not trained on.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install.sh
cmake --preset release >/dev/null
cmake --build --preset release --target sluice digits-classify

bin=build/release/bin
out=build/release/digits
mkdir -p "$out"
"$bin/sluice" compile tools/digits/digits.onnx --target c6b32 -o "$out/digits.sluice"
"$bin/digits-classify" "$out/digits.sluice" tools/digits/heldout.csv
if ! [[ $(command -v sluice) -ef $bin/sluice ]]; then
  printf '\nto have the command sluice in this shell, and from ~/.profile in later ones:\n  export PATH="%s:$PATH"\n' "$PWD/$bin"
fi
