#!/usr/bin/env python3
"""The wheel: packed offline, installed by pip in a folder, and used from there.

usage: wheel_test.py WHEEL_PY CMAKE BUILD_FOLDER VERSION SLUICE_TEST_PY
"""
import subprocess
import sys
import tempfile
from pathlib import Path

wheel_py, cmake, build, version, test = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, "-B", wheel_py, cmake, build, version, folder], check=True)
    wheel, = Path(folder).glob(f"sluice-{version}-cp3*.whl")
    place = Path(folder) / "place"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(place), str(wheel)],
                   check=True)
    said = subprocess.run([sys.executable, "-B", "-c", "import sluice.tool; print(sluice.tool.executable())"], check=True,
                          cwd=folder, env={"PYTHONPATH": str(place), "PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE, text=True)
    assert said.stdout == f"{place.resolve()}/sluice/bin/sluice\n", said.stdout
    subprocess.run([sys.executable, "-B", test, str(place), "Look"], check=True)
