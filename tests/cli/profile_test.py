#!/usr/bin/env python3
"""sluice profile and traces: sums that must agree, both engines, every format.

usage: profile_test.py SLUICE MAKE_PROGRAMS SOURCE_FOLDER [unittest arguments]
"""
import collections
import csv
import io
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

from folder import Folder, main

MAKE_PROGRAMS, SOURCE = sys.argv[2:4]
WAITS = ("token", "result", "taker", "network", "pipeline", "host")
MATRIX, VECTOR, INPUT = "matrix", "vector", "input"


class Programs(Folder):
    def setUp(self):
        super().setUp()
        subprocess.run([MAKE_PROGRAMS, self.dir], check=True)

    def json(self, *args):
        return json.loads(self.ok(*args, "--json"))

    def fails(self, code, message, *args):
        before = sorted(os.listdir(self.dir))
        self.assertEqual(self.sluice(*args), (code, b"", message))
        self.assertEqual(sorted(os.listdir(self.dir)), before)


class Sums(Programs):
    """A network of three layers on both engines."""

    def setUp(self):
        super().setUp()
        self.ok("compile", Path(SOURCE) / "tools/digits/digits.onnx", "--target", "c2b8", "-o", "digits.sluice")

    def check(self, profile):
        cycles, units = profile["cycles"], profile["units"]
        self.assertEqual([(u["core"], u["unit"]) for u in units],
                         [(0, MATRIX), (0, VECTOR), (1, MATRIX), (1, VECTOR), ("host port", INPUT)])
        for unit in units:
            self.assertEqual(unit["busy"] + sum(unit[w] for w in WAITS) + unit["idle"], cycles, unit)
            self.assertEqual(unit["cycles"], cycles)
            self.assertAlmostEqual(unit["utilisation"], unit["busy"] / cycles)
        for kind in ("busy", *WAITS):
            total = sum(unit[kind] for unit in units)
            for table in ("layers", "cores", "instructions"):
                self.assertEqual(sum(row[kind] for row in profile[table]), total, (table, kind))
        per_unit = collections.Counter()
        for row in profile["instructions"]:
            for kind in ("busy", *WAITS):
                per_unit[row["core"], row["unit"], kind] += row[kind]
        for unit in units:
            for kind in ("busy", *WAITS):
                self.assertEqual(per_unit[unit["core"], unit["unit"], kind], unit[kind])
        for core in profile["cores"]:
            mine = [u for u in units if u["core"] == core["core"]]
            self.assertEqual(core["cycles"], cycles * len(mine))
            self.assertEqual(core["idle"], sum(u["idle"] for u in mine))
        for what in ("blocks", "rows"):
            self.assertEqual(sum(c[what] for c in profile["cores"]), sum(l[what] for l in profile["layers"]))
        for row in profile["layers"] + profile["instructions"]:
            if row["busy"]:
                self.assertLessEqual(0, row["first"])
                self.assertLessEqual(row["first"], row["last"])
                self.assertLess(row["last"], cycles)
            else:
                self.assertEqual((row["first"], row["last"]), (None, None))
            if "unit" in row and row["busy"]:
                self.assertLessEqual(row["busy"], row["last"] - row["first"] + 1)

    def test_spaced(self):
        profile = self.json("profile", "digits.sluice", "--engine", "both")
        self.assertEqual((profile["schema"], profile["engine"], profile["equal"], profile["target"], profile["spacing"]),
                         (1, "both", True, "c2b8", "spaced"))
        self.check(profile)
        self.assertEqual(profile["cycles"], self.json("bench", "digits.sluice", "--engine", "vm")["spaced"])
        # Every weight block is multiplied once: 64 inputs, 48, 48 and 10 outputs in lanes of 8.
        layers = {tuple(layer["names"]): layer for layer in profile["layers"]}
        memory = self.json("inspect", "digits.sluice", "--memory")["memory"]
        self.assertEqual(sum(layer["blocks"] for layer in profile["layers"]),
                         sum(m["used"] for m in memory if m["memory"] == "weight blocks"))
        first, last = layers["fc1", "relu1"], layers["fc3",]
        self.assertEqual((first["operators"], first["macs"]), (["Gemm", "Relu"], first["blocks"] * 64))
        self.assertAlmostEqual(first["utilisation"], first["blocks"] / (2 * (first["last"] - first["first"] + 1)))
        self.assertLess(first["first"], last["first"])
        # The last row leaves the vector unit a pipeline and a network hop before the host takes it.
        self.assertLess(last["last"], profile["cycles"] - 5)
        # The first cycle is that of the first input row.
        self.assertEqual(layers["(input)",]["first"], 0)

    def test_contiguous(self):
        profile = self.json("profile", "digits.sluice", "--engine", "both", "--spacing", "contiguous")
        self.check(profile)
        self.assertEqual(profile["cycles"], self.json("bench", "digits.sluice", "--engine", "vm")["contiguous"])

    def test_engines(self):
        """The engine is named, and nothing else differs."""
        vm, rtl = (self.json("profile", "digits.sluice", "--engine", engine) for engine in ("vm", "rtl"))
        self.assertEqual((vm["engine"], vm["equal"]), ("vm", None))
        self.assertEqual({**vm, "engine": "rtl"}, rtl)

    def test_csv_is_the_table(self):
        profile = self.json("profile", "digits.sluice", "--engine", "vm")

        def cell(value):
            return "" if value is None else " ".join(map(str, value)) if isinstance(value, list) else value
        for by, table in (("layer", "layers"), ("core", "cores"), ("unit", "units"), ("instruction", "instructions")):
            rows = list(csv.DictReader(io.StringIO(
                self.ok("profile", "digits.sluice", "--engine", "vm", "--by", by, "--csv", "-"))))
            self.assertEqual(len(rows), len(profile[table]))
            for row, expected in zip(rows, profile[table]):
                self.assertEqual(list(row), list(expected))
                for name, value in expected.items():
                    if isinstance(value, float):
                        self.assertAlmostEqual(float(row[name]), value)
                    else:
                        self.assertEqual(row[name], str(cell(value)), name)

    def test_trace(self):
        profile = self.json("profile", "digits.sluice", "--engine", "both", "--trace", "t.json")
        trace = json.loads((self.dir / "t.json").read_text())
        about, events = trace["otherData"], trace["traceEvents"]
        self.assertEqual((trace["displayTimeUnit"], about["clock_mhz"], about["clock_source"], about["cycles"], about["target"]),
                         ("ns", 300, "nominal", profile["cycles"], "c2b8"))
        self.assertAlmostEqual(about["cycle_ns"], 1000 / 300)
        processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertEqual(processes, {0: "core 0", 1: "core 1", 2: "host port"})
        threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertEqual(set(threads.values()), {MATRIX, VECTOR, INPUT})
        slices = collections.defaultdict(list)
        for event in events:
            self.assertIn(event["ph"], "MXC")
            if event["ph"] == "X":
                slices[event["pid"], event["tid"]].append(event)
        for unit in profile["units"]:
            pid = 2 if unit["core"] == "host port" else unit["core"]
            mine = slices[next(t for t, name in threads.items() if t[0] == pid and name == unit["unit"])]
            self.well_nested(mine)
            self.assertEqual(sum(e["args"]["beats"] for e in mine if e["cat"] == "instruction"), unit["busy"])
            waits = [e["args"]["last"] - e["args"]["first"] + 1 for e in mine if e["cat"] == "wait"]
            self.assertEqual(sum(waits), sum(unit[w] for w in WAITS))
        self.assertIn("fc1 (Gemm), relu1 (Relu)", {e["name"] for e in slices[0, 0]})
        for name, unit in (("matrix units busy", MATRIX), ("vector units busy", VECTOR)):
            counters = [e for e in events if e["ph"] == "C" and e["name"] == name]
            times = [round(e["ts"] * 300) for e in counters]
            self.assertEqual(times, sorted(set(times)))
            self.assertEqual(counters[-1]["args"]["units"], 0)
            area = sum(e["args"]["units"] * (after - at) for e, at, after in zip(counters, times, times[1:]))
            self.assertEqual(area, sum(u["busy"] for u in profile["units"] if u["unit"] == unit))

    def well_nested(self, events):
        """In order, whole nanoseconds that are the cycles', every slice within or behind the one before."""
        open_until = []
        previous = 0
        for event in events:
            start, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
            self.assertAlmostEqual(event["ts"] * 1000, start, places=6)
            self.assertAlmostEqual(start, event["args"]["first"] * 1000 / 300, delta=0.51)
            self.assertAlmostEqual(start + length, (event["args"]["last"] + 1) * 1000 / 300, delta=0.51)
            self.assertGreaterEqual(start, previous)
            self.assertGreater(length, 0)
            while open_until and open_until[-1] <= start:
                open_until.pop()
            self.assertEqual(event["cat"], "wait" if open_until else "instruction")
            if open_until:
                self.assertLessEqual(start + length, open_until[-1])
            open_until.append(start + length)
            previous = start

    def test_trace_of_a_run(self):
        out = self.ok("run", "digits.sluice", "--engine", "vm", "--input", "pixels=random:1", "--steps", "3", "--trace",
                      "t.json")
        self.assertIn("engine vm: ", out)
        self.assertTrue(out.endswith("\nwritten t.json, open it in ui.perfetto.dev\n"), out)
        trace = json.loads((self.dir / "t.json").read_text())
        slices = [e for e in trace["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (0, 0)]
        self.well_nested(slices)
        profile = self.json("profile", "digits.sluice", "--engine", "vm")
        busy = next(u["busy"] for u in profile["units"] if u["unit"] == MATRIX)
        self.assertEqual(sum(e["args"]["beats"] for e in slices if e["cat"] == "instruction"), 3 * busy)


class Small(Programs):
    """One matrix beat and one vector beat: everything word for word."""

    def test_text(self):
        self.assertEqual(self.ok("profile", "small.sluice", "--engine", "vm", "--by", "unit"), textwrap.dedent("""\
            model small on c2b8, spaced inference: 32 cycles, 0.107 us at 300 MHz, nominal
            engine vm

            core       unit    utilisation  busy  token  result  idle  cycles
            0          matrix        3.1 %     1     31       0     0      32
            0          vector        3.1 %     1      0      31     0      32
            1          matrix        0.0 %     0      0       0    32      32
            1          vector        0.0 %     0      0       0    32      32
            host port  input         6.2 %     2     30       0     0      32
            """))

    def test_trace(self):
        out = self.ok("profile", "small.sluice", "--trace", "t.json", "--csv", "t.csv")
        self.assertIn("\nengine vm\n", out)
        self.assertTrue(out.endswith("\nwritten t.csv, the table\nwritten t.json, open it in ui.perfetto.dev\n"), out)
        self.assertEqual((self.dir / "t.json").read_text(), (Path(__file__).parent / "small_trace.json").read_text())

    def test_a_run_names_its_files(self):
        out = self.ok("run", "small.sluice", "--engine", "vm", "--input", "x=zeros", "--output", "y=@y.npy",
                      "--trace", "t.json")
        self.assertTrue(out.endswith("\nwritten y.npy, output y\nwritten t.json, open it in ui.perfetto.dev\n"), out)

    def test_refused(self):
        for flag in ("--csv", "--trace"):
            self.fails(2, "error[E0516]: cannot write 'no/f': No such file or directory\n", "profile", "small.sluice",
                       "--engine", "vm", flag, "no/f")
        self.fails(2, "error[E0516]: cannot write 'no/f': No such file or directory\n", "run",
                   "small.sluice", "--engine", "vm", "--input", "x=zeros", "--trace", "no/f")
        self.fails(2, "error: --by: row not in {layer,core,unit,instruction}; see 'sluice profile --help'\n", "profile",
                   "small.sluice", "--by", "row")
        self.fails(2, "error[E0602]: the file has no model 'none', allowed: small\n  --> small.sluice\n", "profile",
                   "small.sluice", "--model", "none")
        code, out, err = self.sluice("profile", "stalling.sluice", "--engine", "vm")
        self.assertEqual((code, out), (6, b""))
        self.assertTrue(err.startswith("error[E0607]: engine vm: no progress for 10000 cycles"), err)


if __name__ == "__main__":
    main(3)
