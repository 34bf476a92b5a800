#!/usr/bin/env python3
"""Writes random models as the backend tests of ONNX lay them out.

usage: make_random_cases.py FOLDER FIRST COUNT

Case N follows from N alone. A model is a chain of operators, with branches, over
tensors of a few elements that fit neither lanes nor each other: views that cut
rows apart, folds, products, maps. Expected values are numpy's, in double.
"""
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MAPS = {"Relu": lambda v: np.maximum(v, 0), "Tanh": np.tanh, "Neg": np.negative, "Abs": np.abs,
        "Sigmoid": lambda v: 1 / (1 + np.exp(-v)),
        "LeakyRelu": lambda v: np.where(v < 0, v / 100, v)}
PAIRS = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum,
         "Min": np.minimum}
FOLDS = {"ReduceMax": np.max, "ReduceMin": np.min, "ReduceMean": np.mean, "ReduceSum": np.sum,
         "ReduceSumSquare": lambda v, axis, keepdims: np.sum(v * v, axis=axis, keepdims=keepdims)}
MOST = 400  # elements of a tensor
STEADY = 2.0**-7  # what rounding may move, relative to the largest element of an output


def rounded(value):
    """To bf16, ties to even."""
    bits = np.atleast_1d(np.asarray(value, np.float32)).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.view(np.float32).astype(np.float64).reshape(np.shape(value))


class Tensor:
    def __init__(self, name, value, coarse):
        self.name, self.value, self.coarse = name, value, coarse
        self.shape, self.ndim, self.size = value.shape, value.ndim, value.size

    def steady(self):
        return np.abs(self.value - self.coarse).max() <= STEADY * np.abs(self.value).max()


