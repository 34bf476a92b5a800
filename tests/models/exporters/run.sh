#!/usr/bin/env bash
# Exports networks with today's exporters, runs them on both engines and writes docs/exporters.md.
#
# usage: tests/models/exporters/run.sh [FOLDER]
#
# The exporters come from PyPI into FOLDER, build/exporters by default, and take 6 GB there: PyPI has no build of PyTorch
# without CUDA. Takes half an hour.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=${1:-build/exporters}
packages=(torch==2.15.0 onnxscript==0.7.2 onnx==1.23.2 keras==3.15.1 jax==0.10.2 jax2onnx==0.17.1 flax==0.12.8
  scikit-learn==1.9.1 skl2onnx==1.20.0 numpy==2.4.6)

if [[ "$(cat "$folder/packages" 2>/dev/null)" != "${packages[*]}" ]]; then
  mkdir -p "$(dirname "$folder")"
  /usr/bin/python3 -m venv --clear "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "${packages[@]}"
  echo "${packages[*]}" >"$folder/packages"
fi
for exporter in torch keras jax sklearn; do
  rm -rf "$folder/cases/$exporter"
  mkdir -p "$folder/cases/$exporter"
  echo "exporting with $exporter"
  "$folder/bin/python" -B "tests/models/exporters/${exporter}_networks.py" "$folder/cases/$exporter" 2>"$folder/cases/$exporter/log.txt" |
    grep -v '^\[' >"$folder/cases/$exporter/exporter.txt"
done
exec /usr/bin/python3 -B tests/models/exporters/write_page.py build/release/bin/sluice "$folder/cases" docs/exporters.md
