#!/usr/bin/env python3
"""Installs a build, and moves what was installed: nothing in it may know where it is.

usage: install.py CMAKE BUILD_FOLDER PREFIX
"""
import shutil
import subprocess
import sys
from pathlib import Path

cmake, build, prefix = sys.argv[1], sys.argv[2], Path(sys.argv[3])
first = prefix.with_name(prefix.name + ".first")
for folder in (first, prefix):
    shutil.rmtree(folder, ignore_errors=True)
subprocess.run([cmake, "--install", build, "--prefix", str(first)], check=True, stdout=subprocess.DEVNULL)
first.rename(prefix)
