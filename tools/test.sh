#!/usr/bin/env bash
# Installs, builds and runs every test: the release build, then the sanitizer
# build. Ends with ctest's summary.
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
ctest --test-dir build/release --output-on-failure --no-tests=error -j "$jobs" "$@"
