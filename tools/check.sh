#!/usr/bin/env bash
# What developers check before they land: format, sanitizer builds, threads, clang-tidy, proofs,
# depth and clocks of the RTL, and the tests that need ../shared. Run tools/test.sh first: it builds
# what this checks. Ends with ctest's summary.
#
# usage: tools/check.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/phase.sh
jobs=$(nproc)
run_tests() { ctest --output-on-failure --no-tests=error --timeout 3600 -j "$jobs" "$@"; }

phase "install packages"
tools/install.sh check
phase "format"
tools/check_format.sh
phase "address and undefined behaviour sanitizers"
cmake --preset asan >/dev/null
cmake --build --preset asan --target sanitize_tests
run_tests --test-dir build/asan -L sanitize -LE full # tools/whole.sh runs all
phase "thread sanitizer"
# The C API and the vm alone: what several threads may use.
cmake --preset tsan >/dev/null
cmake --build --preset tsan --target thread_tests
run_tests --test-dir build/tsan -L threads
phase "clang-tidy"
tools/tidy.py --budget "${SLUICE_TIDY_SECONDS:-150}"
phase "proofs, depth, clocks and the tests that need ../shared"
cmake --preset release -DSLUICE_SHARED="${SLUICE_SHARED:-$PWD/../shared}" >/dev/null
cmake --build --preset release
status=0
# Another share of the operators' cases than tools/test.sh takes; tools/whole.sh runs all.
export SLUICE_OPS_SHARE=1/3
run_tests --test-dir build/release -L 'check|shared' | tee build/release/check.log || status=$?
tools/skipped.py build/release
phases_done
grep -E "tests passed|tests failed" build/release/check.log
exit $status
