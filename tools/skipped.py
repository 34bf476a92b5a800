#!/usr/bin/python3
"""Lists the tests of the last ctest run that skipped, as a whole or in parts, and why.

usage: skipped.py BUILD_FOLDER
"""
import pathlib
import re
import sys

# What test programs print of a part that skips: GoogleTest, unittest -v, lit.
PARTS = (re.compile(r"^\S+:\d+: Skipped\n(?P<why>.*)\n+\[  SKIPPED \] (?P<name>\S+)", re.MULTILINE),
         re.compile(r"^(?P<name>\w+) .*\.\.\. skipped '(?P<why>.*)'$", re.MULTILINE),
         re.compile(r"^ *Unsupported *: (?P<name>\d+)(?P<why>)$", re.MULTILINE))


def skipped(log):
    """(test, part or "", reason) of each part that skipped."""
    for test in re.finditer(r"^\d+/\d+ Testing: (?P<name>\S+)\n(?P<text>.*?)^\"(?P=name)\" end time",
                            log, re.MULTILINE | re.DOTALL):
        name, text = test["name"], test["text"]
        output = text.split("----------------------------------------------------------\n", 1)[-1]
        if "\nTest Skipped." in text:
            yield name, "", " ".join(output.split("<end of output>")[0].split())
            continue
        for pattern in PARTS:
            for part in pattern.finditer(output):
                yield name, part["name"], part["why"] or "files that need what is not here"


def main():
    log = pathlib.Path(sys.argv[1], "Testing/Temporary/LastTest.log").read_text(errors="replace")
    rows = sorted(set(skipped(log)))
    print(f"\nskipped: {len(rows)}" + (", the rest ran" if rows else ""))
    for name, part, why in rows:
        print(f"  {name}{': ' + part if part else ''}: {why[:160]}")


if __name__ == "__main__":
    main()
