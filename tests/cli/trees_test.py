#!/usr/bin/env python3
"""Trees of merges are chosen by cycles: with those that lost in `explain --plan`, within the one budget of the search.

usage: trees_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import main
from refusal import Refusal

BUDGET = 1 << 24 # docs/performance.md


def reduction(operator, shape, axis):
    """The operator over an axis of x; and its values."""
    out = [extent for i, extent in enumerate(shape) if i != axis]
    node = helper.make_node(operator, ["x"], ["y"], name="merge", axes=[axis], keepdims=0)
    return models.model([node], [models.tensor("x", *shape)], [models.tensor("y", *out)])


class Trees(Refusal):
    def planned(self, model, *flags):
        onnx.save(model, self.dir / "m.onnx")
        return json.loads(self.ok("explain", "--plan", "m.onnx", "--target", "c2b8", "--json", *flags))

    def test_the_fastest_is_taken_and_the_others_are_listed(self):
        model = reduction("ReduceMax", [28, 32], 0)
        plan = self.planned(model)
        self.assertTrue(plan["choice"].startswith("trees of 2 rows per pass, stages "), plan["choice"])
        forms = {one["choice"].split(":")[0]: one["cycles"] for one in plan["losers"] if "another form of the model" in one["why"]}
        self.assertEqual(set(forms), {"row by row", "row by row, trees of evenly spaced rows",
                                      "row by row, trees of 2 rows per pass, of evenly spaced rows"})
        self.assertLess(plan["spaced"], min(forms.values()))
        self.assertEqual([one["derivation"] for one in plan["stages"][1:]],
                         [["max of up to 2 rows, 56 rows on 2 cores"],
                          ["max of up to 2 rows, 28 rows on 2 cores"],
                          ["max of up to 2 rows, 12 rows on 2 cores"],
                          ["max of up to 2 rows, 8 rows on 2 cores"],
                          ["max of up to 2 rows, 4 rows on 2 cores"]])

    def test_values_and_budget(self):
        random = np.random.default_rng(1)
        for operator, values in (("ReduceMax", np.max), ("ReduceMin", np.min), ("ReduceProd", np.prod)):
            for shape, axis in (([16, 32], 0), ([2, 40], 1)):
                with self.subTest(operator, shape=shape):
                    onnx.save(reduction(operator, shape, axis), self.dir / "m.onnx")
                    done = json.loads(self.ok("compile", "m.onnx", "--target", "c2b8", "--json",
                                              "-o", "m.sluice"))
                    self.assertLessEqual(done["planning_work"], BUDGET)
                    x = np.round(random.uniform(0.9, 1.1, shape) * 128).astype(np.float32) / 128 # bf16 has them
                    np.save(self.dir / "x.npy", x)
                    np.save(self.dir / "y.npy", values(x, axis=axis))
                    self.right("m.sluice")

    def test_without_a_search_the_first_is_taken(self):
        plan = self.planned(reduction("ReduceMax", [16, 32], 0), "--effort", "fast")
        self.assertFalse(plan["choice"].startswith("trees"), plan["choice"])
        self.assertEqual(plan["losers"], [])

    def test_what_cannot_fit_is_lowered_once(self):
        """Other trees are for what has a plan: with 24 weight blocks, where 32 differ, there is none."""
        weights = models.constant("w", models.values(32, 64))
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="product"),
                 helper.make_node("ReduceMax", ["h"], ["y"], name="merge", axes=[0], keepdims=0)]
        onnx.save(models.model(nodes, [models.tensor("x", 9, 32)], [models.tensor("y", 64)], [weights]), self.dir / "m.onnx")
        target = json.loads(self.ok("targets", "--show", "c2b8", "--json"))["target"]
        programs = {}
        for blocks in (12, 16):
            target.update({"name": "small", "weight_blocks": blocks})
            (self.dir / "small.json").write_text(json.dumps(target))
            text = self.ok("compile", "m.onnx", "--target", "small.json", "--emit", "rows")
            programs[blocks] = text.count("rows.program")
        self.assertEqual(programs, {12: 2, 16: 5}) # row by row and positions in loops; three more trees of rows

    def test_positions_of_loops(self):
        plan = self.planned(reduction("ReduceMax", [3000, 8], 0))
        self.assertRegex(plan["choice"], "3000 positions in groups of ")
        others = {one["choice"].split(", ")[-1] for one in plan["losers"]} | {plan["choice"].split(", ")[-1]}
        for words in ("trees of 3 adjacent", "trees of 2 adjacent", "trees of 2 evenly spaced"):
            self.assertIn(f"positions reduced in {words} positions", others)


if __name__ == "__main__":
    main()
