#!/usr/bin/env python3
"""Plants faults in the compiler's rewrites and counts how many of them `sluice compile --check auto` finds.

The script draws places in the source by a seed and writes all faults into it at once, each behind a switch. It builds the
target `sluice` as a server (fault_server.h) and leaves out the faults that do not compile. Each command selects one fault;
fault 0 is the unmutated compiler. It records the switches that a graph reaches: a fault runs only on graphs that reach it.
The source is restored after the build. The output folder keeps the models and all results; a further run resumes.

A fault counts where it changes an output of some graph by more than 5 % of the range. It is caught where one compilation ends
with E0498. A fault that crashes the compiler, or ends with another internal error, is replaced by the next draw.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx

from generate import generate
from oracle import JUMPS, evaluate

ROOT = pathlib.Path(__file__).resolve().parents[2]
REWRITES = ["transforms", "layout"] + [f"conversion/{name}" for name in ("rows", "scalar", "loops", "bodies", "model")]
LARGE = 0.05  # of the range: a difference that is no rounding
STEPS = JUMPS - {"MaxPool", "MaxUnpool", "Div", "Reciprocal"}  # operators that are not continuous
SLOW = 1.0  # seconds: graphs that compile longer are left out
LOST = r"\w*(?:[bB]ias|[oO]ffset|[sS]cale|[sS]hift|[fF]actor|[cC]orrection)\w*"
SIMPLE = r"[\w.]+(?:\[\w+\])?"
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
DRIVER = "tools/sluice.cpp"  # fault_server.h becomes a part of it


def choose(new, old):
    return new, f"(PLANT ? {new} : {old})"


# By kind: patterns of what is replaced, each with a function that gives the text with the fault and the text with the switch.
OPERATORS = {
    "one use": [
        (r"(!?)\b\w+(?:(?:\.|->)\w+\([^()]*\))*(?:\.|->)hasOneUse\(\)", lambda m: choose("false" if m[1] else "true", m[0])),
        (r"(!?)\b(?:\w+(?:\.|->))?ownsAllUses\([^()]*\)", lambda m: choose("false" if m[1] else "true", m[0])),
        (r"\b(?:uses|readers)(?:\[[^\]]+(?:\[\d\])?\])? (!=|==|>) 1\b", lambda m: choose("true" if m[1] == "==" else "false", m[0]))],
    "index": [
        (r"(?<=[\w\])])\[(\w+)\]", lambda m: (f"[{m[1]} + 1]", f"[{m[1]} + PLANT]")),
        (r"(?:(?<=\()|(?<=, ))(axis|dim|lane|position|first|start|index|at|i|j|k)(?=[,)])",
         lambda m: (f"{m[1]} - 1", f"{m[1]} - PLANT"))],
    "operands": [
        (rf"(?:(?<=^)|(?<=[=(,!?:&|] )|(?<=[(!])|(?<=return ))([\w.>:-]+)\(({SIMPLE}), ({SIMPLE})\)(?! const| \{{)",
         lambda m: choose(f"{m[1]}({m[3]}, {m[2]})", m[0])),
        (r"(?<=(?:gs|ds|ts|in|\.a|lt))\[([01])\]", lambda m: (f"[{1 - int(m[1])}]", f"[PLANT ? {1 - int(m[1])} : {m[1]}]")),
        (r"(?<=getOperand)\(([01])\)", lambda m: (f"({1 - int(m[1])})", f"(PLANT ? {1 - int(m[1])} : {m[1]})")),
        (r"\b\w+(?:\.|->)get(Lhs|Rhs)\(\)", lambda m: choose(m[0].replace(m[1], {"Lhs": "Rhs", "Rhs": "Lhs"}[m[1]]), m[0])),
        (rf"(?:(?<=[=,?:] )|(?<=\()|(?<=return ))({SIMPLE}) - ({SIMPLE})(?=[;,)])", lambda m: choose(f"{m[2]} - {m[1]}", m[0]))],
    "lost term": [
        (rf"^(\s+)((?!return|delete)(?=[^;]*{LOST})(?:[\w.\[\]()*>-]+ [-+*]?= [^;]*|[\w.>\[\]-]+\([^;]*\));)$",
         lambda m: (f"{m[1]}/* {m[2]} */;", f"{m[1]}{{ if (!PLANT) {{ {m[2]} }} }}")),
        (rf" \+ {LOST}(?=[;,)])", lambda m: ("", f" + (PLANT ? 0 : {m[0][3:]})")),
        (rf" \* {LOST}(?=[;,)])", lambda m: ("", f" * (PLANT ? 1 : {m[0][3:]})"))],
    "negation": [(r"\bif \(((?!.*(?: = |;)).*)\)(?=$| \{$)",
                  lambda m: (f"if (!({m[1]}))", f"if (static_cast<bool>({m[1]}) != PLANT)"))],
    "comparison": [(r"([\w\])]) (<|>|<=|>=) ([\w.]+(?:\(\))?)(?=[;,)]| &&| \|\|| \?|$)",
                    # One side is larger by one.
                    lambda m: (f"{m[1]} {OTHER[m[2]]} {m[3]}",
                               f"{m[1]} {m[2]} {m[3]} + PLANT" if m[2] in ("<", ">=") else f"{m[1]} + PLANT {m[2]} {m[3]}"))],
}


def sites(folders):
    """All places of the folders, by kind, in a fixed order: (kind, file, line from 0, its text, with fault, with switch)."""
    found = {kind: [] for kind in OPERATORS}
    paths = sorted(path for folder in folders for path in (ROOT / "compiler" / folder).glob("*.cpp"))
    for path, (number, line) in ((p, one) for p in paths for one in enumerate(p.read_text().splitlines())):
        if not line.startswith("  ") or re.search(r'"|//|^ *(template|constexpr|static|assert|case|using)', line):
            continue
        for kind, pattern, change in ((k, *one) for k, patterns in OPERATORS.items() for one in patterns):
            for match in re.finditer(pattern, line):
                texts = [line[:match.start()] + text + line[match.end():] for text in change(match)]
                if match[0].count("(") == match[0].count(")") and (kind != "comparison" or " for (" not in line):
                    found[kind].append((kind, str(path.relative_to(ROOT)), number, line, *texts))
    return found


def draw(folders, seed, count):
    """Places in the order in which they are tried, every kind in its turn, one in a line."""
    drawn, lines, rng = [], set(), random.Random(seed)
    queues = [rng.sample(found, len(found)) for found in sites(folders).values()]
    while len(drawn) < count and any(queues):
        for queue in filter(None, queues):
            site = queue.pop()
            drawn += [] if site[1:3] in lines else [site]
            lines.add(site[1:3])
    return drawn[:count]


def plant(drawn, numbers):
    """Writes the switches of these faults (numbers from 1) and the server into the source; returns the text before, by file."""
    before = {ROOT / file: (ROOT / file).read_text() for file in {drawn[n - 1][1] for n in numbers} | {DRIVER}}
    for path, text in before.items():
        lines = text.split("\n")
        for n in (n for n in numbers if ROOT / drawn[n - 1][1] == path):
            lines[drawn[n - 1][2]] = drawn[n - 1][5].replace("PLANT", f"planted({n})")
        path.write_text("\n".join(['extern "C" bool planted(int fault);', "#line 1", *lines]))
    main_at = "int main(int argc, char **argv) { "
    include = f'#include "{pathlib.Path(__file__).parent.relative_to(ROOT)}/fault_server.h"\n'
    (ROOT / DRIVER).write_text(include + before[ROOT / DRIVER].replace(main_at, main_at + "if (argc == 1) return serve(); "))
    return before


def build(build_folder, drawn):
    """Builds the driver with all faults that compile and returns their numbers."""
    numbers = set(range(1, len(drawn) + 1))
    while True:
        before = plant(drawn, numbers)
        try:
            made = subprocess.run(["cmake", "--build", build_folder, "--target", "sluice", "--", "-k", "0"],
                                  capture_output=True, text=True, check=False, cwd=ROOT)
        finally:
            for path, text in before.items():
                path.write_text(text)
        if made.returncode == 0:
            return sorted(numbers)
        wrong = set()
        where = r"(compiler/[\w/.]+\.cpp):(\d+):\d+: "  # an error in a header has notes of where it is used
        for file, line in set(re.findall(where + "error", made.stdout) or re.findall(where + "note", made.stdout)):
            places = [(int(line) - 1 - drawn[n - 1][2], n) for n in numbers if drawn[n - 1][1] == file]
            wrong |= {min(places, key=lambda p: (p[0] < 0, abs(p[0])))[1]} if places else set()
        numbers -= wrong
        print(f"{len(wrong)} faults do not compile, {len(numbers)} are left" if wrong else sys.exit(made.stdout), flush=True)


class Runner:
    def __init__(self, out, seeds):
        self.out, self.known = out, {}
        self.server = subprocess.Popen([out / "sluice"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # pylint: disable=consider-using-with
        self.reached = {seed: self.baseline(seed) for seed in seeds}
        # Small programs first: most faults are seen there, in less time.
        self.seeds = sorted((s for s in seeds if self.reached[s]), key=lambda s: (out / f"models/{s}/base.sluice").stat().st_size)

    def run(self, words, fault=0, log="-"):
        """The exit code and the messages of the driver."""
        self.server.stdin.write(" ".join(map(str, [fault, log, self.out / "messages.txt", *words])) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline()), (self.out / "messages.txt").read_text(errors="replace")

    def compile(self, folder, output, fault=0, log="-"):
        flags = json.loads((folder / "flags.json").read_text())[0]
        return self.run(["compile", folder / "model.onnx", "--target", "c2b8", *flags, "--check", "auto", "-o", output], fault, log)

    def baseline(self, seed):
        """The faults that a graph reaches; none where the unmutated compiler gives no program in short time."""
        folder = self.out / "models" / str(seed)
        note, log = folder / "reached.json", folder / "reached.txt"
        if not note.exists():
            folder.mkdir(parents=True, exist_ok=True)
            start, graph, code = os.times(), generate(seed), 1
            if graph is not None:
                onnx.save(graph.model(evaluate(graph, graph.evaluator)[0]), str(folder / "model.onnx"))
                words = [word for flag in graph.flags if flag[0] not in ("--only-loops", "--explain") for word in flag]
                (folder / "flags.json").write_text(json.dumps([words, 8 if graph.stream or graph.states else 1]))
                code = self.compile(folder, folder / "base.sluice", log=log)[0]
            is_used = code == 0 and log.exists() and os.times().children_user - start.children_user < SLOW
            note.write_text(json.dumps([int(n) for n in log.read_text().split()] if is_used else []))
        return set(json.loads(note.read_text()))

    def outputs(self, folder, program):
        """The outputs of the vm for random inputs; None if the program does not run."""
        graph = onnx.load(str(folder / "model.onnx")).graph
        flags, steps = json.loads((folder / "flags.json").read_text())
        states = {word.split("=")[0] for flag, word in zip(flags, flags[1:]) if flag == "--state"}
        words = ["run", program, "--engine", "vm", "--steps", steps]
        words += [w for i in graph.input if i.name not in states for w in ("--input", f"{i.name}=random:1")]
        words += [w for o in graph.output for w in ("--output", f"{o.name}=@{self.out}/{o.name}.npy")]
        code = self.run(words)[0]
        return None if code else [np.load(self.out / f"{o.name}.npy").astype(np.float64) for o in graph.output]

    def difference(self, folder, program):
        """The largest difference from the unmutated compiler's program, as a share of the range."""
        if folder not in self.known:
            self.known[folder] = self.outputs(folder, folder / "base.sluice")
        one, most = self.known[folder], 0.0
        if one is None or any(n.op_type in STEPS for n in onnx.load(str(folder / "model.onnx")).graph.node):
            return 0.0  # rounding alone may move the result by a whole step
        other = self.outputs(folder, program)
        if other is None or any(a.shape != b.shape or (np.isfinite(a) != np.isfinite(b)).any() for a, b in zip(one, other)):
            return 1e9
        for a, b in ((a[np.isfinite(a)], b[np.isfinite(a)]) for a, b in zip(one, other)):
            if (a != b).any():
                spread, large = np.ptp(a), np.abs(a).max()
                most = max(most, np.abs(a - b).max() / max(large if spread < 0.2 * large else spread, 1e-30))
        return float(most)

    def examine(self, fault, patience):
        """What becomes of a fault: its state is caught, survivor or the reason to replace it."""
        program, found = self.out / "planted.sluice", {"state": "not reached", "graphs": 0, "changed": {}}
        for seed in (seed for seed in self.seeds if fault in self.reached[seed]):
            folder = self.out / "models" / str(seed)
            code, text = self.compile(folder, program, fault)
            found["graphs"] += 1
            if code in (-1, 6):
                return {**found, "state": "caught" if "E0498" in text else "crashes", "seed": seed, "text": text[:300]}
            if code == 0 and len(found["changed"]) < 5 and program.read_bytes() != (folder / "base.sluice").read_bytes():
                apart = self.difference(folder, program)
                found["changed"] |= {seed: round(apart, 3)} if apart > LARGE else {}
                found["state"] = "survivor" if found["changed"] else "values equal"
            elif found["state"] == "not reached":
                found["state"] = "programs equal"
            if found["graphs"] == patience and not found["changed"]:
                break
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="build folder, configured (build/release)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of models, results and diffs")
    parser.add_argument("--folders", nargs="+", default=REWRITES, help="folders of compiler/ (those of rewrites)")
    for name, value, what in (("seed", 1, "seed of the places"), ("faults", 40, "faults that change a value"),
                              ("draws", 360, "places"), ("first", 100000, "seed of the first graph"), ("graphs", 2000, "graphs"),
                              ("patience", 60, "graphs that a fault without a difference is tried on")):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{what} ({value})")
    options = parser.parse_args()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    draws, results = out / "draws.json", out / "results.jsonl"
    if not draws.exists():
        drawn = draw(options.folders, options.seed, options.draws)
        draws.write_text(json.dumps([build(options.build, drawn), drawn]))
        shutil.copy(ROOT / options.build / "bin/sluice", out)
    numbers, drawn = json.loads(draws.read_text())
    results.touch()
    known = {r["fault"]: r for r in map(json.loads, results.read_text().splitlines())}
    runner, table = Runner(out, range(options.first, options.first + options.graphs)), []
    for n in numbers:
        kind, file, line, old, new, _ = drawn[n - 1]
        if n not in known:
            known[n] = {"fault": n, "kind": kind, "place": f"{file}:{line + 1}", **runner.examine(n, options.patience)}
            with open(results, "a", encoding="utf-8") as to:
                print(json.dumps(known[n]), file=to)
            print(known[n], flush=True)
        if known[n]["state"] in ("caught", "survivor"):
            (out / f"fault-{len(table) + 1:02}.diff").write_text(
                f"--- a/{file}\n+++ b/{file}\n@@ -{line + 1} +{line + 1} @@\n-{old}\n+{new}\n")
            table.append(f"| {len(table) + 1} | {file}:{line + 1} | {kind} | {old.strip()} -> {new.strip()} | "
                         f"{known[n]['state']} {known[n].get('seed', '')} |")
        if len(table) == options.faults:
            break
    print(*table, f"{sum('| caught ' in row for row in table)} of {len(table)} caught", sep="\n")


if __name__ == "__main__":
    main()
