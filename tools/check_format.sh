#!/usr/bin/env bash
# Checks that all C and C++ sources are formatted by clang-format 19; prints what differs.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z -- '*.cpp' '*.h' '*.c' | xargs -0 clang-format-19 --dry-run --Werror
