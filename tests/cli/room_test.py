#!/usr/bin/env python3
"""A model does not fit: the message names a preset with room and the smallest larger memory, and both are right.

usage: room_test.py SLUICE TARGETS_FOLDER [unittest arguments]
"""
import json
import pathlib
import re
import sys
import unittest

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import main
from refusal import LONG, TOO_BIG, Refusal

TARGETS = pathlib.Path(sys.argv.pop(2))


def dense(*sizes):
    """MatMul layers fc0, fc1, ... without biases."""
    nodes = [helper.make_node("MatMul", [f"h{i}", f"W{i}"], [f"h{i + 1}"], name=f"fc{i}") for i in range(len(sizes) - 1)]
    nodes[0].input[0], nodes[-1].output[0] = "x", "y"
    return models.model(nodes, [models.tensor("x", 1, sizes[0])], [models.tensor("y", 1, sizes[-1])],
                        [models.constant(f"W{i}", models.values(*two)) for i, two in enumerate(zip(sizes, sizes[1:]))])


def largest(elements):
    """The largest element of the input: all its rows are in the inboxes at once."""
    node = helper.make_node("ReduceMax", ["x"], ["y"], name="max", axes=[1])
    return models.model([node], [models.tensor("x", 1, elements)], [models.tensor("y", 1, 1)])


