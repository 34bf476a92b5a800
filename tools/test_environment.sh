#!/usr/bin/env bash
# Makes build/venv, a virtual environment with what the tests of random graphs compare with:
# onnxruntime, and a newer ONNX package than Debian's. Prints its python.
#
# usage: tools/test_environment.sh [FOLDER]
#
# Ends with 1 and the reason where the packages cannot be had; the tests are then skipped.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=${1:-build/venv}
packages=(onnxruntime==1.23.2 onnx==1.19.1 numpy==2.4.6)

if ! reason=$(tools/venv.sh "$folder" "${packages[@]}" 2>&1); then
  echo "no onnxruntime: $reason" >&2
  exit 1
fi
echo "$folder/bin/python"
