#!/usr/bin/env python3
"""Prints which share of the compiler's lines random graphs run, and the largest functions that none enters.

usage: coverage.py [--seconds N] [--first SEED] [--jobs N] [--functions N] [--fresh]

Builds the preset `coverage`, in which compiler/conversion, compiler/transforms and compiler/layout count how often their
code runs, and compiles graphs of tests/graphs for so many seconds. A further run continues with the next seed and adds to
the counts; --fresh begins anew.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/coverage"
FOLDERS = ("compiler/conversion", "compiler/transforms", "compiler/layout")
LLVM = "/usr/lib/llvm-19/bin"


def run(*command, check=True, **how):
    return subprocess.run([str(word) for word in command], check=check, cwd=ROOT, **how)


def build():
    run("cmake", "--preset", "coverage", stdout=subprocess.DEVNULL)
    run("cmake", "--build", "--preset", "coverage", "--target", "graph_driver")
    return BUILD / "tests/graph_driver"


def seeds_done(corpus):
    file = corpus / "results.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def compile_graphs(driver, corpus, options):
    """Returns how many graphs the counts are of."""
    if options.fresh:
        for folder in (corpus, BUILD / "profiles"):
            shutil.rmtree(folder, ignore_errors=True)
    if options.seconds > 0:
        done = [result["seed"] for result in seeds_done(corpus)]
        first = max([options.first, *(seed + 1 for seed in done)])
        run("tests/graphs/random_graphs.sh", driver, "--corpus", corpus, "--no-shrink", "--seeds", f"{first}:{first + 1_000_000}",
            "--seconds", options.seconds, "--jobs", options.jobs, check=False,  # a fault of a graph says its line
            env={**os.environ, "LLVM_PROFILE_FILE": str(BUILD / "profiles/%4m.profraw")})
    return sum(result["kind"] != "none" for result in seeds_done(corpus))


def export(driver):
    """The counts, as llvm-cov writes them."""
    profiles, merged = sorted((BUILD / "profiles").glob("*.profraw")), BUILD / "graphs.profdata"
    if not profiles:
        raise SystemExit("no graph has been compiled; --seconds N compiles some")
    run(f"{LLVM}/llvm-profdata", "merge", "-o", merged, *profiles)
    text = run(f"{LLVM}/llvm-cov", "export", driver, "-instr-profile", merged, "--skip-expansions", *FOLDERS, stdout=subprocess.PIPE).stdout
    return json.loads(text)["data"][0]


def folder_of(file):
    path = pathlib.Path(file)
    name = str(path.relative_to(ROOT) if path.is_absolute() else path)
    return next((folder for folder in FOLDERS if name.startswith(folder + "/")), None)


def shares(data):
    """Lines that run and all lines, by folder."""
    found = {folder: [0, 0] for folder in FOLDERS}
    for file in data["files"]:
        if (folder := folder_of(file["filename"])) is not None:
            lines = file["summary"]["lines"]
            found[folder][0] += lines["covered"]
            found[folder][1] += lines["count"]
    return found


def unentered(data):
    """(lines, file, first line, name) of the functions that no graph enters, without the lambdas in them; the largest first."""
    entered, places = set(), {}
    for function in data["functions"]:
        begin, _, end, *_ = function["regions"][0]
        place = (function["filenames"][0], begin, end)
        if folder_of(place[0]) is None:
            continue
        places[place] = function["name"]
        if function["count"]:
            entered.add(place)
    missed = [place for place in places if place not in entered]
    outer = [(file, begin, end) for file, begin, end in missed
             if not any(f == file and b <= begin and end <= e and (b, e) != (begin, end) for f, b, e in missed)]
    return sorted(((end - begin + 1, file, begin, places[file, begin, end]) for file, begin, end in outer), reverse=True)


def readable(names):
    """The names as in the source, without their parameters."""
    plain = [name.rsplit(";", 1)[-1].rsplit(":", 1)[-1] if ":_Z" in name or ";" in name else name for name in names]
    names = run(f"{LLVM}/llvm-cxxfilt", stdout=subprocess.PIPE, input="\n".join(plain), text=True).stdout.splitlines()
    return [name.replace("(anonymous namespace)::", "").split("(")[0] for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=900, help="of compiling graphs; 0: print the counts again (900)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (all processors)")
    parser.add_argument("--functions", type=int, default=10, help="how many functions to name (10)")
    parser.add_argument("--fresh", action="store_true", help="forget the counts of earlier runs")
    options = parser.parse_args()
    driver = build()
    graphs = compile_graphs(driver, BUILD / "corpus", options)
    data = export(driver)
    print(f"lines that {graphs:,} random graphs run:")
    for folder, (covered, count) in shares(data).items():
        print(f"  {folder:22} {100 * covered / count:5.1f} % of {count:,}")
    missed = unentered(data)
    print(f"functions that none of them enters: {len(missed)}, {sum(lines for lines, *_ in missed):,} lines; the largest:")
    largest = missed[:options.functions]
    for (lines, file, begin, _), name in zip(largest, readable([name for *_, name in largest])):
        path = pathlib.Path(file)
        print(f"  {lines:4} lines  {path.relative_to(ROOT) if path.is_absolute() else path}:{begin}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
