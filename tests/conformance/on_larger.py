#!/usr/bin/env python3
"""Runs the cases of the ONNX suite that are too large for c2b8 on both engines of c6b32.

usage: on_larger.py SLUICE PAGE SUITE [NAME...]

SLUICE has the RTL of c6b32. For every case the engines give equal bits in equal cycles, and values
within two hundredths of the largest one of what ONNX gives. NAME: only these cases.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import conformance
import suite
from make_onnx_cases import write

SHARE = 0.02


def largest(arrays):
    return max((float(np.abs(np.asarray(x, np.float64)).max(initial=0)) for x in arrays), default=0)


def main():
    sluice, page, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    verdicts = conformance.read(page)
    known = suite.Known(sluice)
    wrong = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        for _, name, case in suite.cases(folder):
            one = verdicts.get(name)
            if one is None or conformance.ON_LARGER not in one.flags or (sys.argv[4:] and name not in sys.argv[4:]):
                continue
            count += 1
            place, began = pathlib.Path(scratch) / name, time.monotonic()
            model, kept, outputs = suite.bind(case, known)
            write(place, model, kept, outputs, [])
            flags = [word for flag in one.flags for word in flag.split()]
            subprocess.run([sluice, "compile", str(place / "model.onnx"), "-o", str(place / "p"), "--effort", "fast",
                            *flags], check=True, capture_output=True)
            compiled = time.monotonic()
            run = subprocess.run([sluice, "run", str(place / "p"), "--engine", "both", "--data-set",
                                  str(place / "test_data_set_0"), "--rtol", "0", "--atol",
                                  str(SHARE * largest(outputs))], capture_output=True, text=True)
            wrong += run.returncode != 0
            print(f"{name}: {'right' if run.returncode == 0 else 'WRONG'}, compiled in {compiled - began:.0f} s, run in "
                  f"{time.monotonic() - compiled:.0f} s\n  {(run.stdout + run.stderr).strip()}".replace("\n", "\n  "), flush=True)
    print(f"{count} cases on both engines of {conformance.LARGER}, {wrong} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
