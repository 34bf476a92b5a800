#!/usr/bin/env python3
"""Runs a Python test under LeakSanitizer and fails if the project's own code leaked.

usage: leaks.py BUILD_DIR FOLDER_OF_THE_PACKAGE PYTHON_TEST...

The interpreter and other packages keep things to their end on purpose. A leak is the project's if
a library of the build has allocated it. That one would be found is seen first: an object of the
extension module is forgotten, and with it what the module keeps as long as it lives.
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
ctypes.pythonapi.Py_IncRef(ctypes.py_object(sluice.compile(models.dense()[0], target="c2b8").open("vm")))
"""
FRAME = re.compile(r"^ *#\d+ .*\((?P<module>[^()]+)\+0x[0-9a-f]+\)$")


def of_build(report, build):
    """The leaks of a report with a frame in a library of the build."""
    blocks = re.split(r"\n\s*\n", report)
    return [block for block in blocks if "leak of" in block.split("\n")[0] and
            any((match := FRAME.match(line)) and pathlib.Path(match["module"]).is_relative_to(build)
                for line in block.split("\n"))]


def leaks(report, build):
    """The same without what a module makes when it is loaded: that lives as long as the interpreter."""
    return [block for block in of_build(report, build) if "PyInit_" not in block]


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
    if code != 0 or not of_build(report, build):
        print(f"what a forgotten object keeps is not found, exit code {code}:\n{report}")
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
