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

TARGET = "c2b8"


class InputAxes(Folder):
    def convolution(self, channels, extent):
        """A convolution of 3 x 3 over `extent` x `extent` positions, and its weights."""
        weights = np.random.default_rng(3).standard_normal((channels, channels, 3, 3)).astype(np.float32) / 8
        shape, inner = [1, channels, extent, extent], [1, channels, extent - 2, extent - 2]
        graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"])], "image",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, inner)], [numpy_helper.from_array(weights, "w")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), self.dir / "m.onnx")
        return shape, weights

    def cycles(self, *options):
        text = self.ok("compile", "m.onnx", "--target", TARGET, "-o", "m.sluice", *options)
        return int(re.search(r"latency, spaced +(\d+) cycles", text)[1])

    def explained(self):
        return json.loads(self.ok("explain", "--plan", "m.onnx", "--target", TARGET, "--json"))

    def test_the_fastest_axis_is_taken(self):
        """No axis that an option names takes fewer cycles, and the values are those of NumPy."""
        shape, weights = self.convolution(2, 16)
        found = self.cycles()
        named = {axis: self.cycles("--data-dim", f"x={axis}") for axis in (1, 2, 3)}
        self.assertEqual(found, min(named.values()))
        self.assertLess(found, named[1])
        self.cycles()
        x = np.random.default_rng(4).integers(-4, 5, shape).astype(np.float32)
        np.save(self.dir / "x.npy", x)
        text = self.ok("run", "m.sluice", "--engine", "both", "--input", "x=@x.npy", "--output", "y=@y.npy")
        self.assertIn("engines agree: equal bits, equal cycles", text)
        windows = np.lib.stride_tricks.sliding_window_view(x[0], (3, 3), axis=(1, 2))
        wanted = np.einsum("chwij,ocij->ohw", windows, weights)
        # Weights and results are rounded to bf16, of 8 bits.
        np.testing.assert_allclose(np.load(self.dir / "y.npy")[0], wanted, atol=np.abs(wanted).max() * 2 ** -7)

    def test_the_other_axes_are_told(self):
        self.convolution(2, 16)
        plan = self.explained()
        self.assertEqual(plan["spaced"], self.cycles())
        names = [one["choice"] for one in plan["losers"]]
        self.assertIn("inputs as the layout chooses", names)
        others = [one for one in plan["losers"] if one["choice"].startswith("inputs a")]
        for one in others:
            self.assertEqual(one["why"], "another form of the model")
            self.assertGreaterEqual(one["cycles"], plan["spaced"])

    def test_an_option_stays(self):
        self.convolution(2, 16)
        self.cycles("--data-dim", "x=1")
        self.assertIn("[1 2! 16 16]", self.ok("inspect", "--io", "m.sluice"))


if __name__ == "__main__":
    main()
