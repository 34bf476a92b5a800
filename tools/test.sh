#!/usr/bin/env bash
# Installs, builds and runs every test: the sanitizer build, then the release
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
cmake --preset release >/dev/null
cmake --build --preset release
# What does not fit into the time is left for the next run.
tools/tidy.py --budget "${SLUICE_TIDY_SECONDS:-420}"
ctest --test-dir build/release --output-on-failure --no-tests=error -j "$jobs" "$@"