class RandomModel:
    flags = ("--allow-dynamic-weights", "--rewrite-layout")  # of sluice compile
    opset = 13

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs = [], {}, {}
        self.tensors = []  # the newest last
        for _ in range(self.random.integers(1, 3)):
            self.add_input()
        for _ in range(self.random.integers(2, 9)):
            self.step()

    def integer(self, low, high):
        """low to high, both included."""
        return int(self.random.integers(low, high + 1))

    def shape(self):
        while True:
            shape = [self.integer(1, 12) for _ in range(self.integer(1, 4))]
            if np.prod(shape) <= MOST:
                return shape

    def input(self, shape):
        name = f"x{len(self.inputs)}"
        value = self.random.standard_normal(shape).astype(np.float32)
        self.inputs[name] = value
        self.tensors.append(Tensor(name, value.astype(np.float64), rounded(value)))
        return self.tensors[-1]

    def add_input(self):
        self.input(self.shape())

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def weights(self, shape, scale=1.0):
        value = (self.random.standard_normal(shape) * scale).astype(np.float32)
        return Tensor(self.constant(value), value.astype(np.float64), rounded(value))

    def node(self, op, tensors, function, extra=(), **attributes):
        """A node whose result is `function` of the tensors, unless that is too large or too
        long; `extra` are further operands."""
        value = np.asarray(function(*(t.value for t in tensors)))
        # Large values would turn the errors of later operators out of proportion.
        if not 0 < value.size <= MOST or value.ndim > 5 or np.abs(value).max() > 1e3:
            return
        count = len(self.nodes)
        operands = [t.name for t in tensors] + [self.constant(np.int64(v)) for v in extra]
        self.nodes.append(helper.make_node(op, operands, [f"t{count}"], name=f"n{count}",
                                           **attributes))
        coarse = rounded(function(*(t.coarse for t in tensors)))
        self.tensors.append(Tensor(f"t{count}", value, coarse))

    def pick(self):
        """The newest tensor, or now and then an older one."""
        newest = self.integer(0, 3) > 0
        return self.tensors[-1 if newest else self.integer(0, len(self.tensors) - 1)]

    def one_of(self, choices):
        return list(choices)[self.integer(0, len(choices) - 1)]

    def step(self):
        self.one_of((self.map, self.pair, self.with_constant, self.fold, self.slice, self.slice,
                     self.concat, self.transpose, self.reshape, self.reshape, self.expand,
                     self.tile, self.softmax, self.matmul, self.matmul, self.matmul_left,
                     self.product, self.split))(self.pick())

    def map(self, x):
        op = self.one_of(MAPS)
        self.node(op, [x], MAPS[op])

    def pair(self, x):
        op = self.one_of(PAIRS)
        for other in reversed(self.tensors):
            try:
                np.broadcast_shapes(x.shape, other.shape)
            except ValueError:
                continue
            if self.integer(0, 1):
                return self.node(op, [x, other], PAIRS[op])
        return None

    def with_constant(self, x):
        op = self.one_of(PAIRS)
        shape = [extent if self.integer(0, 2) else 1 for extent in x.shape]
        self.node(op, [x, self.weights(shape[self.integer(0, len(shape)):])], PAIRS[op])

    def fold(self, x):
        if x.ndim == 0:
            return
        op = self.one_of(FOLDS)
        count = self.integer(1, x.ndim)
        axes = sorted(int(a) for a in self.random.permutation(x.ndim)[:count])
        keep = self.integer(0, 1)
        attributes = {"keepdims": keep} if op == "ReduceSum" else {"keepdims": keep, "axes": axes}
        self.node(op, [x], lambda v: FOLDS[op](v, axis=tuple(axes), keepdims=bool(keep)),
                  [axes] if op == "ReduceSum" else (), **attributes)

    def slice(self, x):
        if x.ndim == 0:
            return
        axis = self.integer(0, x.ndim - 1)
        extent = x.shape[axis]
        start, stop = sorted((self.integer(0, extent - 1), self.integer(1, extent)))
        if start == stop:
            return
        start = start if self.integer(0, 2) else 0
        step = self.one_of((1, 1, 1, 2, -1))
        # Backwards, the end in front of the first element is out of range for numpy and ONNX.
        first, last = (start, stop) if step > 0 else (stop - 1, start - 1 if start else -extent - 1)
        key = (slice(None),) * axis + (slice(first, last, step),)
        self.node("Slice", [x], lambda v: v[key], [[first], [last], [axis], [step]])

    def concat(self, x):
        if x.ndim == 0:
            return
        axis = self.integer(0, x.ndim - 1)
        fits = [t for t in self.tensors if t.ndim == x.ndim and
                all(a == b for i, (a, b) in enumerate(zip(t.shape, x.shape)) if i != axis)]
        self.node("Concat", [x, self.one_of(fits)], lambda *v: np.concatenate(v, axis), axis=axis)

    def transpose(self, x):
        perm = [int(a) for a in self.random.permutation(x.ndim)]
        if x.ndim > 1:
            self.node("Transpose", [x], lambda v: v.transpose(perm), perm=perm)

    def reshape(self, x):
        rest, shape = x.size, []
        while rest > 1 and len(shape) < 4:
            shape.append(self.one_of([f for f in range(2, rest + 1) if rest % f == 0]))
            rest //= shape[-1]
        if rest > 1 or not shape or self.integer(0, 1):
            shape.append(rest)
        self.node("Reshape", [x], lambda v: v.reshape(shape), [shape])

    def expand(self, x):
        shape = [extent if extent > 1 else self.integer(1, 5) for extent in x.shape]
        if self.integer(0, 3) == 0:
            shape.insert(0, self.integer(1, 3))
        if shape:
            self.node("Expand", [x], lambda v: np.broadcast_to(v, shape), [shape])

    def tile(self, x):
        repeats = [self.integer(1, 2) for _ in x.shape]
        if repeats:
            self.node("Tile", [x], lambda v: np.tile(v, repeats), [repeats])

    def softmax(self, x):
        if x.ndim == 0:
            return
        axis = self.integer(0, x.ndim - 1)

        def function(v):
            e = np.exp(v - v.max(axis, keepdims=True))
            return e / e.sum(axis, keepdims=True)

        self.node("Softmax", [x], function, axis=axis)

    def matmul(self, x):
        if x.ndim:
            w = self.weights((x.shape[-1], self.integer(1, 12)), x.shape[-1] ** -0.5)
            self.node("MatMul", [x, w], np.matmul)

    def matmul_left(self, x):
        if x.ndim > 1:
            w = self.weights((self.integer(1, 12), x.shape[-2]), x.shape[-2] ** -0.5)
            self.node("MatMul", [w, x], np.matmul)

    def product(self, x):
        """Of two activations."""
        for other in reversed(self.tensors):
            if x.ndim < 2 or other.ndim < 2:
                continue
            if x.shape[-1] != other.shape[-2] and x.shape[-1] == other.shape[-1]:
                perm = [*range(other.ndim - 2), other.ndim - 1, other.ndim - 2]
                self.node("Transpose", [other], lambda v, p=tuple(perm): v.transpose(p), perm=perm)
                other = self.tensors[-1]
            try:
                np.broadcast_shapes(x.shape[:-2], other.shape[:-2])
            except ValueError:
                continue
            if x.shape[-1] == other.shape[-2]:
                return self.node("MatMul", [x, other], np.matmul)
        return None

    def split(self, x):
        """In two parts."""
        axes = [a for a, extent in enumerate(x.shape) if extent > 1]
        if not axes:
            return
        axis = self.one_of(axes)
        first = self.integer(1, x.shape[axis] - 1)
        sizes = self.constant(np.int64([first, x.shape[axis] - first]))
        count = len(self.nodes)
        names = [f"a{count}", f"b{count}"]
        self.nodes.append(helper.make_node("Split", [x.name, sizes], names, name=f"n{count}",
                                           axis=axis))
        self.tensors += map(Tensor, names, np.split(x.value, [first], axis),
                            np.split(x.coarse, [first], axis))

    def outputs(self):
        """What nothing reads."""
        read = {name for node in self.nodes for name in node.input}
        return [t for t in self.tensors if t.name not in read and t.name not in self.inputs]

    def write(self, folder):
        outputs = self.outputs()
        if not outputs or not all(t.steady() for t in outputs):
            return False
        graph = helper.make_graph(
            self.nodes, "random",
            [helper.make_tensor_value_info(k, TensorProto.FLOAT, v.shape)
             for k, v in self.inputs.items()],
            [helper.make_tensor_value_info(t.name, TensorProto.FLOAT, t.shape) for t in outputs],
            [numpy_helper.from_array(v, k) for k, v in self.constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = 8
        data = folder / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, str(folder / "model.onnx"))
        (folder / "flags.txt").write_text("\n".join(self.flags) + "\n")
        for kind, values in (("input", self.inputs.values()),
                             ("output", [t.value for t in outputs])):
            for i, value in enumerate(values):
                proto = numpy_helper.from_array(np.asarray(value, np.float32))
                (data / f"{kind}_{i}.pb").write_bytes(proto.SerializeToString())
        return True


def main(kind):
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    first, count = int(sys.argv[2]), int(sys.argv[3])
    written = sum(kind(seed).write(folder / f"random_{seed}") for seed in range(first, first + count))
    print(f"{written} cases")


if __name__ == "__main__":
    main(RandomModel)
