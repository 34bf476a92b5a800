#!/usr/bin/env python3
"""Proves that what yosys synthesises of small modules does what their source says.

usage: synthesis.py --isa-package isa_pkg.sv [--break]

The netlist of LUTs and flip-flops (synth -lut 6) is
compared with the module as read: equal outputs and next states for all inputs and
states. --break makes every LUT constant and expects that no module is equal.
"""
import pathlib
import subprocess
import sys
import tempfile

from prove import check_all, rtl_modules, texts, written

MODULES = {
    "arbiter": {"Requesters": 7},
    "credit_counter": {"Depth": 16},
    "fifo_pointers": {"Depth": 16},
    "fifo": {"Width": 8, "Depth": 4},
    "fifo_ahead": {"Width": 8, "Ahead": 2, "Depth": 4},
    "result_fifo": {"Width": 8, "Depth": 4},
    "loop_nest": {},
    "loop_address": {"Width": 18, "Rings": 1},
    "unit_counters": {"Width": 12},
    "anchor_add": {},
    "fdot_quad": {},
    "vec_max": {},
    "vec_out": {"Lanes": 1},
    "normalise": {"Lanes": 1},
}


def equal(module, parameters, args):
    with tempfile.TemporaryDirectory() as folder:
        netlist = pathlib.Path(folder) / "netlist.ys"
        netlist.write_text("synth -flatten -lut 6\n" + ("setparam -set LUT 0 t:$lut\n" if args.break_ else ""), encoding="utf-8")
        chparam = "".join(f" -set {key} {value}" for key, value in parameters.items())
        script = (f"read_verilog -sv -I{rtl_modules.RTL} {args.isa_package} {written(texts(module), folder)}; "
                  f"{'chparam' + chparam + ' ' + module + '; ' if chparam else ''}"
                  f"hierarchy -check -top {module}; proc; flatten; memory_map; opt_clean; "
                  f"equiv_opt -assert script {netlist}")
        run = subprocess.run(["yosys", "-q", "-p", script], capture_output=True, text=True, check=False)
    return run.returncode == 0, run.stdout + run.stderr


def main():
    return check_all(__doc__, [(module, (module, parameters)) for module, parameters in MODULES.items()],
                     lambda item, args: equal(*item, args), "equal")


if __name__ == "__main__":
    sys.exit(main())
