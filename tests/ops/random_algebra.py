#!/usr/bin/env python3
"""Many random graphs of selections, and as many random trees of merges: through the reference evaluator against numpy,
and the first of them on both engines. Prints how many there were; ends with 1 if one is wrong.

usage: random_algebra.py OPS_TEST EVALUATED RUN

EVALUATED and RUN are numbers of each kind, such as 20000 and 1000. ctest takes a share of them.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CHUNK = 4000  # cases in a folder at a time
MAKE = pathlib.Path(__file__).resolve().parent / "make_random_algebra_cases.py"


def run(program, name, variable, folder, pattern):
    done = subprocess.run([program, f"--gtest_filter={name}"], env={**os.environ, variable: folder}, capture_output=True,
                          text=True, check=False)
    found = re.search(pattern, done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(done.stdout[-4000:] + done.stderr)
    return [float(part) for part in found.groups()]


def main():
    program, evaluated, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) * 2, int(sys.argv[3]) * 2
    cases, both, loops, worst = 0, 0, 0, 0.0
    for kind, total in (("evaluated", evaluated), ("run", runs)):
        for first in range(0, total, CHUNK):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, "-B", MAKE, folder, str(first), str(min(CHUNK, total - first))], check=True,
                               stdout=subprocess.DEVNULL)
                if kind == "evaluated":
                    cases += int(run(program, "Operators.CasesOfAGivenFolderAreEvaluated", "SLUICE_EVALUATED_CASES", folder,
                                     r"(\d+) cases evaluated")[0])
                else:
                    found = run(program, "Operators.CasesOfAGivenFolder", "SLUICE_OPS_CASES", folder,
                                r"(\d+) cases on both engines \(\d+ with a flag, (\d+) in loops too\).*worst error ([\d.]+) of")
                    both, loops, worst = both + int(found[0]), loops + int(found[1]), max(worst, found[2])
    print(f"{cases} graphs and trees evaluated as numpy does")
    print(f"{both} on both engines, {loops} in loops too, worst error {worst} of what is allowed")


if __name__ == "__main__":
    main()
