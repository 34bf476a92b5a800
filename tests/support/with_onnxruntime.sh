#!/usr/bin/env bash
# Runs a Python script in the virtual environment of tools/test_environment.sh, which it makes.
# Ends with 77 and the reason where onnxruntime cannot be had: ctest counts that as skipped.
#
# usage: tests/support/with_onnxruntime.sh SCRIPT [arguments...]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
python=$("$root/tools/test_environment.sh" "$root/build/venv") || {
  echo "skipped: onnxruntime is not there and cannot be installed"
  exit 77
}
exec env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$python" -B "$@"
