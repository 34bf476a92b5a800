#!/usr/bin/env python3
"""Selects by constants, and scatters to constant places, take no more cycles than slices and a concat. Values are NumPy's,
exactly, where infinities and NaN are not read too.

usage: choices_test.py SLUICE [unittest arguments]
"""
import json
import re

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import main
from refusal import Refusal

TARGET = "c2b8"
MASK_CYCLES, SCATTER_CYCLES = 102, 70  # at most, of the first two tests


def sliced(graph, name, axis, start, end):
    """A slice along one axis; its name."""
    output = f"{name}.{axis}.{start}.{end}"
    if any(node.name == output for node in graph.nodes):
        return output
    words = {"starts": [start], "ends": [end], "axes": [axis]}
    graph.nodes.append(helper.make_node("Slice", [name, *(f"{output}.{word}" for word in words)], [output], name=output))
    graph.constants += [models.constant(f"{output}.{word}", np.int64(values)) for word, values in words.items()]
    return output


class Graph:
    """Nodes and constants of a model with inputs x and z of one shape, and the values of its tensors."""
    def __init__(self, **values):
        self.nodes, self.constants, self.inputs, self.values = [], [], values, dict(values)

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(models.constant(name, value))
        return name

    def add(self, op, inputs, value, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.values[name] = value
        return name

    def model(self, output):
        read = {name for node in self.nodes for name in node.input}
        self.inputs = {name: value for name, value in self.inputs.items() if name in read}
        return models.model([*self.nodes, helper.make_node("Identity", [output], ["y"], name="last")],
                            [models.tensor(name, *value.shape) for name, value in self.inputs.items()],
                            [models.tensor("y", *self.values[output].shape)], self.constants, opset=14)


def numbers(random, *shape):
    """bf16 numbers, with infinities and NaN among them."""
    value = (random.integers(-200, 200, shape) / 8).astype(np.float32)
    for special in (np.inf, -np.inf, np.nan):
        value.flat[random.integers(0, value.size, 2)] = special
    return value


class Choices(Refusal):
    def cycles(self, model, *flags, file="m.sluice"):
        onnx.save(model, self.dir / "m.onnx")
        code, out, err = self.sluice("compile", "m.onnx", "--target", TARGET, "--json", "-o", file, *flags)
        notes = "note: (nothing reads input '[xz]'; it is not sent|output 'y' is a constant; it depends on no input)\n"
        self.assertEqual((code, re.sub(notes, "", err)), (0, ""))
        return json.loads(out)["latency"]["spaced"]

    def computes(self, inputs, y):
        for name, value in {**inputs, "y": y}.items():
            np.save(self.dir / f"{name}.npy", value)
        engine = "both" if TARGET in json.loads(self.ok("version", "--json"))["engines"]["rtl"] else "vm"
        self.ok("run", "m.sluice", "--engine", engine, *(word for n in inputs for word in ("--input", f"{n}=@{n}.npy")),
                "--output", "y=@found.npy")
        np.testing.assert_array_equal(np.load(self.dir / "found.npy"), y)

    def check(self, graph, output, pieces, most):
        """The model takes at most the cycles of its pieces, written as slices and concats, and `most`."""
        written = self.cycles(pieces.model(pieces.last))
        found = self.cycles(graph.model(output))
        self.assertLessEqual(found, min(written, most))
        self.computes(graph.inputs, graph.values[output])

    def test_mask_of_rows(self):
        random = np.random.default_rng(1)
        x, z = numbers(random, 4, 6, 16), numbers(random, 4, 6, 16)
        mask = random.integers(0, 2, (4, 6, 1)).astype(bool)
        graph, pieces = Graph(x=x, z=z), Graph(x=x, z=z)
        output = graph.add("Where", [graph.constant(mask), "x", "z"], np.where(mask, x, z))
        lines = []
        for i in range(4):
            parts = [sliced(pieces, sliced(pieces, "x" if mask[i, j] else "z", 0, i, i + 1), 1, j, j + 1) for j in range(6)]
            lines.append(pieces.add("Concat", parts, None, axis=1))
        pieces.last = pieces.add("Concat", lines, x, axis=0)
        self.check(graph, output, pieces, MASK_CYCLES)

    def test_scatter_of_a_row(self):
        random = np.random.default_rng(2)
        x, z = numbers(random, 16, 16), numbers(random, 1, 16)
        y = x.copy()
        y[5] = z[0]
        graph, pieces = Graph(x=x, z=z), Graph(x=x, z=z)
        output = graph.add("ScatterND", ["x", graph.constant(np.int64([[5]])), "z"], y)
        pieces.last = pieces.add("Concat", [sliced(pieces, "x", 0, 0, 5), "z", sliced(pieces, "x", 0, 6, 16)], y, axis=0)
        self.check(graph, output, pieces, SCATTER_CYCLES)

    def test_function_of_both(self):
        """Where a map for each operand takes longer, one map stays."""
        random = np.random.default_rng(3)
        x, z = numbers(random, 4, 6, 16), numbers(random, 4, 6, 16)
        mask = random.integers(0, 2, (4, 6, 1)).astype(bool)
        graph = Graph(x=x, z=z)
        chosen = graph.add("Where", [graph.constant(mask), graph.add("Tanh", ["x"], x), "x"], x)
        model = graph.model(graph.add("Add", [chosen, "z"], x))
        self.assertLessEqual(self.cycles(model), self.cycles(model, "--without-rewrite", "split-choices"))

    def test_mask_times_infinity(self):
        """Infinity times 0 is NaN; rows whose factor is 1 keep it."""
        x = numbers(np.random.default_rng(4), 6, 16)
        mask = np.float32([1, 0, 1, 1, 0, 0])[:, None]
        graph = Graph(x=x)
        with np.errstate(invalid="ignore"):
            output = graph.add("Mul", ["x", graph.constant(mask)], x * mask)
        self.cycles(graph.model(output))
        self.computes(graph.inputs, graph.values[output])

    def test_random_choices(self):
        random = np.random.default_rng(5)
        fewer = 0
        for case in range(24):
            shape = [int(random.integers(2, 8)) for _ in range(int(random.integers(1, 3)))] + [int(random.choice((4, 8, 13, 16, 24)))]
            graph = Graph(x=numbers(random, *shape), z=numbers(random, *shape))
            made = ["x", "z"]
            for _ in range(int(random.integers(1, 4))):
                made.append(self.choice(random, graph, shape, made))
            model = graph.model(made[-1])
            with self.subTest(case, nodes=[node.op_type for node in graph.nodes], shape=shape):
                pins = [word for name in graph.inputs for word in ("--data-dim", f"{name}={len(shape) - 1}")]
                whole = self.cycles(model, "--without-rewrite", "split-choices", *pins)
                split = self.cycles(model, *pins)
                self.assertLessEqual(split, whole)
                fewer += split < whole
                self.computes(graph.inputs, graph.values[made[-1]])
        self.assertGreater(fewer, 8)

    @staticmethod
    def choice(random, graph, shape, made):
        """One more tensor of this shape, of whose elements each is one of another tensor, or a constant."""
        first, second = (made[random.integers(len(made))] for _ in range(2))
        a, b = graph.values[first], graph.values[second]
        kind = random.integers(4)
        if kind == 0 and len(shape) > 1:
            k, upper = int(random.integers(-4, 5)), int(random.integers(2))
            kept = (np.triu if upper else np.tril)(np.ones(shape[-2:]), k) != 0
            return graph.add("Trilu", [first, graph.constant(np.int64(k))], np.where(kept, a, np.float32(0)), upper=upper)
        if kind == 1:
            places = random.integers(0, shape[0], int(random.integers(1, shape[0])))
            y = a.copy()
            for place, update in zip(places, b):
                y[place] = update
            updates = sliced(graph, second, 0, 0, len(places)) if len(places) < shape[0] else second
            return graph.add("ScatterND", [first, graph.constant(np.int64(places)[:, None]), updates], y)
        extents = [extent if random.integers(2) else 1 for extent in shape[:-1]] + [shape[-1] if kind == 2 else 1]
        mask = random.integers(0, 2, extents).astype(bool)
        if kind == 2:
            mask[..., : shape[-1] // 2] = mask[..., :1]
        if random.integers(3) == 0:
            b = np.float32(random.choice((0, -np.inf, 1.5)))
            second = graph.constant(b)
        y = np.where(mask, a, b).astype(np.float32)
        return graph.add("Where", [graph.constant(mask), first, second], np.broadcast_to(y, shape))


if __name__ == "__main__":
    main()
