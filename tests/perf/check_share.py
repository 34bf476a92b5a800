#!/usr/bin/env python3
"""Measures which share of the compile time the check of the program takes.

usage: check_share.py SLUICE [--repeats N] [--write] [MODEL...]

Compiles the benchmark models of cycles.py, or those named, with --check off and with the default,
one after the other, and takes the least processor time of each. --write puts the table into
docs/performance.md.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from cycles import PAGE, ROWS, models

TABLE = re.compile(r"(<!-- check share: tests/perf/check_share.py -->\n).*?(<!-- end of check share -->)", re.S)
MOST = 1.5  # times as long: rows beyond are named


def compiled(command):
    """Returns the processor time of a compilation in seconds, and its result."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)  # pylint: disable=consider-using-with
        said = process.stderr.read().decode()
        process.stderr.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)}: {said}")
        out.seek(0)
        return used.ru_utime + used.ru_stime, json.load(out)


def measured(sluice, repeats, names):
    """Yields the rows of the table: the target, the model, the seconds without and with the check, and its inputs."""
    rows = [(target, name) for target, known in ROWS.items() for name in known if not names or name in names]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        known = models(folder, rows)
        for target, name in rows:
            if name not in known:
                continue
            path, flags = known[name]
            command = [sluice, "compile", str(path), "--target", target, "--json", *flags, "-o", str(folder / "program.sluice")]
            without, whole, inputs = float("inf"), float("inf"), 0
            for _ in range(repeats):
                without = min(without, compiled([*command, "--check", "off"])[0])
                seconds, result = compiled(command)
                whole, inputs = min(whole, seconds), result["checked"]["inputs"]
            yield target, name, without, whole, inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("names", nargs="*", metavar="MODEL")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_intermixed_args()
    if options.repeats < 1:
        parser.error("--repeats must be positive")
    lines, totals, beyond = [], [0.0, 0.0], []
    for target, name, without, whole, inputs in measured(options.sluice, options.repeats, options.names):
        lines.append(f"| {name} | `{target}` | {without:.2f} | {whole:.2f} | {whole / without:.2f} | {inputs} |")
        print(lines[-1], flush=True)
        totals = [totals[0] + without, totals[1] + whole]
        if whole > MOST * without:
            beyond.append(f"{name} on {target}")
    lines.append(f"| all rows | | {totals[0]:.2f} | {totals[1]:.2f} | {totals[1] / totals[0]:.2f} | |")
    print(lines[-1])
    print(f"more than {MOST} times as long with the check: {', '.join(beyond) or 'none'}")
    if options.write:
        text = (f"Measured on {datetime.date.today()}, the least of {options.repeats} compilations each:\n\n"
                "| model | target | without, s | with, s | ratio | inputs |\n|---|---|---:|---:|---:|---:|\n" + "\n".join(lines) + "\n")
        page = PAGE.read_text()
        if not TABLE.search(page):
            raise SystemExit(f"{PAGE} has no mark for the table")
        PAGE.write_text(TABLE.sub(lambda match: match.group(1) + text + match.group(2), page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
