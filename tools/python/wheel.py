#!/usr/bin/env python3
"""Packs the Python package of a build, with the command inside, as a wheel. Needs only python3-wheel.

usage: wheel.py CMAKE BUILD_FOLDER VERSION OUTPUT_FOLDER
"""
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

METADATA = """Metadata-Version: 2.1
Name: sluice
Version: {version}
Summary: Compiles ONNX models for the Sluice accelerator and runs them on its engines
License: Apache-2.0
Requires-Python: =={python}.*
Requires-Dist: numpy
"""

WHEEL = """Wheel-Version: 1.0
Generator: sluice
Root-Is-Purelib: false
Tag: {tag}
"""


def main():
    cmake, build, version, output = sys.argv[1:]
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    abi = f"cp{python.replace('.', '')}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    with tempfile.TemporaryDirectory() as folder:
        stage, packed = Path(folder) / "stage", Path(folder) / "packed"
        for component in ("tools", "python"):
            subprocess.run([cmake, "--install", build, "--prefix", str(stage), "--component", component, "--strip"],
                           check=True, stdout=subprocess.DEVNULL)
        shutil.move(stage / "lib/python3/dist-packages", packed)
        (packed / "sluice/bin").mkdir()
        shutil.move(stage / "bin/sluice", packed / "sluice/bin/sluice")
        info = packed / f"sluice-{version}.dist-info"
        info.mkdir()
        shutil.copy(stage / "share/doc/sluice/copyright", info / "LICENSE")
        (info / "METADATA").write_text(METADATA.format(version=version, python=python))
        (info / "WHEEL").write_text(WHEEL.format(tag=f"{abi}-{abi}-{platform}"))
        Path(output).mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "wheel", "pack", str(packed), "--dest-dir", output], check=True)


if __name__ == "__main__":
    main()
