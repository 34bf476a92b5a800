#!/usr/bin/env python3
"""Compares the prices in layout messages with the cycles of the programs that the fixes give.

usage: prices.py SLUICE [--tests] [--exports FOLDER] [--cases FOLDER] [--suite FOLDER] [--table FILE]

--tests: the models of the tests of layout messages (tests/cli), for c2b8. --exports: every network in
the folder, for c6b32. --cases: the cases that make_onnx_cases.py wrote, for c2b8. --suite: all cases of
the ONNX suite, for c2b8. Every fix that a message offers with a price is made: flags are added, pins
replaced, inputs bound, operands made inputs, axes transposed. Fails if a price is off by more than 10 %,
if fixes are not ordered by price, if a price is missing although planning is short, or if --apply-fixes
or both flags give a slower program than one flag. --table writes all fixes, told and measured.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).parent
DYNAMIC, REWRITE = "--allow-dynamic-weights", "--rewrite-layout"
MOST_OFF = 0.1
LONG = 1 << 22  # planning work from which a price may be missing


class Table:
    """What the fixes were told to cost and what they cost."""

    def __init__(self, sluice, folder):
        self.sluice, self.folder = sluice, folder
        self.rows, self.faults, self.models = [], [], 0
        self.compiled = {}  # of the model at hand, by flags

    def compile(self, path, target, flags):
        """(cycles, planning work) of a program; nothing if there is none."""
        key = (path, *sorted(flags))
        if key not in self.compiled:
            found = self.run("compile", path, target, flags)
            self.compiled[key] = found and (found[0]["latency"]["spaced"], found[0]["planning_work"])
        return self.compiled[key]

    def run(self, command, path, target, flags):
        """The command's report and what it says; nothing if a model does not compile."""
        report = self.folder / "report.json"
        output = ["-o", self.folder / "p.sluice", "--check", "off"] if command == "compile" else []
        done = subprocess.run([self.sluice, f"--json={report}", command, path, "--target", target, *flags, *output],
                              capture_output=True, check=False)
        if command == "compile" and done.returncode != 0:
            return None
        return json.loads(report.read_text()), done.stdout.decode()

    def model(self, name, path, target, flags=()):
        """Every fix of every layout error of a model."""
        found, said = self.run("check", path, target, flags)
        errors = [error for error in found["errors"] if error["code"].startswith("E03") and error["fixes"]]
        if not errors:
            return
        self.models += 1
        self.compiled.clear()
        seen = set()
        for error in errors:
            prices = [(not fix["verified"], fix["cycles"] or 1 << 62) for fix in error["fixes"]]
            if prices != sorted(prices):
                self.fault(name, f"the fixes of {error['code']} are not ordered by price")
            for fix in error["fixes"]:
                if fix["verified"] and fix["text"] not in seen:
                    self.fix(name, path, target, flags, error, fix)
                seen.add(fix["text"])
        self.together(name, path, target, flags, found, said)

    def fix(self, name, path, target, flags, error, fix):
        made = self.made(path, flags, error, fix)
        measured, work = (made and self.compile(made[0], target, made[1])) or (None, None)
        if made and measured is None:
            self.fault(name, f"'{fix['text']}' is verified but does not compile")
        if measured and fix["cycles"] and abs(fix["cycles"] - measured) > MOST_OFF * measured:
            self.fault(name, f"'{fix['text']}' is told to take {fix['cycles']} cycles and takes {measured}")
        if measured and fix["cycles"] is None and work < LONG:
            self.fault(name, f"'{fix['text']}' has no price, but is planned in {work} steps")
        self.rows.append((name, error["code"], fix["flag"] or fix["text"].split(",")[0], fix["cycles"], measured))

    def together(self, name, path, target, flags, found, said):
        """--apply-fixes and both flags are as good as the better flag."""
        missing = [flag for flag in (DYNAMIC, REWRITE) if flag not in flags]
        single = [found[0] for found in (self.compile(path, target, [*flags, flag]) for flag in missing) if found]
        fixed = self.compile(path, target, [*flags, "--apply-fixes"])
        fixes, last = found["fixes"], said.splitlines()[-1:]
        if single and fixed is None:
            self.fault(name, "one flag compiles, --apply-fixes does not")
        if fixes and not (last and last[0].startswith("compiles with --apply-fixes: ")):
            self.fault(name, "check does not say that --apply-fixes compiles it")
        if fixed is None:
            return
        price = fixed[0]
        both = self.compile(path, target, [*flags, *missing])[0]
        if both > price or price > min(single, default=price):
            self.fault(name, f"one flag takes {min(single, default=None)} cycles, both {both}, --apply-fixes {price}")
        told = fixes[0]["cycles"] if fixes else None
        if told and abs(told - price) > MOST_OFF * price:
            self.fault(name, f"--apply-fixes is told to take {told} cycles and takes {price}")
        self.rows.append((name, "", "--apply-fixes", told, price))

    def made(self, path, flags, error, fix):
        """The model and the flags with a fix; nothing if it is not known how to make it."""
        text, flag = fix["text"], fix["flag"]
        if replaced := re.match(r"replace (--data-dim) (\S+) with --data-dim (\S+),", text):
            flags = list(flags)
            flags[flags.index(replaced[2])] = replaced[3]
            return path, flags
        if flag:
            return path, [*flags, *flag.split()]
        if not str(path).endswith(".onnx"):
            return None
        model = onnx.load(str(path))
        shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim] for value in model.graph.input}
        if bound := re.match(r"make input '(.*)' a constant", text):
            np.save(self.folder / "bound.npy", np.random.default_rng(1).standard_normal(shapes[bound[1]]).astype(np.float32))
            return path, [*flags, "--bind", f"{bound[1]}=@{self.folder / 'bound.npy'}"]
        node = model.graph.node[error["node"]["index"]]
        if apart := re.match(r"(?:read|make) operand (\d) '(.*)' (?:from|a)", text):
            note = next(n for n in error["notes"] if n.startswith(f"operand {apart[1]} "))
            shape = [int(word) for word in re.findall(r"\d+", note.split("activation ")[1])]
            node.input[[*node.input].index(apart[2])] = "apart"
            model.graph.input.append(helper.make_tensor_value_info("apart", TensorProto.FLOAT, shape))
        elif swapped := re.match(r"transpose axes (\d) and (\d) before the reshape", text):
            rank = len(re.findall(r"\d+", error["notes"][0].split("activation ")[1]))
            perm = list(range(rank))
            perm[int(swapped[1])], perm[int(swapped[2])] = int(swapped[2]), int(swapped[1])
            turn = helper.make_node("Transpose", [node.input[0]], ["turned"], perm=perm)
            node.input[0] = "turned"
            model.graph.node.insert(error["node"]["index"], turn)
        else:
            return None
        onnx.save(model, str(self.folder / "made.onnx"))
        return self.folder / "made.onnx", flags

    def fault(self, name, text):
        self.faults.append(f"{name}: {text}")

    def text(self):
        lines = ["| model | error | fix | told, cycles | measured, cycles |", "|---|---|---|---|---|"]
        for name, code, fix, told, measured in self.rows:
            lines.append(f"| {name} | {code} | {fix} | {told or 'not measured'} | {measured or 'not made'} |")
        return "\n".join(lines) + "\n"


