"""Writes the cases of the ONNX v1.12 suite that run, as docs/onnx-conformance.md lists them.

usage: make_onnx_cases.py SLUICE PAGE FOLDER [SUITE [K/N]]

A case is a folder with its model, whose operands are bound as suite.py says, the values of the
other inputs, those of the outputs, and flags.txt where it needs one. SUITE has the cases that
the onnx package does not make. K/N: every N-th case that runs, from the K-th on.
"""
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import numpy_helper

import conformance
import suite


def write(folder, model, kept, outputs, flags):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, str(folder / "model.onnx"))
    for i, (_, x) in enumerate(kept):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(x)).SerializeToString())
    for i, x in enumerate(outputs):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(x)).SerializeToString())
    if flags:
        (folder / "flags.txt").write_text("".join(flag + "\n" for flag in flags))


def main():
    sluice, page, target = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    first, step = (int(word) for word in (sys.argv[5] if len(sys.argv) > 5 else "0/1").split("/"))
    shutil.rmtree(target, ignore_errors=True)
    verdicts = conformance.read(page)
    known = suite.Known(sluice)
    cases = [(name, case) for _, name, case in suite.cases(folder)
             if name in verdicts and verdicts[name].runs][first::step]
    for name, case in cases:
        model, kept, outputs = suite.bind(case, known)
        write(target / name, model, kept, outputs, verdicts[name].flags)
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
