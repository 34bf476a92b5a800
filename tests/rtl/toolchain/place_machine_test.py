#!/usr/bin/env python3
"""Places and routes a machine with programs that stand in for nextpnr and for the refinement of placements."""
import os
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import place_design  # noqa: E402

PART = {"device": "85k", "package": "CABGA756", "grade": 6}
# Writes what nextpnr writes: the placement, or the report of a route. A route fails if the file `failure` has a line.
NEXTPNR = """#!/usr/bin/env python3
import json, sys
arguments = sys.argv[1:]
after = lambda option: arguments[arguments.index(option) + 1]
if "--no-route" in arguments:
    json.dump({"modules": {"top": {"settings": {}}}}, open(after("--write"), "w"))
    sys.exit(0)
with open("wanted", "a") as file:
    file.write(json.load(open(after("--json")))["modules"]["top"]["settings"]["target_freq"] + "\\n")
failure = open("failure").read()
if failure:
    print("ERROR: " + failure)
    sys.exit(1)
step = lambda kind, delay: {"type": kind, "delay": delay, "from": {"cell": "a_q_TRELLIS_FF_Q"}, "to": {"cell": "b_q_TRELLIS_FF_DI"}}
json.dump({"utilization": {"TRELLIS_COMB": {"used": 70}, "TRELLIS_FF": {"used": 30}}, "fmax": {"clk": {"achieved": 71.5}},
           "critical_paths": [{"from": "clk", "to": "clk", "path": [step("clk-to-q", 0.5), step("routing", 13.0)]}]},
          open(after("--report"), "w"))
"""


class PlaceMachine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        nextpnr = self.folder / "nextpnr"
        nextpnr.write_text(NEXTPNR)
        nextpnr.chmod(0o755)
        self.args = types.SimpleNamespace(nextpnr=str(nextpnr), minutes=1)
        self.unit = object.__new__(place_design.Unit)
        self.unit.module, self.unit.folder, self.unit.placed = "sluice_top", str(self.folder), "prepared.json"
        self.unit.frame_flops, self.unit.free_sites = 10, 20
        self.notes = []

    def place(self, failure, refine=lambda *_: (None, (12.5, 350000))):
        (self.folder / "failure").write_text(failure)
        with mock.patch.dict(sys.modules, refine_placement=types.SimpleNamespace(refine=refine)):
            return self.unit.place(PART, 3, self.args, self.notes.append)

    def wanted(self):
        return [round(float(line) / 1e6, 1) for line in (self.folder / "wanted").read_text().split()]

    def test_one_attempt(self):
        one = self.place("")
        self.assertEqual(one["mhz"], 71.5)
        self.assertEqual(one["cells"], {"sites": 50, "flip-flops": 20, "multipliers": 0, "block RAMs": 0})
        self.assertEqual(one["path"], {"from": "a_q", "to": "b_q", "ns": 13.5, "start_ns": 0.5, "wires_ns": 13.0, "cells": 0})
        self.assertEqual(self.wanted(), [72.7])
        self.assertEqual(self.notes, ["placed", "placement refined, the longest path is about 12.5 ns"])

    def test_the_route_fails(self):
        with self.assertRaisesRegex(place_design.Failure, "^nextpnr: ERROR: wires are left$"):
            self.place("wires are left")
        self.assertEqual(self.wanted(), [72.7])

    def test_the_refinement_fails(self):
        def refine(*_):
            raise ValueError("a and b are connected, but do not lie in neighbouring tiles")
        with self.assertRaisesRegex(place_design.Failure, "^refinement of the placement: a and b are connected, but do not lie in "
                                                  "neighbouring tiles$"):
            self.place("", refine)
        self.assertFalse(os.path.exists(self.folder / "wanted"))


if __name__ == "__main__":
    unittest.main()
