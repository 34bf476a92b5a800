#!/usr/bin/env python3
"""The host quantises inputs and restores outputs in fp32: equal to onnxruntime in every integer, on both engines.

usage: quantised_border_test.py SLUICE [unittest arguments]      (python of tools/test_environment.sh)
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from folder import Folder, main  # noqa: E402
from node_by_node import session  # noqa: E402


def graph(nodes, inputs, outputs, constants):
    values = [[helper.make_tensor_value_info(n, kind, shape) for n, kind, shape in side] for side in (inputs, outputs)]
    made = helper.make_graph(nodes, "q", *values, [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()])
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


class Quantised(Folder):
    def compare(self, model, x):
        """Both engines give the outputs of onnxruntime, in every bit."""
        onnx.save(model, str(self.dir / "m.onnx"))
        np.save(self.dir / "x.npy", x)
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
        names = [output.name for output in model.graph.output]
        out = self.ok("run", "m.sluice", "--engine", "both", "--input", "x=@x.npy",
                          *(word for name in names for word in ("--output", f"{name}=@{name}.npy")))
        self.assertIn("engines agree: equal bits, equal cycles\n", out)
        wanted = session(model).run(None, {"x": x})
        for name, value in zip(names, wanted):
            found = np.load(self.dir / f"{name}.npy")
            self.assertEqual(found.dtype, value.dtype)
            np.testing.assert_array_equal(found, value)

    def test_input(self):
        """Inputs that bf16 does not have, ties among them, beyond both ends; uint8 and int8."""
        x = np.random.default_rng(1).normal(size=(4, 50)).astype(np.float32) * 5
        x[0, :8] = [0.125, 0.375, -0.125, 1000, -1000, 0.12500001, 0.37499997, 0]
        for kind, zero in ((TensorProto.UINT8, np.uint8(100)), (TensorProto.INT8, np.int8(-3))):
            model = graph([helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])], [("x", TensorProto.FLOAT, [4, 50])],
                          [("y", kind, [4, 50])], {"s": np.float32(0.25), "z": zero})
            self.compare(model, x)
            self.assertIn("quantised by 0.25 with zero point", self.ok("inspect", "m.sluice", "--io"))

    def test_input_and_output(self):
        """Restored outputs are fp32 numbers; the input has another reader too."""
        nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
                 helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
                 helper.make_node("Relu", ["x"], ["r"])]
        model = graph(nodes, [("x", TensorProto.FLOAT, [3, 16])],
                      [("y", TensorProto.FLOAT, [3, 16]), ("r", TensorProto.FLOAT, [3, 16])],
                      {"s": np.float32(0.0131), "z": np.uint8(128)})
        x = np.random.default_rng(2).integers(-128, 128, (3, 16)).astype(np.float32) / 64
        self.compare(model, x)

    def test_two_quantisations_of_one_input(self):
        nodes = [helper.make_node("QuantizeLinear", ["x", s, "z"], [y]) for s, y in (("s", "a"), ("t", "b"), ("s", "c"))]
        model = graph(nodes, [("x", TensorProto.FLOAT, [2, 9])], [(y, TensorProto.INT8, [2, 9]) for y in "abc"],
                      {"s": np.float32(0.1), "t": np.float32(0.37), "z": np.int8(5)})
        self.compare(model, np.random.default_rng(3).normal(size=(2, 9)).astype(np.float32) * 4)
        self.assertEqual(self.ok("inspect", "m.sluice", "--io").count("quantised by"), 2)


if __name__ == "__main__":
    main()
