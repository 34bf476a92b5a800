#!/usr/bin/env bash
# Runs tests/graphs/search.py in the virtual environment of tools/test_environment.sh, which it makes.
# Ends with 77 and the reason where onnxruntime cannot be had: ctest counts that as skipped.
#
# usage: tests/graphs/random_graphs.sh DRIVER [search.py arguments...]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
driver=$(realpath "$1")
shift
python=$("$root/tools/test_environment.sh") || {
  echo "skipped: onnxruntime is not there and cannot be installed"
  exit 77
}
cd "$root"
exec env OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$python" -B "tests/graphs/${GRAPHS_SCRIPT:-search.py}" --driver "$driver" "$@"
