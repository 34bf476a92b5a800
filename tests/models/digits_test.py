#!/usr/bin/env python3
"""The digits example keeps its accuracy on the accelerator.

usage: digits_test.py SLUICE DIGITS_CLASSIFY DIGITS_DIR WORK_DIR TARGET

The oracle is numpy in fp32 on the weights of the ONNX file. The program may
lose no more than 1 % of the held-out images, on either engine, and both must
report the same. README.md shows the report of the RTL on c6b32.
"""
import pathlib
import re
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

ALLOWED_LOSS = 0.01
README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def fp32_right(folder):
    table = np.loadtxt(folder / "heldout.csv", delimiter=",").astype(np.float32)
    weights = {i.name: numpy_helper.to_array(i) for i in onnx.load(folder / "digits.onnx").graph.initializer}
    value = table[:, 1:] * weights["scale"]
    for layer in (1, 2, 3):
        value = value @ weights[f"fc{layer}.weight"] + weights[f"fc{layer}.bias"]
        value = np.maximum(value, 0) if layer < 3 else value
    return int((value.argmax(axis=1) == table[:, 0]).sum()), len(table)


def main():
    sluice, classify, folder, work, target = sys.argv[1:]
    folder, work = pathlib.Path(folder), pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    program = work / f"digits-{target}.sluice"
    subprocess.run([sluice, "compile", str(folder / "digits.onnx"), "--target", target, "-o", str(program)], check=True)
    reports = {}
    for engine in ("vm", "rtl"):
        reports[engine] = subprocess.run([classify, str(program), str(folder / "heldout.csv"), engine],
                                         check=True, stdout=subprocess.PIPE, text=True).stdout
        print(reports[engine])
    right, total = fp32_right(folder)
    ours = int(re.search(r"accuracy +(\d+) of", reports["rtl"]).group(1))
    print(f"fp32: {right} of {total} right; accelerator: {ours}")
    same = reports["vm"].replace("engine    vm", "engine    rtl") == reports["rtl"]
    if not same:
        print("the engines report different accuracy or cycles")
    summary = reports["rtl"][reports["rtl"].index("engine "):]
    shown = target != "c6b32" or summary in README.read_text(encoding="utf-8")
    if not shown:
        print(f"README.md does not show this report:\n{summary}")
    return not same or not shown or ours < right - ALLOWED_LOSS * total


if __name__ == "__main__":
    sys.exit(main())
