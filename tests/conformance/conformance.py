#!/usr/bin/env python3
"""Writes or checks the page of the ONNX v1.12 suite: every case, its verdict and the reason.

usage: conformance.py SLUICE PAGE [--suite FOLDER] [--share K/N] [--figures FILE]... [--write]

Without --write the script compares the page with the verdicts of the compiler. --share compares only every N-th
case, from the K-th on, and no case if N is 0. FOLDER contains the cases that the onnx package does not make;
without it the comparison leaves them out. FILE contains the errors and bounds that ops_test measured
(SLUICE_OPS_FIGURES); --write keeps the figures of all other cases.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

TARGET, LARGER = "c2b8", "c6b32"  # the second for what is too large for the first
FLAG = "--allow-dynamic-weights"
ON_LARGER = f"--target {LARGER}"
LIMIT, SLOW = 60, "slow"  # seconds of processor time for one compilation
BEYOND, DATA = 3.3895e38, "data"  # the largest bf16 number
DIGIT = 0.1  # as far as a number of two digits may be off if its last digit is
RANDOM = "random"  # what the notes of a model with random numbers have
EMPTY, CONSTANT = "no elements; it is left out", "it depends on no input"  # and of one without an input at run time

Verdict = collections.namedtuple("Verdict", "group name operators runs flags reason figures", defaults=((),))
Figures = collections.namedtuple("Figures", "largest error bound")  # of one output of a case

HEAD = """# The ONNX v1.12 suite, case by case

This page lists every case of the ONNX v1.12 test suite, and whether Sluice runs it. To list the supported operators
and their conditions, type `sluice ops`. `tests/conformance/conformance.py` writes this page; do not edit it.

A case *runs* if it compiles for `c2b8`, or for `c6b32` if it is too large for `c2b8`. The tests then run it on both
engines. They check that bits and cycles are equal, and that every element of the outputs is within a bound of ONNX's
own value.

| column | meaning |
|---|---|
| `verdict` | `runs`, or the error of the compiler. `data` means that the expected values of the case cannot be compared |
| `largest` | the largest magnitude in the output |
| `error` | the distance of an element from ONNX's value |
| `bound` | the allowed distance of that element |

The figures are those of the element, and the output, nearest to its bound.

Some operands are given when compiling: integers and bools, values that an operator needs at compile time, and values from
which the model computes them. All others are inputs. A sequence is passed as its tensors.

**The bound** of an element follows from the formats:

1. The reference evaluator computes the model in double, with its inputs rounded to bf16.
2. It does so three times more, and rounds every value to bf16: to nearest, upwards, and downwards.
3. The largest change of an element is the cost of one rounding of each value, and so is the root mean square of the
   changes of elements of about its size. The bound is five times the larger of the two, because one operation of the
   model is several on the machine. It is at least 2^-7 of the element, which is two roundings, and 2^-20 of the largest.

If no rounding changes anything, the bound is 0 and the result is exact. 8-bit integers that are quantised along an axis
from numbers may also be off by one.

The errors are reproducible: the engines give the same bits on every computer, and the inputs are fixed. They belong to
the programs that the compiler produced when this page was written. The last digit of a bound may depend on the
mathematical library. The tests check every case against its bound, and each bound on this page against the computed one.

The suite itself allows an error of 0.001 of each number, which suits f32 arithmetic. A bf16 number has 8 significant
bits, so rounding the inputs alone changes a value by up to 0.002.

