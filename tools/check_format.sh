#!/usr/bin/env bash
# Fails if a C++ source is not as clang-format 19 writes it.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z -- '*.cpp' '*.h' '*.c' | xargs -0 clang-format-19 --dry-run --Werror
