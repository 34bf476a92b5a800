#!/usr/bin/env bash
# Runs a script of this folder where onnxruntime is: search.py, or another that SCRIPT names.
#
# usage: [GRAPHS_SCRIPT=spellings.py] tests/graphs/random_graphs.sh DRIVER [arguments...]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
driver=$(realpath "$1")
shift
cd "$root"
exec tests/support/with_onnxruntime.sh "tests/graphs/${GRAPHS_SCRIPT:-search.py}" --driver "$driver" "$@"