"""


def check(sluice, path, flags, target):
    """None if the model compiles to what the case expects, else its first problem."""
    run = subprocess.run(["prlimit", f"--cpu={LIMIT}", sluice, "check", str(path), "--target", target, "--effort",
                          "fast", "--format", "json", *flags], capture_output=True, text=True)
    if run.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"code": SLOW, "message": f"the compilation takes longer than {LIMIT} s"}
    found = json.loads(run.stdout)
    if run.returncode != 0:
        return found["errors"][0]
    if any(EMPTY in note for note in found["notes"]) and any(CONSTANT in note for note in found["notes"]):
        return {"code": "E0118", "message": "nothing to compile: the model is valid, but it has no input at run time"}
    if any(RANDOM in note for note in found["notes"]):
        return {"code": DATA, "message": "the expected numbers come from NumPy's generator; ONNX fixes only their "
                "distribution"}
    return None


def verdict(sluice, group, name, operators, path, largest):
    flags = []
    if largest > BEYOND:
        return Verdict(group, name, operators, False, flags,
                       f"{DATA}: the numbers reach {largest:.1e}, beyond the 3.4e+38 of bf16")
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
    cells = [one.name, one.operators, text, *(one.figures or Figures("", "", ""))]
    return "| " + " | ".join(cells) + " |"


def parse(group, line):
    name, operators, text, *figures = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
    runs = text == "runs" or text.startswith(("runs with ", "runs on "))
    flags = [flag for flag, word in ((FLAG, FLAG), (ON_LARGER, f"on `{LARGER}`")) if runs and word in text]
    return Verdict(group, name, operators, runs, flags, "" if runs else text,
                   Figures(*figures) if any(figures) else ())


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
    out += "| group | cases | run | rejected |\n|---|---|---|---|\n"
    for group in [*groups, None]:
        part = [one for one in verdicts if group in (None, one.group)]
        runs = sum(one.runs for one in part)
        out += f"| {group or 'all'} | {len(part)} | {runs} | {len(part) - runs} |\n"
    codes = collections.Counter(one.reason.split(":")[0] for one in verdicts if not one.runs)
    out += "\n| rejected with | cases |\n|---|---|\n"
    for code, count in sorted(codes.items()):
        out += f"| {f'[{code}](errors/{code}.md)' if code[0] == 'E' else code} | {count} |\n"
    for group in groups:
        out += f"\n## {group}\n\n| case | operators | verdict | largest | error | bound |\n|---|---|---|---|---|---|\n"
        out += "".join(row(one) + "\n" for one in verdicts if one.group == group)
    return out


def measured(path):
    """The figures by case of a file of ops_test; errors and bounds with two digits."""
    def digits(number, count):
        return f"{float(f'{float(number):.{count}g}'):g}"

    lines = (line.split() for line in path.read_text().splitlines())
    return {name: Figures(digits(largest, 3), digits(error, 2), digits(bound, 2))
            for name, largest, error, bound in lines}


def wrong_figures(one, found):
    """What is wrong with the figures of a case in the page, beside those that are measured now."""
    if not one.runs:
        return "has figures, but does not run" if one.figures else None
    if not one.figures:
        return "has no error and bound"
    error, bound = float(one.figures.error), float(one.figures.bound)
    if not 0 <= error <= bound < float("inf"):
        return f"the error {error} is not within the bound {bound}"
    if found and abs(float(found.bound) - bound) > DIGIT * bound:
        return f"the bound is now {found.bound}, but the page has {bound}"
    return None


def main():
    import onnx

    import suite

    parser = argparse.ArgumentParser()
    parser.add_argument("sluice")
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--suite", type=pathlib.Path)
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--figures", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    first, step = (int(word) for word in options.share.split("/"))
    known = suite.Known(options.sluice)
    with tempfile.TemporaryDirectory() as scratch:
        jobs = []
        for group, name, case in list(suite.cases(options.suite))[first::step] if step else []:
            path = pathlib.Path(scratch) / f"{name}.onnx"
            onnx.save(suite.bind(case, known)[0], str(path))
            operators = ", ".join(sorted({node.op_type for node in case.model.graph.node}))
            jobs.append((options.sluice, group, name, operators, path, suite.largest(case)))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            verdicts = list(pool.map(lambda job: verdict(*job), jobs))
    page = read(options.page)
    found = {name: figures for path in options.figures for name, figures in measured(path).items()}
    of_page = {name: one.figures for name, one in page.items()}
    figures = {**of_page, **found} if options.write else of_page
    verdicts = [one._replace(figures=figures.get(one.name, ()) if one.runs else ()) for one in verdicts]
    wrong = [f"{one.name}: {why}" for one in (verdicts if options.write else page.values())
             if (why := wrong_figures(one, found.get(one.name)))]
    if options.write:
        options.page.write_text(text(verdicts))
        print(f"{len(verdicts)} cases, {sum(one.runs for one in verdicts)} run")
    else:
        listed = options.page.read_text().splitlines()
        stale = [row(one) for one in verdicts if row(one) not in listed]
        wrong += [f"not in the page: {line}" for line in stale]
        print(f"{len(verdicts)} cases compared, {len(stale)} differ; figures of {len(page)} cases, "
              f"{len(found)} of them measured again")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
