#!/usr/bin/env python3
"""Models that are deep, long, or compute large constants: every one compiles or is rejected with a
reason, in processor time and memory that grow as the model.

usage: deep_models_test.py SLUICE [unittest arguments]
"""
import os
import resource
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

import bad_models as models
from folder import SLUICE, Folder, main

SECONDS, MEGABYTES = 40, 1000  # of processor time, with room for slow machines; of memory
REJECTED = {3, 4, 5}           # exit codes: not supported, does not fit, malformed

node = helper.make_node
constant = models.constant
WEIGHTS = constant("W", 0.3 * models.values(8, 8))
BIAS = constant("b", models.values(8))


def ints(name, *values):
    return constant(name, np.array(values, np.int64))


def chain(count, step, shape=(1, 8), constants=(), out=None, first="x"):
    """`count` times the nodes that `step` makes from one name to another."""
    nodes, value = [], first
    for i in range(count):
        nodes += step(value, f"v{i}")
        value = f"v{i}"
    nodes[-1].output[0] = "y"
    return models.model(nodes, [models.tensor("x", *shape)], [models.tensor("y", *(out or shape))], constants)


def loop(trips, body, constants=()):
    """A Loop whose body makes `n` of `s`."""
    graph = helper.make_graph(
        [node("Identity", ["c"], ["cc"]), *body], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         models.tensor("s", 1, 8)], [helper.make_tensor_value_info("cc", TensorProto.BOOL, []), models.tensor("n", 1, 8)])
    return models.model([node("Loop", ["m", "t", "x"], ["y"], body=graph)], [models.tensor("x", 1, 8)],
                        [models.tensor("y", 1, 8)],
                        [constant("m", np.array(trips, np.int64)), constant("t", np.array(True)), *constants])


