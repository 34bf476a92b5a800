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
    wheel, = Path(folder).glob(f"sluice-{version}-py3-none-*.whl") # no ABI of an interpreter
    place = Path(folder) / "place"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(place), str(wheel)],
                   check=True)
    paths = {"PYTHONPATH": str(place), "PATH": "/usr/bin:/bin"}
    said = subprocess.run([sys.executable, "-B", "-c", "import sluice.tool; print(sluice.tool.executable())"], check=True,
                          cwd=folder, env=paths, stdout=subprocess.PIPE, text=True)
    assert said.stdout == f"{place.resolve()}/bin/sluice\n", said.stdout
    said = subprocess.run([place / "bin/sluice", "version"], check=True, stdout=subprocess.PIPE, text=True)
    assert f"sluice {version}" in said.stdout, said.stdout
    (Path(folder) / "s.yaml").write_text("models: no.onnx\ntargets: c2b8")
    said = subprocess.run([place / "bin/sluice", "sweep", "s.yaml", "-o", "out"], cwd=folder, stderr=subprocess.PIPE, text=True, check=False)
    assert said.stderr.startswith(f"error[E0501]: cannot read '{folder}/no.onnx'"), said.stderr
    assert (place / "sluice/sweep/d3.min.js").stat().st_size > 100_000
    # An older C++ library in the process, such as conda's, must be enough.
    needed = subprocess.run(["readelf", "--dynamic", *place.glob("sluice/libsluice_rt.so.*")], check=True,
                            stdout=subprocess.PIPE, text=True)
    assert "[libstdc++" not in needed.stdout, needed.stdout
    subprocess.run([sys.executable, "-B", test, str(place), "Look"], check=True)
