#!/usr/bin/env python3
"""Installs the wheel into fresh virtual environments of every interpreter of this machine with several versions of NumPy,
runs the Python example of README.md in each, and prints a table. Needs PyPI.

usage: interpreters.py WHEEL [--share]

WHEEL is the file, or a folder with one. The interpreters are python3.9 and later on PATH and of pyenv. --share takes the
oldest and the newest of them with the newest NumPy, and skips (77) where there is none but Debian's, or no PyPI.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
DIGITS = SOURCE / "tools/digits"
NUMPY = ("numpy==1.24.*", "numpy==1.26.*", "numpy")
OLDEST = (3, 9) # Requires-Python of tools/python/wheel.py
NO_WHEEL = "no such wheel"

# The example compiles "model.onnx"; the digits are a reference that shares no code with Sluice.
EXAMPLE = """
import sys
import numpy as np
import sluice
program = eval(sys.argv[1])
lines = np.loadtxt(sys.argv[2], delimiter=",", max_rows=20, dtype=np.float32)
answers = [program(pixels.reshape(1, 64))["scores"] for pixels in lines[:, 1:]]
assert sum(answer.argmax() == digit for answer, digit in zip(answers, lines[:, 0])) >= 19
with program.open("rtl") as engine:
    assert np.array_equal(engine.run(pixels=lines[0, 1:].reshape(1, 64))["scores"], answers[0])
assert program.profile().cycles == program.latency.spaced
try:
    sluice.compile("model.onnx", target="c6b33")
except sluice.Error as error:
    assert error.code == "E0515", error.code
print("runs", np.__version__)
"""


def interpreters():
    """Returns the path of each interpreter by its version, the oldest first."""
    folders = [*map(Path, os.get_exec_path()), *Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin")]
    found = {}
    for path in (path for folder in folders for path in folder.glob("python3.*")):
        if re.fullmatch(r"python3\.\d+", path.name) and os.access(path, os.X_OK):
            asked = subprocess.run([path, "-c", "import platform, venv, ensurepip; print(platform.python_version())"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            if re.fullmatch(r"[\d.]+\n", asked.stdout): # a release, and not a name that pyenv has for another version
                found.setdefault(tuple(map(int, asked.stdout.split("."))), path)
    return {version: found[version] for version in sorted(found) if version[:2] >= OLDEST}


def tried(python, numpy, wheel, folder):
    """Returns what became of the example: "runs" and the version of NumPy, NO_WHEEL, or the last line of an error."""
    venv = Path(folder) / "venv"
    subprocess.run([python, "-m", "venv", "--clear", venv], check=True)
    got = subprocess.run([venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--retries=2",
                          "--only-binary=:all:", wheel, numpy], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if got.returncode:
        other = re.search(r"\(from versions: (.*)\)", got.stdout)
        return NO_WHEEL if other and other[1] != "none" else got.stdout.strip().splitlines()[-1]
    shutil.copy(DIGITS / "digits.onnx", Path(folder) / "model.onnx")
    call = re.search(r'`(sluice\.compile\("model\.onnx", .*?\))`', (SOURCE / "README.md").read_text())[1]
    ran = subprocess.run([venv / "bin/python", "-B", "-c", EXAMPLE, call, DIGITS / "heldout.csv"], cwd=folder, text=True,
                         env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return ran.stdout.strip().splitlines()[-1] if ran.stdout.strip() else f"exit code {ran.returncode}"


def main():
    wheel, share = Path(sys.argv[1]).resolve(), sys.argv[2:] == ["--share"]
    if wheel.is_dir():
        wheel, = wheel.glob("*.whl")
    pythons, versions = interpreters(), NUMPY
    if share:
        others = [version for version, path in pythons.items() if path.parent.resolve() != Path("/usr/bin")]
        if not others:
            print("skipped: no interpreter but Debian's, which another test takes")
            return 77
        pythons, versions = {one: pythons[one] for one in sorted({others[0], others[-1]})}, NUMPY[-1:]
    heads = [re.sub(r"numpy==(.*)\.\*", r"NumPy \1", one) if "==" in one else "newest NumPy" for one in versions]
    print("| Python |", " | ".join(heads), "|\n|---|" + "---|" * len(versions))
    failed = False
    for version, python in pythons.items():
        with tempfile.TemporaryDirectory() as folder:
            row = [tried(python, one, wheel, folder) for one in versions]
        print(f"| {'.'.join(map(str, version))} |", " | ".join(re.sub(r"^runs (\S+)$", r"runs (\1)", one) for one in row), "|", flush=True)
        if share and any("No matching distribution" in one for one in row):
            print("skipped: NumPy cannot be had from PyPI")
            return 77
        failed |= any(not re.match("runs ", one) and one != NO_WHEEL for one in row)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
