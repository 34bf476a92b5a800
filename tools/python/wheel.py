#!/usr/bin/env python3
"""Packs the Python package of a build with the command and the runtime as a wheel for every interpreter. Needs only
python3-wheel.

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
Requires-Python: >=3.9
Requires-Dist: numpy>=1.24
Provides-Extra: sweep
Requires-Dist: PyYAML; extra == "sweep"
Provides-Extra: dask
Requires-Dist: PyYAML; extra == "dask"
Requires-Dist: distributed; extra == "dask"
"""

WHEEL = """Wheel-Version: 1.0
Generator: sluice
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""


def main():
    cmake, build, version, output = sys.argv[1:]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    with tempfile.TemporaryDirectory() as folder:
        stage, packed = Path(folder) / "stage", Path(folder) / "packed"
        for component in ("tools", "runtime", "python"):
            subprocess.run([cmake, "--install", build, "--prefix", str(stage), "--component", component, "--strip"],
                           check=True, stdout=subprocess.DEVNULL)
        shutil.move(stage / "lib/python3/dist-packages", packed)
        library, = stage.glob("lib*/libsluice_rt.so.?") # a link to the file
        shutil.copy(library, packed / "sluice" / library.name)
        scripts = packed / f"sluice-{version}.data/scripts" # pip installs it beside its python
        scripts.mkdir(parents=True)
        shutil.move(stage / "bin/sluice", scripts / "sluice")
        info = packed / f"sluice-{version}.dist-info"
        info.mkdir()
        shutil.copy(stage / "share/doc/sluice/copyright", info / "LICENSE")
        (info / "METADATA").write_text(METADATA.format(version=version))
        (info / "WHEEL").write_text(WHEEL.format(platform=platform))
        Path(output).mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "wheel", "pack", str(packed), "--dest-dir", output], check=True)


if __name__ == "__main__":
    main()
