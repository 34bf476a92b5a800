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
python=$folder/bin/python

# Another python3 may stand first on PATH: the environment belongs to the system's, as CMake's tests do.
interpreter=/usr/bin/python3
[[ -x $interpreter ]] || interpreter=python3
if [[ "$(cat "$folder/packages" 2>/dev/null)" != "${packages[*]}" ]]; then
  mkdir -p "$(dirname "$folder")"
  if ! "$interpreter" -m venv --clear "$folder" >"$folder.log" 2>&1 ||
    ! "$python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >>"$folder.log" 2>&1; then
    echo "no onnxruntime: $(tail -n 1 "$folder.log")" >&2
    rm -rf "$folder"
    exit 1
  fi
  echo "${packages[*]}" >"$folder/packages"
fi
echo "$python"