def functions(bodies, first):
    """Functions of one input and output, by the nodes of their bodies, which may call each other."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    made = [helper.make_function("f", f"F{i}", ["a"], ["r"], body, imports) for i, body in enumerate(bodies)]
    graph = helper.make_graph(first, "test", [models.tensor("x", 1, 8)], [models.tensor("y", 1, 8)])
    return helper.make_model(graph, opset_imports=imports, ir_version=8, functions=made)


def call(i, a, r):
    return node(f"F{i}", [a], [r], domain="f")


HALVES = (ints("zero", 0), ints("four", 4), ints("eight", 8), ints("axis", 0))
KERNEL = constant("K", 0.3 * models.values(2, 2, 3))

DEEP = {
    "dense layers": lambda: chain(3000, lambda v, o: [node("MatMul", [v, "W"], [o + "h"]), node("Tanh", [o + "h"], [o])],
                                  constants=[WEIGHTS]),
    "dense layers without functions": lambda: chain(3000, lambda v, o: [node("Gemm", [v, "W", "b"], [o])],
                                                    constants=[WEIGHTS, BIAS]),
    "dense layers of positions": lambda: chain(
        1000, lambda v, o: [node("MatMul", [v, "W"], [o + "h"]), node("Tanh", [o + "h"], [o])], (20, 8), [WEIGHTS]),
    "maps": lambda: chain(10000, lambda v, o: [node("Relu", [v], [o])]),
    "tables": lambda: chain(3000, lambda v, o: [node("Tanh", [v], [o])]),
    "views": lambda: chain(3000, lambda v, o: [node("Transpose", [v], [o], perm=[1, 0])], (8, 8)),
    "views that are read twice": lambda: chain(
        40, lambda v, o: [node("Slice", [v, "zero", "four", "axis"], [o + "l"]),
                          node("Slice", [v, "four", "eight", "axis"], [o + "r"]),
                          node("Concat", [o + "r", o + "l"], [o], axis=0)], (8, 8), HALVES),
    "sums that are read twice": lambda: chain(200, lambda v, o: [node("Add", [v, v], [o])]),
    "softmax": lambda: chain(300, lambda v, o: [node("Softmax", [v], [o])]),
    "sums along lanes": lambda: chain(1000, lambda v, o: [node("ReduceSum", [v, "one"], [o + "s"], keepdims=1),
                                                          node("Sub", [v, o + "s"], [o])], constants=[ints("one", 1)]),
    "products of activations": lambda: chain(500, lambda v, o: [node("MatMul", [v, v], [o])], (8, 8)),
    "convolutions": lambda: chain(300, lambda v, o: [node("Conv", [v, "K"], [o + "c"], pads=[1, 1]),
                                                     node("Relu", [o + "c"], [o])], (1, 2, 16), [KERNEL]),
    "windows": lambda: chain(300, lambda v, o: [node("MaxPool", [v], [o], kernel_shape=[3], pads=[1, 1])], (1, 2, 16)),
    "constants": lambda: models.model(
        [node("Add", [f"k{i}", "c"], [f"k{i + 1}"]) for i in range(2000)] + [node("Add", ["x", "k2000"], ["y"])],
        [models.tensor("x", 1, 600)], [models.tensor("y", 1, 600)],
        [constant("k0", np.ones(600, np.float32)), constant("c", np.full(600, 0.5, np.float32))]),
    "functions, one after the other": lambda: functions(
        [[node("Tanh", ["a"], ["r"])] for _ in range(3000)],
        [call(i, f"v{i}" if i else "x", f"v{i + 1}" if i < 2999 else "y") for i in range(3000)]),
    "functions in functions": lambda: functions(
        [[node("Relu", ["a"], ["t"]), call(i + 1, "t", "r")] for i in range(2999)] + [[node("Tanh", ["a"], ["r"])]],
        [call(0, "x", "y")]),
    "functions that call another twice": lambda: functions(
        [[call(i + 1, "a", "t"), call(i + 1, "t", "r")] for i in range(39)] + [[node("Tanh", ["a"], ["r"])]],
        [call(0, "x", "y")]),
    "a loop": lambda: loop(2750, [node("MatMul", ["s", "W"], ["h"]), node("Tanh", ["h"], ["n"])], [WEIGHTS]),
    "a loop of four operations": lambda: loop(
        1000, [node("MatMul", ["s", "W"], ["h"]), node("Tanh", ["h"], ["g"]), node("Mul", ["g", "s"], ["k"]),
               node("Add", ["k", "b"], ["n"])], [WEIGHTS, BIAS]),
}



def attention(batch, positions, width):
    """Attention of one head over every sequence of a batch."""
    weights = [constant(w, 0.3 * models.values(width, width)) for w in "qkv"]
    return models.model(
        [*(node("MatMul", ["x", w], [f"{w}x"]) for w in "qkv"), node("Transpose", ["kx"], ["kt"], perm=[0, 2, 1]),
         node("MatMul", ["qx", "kt"], ["a"]), node("Softmax", ["a"], ["p"]), node("MatMul", ["p", "vx"], ["y"])],
        [models.tensor("x", batch, positions, width)], [models.tensor("y", batch, positions, width)], weights)


def softmax_times_product(axis, *shape):
    return models.model([node("Softmax", ["x"], ["p"], axis=axis), node("MatMul", ["x", "W"], ["z"]),
                         node("Mul", ["p", "z"], ["y"])],
                        [models.tensor("x", *shape)], [models.tensor("y", *shape)], [WEIGHTS])


# Loops over positions that instructions could not express ended in an internal error.
LOOPS = {
    "attention over 6 x 40 positions": lambda: attention(6, 40, 8),
    "attention over 6 x 40 positions of 4 lanes": lambda: attention(6, 40, 4),
    "softmax over positions times products": lambda: softmax_times_product(-2, 6, 40, 8),
    "softmax over sequences times products": lambda: softmax_times_product(0, 6, 40, 8),
    "TopK of rank 3": lambda: models.model([node("TopK", ["x", "k"], ["y", "i"], axis=2)], [models.tensor("x", 2, 8, 6)],
                                           [models.tensor("y", 2, 8, 1)], [ints("k", 1)]),
    "a layer norm and a reshape": lambda: models.model(
        [node("LayerNormalization", ["x", "scale"], ["n"]), node("Reshape", ["n", "to"], ["y"])],
        [models.tensor("x", 2, 36, 15)], [models.tensor("y", 2, 540)],
        [constant("scale", np.ones(15, np.float32)), ints("to", 2, 540)]),
}

BIG = 1 << 15  # of two axes: four times as many elements as may be computed


def folded(*nodes, constants=()):
    """The sum of x and the largest element of what the nodes make, `c`."""
    return models.model([*nodes, node("ReduceMax", ["c"], ["s"], keepdims=0), node("Add", ["x", "s"], ["y"])],
                        [models.tensor("x", 1, 8)], [models.tensor("y", 1, 8)], constants)


ROW = constant("row", np.ones((1, 8), np.float32))
SQUARE = [constant("left", np.ones((BIG, 1), np.float32)), constant("right", np.ones((1, BIG), np.float32))]
LARGE = {
    "Expand": lambda: folded(node("Expand", ["row", "to"], ["c"]), constants=[ROW, ints("to", BIG * BIG // 8, 8)]),
    "Tile": lambda: folded(node("Tile", ["row", "to"], ["c"]), constants=[ROW, ints("to", BIG, BIG // 8)]),
    "Pad": lambda: folded(node("Pad", ["row", "to"], ["c"]), constants=[ROW, ints("to", 0, 0, BIG * BIG // 8, 0)]),
    "Resize": lambda: folded(node("Resize", ["row", "", "", "to"], ["c"], mode="nearest"),
                             constants=[ROW, ints("to", BIG, BIG)]),
    "MatMul": lambda: folded(node("MatMul", ["left", "right"], ["c"]), constants=SQUARE),
    "Gemm": lambda: folded(node("Gemm", ["left", "right"], ["c"]), constants=SQUARE),
    "Einsum": lambda: folded(node("Einsum", ["left", "right"], ["c"], equation="ij,jk->ik"), constants=SQUARE),
    "Add": lambda: folded(node("Add", ["left", "right"], ["c"]), constants=SQUARE),
    "Where": lambda: folded(node("Where", ["true", "left", "right"], ["c"]),
                            constants=[*SQUARE, constant("true", np.array(True))]),
    "Max": lambda: folded(node("Max", ["left", "right"], ["c"]), constants=SQUARE),
    "Pow": lambda: folded(node("Pow", ["left", "right"], ["c"]), constants=SQUARE),
    "Range": lambda: folded(node("Range", ["from", "until", "by"], ["c"]),
                            constants=[constant("from", np.float32(0)), constant("until", np.float32(1e9)),
                                       constant("by", np.float32(1))]),
    "ConstantOfShape": lambda: folded(node("ConstantOfShape", ["to"], ["c"]), constants=[ints("to", BIG, BIG)]),
    "Concat": lambda: folded(
        node("ConstantOfShape", ["to"], ["k0"]),
        *(node("Concat", [f"k{i}", f"k{i}"], [f"k{i + 1}" if i < 13 else "c"], axis=0) for i in range(14)),
        constants=[ints("to", BIG, 8)]),
    "EyeLike": lambda: folded(node("ConstantOfShape", ["to"], ["k"]), node("EyeLike", ["k"], ["c"]),
                              constants=[ints("to", BIG, BIG)]),
    "OneHot": lambda: folded(node("ConstantOfShape", ["to"], ["k"]), node("Cast", ["k"], ["i"], to=TensorProto.INT64),
                             node("OneHot", ["i", "depth", "two"], ["c"]),
                             constants=[ints("to", BIG * BIG // 256), ints("depth", 256), constant("two", np.float32([0, 1]))]),
    "Gather": lambda: folded(node("ConstantOfShape", ["to"], ["k"]), node("Cast", ["k"], ["i"], to=TensorProto.INT64),
                             node("Gather", ["row", "i"], ["c"]), constants=[ROW, ints("to", BIG * 128)]),
    "a chain of sums": lambda: folded(
        node("ConstantOfShape", ["to"], ["k0"]), node("Cos", ["k0"], ["k1"]),
        *(node("Add", [f"k{i}", f"k{i}"], [f"k{i + 1}" if i < 60 else "c"]) for i in range(1, 61)),
        constants=[ints("to", BIG, 256)]),
}


class Deep(Folder):
    def run_limited(self, proto, *flags):
        """Exit code, messages, seconds of the processor, and megabytes of a compilation."""
        onnx.save(proto, self.dir / "m.onnx")
        with open(self.dir / "log", "w+", encoding="utf-8") as log:
            child = subprocess.Popen([SLUICE, "compile", "m.onnx", *(flags or ("--target", "c2b8")), "--effort", "fast",
                                      "-o", "m.sluice"], cwd=self.dir, stdout=log, stderr=log,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            log.seek(0)
            return child.returncode, log.read(), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024

    def bounded(self, proto, *flags):
        code, text, seconds, megabytes = self.run_limited(proto, *flags)
        self.assertIn(code, {0, *REJECTED}, (code, seconds, megabytes, text[:500]))
        self.assertNotIn("please report", text)
        self.assertLess(seconds, SECONDS)
        self.assertLess(megabytes, MEGABYTES)
        return code, text

    def test_deep_models(self):
        for name, make in DEEP.items():
            with self.subTest(name):
                code, text = self.bounded(make())
                if code != 0:
                    self.assertRegex(text, r"^error\[E[0-9]+\]: ")

    def test_deep_functions_are_not_called_recursive(self):
        self.assertIn("error[E0113]: function calls are nested more than 64 deep",
                      self.run_limited(DEEP["functions in functions"]())[1])

    def test_many_nodes(self):
        """More than functions may be inlined to."""
        self.assertEqual(self.bounded(chain(120000, lambda v, o: [node("Relu", [v], [o])]))[0], 0)

    def test_loops_over_positions(self):
        for name, make in LOOPS.items():
            for target in ("c2b8", "c6b32"):
                with self.subTest(name, target=target):
                    code, text = self.bounded(make(), "--target", target, "--rewrite-layout", "--allow-dynamic-weights")
                    self.assertEqual(code, 0, text)

    def test_large_constants(self):
        for name, make in LARGE.items():
            with self.subTest(name):
                code, text = self.bounded(make())
                self.assertIn(code, (3, 5), text[:500])
                self.assertRegex(text, "elements|operations")


if __name__ == "__main__":
    main()
