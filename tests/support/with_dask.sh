#!/usr/bin/env bash
# Runs a Python script in build/venv-dask, a virtual environment with Dask, which it makes.
# Ends with 77 and the reason where Dask cannot be had: ctest counts that as skipped.
#
# usage: tests/support/with_dask.sh SCRIPT [arguments...]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$root/build/venv-dask
reason=$("$root/tools/venv.sh" "$folder" distributed==2026.8.0 dask==2026.8.0 numpy==2.4.6 onnx==1.19.1 PyYAML==6.0.4 2>&1) || {
  echo "skipped: Dask is not there and cannot be installed: $reason"
  exit 77
}
exec "$folder/bin/python" -B "$@"
