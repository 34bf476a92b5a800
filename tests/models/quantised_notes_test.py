#!/usr/bin/env python3
"""What 'compile' says of nodes whose integers may differ from those of ONNX, word for word; and that they differ by no more.

usage: quantised_notes_test.py SLUICE [unittest arguments]      (uses onnx and NumPy)
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from folder import Folder, main  # noqa: E402

FEATURES = 16
IN, ZERO = np.float32(0.021), np.uint8(120)
FUNCTIONS = {"LeakyRelu": lambda x: np.where(x < 0, float(np.float32(0.01)) * x, x), "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Relu": lambda x: np.maximum(x, 0),
             "Softmax": lambda x: np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)}


class Network:
    """Layers of a product with quantised weights and a function; each is quantised."""

    def __init__(self, functions, per_channel=False):
        self.rng = np.random.default_rng(3)
        self.nodes, self.known = [], {}
        self.x = self.rng.integers(0, 256, (5, FEATURES)).astype(np.uint8)
        self.integers, scale, zero, name = self.x, IN, ZERO, "x"
        for i, function in enumerate(functions):
            real = (self.integers.astype(float) - float(zero)) * float(scale)
            product = real @ self.weights(i, name, scale, zero, per_channel)
            self.node(function, [f"product{i}"], f"function{i}")
            zero, scale = (np.uint8(0), np.float32(1 / 256)) if function in ("Sigmoid", "Softmax") else (np.uint8(110), np.float32(0.05))
            name = f"y{i}"
            self.node("QuantizeLinear", [f"function{i}", self.constant(f"s{i}", scale), self.constant(f"z{i}", zero)], name)
            self.integers = np.clip(np.rint(FUNCTIONS[function](product) / float(scale)) + float(zero), 0, 255)
        self.output = name

    def constant(self, name, value):
        self.known[name] = np.asarray(value)
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))

    def weights(self, i, name, scale, zero, per_channel):
        w = self.rng.integers(-127, 128, (FEATURES, FEATURES)).astype(np.int8)
        by = self.rng.uniform(0.002, 0.008, FEATURES).astype(np.float32) if per_channel else np.float32(0.005)
        self.node("DequantizeLinear", [name, self.constant(f"t{i}", scale), self.constant(f"u{i}", zero)], f"real{i}")
        self.node("DequantizeLinear", [self.constant(f"w{i}", w), self.constant(f"b{i}", by), self.constant(f"n{i}", np.zeros(np.shape(by), np.int8))],
                  f"weights{i}", **({"axis": 1} if per_channel else {}))
        self.node("MatMul", [f"real{i}", f"weights{i}"], f"product{i}")
        return w * by.astype(float)

    def model(self):
        values = [[helper.make_tensor_value_info(n, TensorProto.UINT8, [5, FEATURES])] for n in ("x", self.output)]
        graph = helper.make_graph(self.nodes, "q", *values, [numpy_helper.from_array(v, k) for k, v in self.known.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


class Notes(Folder):
    def notes(self, network, target="c2b8"):
        onnx.save(network.model(), str(self.dir / "m.onnx"))
        code, _, err = self.sluice("compile", "m.onnx", "--target", target, "--check", "off", "-o", "m.sluice")
        self.assertEqual(code, 0, err)
        return err

    def largest(self, network):
        """The largest difference from the integers of ONNX in float64."""
        np.save(self.dir / "x.npy", network.x)
        self.ok("run", "m.sluice", "--engine", "vm", "--input", "x=@x.npy", "--output", f"{network.output}=@y.npy")
        return np.abs(np.load(self.dir / "y.npy") - network.integers).max()

    def test_exact(self):
        for per_channel in (False, True):
            network = Network(["Relu"], per_channel)
            self.assertEqual((self.notes(network), self.largest(network)), ("", 0))

    def test_exact_integers_are_checked(self):
        """No element counts as unchecked, though roundings to bf16 would move most integers by several steps."""
        onnx.save(Network(["Relu"] * 3, per_channel=True).model(), str(self.dir / "m.onnx"))
        out = self.ok("compile", "m.onnx", "--target", "c2b8", "--check", "7", "-o", "m.sluice")
        self.assertIn("checked             7 inputs, largest error 0 % of the range\n", out)

    def test_scales_of_an_input_along_an_axis(self):
        """The host quantises per tensor; here the program does, from bf16 numbers."""
        known = {"s": np.float32([0.013, 0.02, 0.1, 0.03]), "z": np.uint8([3, 100, 200, 128])}
        values = [[helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4, 8])], [helper.make_tensor_value_info("y", TensorProto.UINT8, [2, 4, 8])]]
        graph = helper.make_graph([helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"], axis=1, name="each")], "q", *values,
                                  [numpy_helper.from_array(v, k) for k, v in known.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(self.dir / "m.onnx"))
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
        self.assertEqual((code, err), (0, 'note: node 0 "each" (QuantizeLinear): integers may be up to 5 steps off those of ONNX\n'))
        x = np.random.default_rng(1).normal(size=(2, 4, 8)).astype(np.float32) * 3
        np.save(self.dir / "x.npy", x)
        self.ok("run", "m.sluice", "--engine", "vm", "--input", "x=@x.npy", "--output", "y=@y.npy")
        s, z = (known[k].astype(float).reshape(4, 1) for k in "sz")
        self.assertLessEqual(np.abs(np.load(self.dir / "y.npy") - np.clip(np.rint(x / s) + z, 0, 255)).max(), 5)

    def test_bounds(self):
        """A function of a product is rounded once, or once more behind scales per channel."""
        for function, per_channel, bound in (("LeakyRelu", False, "1 step"), ("LeakyRelu", True, "3 steps"), ("Sigmoid", False, "1 step")):
            with self.subTest(function=function, per_channel=per_channel):
                network = Network([function], per_channel)
                self.assertEqual(self.notes(network),
                                 f'note: node 4 "y0" (QuantizeLinear): integers may be up to {bound} off those of ONNX\n')
                self.assertLessEqual(self.largest(network), int(bound[0]))

    def test_no_bound(self):
        self.assertEqual(self.notes(Network(["Softmax"])),
                         'note: node 4 "y0" (QuantizeLinear): integers may differ from those of ONNX; no bound is known\n')

    def test_many_nodes(self):
        notes = self.notes(Network(["LeakyRelu"] * 7)).splitlines()
        self.assertEqual(len(notes), 6)
        self.assertEqual(notes[4:], ['note: node 24 "y4" (QuantizeLinear): integers may be up to 1 step off those of ONNX',
                                     "note: 2 more nodes: integers may be up to 1 step off those of ONNX"])
        self.assertEqual(self.notes(Network(["LeakyRelu"] * 5 + ["Softmax"])).splitlines()[5],
                         "note: 1 more node: integers may differ from those of ONNX; no bound is known")


if __name__ == "__main__":
    main()
