#!/usr/bin/env python3
"""Fails if no test provokes a condition of the support table.

usage: conditions.py SLUICE EXCEPTIONS RECORD...

The records are what the tests of the importer write to $SLUICE_CONDITIONS: the operators and
conditions of the problems that they provoked. The conditions are those that `sluice ops` lists.
EXCEPTIONS lists those without a test, as OPERATOR: CONDITION: none may be missing from it, and
none be in it that is provoked or no longer there.
"""
import json
import subprocess
import sys


def main():
    sluice, exceptions, records = sys.argv[1], sys.argv[2], sys.argv[3:]
    provoked = set()
    for record in records:
        with open(record) as file:
            provoked |= {": ".join(line.rstrip("\n").split("\t")) for line in file}
    with open(exceptions) as file:
        excepted = {line.rstrip("\n") for line in file if not line.startswith("#")}
    out = subprocess.run([sluice, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    conditions = {f"{row['op']}: {condition}" for row in json.loads(out)["operators"]
                  for condition in row["requirements"]
                  if not condition.startswith(("inputs: ", "outputs: ", "no inputs", "no outputs"))}
    missing = conditions - provoked
    for condition in sorted(missing - excepted):
        print(f"no test provokes: {condition}")
    for condition in sorted(excepted - missing):
        print(f"is provoked or none of the table, and listed without a test: {condition}")
    print(f"{len(conditions - missing)} of {len(conditions)} conditions of the support table are provoked")
    sys.exit(0 if missing == excepted else 1)


if __name__ == "__main__":
    main()
