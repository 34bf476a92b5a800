#!/usr/bin/env python3
"""Installs the wheel in fresh virtual environments of several interpreters with several versions of NumPy, runs the
Python example of docs/python.md without PyTorch in each, and prints a table. By hand: it needs PyPI.

usage: interpreters.py WHEEL ONNX_MODEL PYTHON... -- NUMPY_VERSION...
"""
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = """
import sys
import numpy as np
import sluice
program = sluice.compile(sys.argv[1], target="c6b32")
name, shape = program.inputs[0].name, program.inputs[0].shape
x = np.random.default_rng(1).random(shape, np.float32)
y = program.run({name: x})[program.outputs[0].name]
with program.open("rtl") as engine:
    assert np.array_equal(engine.run({name: x})[program.outputs[0].name], y)
assert program.profile().cycles == program.latency.spaced
print(np.__version__, *y.shape, program.latency.spaced)
"""


def tried(python, numpy, wheel, model, folder):
    """Returns what the example printed, or why it could not run."""
    venv = Path(folder) / "venv"
    subprocess.run([python, "-m", "venv", "--clear", venv], check=True)
    asked = f"numpy=={numpy}.*" if numpy[0].isdigit() else "numpy"
    got = subprocess.run([venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:", wheel,
                          asked], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if got.returncode:
        return "no such wheel" if "No matching distribution" in got.stdout else got.stdout.strip().splitlines()[-1]
    ran = subprocess.run([venv / "bin/python", "-B", "-c", EXAMPLE, model], cwd=folder, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    return ran.stdout.strip().splitlines()[-1] if ran.returncode else f"runs ({ran.stdout.split()[0]})"


def main():
    wheel, model, *words = sys.argv[1:]
    pythons, versions = words[:words.index("--")], words[words.index("--") + 1:]
    print("| Python |", " | ".join(f"NumPy {one}" for one in versions), "|\n|---|" + "---|" * len(versions))
    for python in pythons:
        number = subprocess.run([python, "-c", "import platform; print(platform.python_version())"], check=True,
                                stdout=subprocess.PIPE, text=True).stdout.strip()
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {number} |", " | ".join(tried(python, one, Path(wheel).resolve(), Path(model).resolve(), folder)
                                              for one in versions), "|", flush=True)


if __name__ == "__main__":
    main()
