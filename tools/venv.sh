#!/usr/bin/env bash
# Makes a virtual environment with packages from PyPI, unless it is there with these packages.
#
# usage: tools/venv.sh FOLDER PACKAGE==VERSION...
#
# Ends with 1 and the reason where the packages cannot be had.
set -uo pipefail
folder=$1
shift

# Another python3 may stand first on PATH: the environment belongs to the system's, as CMake's tests do.
interpreter=/usr/bin/python3
[[ -x $interpreter ]] || interpreter=python3
if [[ "$(cat "$folder/packages" 2>/dev/null)" == "$*" ]]; then
  exit 0
fi
mkdir -p "$(dirname "$folder")"
if ! "$interpreter" -m venv --clear "$folder" >"$folder.log" 2>&1 ||
  ! "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >>"$folder.log" 2>&1; then
  tail -n 1 "$folder.log" >&2
  rm -rf "$folder"
  exit 1
fi
echo "$*" >"$folder/packages"
