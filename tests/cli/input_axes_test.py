#!/usr/bin/env python3
"""Inputs along the axis of which fewer rows have to be sent, where sending takes most of the cycles.

usage: input_axes_test.py SLUICE [unittest arguments]
"""
import json
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import Folder, main

TARGET = "c6b32"


class InputAxes(Folder):
    def setUp(self):
        """Two convolutions of 3 x 3 over 12 x 12 positions, the first with stride 2: 144 rows of 8 channels, or 96 along a line."""
        super().setUp()
        self.weights = np.random.default_rng(3).integers(-2, 3, (2, 8, 8, 3, 3)).astype(np.float32)
        nodes = [helper.make_node("Conv", ["x", "w0"], ["h"], strides=[2, 2]), helper.make_node("Relu", ["h"], ["r"]),
                 helper.make_node("Conv", ["r", "w1"], ["y"])]
        graph = helper.make_graph(nodes, "image", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 12, 12])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 3, 3])],
                                  [numpy_helper.from_array(one, f"w{i}") for i, one in enumerate(self.weights)])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), self.dir / "m.onnx")

    def reference(self, x):
        windows = np.lib.stride_tricks.sliding_window_view(x[0], (3, 3), axis=(1, 2))[:, ::2, ::2]
        hidden = np.maximum(np.einsum("chwij,ocij->ohw", windows, self.weights[0]), 0)
        return np.einsum("chwij,ocij->ohw", np.lib.stride_tricks.sliding_window_view(hidden, (3, 3), axis=(1, 2)), self.weights[1])

    def cycles(self, *options):
        text = self.ok("compile", "m.onnx", "--target", TARGET, "-o", "m.sluice", *options)
        return int(re.search(r"latency, spaced +(\d+) cycles", text)[1])

    def explained(self):
        return json.loads(self.ok("explain", "--plan", "m.onnx", "--target", TARGET, "--json"))

    def test_the_fastest_axis_is_taken(self):
        """No axis that an option names takes fewer cycles, and the values are those of NumPy."""
        found = self.cycles()
        named = {axis: self.cycles("--data-dim", f"x={axis}") for axis in (1, 2, 3)}
        self.assertEqual(found, min(named.values()))
        self.assertLess(found, named[1])
        self.cycles()
        x = np.random.default_rng(4).integers(-1, 2, (1, 8, 12, 12)).astype(np.float32)
        np.save(self.dir / "x.npy", x)
        engine = "both" if TARGET in json.loads(self.ok("version", "--json"))["engines"]["rtl"] else "vm"
        text = self.ok("run", "m.sluice", "--engine", engine, "--input", "x=@x.npy", "--output", "y=@y.npy")
        self.assertTrue(engine == "vm" or "engines agree: equal bits, equal cycles" in text, text)
        wanted = self.reference(x)
        # Integers are exact up to 256 in the first layer; results are rounded to bf16, of 8 bits.
        np.testing.assert_allclose(np.load(self.dir / "y.npy")[0], wanted, rtol=2 ** -8)

    def test_the_other_axes_are_told(self):
        plan = self.explained()
        self.assertEqual(plan["spaced"], self.cycles())
        names = [one["choice"] for one in plan["losers"]]
        self.assertIn("inputs as the layout chooses", names)
        for one in plan["losers"]:
            if one["choice"].startswith("inputs a"):
                self.assertEqual(one["why"], "another form of the model")
                self.assertGreaterEqual(one["cycles"], plan["spaced"])

    def test_an_option_stays(self):
        self.cycles("--data-dim", "x=1")
        self.assertIn("  input  x float32 [1, 8, 12, 12], data dimension 1, rows 0 to 143\n", self.ok("inspect", "--io", "m.sluice"))


if __name__ == "__main__":
    main()
