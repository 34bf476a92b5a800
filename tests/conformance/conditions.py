#!/usr/bin/env python3
"""Fails if no test provokes a condition of the support table.

usage: conditions.py SLUICE RECORD...

The records are what the tests of the importer write to $SLUICE_CONDITIONS: the operators and
conditions of the problems that they provoked. The conditions are those that `sluice ops` lists.
"""
import json
import subprocess
import sys


def main():
    sluice, records = sys.argv[1], sys.argv[2:]
    provoked = set()
    for record in records:
        with open(record) as file:
            provoked |= {": ".join(line.rstrip("\n").split("\t")) for line in file}
    out = subprocess.run([sluice, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    conditions = {f"{row['op']}: {condition}" for row in json.loads(out)["operators"]
                  for condition in row["requirements"]
                  if not condition.startswith(("inputs: ", "outputs: ", "no inputs", "no outputs"))}
    missing = conditions - provoked
    for condition in sorted(missing):
        print(f"no test provokes: {condition}")
    print(f"{len(conditions - missing)} of {len(conditions)} conditions of the support table are provoked")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
