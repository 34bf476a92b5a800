#!/usr/bin/env python3
"""Free means free: a view off the data dimension takes no instruction and no
cycle. A program with the view is compared with one that computes as many rows
without it. Instructions are compared in the first plan of each (--effort fast):
a search may spend some for cycles.

usage: layout_free_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import Folder, main

LAST = np.iinfo(np.int64).max


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), [output], name=output, **attributes)


# Every model is h = Relu(x W), a view v of h, y = Relu(v U), or without the view
# y = Relu(h U). h has its data dimension last: W stands on the right. So has v.
# Where the view changes how many rows there are, the program without it starts
# from an x that gives as many. Columns: shape of x; nodes from h to v with their
# constants; numpy's view; shape of x without the view.
def view(op, constants=None, **attributes):
    names = " ".join(["h", *(constants or {})])
    return [node(op, names, "v", **attributes)], {k: np.int64(v) for k, v in (constants or {}).items()}


VIEWS = {
    "slice": ((4, 3, 5), view("Slice", {"s": [1, 0], "e": [4, 2], "a": [0, 1]}), lambda h: h[1:4, 0:2], (4, 3, 5)),
    "slice with steps": ((4, 3, 5), view("Slice", {"s": [0], "e": [LAST], "a": [0], "t": [2]}), lambda h: h[::2],
                         (4, 3, 5)),
    "reverse": ((4, 3, 5), view("Slice", {"s": [-1, -1], "e": [-9, -9], "a": [0, 1], "t": [-1, -1]}),
                lambda h: h[::-1, ::-1], (4, 3, 5)),
    "reverse many": ((100, 5), view("Slice", {"s": [-1], "e": [-999], "a": [0], "t": [-1]}), lambda h: h[::-1],
                     (100, 5)),
    "gather": ((3, 3, 5), view("Gather", {"i": [2, 0, 1]}, axis=0), lambda h: h[[2, 0, 1]], (3, 3, 5)),
    "gather twice": ((3, 3, 5), view("Gather", {"i": [2, 0, 1, 0]}, axis=0), lambda h: h[[2, 0, 1, 0]], (4, 3, 5)),
    "transpose": ((4, 3, 5), view("Transpose", perm=[1, 0, 2]), lambda h: h.transpose(1, 0, 2), (4, 3, 5)),
    "unsqueeze": ((4, 3, 5), view("Unsqueeze", {"a": [0, 2]}), lambda h: h[None, :, None], (4, 3, 5)),
    "squeeze": ((4, 1, 5), view("Squeeze", {"a": [1]}), lambda h: h[:, 0], (4, 1, 5)),
    "reshape": ((4, 3, 5), view("Reshape", {"s": [2, 6, -1]}), lambda h: h.reshape(2, 6, -1), (4, 3, 5)),
    "flatten": ((4, 3, 5), view("Flatten", axis=2), lambda h: h.reshape(12, -1), (4, 3, 5)),
    "broadcast": ((1, 3, 5), view("Expand", {"s": [4, 3, 1]}), lambda h: np.repeat(h, 4, 0), (4, 3, 5)),
    "concat": ((2, 3, 5), ([node("Concat", "h h", "v", axis=1)], {}), lambda h: np.concatenate([h, h], 1), (4, 3, 5)),
    "stack": ((2, 3, 5), ([node("Unsqueeze", "h a", "u"), node("Concat", "u u", "v", axis=0)], {"a": np.int64([0])}),
              lambda h: np.stack([h, h]), (4, 3, 5)),
    "several": ((4, 3, 5), ([node("Transpose", "h", "t", perm=[1, 0, 2]), node("Unsqueeze", "t a", "u"),
                             node("Slice", "u s e b r", "c"), node("Reshape", "c q", "v")],
                            {"a": np.int64([0]), "s": np.int64([-1]), "e": np.int64([-9]), "b": np.int64([1]),
                             "r": np.int64([-1]), "q": np.int64([12, -1])}),
                lambda h: h.transpose(1, 0, 2)[::-1].reshape(12, -1), (4, 3, 5)),
}
WIDTH = 13  # of h: two rows of 8 lanes, the second not full


class Free(Folder):
    def program(self, name, shape, last, nodes=(), constants=None, rows=WIDTH, order=slice(None)):
        """Instructions of the cores and cycles of a compiled model whose last product is of `last`, by weights with so
        many rows, stored in this order."""
        first, second = (np.random.default_rng(seed).standard_normal(s).astype(np.float32) / 4
                         for seed, s in enumerate(((shape[-1], WIDTH), (rows, 6))))
        graph = helper.make_graph(
            [node("MatMul", "x W", "g"), node("Relu", "g", "h"), *nodes, node("MatMul", f"{last} U", "p"),
             node("Relu", "p", "y")], "free",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [numpy_helper.from_array(v, k) for k, v in {"W": first, "U": second[order], **(constants or {})}.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
                  self.dir / f"{name}.onnx")
        plain, compiled = (
            json.loads(self.ok("compile", f"{name}.onnx", "--target", "c2b8", "-o", f"{name}.sluice", "--json",
                               "--effort", effort)) for effort in ("fast", "default"))
        instructions = sum(fit["used"] for fit in plain["fits"] if fit["memory"] == "instructions")
        return instructions, compiled["latency"], first, second

    def test_between_pointwise_operations(self):
        """What keeps every element does not keep two maps apart."""
        maps = lambda view: [node("Tanh", "h", "t"), *view, node("Exp", "v" if view else "t", "e")]
        for name in ("transpose", "unsqueeze", "squeeze", "reshape", "flatten"):
            with self.subTest(view=name):
                shape, (view, constants), function, _ = VIEWS[name]
                view = [node(n.op_type, " ".join(["t", *n.input[1:]]), "v",
                             **{a.name: helper.get_attribute_value(a) for a in n.attribute}) for n in view]
                without, cycles_without, *_ = self.program("without", shape, "e", maps([]))
                instructions, cycles, first, second = self.program("with", shape, "e", maps(view), constants)
                self.assertLessEqual(instructions, without)
                self.assertEqual({m: max(c, cycles_without[m]) for m, c in cycles.items()}, cycles_without)
                x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
                np.save(self.dir / "x.npy", x)
                e = np.exp(np.tanh(function(np.maximum(x @ first, 0))))
                np.save(self.dir / "y.npy", np.maximum(e @ second, 0).astype(np.float32))
                self.right("with.sluice")

    def test_flattened_before_a_product(self):
        """Along which axis makes no difference: the weights are stored in that order."""
        flatten = node("Flatten", "t", "v", axis=0)
        by_lanes = np.arange(4 * WIDTH).reshape(4, WIDTH).T.reshape(-1)
        without, cycles_without, *_ = self.program(
            "without", (4, 5), "v", [node("Identity", "h", "t"), flatten], rows=4 * WIDTH)
        instructions, cycles, first, second = self.program(
            "with", (4, 5), "v", [node("Transpose", "h", "t"), flatten], rows=4 * WIDTH, order=by_lanes)
        self.assertEqual((instructions, cycles), (without, cycles_without))
        x = np.random.default_rng(2).standard_normal((4, 5)).astype(np.float32)
        np.save(self.dir / "x.npy", x)
        h = np.maximum(x @ first, 0).reshape(1, -1)
        np.save(self.dir / "y.npy", np.maximum(h @ second, 0).astype(np.float32))
        self.right("with.sluice")

    def test_no_instruction_and_no_cycle(self):
        for name, (shape, (nodes, constants), function, bare) in VIEWS.items():
            with self.subTest(view=name):
                without, cycles_without, *_ = self.program("without", bare, "h")
                instructions, cycles, first, second = self.program("with", shape, "v", nodes, constants)
                self.assertLessEqual(instructions, without)
                self.assertEqual({m: max(c, cycles_without[m]) for m, c in cycles.items()}, cycles_without)
                x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
                np.save(self.dir / "x.npy", x)
                h = np.maximum(x @ first, 0)
                np.save(self.dir / "y.npy", np.maximum(function(h) @ second, 0).astype(np.float32))
                self.right("with.sluice")


if __name__ == "__main__":
    main()
