#!/usr/bin/env python3
"""The page of the ONNX v1.12 suite: every case, its verdict and the reason.

usage: conformance.py SLUICE PAGE [--suite FOLDER] [--share K/N] [--write]

Without --write the page is compared with what the compiler says; with --share only of every
N-th case, from the K-th on. FOLDER has the cases that the onnx package does not make; without
it they are left out of the comparison.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TARGET, LARGER = "c2b8", "c6b32"  # the second for what is too large for the first
FLAG = "--allow-dynamic-weights"
ON_LARGER = f"--target {LARGER}"
LIMIT, SLOW = 60, "slow"  # seconds for one compilation
BEYOND, DATA = 3.3895e38, "data"  # the largest bf16 number
RANDOM = "random"  # what the notes of a model with random numbers have

Verdict = collections.namedtuple("Verdict", "group name operators runs flags reason")

HEAD = """# The ONNX v1.12 suite, case by case

Written by `tests/conformance/conformance.py`; do not edit. A case runs if it compiles for `c2b8`, or
for `c6b32` where it is too large for that, and then the tests compute it on both engines: equal
bits, equal cycles, values within the bound of `tests/ops/ops_test.cpp` against ONNX's own. Operands
of integers and bool, and those that an operator wants to know at import or that it is computed
from, are given when compiling; everything else is an input. A sequence is passed and taken as the
tensors in it.

"""


def check(sluice, path, flags, target):
    """None if the model compiles to what the case expects, else its first problem."""
    try:
        run = subprocess.run([sluice, "check", str(path), "--target", target, "--effort", "fast",
                              "--format", "json", *flags], capture_output=True, text=True,
                             timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"code": SLOW, "message": f"compiling takes longer than {LIMIT} s"}
    found = json.loads(run.stdout)
    if run.returncode != 0:
        return found["errors"][0]
    if any(RANDOM in note for note in found["notes"]):
        return {"code": DATA, "message": "its random numbers are those of NumPy's generator, ONNX fixes only their "
                "distribution"}
    return None


def verdict(sluice, group, name, operators, path, largest):
    flags = []
    if largest > BEYOND:
        return Verdict(group, name, operators, False, flags,
                       f"{DATA}: its numbers reach {largest:.1e}, bf16 ends at 3.4e+38")
    problem = check(sluice, path, flags, TARGET)
    if problem and problem["code"] == "E0306":
        flags = [FLAG]
        problem = check(sluice, path, flags, TARGET)
    if problem and (problem["code"].startswith("E040") or problem["code"] == SLOW):
        larger = check(sluice, path, flags, LARGER)
        if larger is None:
            return Verdict(group, name, operators, True, [*flags, ON_LARGER], "")
        problem = larger if larger["code"] != SLOW else problem
    reason = "" if problem is None else f"{problem['code']}: {problem['message']}"
    return Verdict(group, name, operators, problem is None, flags, reason)


def row(one):
    text = "runs" + (f" on `{LARGER}`" if ON_LARGER in one.flags else "")
    text += f" with `{FLAG}`" if FLAG in one.flags else ""
    if not one.runs:
        text = one.reason.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
    return f"| {one.name} | {one.operators} | {text} |"


def parse(group, line):
    name, operators, text = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:4])
    runs = text == "runs" or text.startswith(("runs with ", "runs on "))
    flags = [flag for flag, word in ((FLAG, FLAG), (ON_LARGER, f"on `{LARGER}`")) if runs and word in text]
    return Verdict(group, name, operators, runs, flags, "" if runs else text)


def read(page):
    """The verdicts of the page by the case's name."""
    verdicts, group = {}, ""
    for line in page.read_text().splitlines():
        if line.startswith("## "):
            group = line[3:]
        elif line.startswith("| test_"):
            one = parse(group, line)
            verdicts[one.name] = one
    return verdicts


def text(verdicts):
    out = HEAD
    groups = list(dict.fromkeys(one.group for one in verdicts))
    out += "| group | cases | run | refused |\n|---|---|---|---|\n"
    for group in [*groups, None]:
        part = [one for one in verdicts if group in (None, one.group)]
        runs = sum(one.runs for one in part)
        out += f"| {group or 'all'} | {len(part)} | {runs} | {len(part) - runs} |\n"
    codes = collections.Counter(one.reason.split(":")[0] for one in verdicts if not one.runs)
    out += "\n| refused with | cases |\n|---|---|\n"
    for code, count in sorted(codes.items()):
        out += f"| {f'[{code}](errors/{code}.md)' if code[0] == 'E' else code} | {count} |\n"
    for group in groups:
        out += f"\n## {group}\n\n| case | operators | verdict |\n|---|---|---|\n"
        out += "".join(row(one) + "\n" for one in verdicts if one.group == group)
    return out


def main():
    import onnx

    import suite

    parser = argparse.ArgumentParser()
    parser.add_argument("sluice")
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--suite", type=pathlib.Path)
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    first, step = (int(word) for word in options.share.split("/"))
    known = suite.Known(options.sluice)
    with tempfile.TemporaryDirectory() as scratch:
        jobs = []
        for group, name, case in list(suite.cases(options.suite))[first::step]:
            path = pathlib.Path(scratch) / f"{name}.onnx"
            onnx.save(suite.bind(case, known)[0], str(path))
            operators = ", ".join(sorted({node.op_type for node in case.model.graph.node}))
            jobs.append((options.sluice, group, name, operators, path, suite.largest(case)))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            verdicts = list(pool.map(lambda job: verdict(*job), jobs))
    if options.write:
        options.page.write_text(text(verdicts))
        print(f"{len(verdicts)} cases, {sum(one.runs for one in verdicts)} run")
        return 0
    listed = options.page.read_text().splitlines()
    stale = [row(one) for one in verdicts if row(one) not in listed]
    for line in stale:
        print("not in the page:", line)
    print(f"{len(verdicts)} cases compared, {len(stale)} differ")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