class Room(Refusal):
    def target(self, name, preset="c2b8", **changes):
        geometry = json.loads((TARGETS / f"{preset}.json").read_text())
        geometry.update({"name": name, **changes})
        (self.dir / f"{name}.json").write_text(json.dumps(geometry))
        return f"{name}.json"

    def fixes(self, *flags):
        """The fixes of the first error of m.onnx that name a target."""
        code, out, _ = self.sluice("check", "m.onnx", *flags, "--json")
        self.assertEqual(code, TOO_BIG)
        fixes = json.loads(out[out.index(b"{"):])["errors"][0]["fixes"]
        return [fix for fix in fixes if fix["verified"]]

    def cycles(self, target, flags=()):
        """Compiles m.onnx, runs it on every engine of the target, compares the output, and returns the cycles."""
        model = onnx.load(self.dir / "m.onnx")
        x = models.values(*(d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim)) - np.float32(0.5)
        y = x
        weights = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
        for node in model.graph.node:
            y = y @ weights[node.input[1]]
        np.save(self.dir / "x.npy", x)
        np.save(self.dir / "y.npy", y)
        out = self.ok("compile", "m.onnx", "--target", target, *flags, "-o", "m.sluice", "--json")
        preset = target if not target.endswith(".json") else json.loads((self.dir / target).read_text())["rtl"]
        if preset == target:
            self.right("m.sluice", target)
        else: # no Verilated hardware has memories of this size
            self.ok("run", "m.sluice", "--engine", "vm", "--input", "x=@x.npy", "--expect", "y=@y.npy")
        return json.loads(out[out.index("{"):])["latency"]["spaced"]

    def test_preset_and_memory(self):
        """Both offers are applied; they compile with the cycles of the message, and half the memory does not do."""
        onnx.save(models.too_big(), self.dir / "m.onnx")
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit c2b8: core 0 needs 2176 weight blocks, 128 more than its 2048
              --> m.onnx
             note: node 0 'wide' (MatMul) uses 2048 weight blocks on core 0
             note: node 1 'narrow' (MatMul) uses 128 weight blocks on core 0
             help: compiles for target 'c6b32' in 97 cycles (--target c6b32, verified)
             help: compiles with "weight_blocks": 4096 instead of 2048 in a target file in 2148 cycles (verified, 2051 more)
             help: use a target with more weight blocks or more cores
            """, flags=LONG)
        preset, memory = self.fixes("--target", "c2b8", *LONG)
        self.assertEqual(self.cycles("c6b32"), preset["cycles"])
        self.assertEqual(self.cycles(self.target("mine", weight_blocks=4096)), memory["cycles"])

    def test_json(self):
        onnx.save(models.too_big(), self.dir / "m.onnx")
        preset, memory = self.fixes("--target", "c2b8", *LONG)
        least = min(preset["cycles"], memory["cycles"])
        self.assertEqual(preset, {"text": f"compiles for target 'c6b32' in {preset['cycles']} cycles",
                                  "flag": "--target c6b32", "verified": True, "cycles": preset["cycles"],
                                  "extra_cycles": preset["cycles"] - least})
        self.assertEqual(memory, {"text": f"compiles with \"weight_blocks\": 4096 instead of 2048 in a target file in "
                                          f"{memory['cycles']} cycles",
                                  "flag": None, "verified": True, "cycles": memory["cycles"],
                                  "extra_cycles": memory["cycles"] - least})

    def test_user_target(self):
        """The change is the smallest: half of the size does not fit."""
        onnx.save(dense(32, 32), self.dir / "m.onnx")
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit small: its weights need at least 11 weight blocks, 5 more than the 6 of all cores
              --> m.onnx
             note: node 0 'fc0' (MatMul) needs at least 11 weight blocks
             help: compiles for target 'c2b8' in 34 cycles (--target c2b8, verified)
             help: compiles with "weight_blocks": 8 instead of 3 in a target file in 34 cycles (verified)
             help: use a target with more weight blocks or more cores
            """, target=self.target("small", weight_blocks=3), flags=LONG)
        _, memory = self.fixes("--target", "small.json", *LONG)
        self.assertEqual(self.cycles(self.target("larger", weight_blocks=8)), memory["cycles"])
        self.assertEqual(self.sluice("check", "m.onnx", "--target", self.target("half", weight_blocks=4),
                                     "--fit-seconds", "0")[0], TOO_BIG)

    def test_one_core(self):
        """One core holds too few weights: the message is that of every target."""
        onnx.save(dense(200, 200), self.dir / "m.onnx")
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit ecp5-85f: core 0 needs 2500 weight blocks, 452 more than its 2048
              --> m.onnx
             note: node 0 'fc0' (MatMul) uses 2500 weight blocks on core 0
             help: compiles for target 'c2b8' in 338 cycles (--target c2b8, verified)
             help: compiles with "weight_blocks": 4096 instead of 2048 in a target file in 2526 cycles (verified, 2188 more)
             help: use a target with more weight blocks or more cores
            """, target="ecp5-85f", flags=LONG)
        _, memory = self.fixes("--target", "ecp5-85f", *LONG)
        self.assertEqual(self.cycles(self.target("larger", "ecp5-85f", weight_blocks=4096)), memory["cycles"])

    def test_only_memory(self):
        """More rows of the input than any preset holds."""
        onnx.save(largest(70000), self.dir / "m.onnx")
        self.compile_refused(TOO_BIG, """
            error[E0402]: the model does not fit c3b64: its inputs need 1094 inbox rows, 70 more than its 1024
              --> m.onnx
             note: input 'x' needs 1094 rows
             help: compiles with "inbox_rows": 2048 instead of 1024 in a target file in 1479 cycles (verified)
             help: use a target with more inbox rows or more lanes
            """, target="c3b64", flags=LONG)
        [memory] = self.fixes("--target", "c3b64", *LONG)
        out = self.ok("compile", "m.onnx", "--target", self.target("mine", "c3b64", inbox_rows=2048), "-o", "m.sluice", "--json")
        self.assertEqual(json.loads(out[out.index("{"):])["latency"]["spaced"], memory["cycles"])
        x = models.values(1, 70000)
        np.save(self.dir / "x.npy", x)
        np.save(self.dir / "y.npy", x.max(axis=1, keepdims=True))
        self.ok("run", "m.sluice", "--engine", "vm", "--input", "x=@x.npy", "--expect", "y=@y.npy")

    def test_nothing_has_room(self):
        """More rows of the input than a target file may have."""
        self.compile_refused(TOO_BIG, """
            error[E0402]: the model does not fit c3b64: its inputs need 78125 inbox rows, 77101 more than its 1024
              --> m.onnx
             note: input 'x' needs 78125 rows
             note: no preset target and no target with one larger memory has room
             help: use a target with more inbox rows or more lanes
            """, largest(5_000_000), target="c3b64", flags=LONG)

    def test_not_tried(self):
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit c2b8: core 0 needs 2176 weight blocks, 128 more than its 2048
              --> m.onnx
             note: node 0 'wide' (MatMul) uses 2048 weight blocks on core 0
             note: node 1 'narrow' (MatMul) uses 128 weight blocks on core 0
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: use a target with more weight blocks or more cores
            """, models.too_big(), flags=("--fit-seconds", "0"))

    def test_bound_that_is_not_tried(self):
        """The size follows from the weights that every program has; it is no verified fix."""
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit c6b32: its weights need at least 3800 weight blocks, 728 more than the 3072 of all cores
              --> m.onnx
             note: node 1 'fc1' (MatMul) needs at least 2500 weight blocks
             note: node 2 'fc2' (MatMul) needs at least 1250 weight blocks
             note: node 0 'fc0' (MatMul) needs at least 50 weight blocks
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: try "weight_blocks": 1024 or more instead of 512 in a target file
             help: use a target with more weight blocks or more cores
            """, models.more_weights_than_memory(), target="c6b32", flags=("--fit-seconds", "0"))

    def test_seconds(self):
        onnx.save(dense(8, 8), self.dir / "m.onnx")
        for wrong in ("-1", "86401"):
            code, _, err = self.sluice("check", "m.onnx", "--fit-seconds", wrong)
            self.assertEqual(code, 2)
            self.assertTrue(re.search(r"--fit-seconds.*not in range", err), err)


if __name__ == "__main__":
    main()
