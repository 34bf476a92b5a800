#!/usr/bin/env python3
"""Long sums of products on several cores: their cycles, and their values on both engines.

usage: chains_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import Folder, main

WIDE = 4096


def weights(*shape):
    return (np.random.default_rng(shape).standard_normal(shape) / np.sqrt(shape[-2])).astype(np.float32)


class Chains(Folder):
    def cycles(self, heads, width=WIDE, *flags):
        """Returns the cycles of a wide hidden layer and so many dense layers behind it, each of one row. Their values are near."""
        x, first = weights(1, 32), weights(32, width)
        constants = {"v": first} | {f"w{i}": weights(i + 1, width, 32)[i] for i in range(heads)}
        nodes = [helper.make_node("MatMul", ["x", "v"], ["h"], name="hidden"), helper.make_node("Relu", ["h"], ["r"], name="relu")]
        nodes += [helper.make_node("MatMul", ["r", f"w{i}"], [f"y{i}"], name=f"head{i}") for i in range(heads)]
        graph = helper.make_graph(nodes, "chains", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 32])],
                                  [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, [1, 32]) for i in range(heads)],
                                  [numpy_helper.from_array(value, name) for name, value in constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), self.dir / "m.onnx")
        np.save(self.dir / "x.npy", x)
        hidden = np.maximum(x.astype(np.float64) @ first, 0)
        for i in range(heads):
            np.save(self.dir / f"y{i}.npy", (hidden @ constants[f"w{i}"]).astype(np.float32))
        (self.dir / "y.npy").write_bytes((self.dir / "y0.npy").read_bytes())
        self.ok("--json=c.json", "compile", "m.onnx", "--target", "c6b32", "-o", "p.sluice", *flags)
        more = [word for i in range(1, heads) for word in ("--expect", f"y{i}=@y{i}.npy")]
        self.right("p.sluice", "c6b32", "y0", more)
        return json.loads((self.dir / "c.json").read_text())["latency"]["spaced"]

    def test_one_long_sum(self):
        """192 products of one row, which take as many cycles on one core."""
        self.assertLessEqual(self.cycles(1, 6144), 135)

    def test_sums_beside_each_other(self):
        """128 products in each of two and three rows."""
        self.assertLessEqual(self.cycles(2), 133)
        self.assertLessEqual(self.cycles(3), 152)

    def test_a_pinned_layer(self):
        """It stays on the cores that it is given: one computes all of it, several share it."""
        one, two, three = (self.cycles(1, 6144, "--core-partition", f"head0={cores}") for cores in ("0", "0,1", "1,3,4"))
        self.assertGreater(one, 192)
        self.assertLessEqual(two, one - 50)
        self.assertLessEqual(three, two - 10)


if __name__ == "__main__":
    main()
