#!/usr/bin/env python3
"""Configures the project with another installation first on PATH, as an active conda environment is: the interpreter
and the libraries must stay Debian's.

usage: foreign_prefix_test.py CMAKE BUILD_FOLDER SOURCE_FOLDER
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

cmake, build, source = sys.argv[1], *(Path(folder).resolve() for folder in sys.argv[2:])
with tempfile.TemporaryDirectory() as folder:
    prefix, tree = Path(folder) / "conda", Path(folder) / "tree"
    for name in ("fmt", "onnx", "protobuf", "nlohmann_json"):
        config = prefix / f"lib/cmake/{name}/{name}-config.cmake"
        config.parent.mkdir(parents=True)
        config.write_text(f"message(FATAL_ERROR \"{name} of a foreign prefix\")\n")
    (prefix / "bin").mkdir()
    python = prefix / "bin/python3"
    python.write_text("#!/bin/sh\necho a foreign python3 >&2\nexit 1\n")
    python.chmod(0o755)
    foreign = os.environ | {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "CONDA_PREFIX": str(prefix),
                            "CMAKE_PREFIX_PATH": str(prefix)}
    done = subprocess.run([cmake, "--preset", "release", "-S", source, "-B", tree], cwd=source, env=foreign,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    cache = (tree / "CMakeCache.txt").read_text()
    found = re.findall(rf"^.*={re.escape(str(prefix))}.*$", cache, re.MULTILINE)
    assert not found, found
    assert re.search(r"^fmt_DIR:PATH=/usr/lib/", cache, re.MULTILINE), "fmt is not Debian's"
    # The test environment is that interpreter's, too.
    said = subprocess.run([source / "tools/test_environment.sh", build.parent / "venv"], env=foreign, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    assert said.returncode == 0 or said.stderr.startswith("no onnxruntime: "), said.stderr
    assert "foreign" not in said.stderr, said.stderr
