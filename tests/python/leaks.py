#!/usr/bin/env python3
"""Runs a Python test under LeakSanitizer and fails if the project's own code leaked.

usage: leaks.py BUILD_DIR FOLDER_OF_THE_PACKAGE PYTHON_TEST...

The interpreter and other packages keep things to their end on purpose. A leak is the project's if
a library of the build has allocated it. That one would be found is seen first: a loaded program is
forgotten.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FORGET = """
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import models
import sluice
from sluice import _runtime
data, handle = bytes(sluice.compile(models.dense()[0], target="c2b8")), ctypes.c_void_p()
assert _runtime._rt.sluice_rt_program_load_buffer(data, len(data), ctypes.byref(handle)) == 0
handle.value = None
"""
FRAME = re.compile(r"^ *#\d+ .*\((?P<module>[^()]+)\+0x[0-9a-f]+\)$")


def leaks(report, build):
    """The leaks of a report with a frame in a library of the build."""
    blocks = re.split(r"\n\s*\n", report)
    return [block for block in blocks if "leak of" in block.split("\n")[0] and
            any((match := FRAME.match(line)) and pathlib.Path(match["module"]).is_relative_to(build)
                for line in block.split("\n"))]


def run(command):
    """How the command ended, and what its leaks were; its children's are their own affair."""
    with tempfile.TemporaryDirectory() as folder:
        options = f"exitcode=0:log_path={folder}/leaks:stack_trace_format='    #%n %f %S (%m+%o)'"
        ended = subprocess.run(command, env=os.environ | {"LSAN_OPTIONS": options}, check=False)
        return ended.returncode, "\n\n".join(path.read_text() for path in pathlib.Path(folder).iterdir())


def main():
    build, package, *test = sys.argv[1:]
    build = pathlib.Path(build).resolve()
    here = pathlib.Path(__file__).resolve().parent
    code, report = run([sys.executable, "-B", "-c", f"import sys; sys.path.insert(0, {str(here)!r})\n{FORGET}", package])
    if code != 0 or not leaks(report, build):
        print(f"a forgotten program is not found, exit code {code}:\n{report}")
        return 1
    code, report = run([sys.executable, "-B", *test])
    found = leaks(report, build)
    if found:
        print("leaked:", *found, sep="\n\n")
    return code or len(found)


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    os._exit(min(ended, 1))  # what this interpreter keeps is nobody's affair
