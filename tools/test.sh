#!/usr/bin/env bash
# Installs packages, builds everything and runs the tests. Ends with ctest's summary.
# Tests that need the folder ../shared, or onnxruntime from PyPI, skip where it is absent. Developers' checks
# (sanitizers, clang-tidy, proofs of the RTL, long runs) are tools/check.sh.
#
# usage: tools/test.sh [ctest arguments...]
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/phase.sh

phase "install packages"
tools/install.sh test
# Without PyPI, the random graphs have nothing to be compared with and skip.
tools/test_environment.sh >/dev/null || true
phase "build"
cmake --preset release -DSLUICE_RTL_TARGETS="c1b4;c2b8;c6b32" -DSLUICE_RTL_WAVES=c2b8 \
  -DSLUICE_SHARED="${SLUICE_SHARED:-$PWD/../shared}" >/dev/null
cmake --build --preset release
phase "test"
status=0
ctest --test-dir build/release --output-on-failure --no-tests=error --timeout 3600 -j "$(nproc)" -LE check "$@" | tee build/release/test.log ||
  status=$?
tools/skipped.py build/release
phases_done
# The summary once more, as the last line.
grep -E "tests passed|tests failed" build/release/test.log
exit $status
