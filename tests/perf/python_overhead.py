#!/usr/bin/env python3
"""What a run from Python costs beyond the same run from C: the digits network on vm, one inference after
the other. By hand, on a quiet machine; docs/python.md says what it printed.

usage: python_overhead.py PREFIX_OR_BUILD_FOLDER DIGITS_CLASSIFY SOURCE_FOLDER
"""
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, f"{sys.argv[1]}/lib/python3/dist-packages")

import numpy as np
import sluice

ROUNDS = 9


def least(body):
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        body()
        times.append(time.perf_counter() - begin)
    return min(times)


def main():
    classify, source = sys.argv[2], Path(sys.argv[3])
    table = source / "tools/digits/heldout.csv"
    images = np.loadtxt(table, delimiter=",").astype(np.float32)[:, None, 1:]
    program = sluice.compile(source / "tools/digits/digits.onnx", target="c6b32")
    with tempfile.TemporaryDirectory() as folder:
        program.save(f"{folder}/digits.sluice")
        c = [least(lambda n=n: subprocess.run([classify, f"{folder}/digits.sluice", table, "vm", str(n)], check=True,
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)) for n in (1, len(images))]
    with program.open("vm", pacing="spaced") as engine:
        python = least(lambda: [engine.run(pixels=image) for image in images])
    per_image = [1e6 * (c[1] - c[0]) / (len(images) - 1), 1e6 * python / len(images)]
    print(f"C {per_image[0]:.1f} us, Python {per_image[1]:.1f} us, so {per_image[1] - per_image[0]:.1f} us more an inference")


if __name__ == "__main__":
    main()
