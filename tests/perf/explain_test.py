#!/usr/bin/env python3
"""`sluice explain --plan` accounts for every cycle of the benchmark rows.

usage: explain_test.py SLUICE

Every row on c6b32, and every third on the other targets; SLUICE_EXPLAIN=all takes all.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import cycles
import make_models


def problems(plan, spaced):
    """What of an explanation does not add up to the spaced latency."""
    wrong = []

    def equal(what, found, wanted):
        if found != wanted:
            wrong.append(f"{what} is {found}, not {wanted}")

    total = plan["cores"] * spaced
    equal("the latency", plan["spaced"], spaced)
    equal("the sum over the matrix units", plan["floor"]["products"] + plan["ahead"] + sum(plan["idle"].values()), total)
    for cause, count in plan["idle"].items():
        parts = sum(stage["idle"][cause] for stage in plan["stages"]) + plan["drain"][cause]
        equal(f"the sum of {cause} over the stages", parts, count)
    equal("the stages' products", sum(sum(stage["products_by_core"]) for stage in plan["stages"] if not stage["ahead"]),
          plan["floor"]["products"])
    for number, stage in enumerate(plan["stages"]):
        if stage["start"] is None:
            if stage["end"] is not None or not stage["ahead"]:
                wrong.append(f"stage {number} does not begin")
        elif not stage["start"] < stage["end"] <= spaced:
            wrong.append(f"stage {number} lasts from {stage['start']} to {stage['end']}")
    at = 0
    for step in plan["critical_path"]:
        equal("the path's next step", step["from"], at)
        at += step["cycles"]
    equal("the critical path", at, spaced)
    if plan["floor"]["cycles"] > spaced:
        wrong.append(f"the floor, {plan['floor']['cycles']}, is above the latency")
    return wrong


def main():
    sluice, stored = sys.argv[1], json.loads(cycles.STORED.read_text())
    # The deep rows are like the others, and take longest to plan; of a whole window a trip is explained.
    every = 1 if os.environ.get("SLUICE_EXPLAIN") == "all" else 3
    rows = [(target, name) for target, names in cycles.ROWS.items() if target != "c6b32-deep"
            for name in names[::1 if target == "c6b32" else every] if name not in make_models.WHOLE]
    with tempfile.TemporaryDirectory() as folder:
        known = cycles.models(pathlib.Path(folder), rows)
        rows = [row for row in rows if row[1] in known]

        def one(row):
            target, name = row
            path, flags = known[name]
            done = subprocess.run([sluice, "explain", "--plan", str(path), "--target", target, "--json", *flags],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                return [done.stderr]
            return problems(json.loads(done.stdout), stored[target][name]["spaced"])

        failed = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (target, name), wrong in zip(rows, pool.map(one, rows)):
                for line in wrong:
                    print(f"{name} on {target}: {line}")
                failed += bool(wrong)
        print(f"{len(rows)} plans explained, {failed} do not add up")
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
