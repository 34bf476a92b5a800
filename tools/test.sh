#!/usr/bin/env bash
# Installs, builds and runs every test: the sanitizer builds, then the release
# build with clang-tidy. Ends with ctest's summary.
#
# usage: tools/test.sh [ctest arguments...]
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install.sh
jobs=$(nproc)
tools/check_format.sh
cmake --preset asan >/dev/null
cmake --build --preset asan --target sanitize_tests
ctest --test-dir build/asan --output-on-failure --no-tests=error -j "$jobs" -L sanitize "$@"
# The C API and the vm alone: what several threads may use.
cmake --preset tsan >/dev/null
cmake --build --preset tsan --target thread_tests
ctest --test-dir build/tsan --output-on-failure --no-tests=error -j "$jobs" -L threads "$@"
cmake --preset release >/dev/null
cmake --build --preset release
# In what the builds have left of 22 minutes, or one; the rest is for the next run.
left=$((22 * 60 - SECONDS))
tools/tidy.py --budget "${SLUICE_TIDY_SECONDS:-$((left > 60 ? left : 60))}"
ctest --test-dir build/release --output-on-failure --no-tests=error -j "$jobs" "$@"