def models_of_tests(sluice):
    """(name, model, flags) of every layout error that a test of tests/cli expects word for word."""
    sys.path.insert(0, str(HERE.parent / "cli"))
    sys.argv[1:] = [sluice]
    import bad_layouts_test  # pylint: disable=import-outside-toplevel
    import bad_models_test  # pylint: disable=import-outside-toplevel
    import layout_report_test  # pylint: disable=import-outside-toplevel
    import unittest  # pylint: disable=import-outside-toplevel
    from refusal import Refusal  # pylint: disable=import-outside-toplevel
    models = []
    Refusal.layout_refused = lambda test, text, proto, flags=(): models.append((test.id().split(".", 1)[1], proto, flags))
    Refusal.sluice = lambda test, *args: (0, b"{}", "")
    for module in bad_layouts_test, bad_models_test, layout_report_test:
        unittest.defaultTestLoader.loadTestsFromModule(module).run(unittest.TestResult())
    return models


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sluice")
    parser.add_argument("--tests", action="store_true")
    for name in "exports", "cases", "suite", "table":
        parser.add_argument(f"--{name}", type=pathlib.Path)
    options = parser.parse_args()
    if options.exports and not options.exports.is_dir():
        print(f"skipped: the exported networks are not here ({options.exports})")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        table = Table(options.sluice, pathlib.Path(folder))
        path = table.folder / "m.onnx"
        for name, proto, flags in models_of_tests(options.sluice) if options.tests else []:
            onnx.save(proto, str(path))
            table.model(name, path, "c2b8", flags)
        for file in sorted(options.exports.rglob("*.onnx")) if options.exports else []:
            table.model(str(file.relative_to(options.exports)), file, "c6b32")
        for file in sorted(options.cases.glob("*/flags.txt")) if options.cases else []:
            table.model(file.parent.name, file.parent / "model.onnx", "c2b8")
        if options.suite:
            sys.path.insert(0, str(HERE.parent / "conformance"))
            import suite  # pylint: disable=import-outside-toplevel
            known = suite.Known(options.sluice)
            for _, name, case in suite.cases(options.suite):
                onnx.save(suite.bind(case, known)[0], str(path))
                table.model(name, path, "c2b8")
    if options.table:
        options.table.write_text(table.text())
    told = [(t, m) for *_, t, m in table.rows if t and m]
    most = max((abs(t - m) / m for t, m in told), default=0)
    print("\n".join(table.faults + [f"{table.models} models, {len(table.rows)} fixes, {len(told)} compared, "
                                    f"prices off by at most {100 * most:.1f} %, {len(table.faults)} faults"]))
    return 1 if table.faults or not told else 0


if __name__ == "__main__":
    sys.exit(main())
