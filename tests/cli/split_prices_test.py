#!/usr/bin/env python3
"""What explain says that a split shares: the rows that several cores read, and the next best plan.

usage: split_prices_test.py SLUICE [unittest arguments]
"""
import json
import re
from collections import Counter

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import Folder, main


class SplitPrices(Folder):
    def setUp(self):
        super().setUp()
        weights = np.random.default_rng(5).standard_normal((8, 8, 3)).astype(np.float32)
        nodes = [helper.make_node("Conv", ["x", "w"], ["h"], name="first", pads=[1, 1]),
                 helper.make_node("Relu", ["h"], ["r"], name="relu"),
                 helper.make_node("Conv", ["r", "w"], ["y"], name="second", pads=[1, 1])]
        graph = helper.make_graph(nodes, "halo", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 24])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 24])], [numpy_helper.from_array(weights, "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), self.dir / "m.onnx")

    def explained(self, target):
        return json.loads(self.ok("explain", "--plan", "m.onnx", "--target", target, "--json"))

    def sent(self, target):
        """By stage, how many rows the plan sends to one core, or keeps on it, to two, ... Each layer reads the rows of the one before."""
        counts = []
        for line in self.ok("compile", "m.onnx", "--target", target, "--emit", "plan", "-o", "-").splitlines():
            if line.startswith("stage "):
                counts.append(Counter())
            elif mask := re.search(r"inbox row \d+ of cores 0x([0-9a-f]+)", line):
                counts[-1][bin(int(mask[1], 16)).count("1")] += 1
            elif "local row" in line:
                counts[-1][1] += 1
        return counts

    def test_rows_read_are_the_rows_that_the_plan_sends(self):
        for target in ("c2b8", "c6b32"):
            plan = self.explained(target)
            sent = self.sent(target)
            for before, stage in zip(sent, plan["stages"][1:]):
                self.assertEqual({cores: rows for cores, rows in enumerate(stage["reads_by_cores"], 1) if rows}, dict(before), target)
            self.assertTrue(any(len(before) > 1 for before in sent) or target == "c2b8")

    def test_both_commands_say_the_same(self):
        for target in ("c2b8", "c6b32"):
            stages = self.explained(target)["stages"][1:]
            spaces = json.loads(self.ok("explain", "--index-space", "m.onnx", "--target", target, "--json"))["operations"]
            for space in spaces:
                names = {node["name"] for node in space["nodes"]}
                own = [stage for stage in stages if names & {node["name"] for node in stage["nodes"]}]
                self.assertEqual(space["split"]["reads_by_cores"], [sum(of) for of in zip(*(stage["reads_by_cores"] for stage in own))])

    def test_as_text(self):
        """A stage on one core shares nothing, and is not listed."""
        text = self.ok("explain", "--plan", "m.onnx", "--target", "c2b8", "--verbose")
        stages = self.explained("c2b8")["stages"]
        lines = "".join(f"{i:>5}  {sum(s['reads_by_cores'])} rows: " + ", ".join(
            f"{rows} on {cores}" + ("" if j else " core" if cores == 1 else " cores")
            for j, (cores, rows) in enumerate((c, r) for c, r in enumerate(s["reads_by_cores"], 1) if r)) + "\n"
            for i, s in enumerate(stages) if i and sum(1 for rows in s["rows_by_core"] if rows) > 1)
        self.assertIn(f"\nrows that a split stage reads, by how many cores\n{lines}\n", text)
        split = self.ok("explain", "--index-space", "m.onnx", "--target", "c2b8", "--node", "second")
        self.assertRegex(split, r"  split: 24 rows over cores, 12 12; reads \d+ rows: .*; \d+ cycles, the fewest of \d+ plans: .*; "
                                r"the next best takes \d+: ")

    def test_the_next_best(self):
        plan = self.explained("c2b8")
        best = min(one["cycles"] for one in plan["losers"] if one["cycles"] is not None)
        for space in json.loads(self.ok("explain", "--index-space", "m.onnx", "--target", "c2b8", "--json"))["operations"]:
            self.assertIn(f"; the next best takes {best}: ", space["split"]["why"])
            self.assertGreaterEqual(best, plan["spaced"])


if __name__ == "__main__":
    main()
