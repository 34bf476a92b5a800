#!/usr/bin/env python3
"""Inputs and outputs have the element types of the model: every type, its extremes, and what is refused.

The table of docs/numerics.md says what each type accepts; the tests read it from there.

usage: border_test.py SLUICE PAGE [unittest arguments]
"""
import itertools
import json
import re
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import bad_models as models
from folder import main
from refusal import MALFORMED, REFUSED, USAGE, Refusal

FLOATS = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE}
INTEGERS = {name: getattr(TensorProto, name.upper()) for name in
            ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool")}


def accepted():
    """The integers that an input accepts, by type, as the page says."""
    rows = re.findall(r"^\| (\w+) \| integers from (-?\d+) to (\d+) \|", Path(sys.argv[2]).read_text(), re.M)
    return {name: (int(low), int(high)) for name, low, high in rows}


def passed(kind, shape=(2, 3)):
    """z is x in float32; y is x again."""
    nodes = [helper.make_node("Cast", ["x"], ["z"], name="as_float", to=TensorProto.FLOAT),
             helper.make_node("Identity", ["x"], ["y"], name="same")]
    return models.model(nodes, [models.tensor("x", *shape, kind=kind)],
                        [models.tensor("z", *shape), models.tensor("y", *shape, kind=kind)])


def everything():
    """All that the host does: types, a table, a mask of ids, a quantisation on either side, codes of indices."""
    nodes = [helper.make_node("Gather", ["table", "ids"], ["r"], name="rows"),
             helper.make_node("Equal", ["ids", "pad"], ["m"], name="mask"),
             helper.make_node("QuantizeLinear", ["q", "scale", "zero"], ["k"], name="quantise"),
             helper.make_node("DequantizeLinear", ["k", "scale", "zero"], ["d"], name="dequantise"),
             helper.make_node("Identity", ["n"], ["i"], name="same"),
             helper.make_node("ArgMax", ["c"], ["a"], name="largest", axis=1)]
    return models.model(
        nodes, [models.tensor("ids", 1, 3, kind=TensorProto.INT64), models.tensor("q", 1, 4),
                models.tensor("c", 1, 300), models.tensor("n", 1, 2, kind=TensorProto.INT32)],
        [models.tensor("r", 1, 3, 4), models.tensor("m", 1, 3, kind=TensorProto.BOOL), models.tensor("d", 1, 4),
         models.tensor("i", 1, 2, kind=TensorProto.INT32), models.tensor("a", 1, 1, kind=TensorProto.INT64)],
        [models.constant("table", models.values(7, 4)), models.constant("pad", np.int64([0])),
         models.constant("scale", np.float32(0.25)), models.constant("zero", np.int8(3))])


# Of textual IR: what is replaced, by what, and what is said of it.
WRONG_HOSTS = (
    ('type = "int64"}, limits', 'type = "int65"}, limits',
     "sluice.host of argument 'ids' has type 'int65', allowed: a type of NumPy, like 'int64'"),
    ('type = "bool"', "type = 1 : i64", "sluice.host of result 'm' has another kind of value for 'type'"),
    ("codes", "kodes", "sluice.host of result 'a' has unknown entry 'kodes'"),
    ('limits = array<i64: -256, 256>, name = "n"', 'limits = array<i64: 1>, name = "n"',
     "sluice.host of argument 'n' has 1 values for 'limits', allowed: 2"),
    ('256>, type = "int32"}', '257>, type = "int32"}',
     "input 'n': the limits are -256 and 257, allowed: ascending, in [-256, 256]"),
    ("first = -7 : i64, ", "", "sluice.host of argument 'ids for r' has a table that does not have 'first' and rows of f32"),
    ("scale = 2.500000e-01", "scale = -1.0", "input 'q for k': the scale is -1, allowed: finite and above 0"),
    (", zero = 3 : i64", "", "sluice.host of argument 'q for k' has some of 'scale', 'zero' and 'range', allowed: all or none"),
    ('{array = {index = 2 : i64, name = "c"}}', "{}", "argument 'c' has no array in sluice.host; if one has, all must"),
    ('array = {index = 1 : i64, name = "q"}', "array = {index = 1 : i64}",
     "sluice.host of argument 'q for k' has an array without a name and an index"),
    ('index = 1 : i64, name = "q"', 'index = 2 : i64, name = "q"', "sluice.host has two arrays with index 2"),
    ('index = 1 : i64, name = "q"', 'index = 9 : i64, name = "q"', "sluice.host has 4 arrays, but none with index 1"),
    ('array = {index = 1 : i64, name = "q"}', 'array = {codes, index = 1 : i64, name = "q"}',
     "sluice.host of argument 'q for k' has an array with a table, a scale or codes"),
)


class Border(Refusal):
    def compile(self, model):
        onnx.save(model, self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")

    def engine(self):
        return "both" if "c2b8" in json.loads(self.ok("version", "--json"))["engines"]["rtl"] else "vm"

    def run_on(self, x, *outputs):
        np.save(self.dir / "x.npy", x)
        self.ok("run", "m.sluice", "--engine", self.engine(), "--input", "x=@x.npy",
                *(word for name in outputs for word in ("--output", f"{name}=@{name}.npy")))
        return [np.load(self.dir / f"{name}.npy") for name in outputs]

    def test_integers_are_exact(self):
        self.assertEqual(set(accepted()), set(INTEGERS))
        for name, kind in INTEGERS.items():
            low, high = accepted()[name]
            with self.subTest(name):
                self.compile(passed(kind))
                self.assertIn(f"{name} [2, 3], data dimension 1, packed as [6], rows 0 to 0, integers from {low} to {high}\n",
                              self.ok("inspect", "m.sluice", "--io"))
                x = np.array([[low, high, 0], [1, high // 2, low // 2]]).astype(name)
                for given in {name, "int64", "float32"}:  # an array of another type, with the same numbers
                    z, y = self.run_on(x.astype(given), "z", "y")
                    self.assertEqual((z.dtype, y.dtype), (np.float32, np.dtype(name)))
                    np.testing.assert_array_equal(y, x)
                    np.testing.assert_array_equal(z, x.astype(np.float32))

    def test_other_elements_are_refused(self):
        for name, kind in INTEGERS.items():
            low, high = accepted()[name]
            self.compile(passed(kind))
            for value, text in ((low - 1, low - 1), (high + 1, high + 1), (0.5, 0.5), (np.nan, "nan"), (np.inf, "inf"),
                                (-2.0 ** 63, "-9.223372036854776e+18")):
                with self.subTest(name, value=value):
                    x = np.zeros((2, 3))
                    x[1, 2] = value
                    np.save(self.dir / "x.npy", x)
                    self.refused(USAGE, f"""
                        error[E0618]: input 'x' has {text} at [1, 2], allowed: integers from {low} to {high} ({name} in the model)
                          --> m.sluice
                        """, "run", "m.sluice", "--engine", "vm", "--input", "x=@x.npy")

    def test_floats(self):
        for name, kind in FLOATS.items():
            with self.subTest(name):
                self.compile(passed(kind))
                x = np.array([[1.5, -2.25, 1e-3], [np.inf, np.nan, -0.0]]).astype(name)
                wanted = np.array([[1.5, -2.25, x[0, 2]], [np.inf, np.nan, -0.0]])
                z, y = self.run_on(x, "z", "y")
                self.assertEqual((z.dtype, y.dtype), (np.float32, np.dtype(name)))
                np.testing.assert_allclose(y, wanted, rtol=2 ** -8)
                np.testing.assert_allclose(z, wanted, rtol=2 ** -8)
                self.assertEqual(np.signbit(y[1, 2]), True)

    def test_bfloat16_is_stored_as_its_bits(self):
        self.compile(passed(TensorProto.BFLOAT16))
        z, y = self.run_on(np.float32([[1, -2, 3], [0.5, 256, -1]]), "z", "y")
        self.assertEqual(y.dtype.str, "|V2")
        np.testing.assert_array_equal((y.view(np.uint16).astype(np.uint32) << 16).view(np.float32), z)

    def test_files(self):
        """An .npz, a .pb and both byte orders."""
        self.compile(passed(TensorProto.INT16))
        x = np.array([[-256, 256, 0], [1, -1, 77]], np.int16)
        np.savez(self.dir / "x.npz", x=x)
        np.save(self.dir / "big.npy", x.astype(">i2"))
        (self.dir / "x.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
        for given in ("@x.npz", "x=@big.npy", "x=@x.pb"):
            self.ok("run", "m.sluice", "--engine", "vm", "--input", given, "--output", "y=@y.npy")
            np.testing.assert_array_equal(np.load(self.dir / "y.npy"), x)

    def test_random_inputs_and_measurements(self):
        self.compile(passed(TensorProto.UINT8))
        self.ok("run", "m.sluice", "--engine", "vm", "--input", "x=random:3", "--output", "y=@y.npy")
        self.assertGreater(len(set(np.load(self.dir / "y.npy").flat)), 3)
        self.ok("bench", "m.sluice", "--engine", "vm")

    def test_all_inputs_are_checked(self):
        names = ("a", "b")
        self.compile(models.model([helper.make_node("Max", list(names), ["y"], name="larger")],
                                  [models.tensor(n, 3, kind=TensorProto.INT32) for n in names],
                                  [models.tensor("y", 3, kind=TensorProto.INT32)]))
        for n in names:
            np.save(self.dir / f"{n}.npy", np.array([1, 2, 1000]))
        self.refused(USAGE, """
            error[E0618]: input 'a' has 1000 at [2], allowed: integers from -256 to 256 (int32 in the model)
              --> m.sluice
            error[E0618]: input 'b' has 1000 at [2], allowed: integers from -256 to 256 (int32 in the model)
              --> m.sluice
            """, "run", "m.sluice", "--engine", "vm", "--input", "a=@a.npy", "--input", "b=@b.npy")

    def test_integers_are_computed_with(self):
        """Comparisons, Where, Cast and a sum within 256, of two types."""
        nodes = [helper.make_node("Greater", ["x", "limit"], ["big"], name="compare"),
                 helper.make_node("Where", ["big", "limit", "x"], ["least"], name="clip"),
                 helper.make_node("Cast", ["least"], ["f"], name="as_float", to=TensorProto.FLOAT),
                 helper.make_node("MatMul", ["f", "W"], ["y"], name="fc")]
        weights = models.values(8, 4)
        self.compile(models.model(nodes, [models.tensor("x", 2, 8, kind=TensorProto.INT8)],
                                  [models.tensor("y", 2, 4), models.tensor("big", 2, 8, kind=TensorProto.BOOL)],
                                  [models.constant("limit", np.int8(5)), models.constant("W", weights)]))
        x = np.arange(-128, -112).reshape(2, 8).astype(np.int8)
        x[1] = [4, 5, 6, 127, 0, -1, 3, 2]
        y, big = self.run_on(x, "y", "big")
        np.testing.assert_array_equal(big, x > 5)
        self.assertEqual(big.dtype, np.bool_)
        np.testing.assert_allclose(y, np.minimum(x, 5).astype(np.float32) @ weights, rtol=2 ** -7, atol=0.5)

    def test_steps(self):
        """Steps of a stream of bytes."""
        self.compile(passed(TensorProto.UINT8, (1, 4)))
        x = np.arange(12).reshape(3, 1, 4).astype(np.uint8) + 200
        np.save(self.dir / "x.npy", x)
        self.ok("run", "m.sluice", "--engine", "vm", "--steps", "3", "--input", "x=@x.npy", "--output", "y=@y.npy")
        np.testing.assert_array_equal(np.load(self.dir / "y.npy"), x)
        x = x.astype(np.int32)
        x[2, 0, 1] = 256
        np.save(self.dir / "x.npy", x)
        self.refused(USAGE, """
            error[E0618]: input 'x' has 256 at [2, 0, 1], allowed: integers from 0 to 255 (uint8 in the model)
              --> m.sluice
            """, "run", "m.sluice", "--engine", "vm", "--steps", "3", "--input", "x=@x.npy")

    def test_integer_states_are_refused(self):
        model = models.model([helper.make_node("Max", ["x", "s"], ["t"], name="largest")],
                             [models.tensor("x", 2, kind=TensorProto.INT8), models.tensor("s", 2, kind=TensorProto.INT8)],
                             [models.tensor("t", 2, kind=TensorProto.INT8), models.tensor("u", 2, kind=TensorProto.INT8)])
        model.graph.node.append(helper.make_node("Identity", ["t"], ["u"], name="copy"))
        self.compile_refused(REFUSED, """
            error[E0114]: state input 's' has type int8; sluice supports states of type float, float16, bfloat16 and double
              --> m.onnx
             help: keep the state as float, and cast it where the model needs integers
            """, model, flags=["--state", "s=t"])

    def test_textual_ir_keeps_what_the_host_does(self):
        self.save_text(everything())
        integers = np.random.default_rng(0).integers
        inputs = {"ids": integers(-7, 7, (1, 3)), "q": np.float32([[0.3, -9, 1.26, 40]]),
                  "c": np.float32(integers(0, 99, (1, 300))), "n": np.int32([[5, -7]])}
        for name, value in inputs.items():
            np.save(self.dir / f"{name}.npy", value)
        found = {}
        for kind in ("onnx", "mlir"):
            self.ok("compile", f"m.{kind}", "--target", "c2b8", "-o", f"{kind}.sluice")
            self.ok("run", f"{kind}.sluice", "--engine", self.engine(),
                    *(word for name in inputs for word in ("--input", f"{name}=@{name}.npy")),
                    *(word for name in "rmdia" for word in ("--output", f"{name}=@{kind}-{name}.npy")))
            # But for the parameters: codes are constants of the text.
            found[kind] = re.sub(r"\d+ parameters", "", self.ok("inspect", f"{kind}.sluice", "--io"))
        self.assertEqual(found["mlir"], found["onnx"])
        for name in "rmdia":
            onnx_bytes, mlir_bytes = ((self.dir / f"{kind}-{name}.npy").read_bytes() for kind in found)
            self.assertEqual(mlir_bytes, onnx_bytes, name)
        self.assertEqual(np.load(self.dir / "mlir-a.npy"), inputs["c"].argmax())

    def save_text(self, proto):
        onnx.save(proto, self.dir / "m.onnx")
        text = self.ok("compile", "m.onnx", "--target", "c2b8", "--emit", "graph")
        self.save("m.mlir", text.encode())
        return text

    def test_textual_ir_with_wrong_hosts(self):
        text = self.save_text(everything())
        for old, new, why in WRONG_HOSTS:
            with self.subTest(new):
                self.assertIn(old, text)
                self.save("w.mlir", text.replace(old, new).encode())
                self.refused(MALFORMED, f"error[E0116]: {why}\n  --> w.mlir:2\n", "check", "w.mlir", "--target", "c2b8")


if __name__ == "__main__":
    main(2)
