#!/usr/bin/env python3
"""The host sends the rows of an input that something reads, and no others. Values are NumPy's, exactly.

usage: input_parts_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import TensorProto, helper

import bad_models as models
from folder import main
from refusal import USAGE, Refusal

LANES = 8  # of c2b8


def sliced(name, output, starts, ends, steps):
    """A Slice over all axes, and its constants."""
    words = {"starts": starts, "ends": ends, "axes": range(len(starts)), "steps": steps}
    return (helper.make_node("Slice", [name, *(f"{output}.{word}" for word in words)], [output], name=output),
            [models.constant(f"{output}.{word}", np.int64(list(values))) for word, values in words.items()])


def numbers(random, *shape):
    """bf16 numbers above 0, of which 251 neighbours differ."""
    return (np.arange(np.prod(shape)) % 251 + random.integers(1, 5)).astype(np.float32).reshape(shape) / 256


class InputParts(Refusal):
    def compile(self, model, notes=""):
        """What the command says as JSON, and the inputs that the program has."""
        onnx.save(model, self.dir / "m.onnx")
        code, out, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "--json", "-o", "m.sluice")
        self.assertEqual((code, err), (0, notes))
        told = json.loads(out)
        io = json.loads(self.ok("inspect", "m.sluice", "--io", "--json"))["models"][0]
        return told, {one["name"]: one for one in io["inputs"]}

    def both(self, inputs, outputs):
        """Runs on both engines; outputs are equal to these."""
        for name, value in {**inputs, **outputs}.items():
            np.save(self.dir / f"{name}.npy", value)
        engine = "both" if "c2b8" in json.loads(self.ok("version", "--json"))["engines"]["rtl"] else "vm"
        self.ok("run", "m.sluice", "--engine", engine, *(w for n in inputs for w in ("--input", f"{n}=@{n}.npy")),
                *(w for n in outputs for w in ("--output", f"{n}=@{n}.found.npy")))
        for name, value in outputs.items():
            found = np.load(self.dir / f"{name}.found.npy")
            np.testing.assert_array_equal(found, value)
            self.assertEqual(found.dtype, value.dtype)

    def test_rows(self):
        node, constants = sliced("x", "s", (3, 0), (5, 16), (1, 1))
        told, inputs = self.compile(models.model([node, helper.make_node("Relu", ["s"], ["y"], name="act")],
                                                 [models.tensor("x", 200, 16)], [models.tensor("y", 2, 16)], constants))
        self.assertEqual(list(inputs), ["x[3:5]"])
        self.assertEqual((inputs["x[3:5]"]["rows"], inputs["x[3:5]"]["selection"]), (4, {"first": 48, "strides": [16, 1]}))
        self.assertLessEqual(told["latency"]["period"], 30)
        self.assertEqual(self.ok("inspect", "m.sluice", "--io").splitlines()[2:4], [
            "  input  x float32 [200, 16]",
            "  made   x[3:5] float32 [2, 16], data dimension 1, rows 0 to 3"])
        x = np.full((200, 16), np.nan, np.float32)
        x[3:5] = numbers(np.random.default_rng(1), 2, 16) - 1 / 16
        self.both({"x": x}, {"y": np.maximum(x[3:5], 0)})

    def test_behind_other_operations(self):
        """What an output does not depend on is not sent, whatever lies between the input and the slice."""
        random = np.random.default_rng(7)
        x = np.full((200, 16), np.nan, np.float32)
        x[3:5], x[9:11] = numbers(random, 2, 16), numbers(random, 2, 16)
        flat = {"starts": (48,), "ends": (80,), "steps": (1,)}
        reshape = helper.make_node("Reshape", ["x", "shape"], ["r"], name="reshape")
        relu = helper.make_node("Relu", ["x"], ["r"], name="act")
        for name, nodes, constants, outputs, parts in (
                ("reshape", [reshape, sliced("r", "y", *flat.values())], [models.constant("shape", np.int64([3200]))],
                 {"y": x[3:5].reshape(-1)}, {"x[3:5]": 4}),
                ("two slices of a map", [relu, sliced("r", "y", (3, 0), (5, 16), (1, 1)), sliced("r", "z", (9, 0), (11, 16), (1, 1))], [],
                 {"y": x[3:5], "z": x[9:11]}, {"x[3:5]": 4, "x[9:11]": 4})):
            with self.subTest(name):
                pairs = [node if isinstance(node, tuple) else (node, []) for node in nodes]
                told, inputs = self.compile(models.model(
                    [node for node, _ in pairs], [models.tensor("x", 200, 16)], [models.tensor(y, *v.shape) for y, v in outputs.items()],
                    constants + [one for _, more in pairs for one in more]))
                self.assertEqual({part: one["rows"] for part, one in inputs.items()}, parts)
                self.assertLessEqual(told["latency"]["period"], 30)
                self.both({"x": x}, outputs)

    def test_behind_a_window(self):
        """Two positions of a convolution and of a pooling."""
        x = np.full((1, 16, 200), np.nan, np.float32)
        x[:, :, 3:7] = numbers(np.random.default_rng(8), 1, 16, 4)
        weights = np.zeros((8, 16, 3), np.float32)
        weights[range(8), range(8), 2] = 1
        conv = helper.make_node("Conv", ["x", "w"], ["r"], name="conv")
        pool = helper.make_node("MaxPool", ["x"], ["r"], name="pool", kernel_shape=[2])
        cut, constants = sliced("r", "y", (0, 0, 3), (1, 8, 5), (1, 1, 1))
        for node, more, found, part, rows in ((conv, [models.constant("w", weights)], x[:, :8, 5:7], "x[:, :, 3:7]", 8),
                                              (pool, [], np.maximum(x[:, :8, 3:5], x[:, :8, 4:6]), "x[:, 0:8, 3:6]", 3)):
            with self.subTest(node.name):
                told, inputs = self.compile(models.model([node, cut], [models.tensor("x", 1, 16, 200)], [models.tensor("y", 1, 8, 2)],
                                                         constants + more))
                self.assertEqual({name: one["rows"] for name, one in inputs.items()}, {part: rows})
                self.assertLessEqual(told["latency"]["period"], 40)
                self.both({"x": x}, {"y": found})

    def test_an_input_that_nothing_reads(self):
        model = models.model([helper.make_node("Relu", ["x"], ["y"], name="act")],
                             [models.tensor("z", 50, 16), models.tensor("x", 4, 16)], [models.tensor("y", 4, 16)])
        note = "note: nothing reads input 'z'; it is not sent\n"
        told, inputs = self.compile(model, note)
        self.assertEqual(list(inputs), ["x"])
        self.assertLessEqual(told["latency"]["period"], 30)
        self.assertIn("  input  z float32 [50, 16], not sent\n", self.ok("inspect", "m.sluice", "--io"))
        x = numbers(np.random.default_rng(2), 4, 16)
        self.both({"x": x, "z": np.full((50, 16), np.inf, np.float32)}, {"y": x})
        # The other way round, with the integers that it accepts.
        model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT8
        self.compile(model, note)
        np.save(self.dir / "z.npy", np.full((50, 16), 300))
        self.refused(USAGE, """
            error[E0618]: input 'z' has 300 at [0, 0], allowed: integers from -128 to 127 (int8 in the model)
              --> m.sluice
            """, "run", "m.sluice", "--engine", "vm", "--input", "x=@x.npy", "--input", "z=@z.npy")

    def test_a_layout_that_was_printed(self):
        """Its arguments are the parts, and are whole inputs of the program that is made from it."""
        node, constants = sliced("x", "s", (3, 0), (5, 16), (1, 1))
        onnx.save(models.model([node, helper.make_node("Relu", ["s"], ["y"], name="act")], [models.tensor("x", 200, 16)],
                               [models.tensor("y", 2, 16)], constants), self.dir / "m.onnx")
        (self.dir / "m.mlir").write_text(self.ok("compile", "m.onnx", "--target", "c2b8", "--emit", "layout"))
        self.ok("compile", "m.mlir", "--target", "c2b8", "-o", "m.sluice")
        self.assertIn("  input  x[3:5] float32 [2, 16], data dimension 1, rows 0 to 3\n",
                      self.ok("inspect", "m.sluice", "--io"))
        x = numbers(np.random.default_rng(5), 2, 16)
        np.save(self.dir / "x.npy", x)
        self.ok("run", "m.sluice", "--engine", "vm", "--input", "x[3:5]=@x.npy", "--output", "y=@y.npy")
        np.testing.assert_array_equal(np.load(self.dir / "y.npy"), x)

    def test_every_type(self):
        for kind, of in ((TensorProto.INT8, np.int8), (TensorProto.FLOAT16, np.float16), (TensorProto.BOOL, np.bool_),
                         (TensorProto.DOUBLE, np.float64), (TensorProto.INT64, np.int64)):
            with self.subTest(of.__name__):
                node, constants = sliced("x", "y", (0, 9), (12, 30), (5, 1))
                _, inputs = self.compile(models.model([node], [models.tensor("x", 12, 40, kind=kind)],
                                                      [models.tensor("y", 3, 21, kind=kind)], constants))
                self.assertEqual([one["rows"] for one in inputs.values()], [9])  # rows 0, 5 and 10, lanes 8 to 31
                x = np.arange(480).reshape(12, 40) % (2 if of == np.bool_ else 100)
                self.both({"x": x.astype(of)}, {"y": x.astype(of)[0:12:5, 9:30]})

    def test_quantised_at_the_host(self):
        node, constants = sliced("k", "y", (30, 0), (32, 8), (1, 1))
        constants += [models.constant("scale", np.float32(0.25)), models.constant("zero", np.int8(3))]
        nodes = [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["k"], name="quantise"), node]
        _, inputs = self.compile(models.model(nodes, [models.tensor("x", 40, 8)],
                                              [models.tensor("y", 2, 8, kind=TensorProto.INT8)], constants))
        self.assertEqual([one["rows"] for one in inputs.values()], [2])
        x = np.random.default_rng(3).standard_normal((40, 8)).astype(np.float32)
        self.both({"x": x}, {"y": (np.round(x[30:32] * 4) + 3).astype(np.int8)})

    def test_random_slices(self):
        """Of one input; the rows that are sent are the ones that are read, or those of the box around them."""
        random = np.random.default_rng(4)
        parts = 0
        for case in range(24):
            shape = [int(random.integers(1, 12)) for _ in range(int(random.integers(1, 3)))] + [int(random.integers(4, 40))]
            x, nodes, constants, outputs, read = numbers(random, *shape), [], [], {}, np.zeros(shape, bool)
            for i in range(int(random.integers(1, 4))):
                steps = [int(random.choice((1, 1, 2, 3, -1, -2))) for _ in shape]
                first = [int(random.integers(0, extent)) for extent in shape]
                last = [int(random.integers(0, extent)) for extent in shape]
                starts = [min(a, b) if s > 0 else max(a, b) for a, b, s in zip(first, last, steps)]
                ends = [max(a, b) + 1 if s > 0 else min(a, b) - 1 for a, b, s in zip(first, last, steps)]
                ends = [e if e >= 0 else -extent - 1 for e, extent in zip(ends, shape)]
                index = tuple(slice(a, e if e >= 0 else None, s) for a, e, s in zip(starts, ends, steps))
                node, more = sliced("x", f"y{i}", starts, ends, steps)
                nodes.append(node)
                constants += more
                outputs[f"y{i}"] = x[index]
                read[index] = True
            with self.subTest(case, shape=shape, nodes=len(nodes)):
                _, inputs = self.compile(models.model(
                    nodes, [models.tensor("x", *shape)], [models.tensor(n, *v.shape) for n, v in outputs.items()], constants))
                if len(outputs) == 1:
                    dim = inputs[next(iter(inputs))]["data_dim"]
                    self.assertLessEqual(sum(one["rows"] for one in inputs.values()), rows_between(read, dim))
                parts += any(one["selection"] for one in inputs.values())
                # Whatever is not read may be anything.
                self.both({"x": np.where(read, x, np.nan)}, outputs)
        self.assertGreater(parts, 10)


def rows_between(read, dim):
    """Rows with an element that is read, and along the data dimension those between them."""
    lines = np.moveaxis(read, dim, -1).reshape(-1, read.shape[dim])
    columns = np.flatnonzero(lines.any(0)) // LANES
    return int(lines.any(1).sum()) * int(columns.max() - columns.min() + 1)


if __name__ == "__main__":
    main()
