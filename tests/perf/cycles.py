#!/usr/bin/env python3
"""Compares the cycle counts of the benchmark models with the stored ones.

usage: cycles.py SLUICE [--update | --table | --check-docs]

Cycles are exact and the same on every computer. The comparison fails if a count rises.
It also fails if one falls, until --update stores it. --update only lowers counts or adds
new ones. --table prints the stored and the published counts as Markdown. --check-docs
checks that docs/performance.md shows these tables.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx

import make_models

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
SHARED = pathlib.Path(os.environ.get("SLUICE_SHARED", SOURCE.parent / "shared"))
STORED = HERE / "cycles.json"
PAGE = SOURCE / "docs/performance.md"
PUBLISHED = SHARED / "reference/published_cycles.csv"
MEASURES = ("spaced", "contiguous", "period")
GEOMETRY = {"c2b8": (2, 8), "c6b32": (6, 32), "c3b64": (3, 64)}  # cores, lanes
BENCHMARKS = list(make_models.ROWS)
DENSE = [name for name in BENCHMARKS if name.startswith("slp-") or name[4].isdigit()]
WINDOWS, LINES = list(make_models.WINDOWS), list(make_models.LINES)
STREAMS = list(make_models.STREAMS)
SEQUENCES = [name for name in make_models.SEQUENCES if name != make_models.LARGEST]
DEEP = ["lstm-3x768", "gru-3x512", "ssm-768-1536", "cnn-4x256-k32", "tcn-3x512"]  # more weights than c6b32 has
# Those that fit c3b64, on whose lanes two heads of 32 would share a row.
WIDE = [name for name in STREAMS if name not in ("lstm-3x768", "cnn-4x256-k32", "swa-192")]
FOUND = {"cntk_mnist": SHARED / "models/cntk_mnist/model.onnx", "micro_kws": SHARED / "models/micro_kws/model.onnx",
         "acasxu": SHARED / "models/acasxu/model.onnx", "go1_policy": SHARED / "models/go1_policy/model.onnx",
         "digits": SOURCE / "tools/digits/digits.onnx", "sdp": SHARED / "models/sdp/model.onnx"}
FLAGS = {"sdp": ["--allow-dynamic-weights"]}
SMALL = ["acasxu", "go1_policy", "digits"]
ONE_CORE = ["acasxu", "cntk_mnist", "digits"]  # of four lanes
ROWS = {"c6b32": [*BENCHMARKS, *WINDOWS, *LINES, *SEQUENCES, *make_models.WHOLE, *FOUND, *(name for name in STREAMS if name not in DEEP)],
        "c6b32-deep": DEEP, "c3b64": [*BENCHMARKS, *WIDE], "c2b8": SMALL,
        "ecp5-85f": ONE_CORE}
SKIPPED = 77


def compare(stored, measured):
    """Returns the risen, the fallen and the new counts as lists of messages."""
    risen, fallen, new = [], [], []
    for target, models in measured.items():
        for model, counts in models.items():
            old = stored.get(target, {}).get(model, {})
            for measure in MEASURES:
                now, before = counts[measure], old.get(measure)
                where = f"{model} on {target}: {measure}"
                if before is None:
                    new.append(f"{where} {now} is not stored")
                elif now > before:
                    risen.append(f"{where} rose from {before} to {now} cycles")
                elif now < before:
                    fallen.append(f"{where} fell from {before} to {now} cycles")
    return risen, fallen, new


def lowered(stored, measured):
    """The stored counts with the measured ones where those are lower or new."""
    result = {target: dict(models) for target, models in stored.items()}
    for target, models in measured.items():
        for model, counts in models.items():
            old = result.setdefault(target, {}).get(model, counts)
            result[target][model] = {m: min(counts[m], old.get(m, counts[m])) for m in MEASURES}
    return result


def models(folder, rows):
    """The models of rows of (target, name), by name: (path, flags of compile). Those that are not here are left out."""
    found = {}
    for name in {name for _, name in rows}:
        if name not in FOUND:
            model = make_models.MODELS[name](name)
            onnx.save(model, folder / f"{name}.onnx")
            found[name] = (folder / f"{name}.onnx", make_models.flags_of(model))
        elif FOUND[name].exists():
            found[name] = (FOUND[name], FLAGS.get(name, []))
    return found


def measure(sluice):
    """Compiles every row there is a model for; the compiler's own counts."""
    rows = [(target, name) for target, names in ROWS.items() for name in names]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        known = models(folder, rows)
        for name in FOUND.keys() - known:
            print(f"not measured, its model is not here: {name} ({FOUND[name]})")

        def one(row):
            target, name = row
            path, flags = known[name]
            done = subprocess.run([sluice, "compile", str(path), "--target", target, "--json", *flags, "-o",
                                   str(folder / f"{name}-{target}.sluice")], capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"{name} on {target} does not compile: {done.stderr}")
            return target, name, json.loads(done.stdout)["latency"]

        measured = {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for target, name, latency in pool.map(one, [row for row in rows if row[1] in known]):
                measured.setdefault(target, {})[name] = latency
        return measured


def published_counts():
    """The published rows, by name; none where they are not here."""
    if not PUBLISHED.exists():
        return {}
    with open(PUBLISHED, newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def layers_of(name):
    """Returns the (inputs, outputs) of each fully connected layer of a benchmark model."""
    shapes = [i.dims for i in make_models.ROWS[name](name).graph.initializer]
    return [(shape[1], shape[0]) for shape in shapes if len(shape) == 2]


def table(stored):
    """Returns the Markdown table of dense networks: floor, measured and published cycles."""
    published, lines = published_counts(), []
    for target in ("c6b32", "c3b64"):
        cores, lanes = GEOMETRY[target]
        lines += [f"`{target}`, {cores * lanes * lanes} MAC per cycle:", "",
                  "| model | floor | spaced | contiguous | period | utilisation | published | ratio |",
                  "|---|---:|---:|---:|---:|---:|---:|---:|"]
        ratios = {}
        for name in BENCHMARKS:
            ours, layers = stored[target][name], layers_of(name)
            floor = math.ceil(sum(math.ceil(i / lanes) * math.ceil(o / lanes) for i, o in layers) / cores)
            used = sum(i * o for i, o in layers) / (cores * lanes * lanes * ours["period"])
            theirs, ratio = published.get(name, {}).get(f"{target}_spaced"), ""
            if theirs:
                ratios[name] = ours["spaced"] / int(theirs)
                ratio = f"{ratios[name]:.2f}"
            lines.append(f"| {name} | {floor} | {ours['spaced']} | {ours['contiguous']} | {ours['period']} | "
                         f"{100 * used:.0f} % | {theirs or ''} | {ratio} |")
        for what, names in (("slp and mlp rows", DENSE), ("all rows", BENCHMARKS)):
            of = [ratios[name] for name in names if name in ratios]
            if of:
                lines.append(f"| geometric mean, {what} | | | | | | | {geometric_mean(of):.2f} |")
        lines.append("")
    return "\n".join(lines)


def stream_table(stored):
    """Returns the Markdown table of networks with a memory: measured and published cycles per step."""
    published, lines = published_counts(), []
    for targets in (("c6b32", "c6b32-deep"), ("c3b64",)):
        lines += [f"{' and '.join(f'`{target}`' for target in targets)}:", "",
                  "| model | spaced | published | ratio | contiguous | published | ratio |",
                  "|---|---:|---:|---:|---:|---:|---:|"]
        ratios = {"spaced": [], "contiguous": []}
        for name in STREAMS:
            target = next((target for target in targets if name in stored[target]), None)
            if not target:
                continue
            cells = []
            for measure, of in ratios.items():
                ours, theirs = stored[target][name][measure], published.get(name, {}).get(f"{targets[0]}_{measure}")
                if theirs:
                    of.append(ours / int(theirs))
                cells += [ours, theirs or "", f"{of[-1]:.2f}" if theirs else ""]
            lines.append(f"| {name}{' (deep)' if target.endswith('deep') else ''} | {' | '.join(map(str, cells))} |")
        means = [f"{geometric_mean(of):.2f}" if of else "" for of in ratios.values()]
        lines += [f"| geometric mean | | | {means[0]} | | | {means[1]} |", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("sluice")
    action = parser.add_mutually_exclusive_group()
    for option in ("--update", "--table", "--check-docs"):
        action.add_argument(option, action="store_true")
    options = parser.parse_args()
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    if options.table:
        print(table(stored))
        print(stream_table(stored))
        return 0
    if options.check_docs:
        if not PUBLISHED.exists():
            print(f"skipped: the published counts are not here ({PUBLISHED})")
            return SKIPPED
        missing = [text for text in (table(stored), stream_table(stored)) if text not in PAGE.read_text()]
        for text in missing:
            print(f"{PAGE.name} does not show the stored counts; its tables should read:\n\n{text}")
        return len(missing)
    measured = measure(options.sluice)
    risen, fallen, new = compare(stored, measured)
    for line in [*risen, *fallen, *new]:
        print(line)
    if options.update:
        STORED.write_text(json.dumps(lowered(stored, measured), indent=1) + "\n")
    elif fallen or new:
        print(f"store the lower and new counts: {pathlib.Path(__file__).name} SLUICE --update")
    checked = sum(len(models) for models in measured.values())
    print(f"{checked} programs measured, {len(risen)} counts rose, {len(fallen)} fell")
    return 1 if risen or (new and not options.update) else 0


if __name__ == "__main__":
    sys.exit(main())
