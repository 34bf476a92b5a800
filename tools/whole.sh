#!/usr/bin/env bash
# Runs in full what tools/test.sh and tools/check.sh run as a share, and prints the figures of each
# part. Needs the build of tools/test.sh.
#
# usage: tools/whole.sh [PART...]   all parts but exporters, fuzz and coverage, or those named:
#   operators    every case of our own on both engines
#   suite        every case of the ONNX suite on both engines, with errors and bounds
#   conformance  docs/onnx-conformance.md against the compiler, every case
#   variants     every change of every operator's attributes and types
#   quantised    200 random quantised networks, in every integer
#   layers       docs/torch-layers.md, every layer
#   gallery      docs/gallery.md, every network
#   views        20,000 random graphs of selections, 200,000 of merged axes
#   lockstep     100,000 random instructions on one core of four lanes, on both engines
#   sizes        the size of every hardware unit, and of a machine for an LFE5U-85F
#   sanitize     every test that runs with sanitizers
#   tidy         clang-tidy over every source
#   exporters    writes docs/exporters.md, with exporters from PyPI (6 GB)
#   fuzz         an hour for each fuzzer, with sanitizers
#   coverage     15 minutes of random graphs: the share of the compiler's lines that they run
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/phase.sh
tests=$PWD/build/release/tests
sluice=$PWD/build/release/bin/sluice
shared=${SLUICE_SHARED:-$PWD/../shared}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

operators() {
  /usr/bin/python3 -B tests/ops/make_cases.py "$work/own"
  SLUICE_OPS_CASES=$work/own "$tests/ops_test" --gtest_filter='*CasesOfAGivenFolder'
}
suite() {
  /usr/bin/python3 -B tests/conformance/make_onnx_cases.py "$sluice" docs/onnx-conformance.md "$work/suite" "$shared/onnx-suite"
  SLUICE_OPS_CASES=$work/suite SLUICE_OPS_FIGURES=$work/figures "$tests/ops_test" --gtest_filter='*CasesOfAGivenFolder'
  /usr/bin/python3 -B tests/conformance/conformance.py "$sluice" docs/onnx-conformance.md --share 0/0 --figures "$work/figures"
}
conformance() {
  /usr/bin/python3 -B tests/conformance/conformance.py "$sluice" docs/onnx-conformance.md --suite "$shared/onnx-suite"
}
variants() { SLUICE_VARIANTS=1 ctest --test-dir build/release --output-on-failure -R '^operator_variants_test$'; }
quantised() { /usr/bin/python3 -B tests/models/quantised_networks.py "$sluice" --all; }
layers() { /usr/bin/python3 -B tests/models/torch_layers_test.py "$sluice" docs/torch-layers.md "$work/layers"; }
gallery() { tests/support/with_onnxruntime.sh tools/gallery.py "$sluice"; }
views() {
  SLUICE_SELECTION_GRAPHS=20000 SLUICE_MERGED_GRAPHS=200000 "$tests/sluice_transforms_test" --gtest_brief=1
}
lockstep() {
  SLUICE_LOCKSTEP_SMALLEST=100000 "$tests/lockstep_test" --gtest_filter='*OnTheSmallestMachine'
}
sizes() {
  tools/unit_sizes.py --isa-pkg build/release/hw/isa/isa_pkg.sv --jobs "$(nproc)" --page docs/hardware.md
  tools/unit_sizes.py --isa-pkg build/release/hw/isa/isa_pkg.sv --machines
  tools/fpga.sh ecp5-85f --sizes --check
}
sanitize() {
  cmake --preset asan >/dev/null
  cmake --build --preset asan --target sanitize_tests
  ctest --test-dir build/asan --output-on-failure --no-tests=error -j "$(nproc)" -L sanitize
}
tidy() { tools/tidy.py; }
exporters() { tests/models/exporters/run.sh; }
fuzz() { tools/fuzz.sh 60; }
coverage() { tools/coverage.py --fresh; }

parts=(operators suite conformance variants quantised layers gallery views lockstep sizes sanitize tidy)
(($# == 0)) || parts=("$@")
for part in "${parts[@]}"; do
  case $part in
    operators | suite | conformance | variants | quantised | layers | gallery | views | lockstep | sizes | sanitize | tidy | exporters | fuzz | coverage) ;;
    *) echo "unknown part '$part'; see the head of $0" >&2; exit 2 ;;
  esac
done
for part in "${parts[@]}"; do
  phase "$part"
  "$part"
done
phases_done
