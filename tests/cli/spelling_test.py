#!/usr/bin/env python3
"""One network, one plan: models that exporters write apart take the same cycles, without a flag.

usage: spelling_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import Folder, main


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), [output], name=output, **attributes)


def values(*shape):
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


class Spelling(Folder):
    def cycles(self, nodes, x, y, constants, *flags, opset=20):
        """Returns the cycles of a model from x to y, and compares it with y on both engines."""
        tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
        graph = helper.make_graph(nodes, "spelling", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, y.shape)], tensors)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9),
                  self.dir / "m.onnx")
        np.save(self.dir / "x.npy", x)
        np.save(self.dir / "y.npy", y.astype(np.float32))
        self.ok("--json=c.json", "compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice", *flags)
        self.right("p.sluice")
        return json.loads((self.dir / "c.json").read_text())["latency"]["spaced"]

    def same(self, spellings, x, y, constants, *flags, **kwargs):
        found = {name: self.cycles(nodes, x, y, constants, *flags, **kwargs) for name, nodes in spellings.items()}
        self.assertEqual(len(set(found.values())), 1, found)

    def test_axes_that_come_back(self):
        """The reduced axis returns, by any operator."""
        for batch in 1, 4:
            x, a, b = values(batch, 16), values(16, 24), values(24, 8)
            constants = {"A": a, "B": b, "ax": np.int64([1]), "s": np.int64([batch, 1])}
            before, after = [node("MatMul", "x A", "h")], [node("Sub", "h m", "d"), node("MatMul", "d B", "y")]
            h = x @ a
            for op, reference in (("ReduceMean", np.mean), ("ReduceMax", np.max)):
                y = (h - reference(h, 1, keepdims=True)) @ b
                self.same({
                    "keepdims": [*before, node(op, "h ax", "m", keepdims=1), *after],
                    "unsqueeze": [*before, node(op, "h ax", "r", keepdims=0), node("Unsqueeze", "r ax", "m"), *after],
                    "reshape": [*before, node(op, "h ax", "r", keepdims=0), node("Reshape", "r s", "m"), *after],
                }, x, y, constants)

    def test_axes_of_extent_one(self):
        """They decide nothing, wherever they are inserted."""
        x, a, b = values(1, 16), values(16, 8), values(8, 8)
        y = np.maximum(x @ a, 0) @ b
        plain = [node("MatMul", "x A", "h"), node("Relu", "h", "r"), node("MatMul", "r B", "y")]
        spellings = {"plain": plain}
        for axis in 0, 1, 2:
            spellings[axis] = [node("MatMul", "x A", "h"), node("Unsqueeze", f"h a{axis}", "u"), node("Relu", "u", "v"),
                               node("Squeeze", f"v a{axis}", "r"), node("MatMul", "r B", "y")]
        self.same(spellings, x, y, {"A": a, "B": b, **{f"a{axis}": np.int64([axis]) for axis in range(3)}})

    def test_one_hot_of_the_largest(self):
        x, a, b = values(1, 16), values(16, 4), values(4, 8)
        y = np.eye(4)[np.argmax(x @ a, 1)] @ b
        constants = {"A": a, "B": b, "n": np.int64(4), "v": np.float32([0, 1])}
        nodes = [node("MatMul", "x A", "h"), node("ArgMax", "h", "k", axis=-1, keepdims=0),
                 node("OneHot", "k n v", "o", axis=-1), node("MatMul", "o B", "y")]
        self.assertGreater(self.cycles(nodes, x, y, constants), 0)

    def test_weights_that_constants_make(self):
        x, w = values(1, 8, 16), values(8, 1, 4)
        padded = np.pad(x, ((0, 0), (0, 0), (3, 0)))
        y = np.stack([sum(w[:, 0, k] * padded[0, :, t + k] for k in range(4)) for t in range(16)], 1)[None]
        parts = values(8, 1, 4, 3)
        parts[..., 0] += w - parts.sum(3)
        conv = node("Conv", "x w", "y", group=8, pads=[3, 0])
        constants = {"parts": parts, "ax": np.int64([3]), "two": np.float32(2), "twice": 2 * w,
                     "left": values(8, 1, 1) * 0 + 1, "w0": w}
        self.same({
            "stored": [node("Identity", "w0", "w"), conv],
            "sum": [node("ReduceSum", "parts ax", "w", keepdims=0), conv],
            "quotient": [node("Div", "twice two", "w"), conv],
            "product": [node("MatMul", "left w0", "w"), conv],
        }, x, y, constants)

    def test_transposes_between_reshapes(self):
        x = values(1, 4, 16)
        heads = x.reshape(1, 4, 2, 8).transpose(0, 2, 1, 3)
        y = heads @ heads.transpose(0, 1, 3, 2)
        split = [node("Reshape", "x s4", "h"), node("Transpose", "h", "q", perm=[0, 2, 1, 3])]
        self.same({
            "transpose": [*split, node("Transpose", "q", "k", perm=[0, 1, 3, 2]), node("MatMul", "q k", "y")],
            "reshapes": [*split, node("Reshape", "q s3", "a"), node("Transpose", "a", "b", perm=[0, 2, 1]),
                         node("Reshape", "b t4", "k"), node("MatMul", "q k", "y")],
        }, x, y, {"s4": np.int64([1, 4, 2, 8]), "s3": np.int64([-1, 4, 8]), "t4": np.int64([1, 2, 8, 4])},
            "--allow-dynamic-weights")

    def test_group_norms(self):
        x, s, b = values(1, 8, 3, 3), values(8), values(8)
        grouped = x.reshape(1, 2, -1).astype(float)
        normal = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + 1e-5)
        y = normal.reshape(x.shape) * s.reshape(8, 1, 1) + b.reshape(8, 1, 1)
        self.same({
            "operator": [node("GroupNormalization", "x s b", "y", num_groups=2)],
            "instances": [node("Reshape", "x r", "a"), node("InstanceNormalization", "a one zero", "n"),
                          node("Reshape", "n q", "e"), node("Mul", "e s3", "f"), node("Add", "f b3", "y")],
        }, x, y, {"s": s, "b": b, "r": np.int64([0, 2, -1]), "q": np.int64(x.shape), "one": np.float32([1, 1]),
                  "zero": np.float32([0, 0]), "s3": s.reshape(8, 1, 1), "b3": b.reshape(8, 1, 1)}, opset=21)

    def test_group_norm_of_rank_two(self):
        x, s, b = values(2, 8), values(8), values(8)
        grouped = x.reshape(2, 2, 4).astype(float)
        normal = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + 1e-5)
        self.cycles([node("GroupNormalization", "x s b", "y", num_groups=2)], x, normal.reshape(2, 8) * s + b,
                    {"s": s, "b": b}, opset=21)

    def test_signals_without_an_axis_of_parts(self):
        x = values(1, 32)
        frames = np.stack([x[:, i:i + 8] for i in range(0, 25, 4)], 1)
        spectrum = np.fft.rfft(frames, axis=2)
        y = np.stack([spectrum.real, spectrum.imag], 3)
        constants = {"step": np.int64(4), "size": np.int64(8), "ax": np.int64([2])}
        self.same({
            "rank 2": [helper.make_node("STFT", ["x", "step", "", "size"], ["y"])],
            "rank 3": [node("Unsqueeze", "x ax", "u"), helper.make_node("STFT", ["u", "step", "", "size"], ["y"])],
        }, x, y, constants)


if __name__ == "__main__":
    main()
