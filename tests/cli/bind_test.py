#!/usr/bin/env python3
"""--bind: an input of any type becomes a constant before import decides what folds.

usage: bind_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import bad_models as models
from folder import main
from refusal import REFUSED, USAGE, Refusal


def rated(kind=TensorProto.INT64, *, other="Relu", shape=()):
    """Relu(x) W at rate 16000, else `other`(x)."""
    fast = helper.make_graph([helper.make_node("Relu", ["x"], ["r"], name="act"),
                              helper.make_node("MatMul", ["r", "W"], ["f"], name="fc")],
                             "fast", [], [models.tensor("f", 1, 6)])
    slow = helper.make_graph([helper.make_node(other, ["x"], ["s"], name="other")], "slow", [],
                             [models.tensor("s", 1, 6)])
    nodes = [helper.make_node("Cast", ["sr"], ["rate"], name="rate", to=TensorProto.INT64),
             helper.make_node("Equal", ["rate", "expected"], ["same"], name="compare"),
             helper.make_node("If", ["same"], ["y"], name="choose", then_branch=fast, else_branch=slow)]
    return models.model(nodes, [models.tensor("x", 1, 8), models.tensor("sr", *shape, kind=kind)],
                        [models.tensor("y", 1, 6)],
                        [models.constant("expected", np.int64(16000)), models.constant("W", models.values(8, 6))])


def gathered():
    """Rows of a table by an index of two, times a factor, plus x; all are inputs."""
    return models.model([helper.make_node("Gather", ["table", "index"], ["g"], name="pick"),
                         helper.make_node("Mul", ["g", "factor"], ["m"], name="scale"),
                         helper.make_node("Add", ["x", "m"], ["y"], name="sum")],
                        [models.tensor("index", 2, kind=TensorProto.INT32), models.tensor("x", 2, 3),
                         models.tensor("factor", "n"), models.tensor("table", 4, 3)], [models.tensor("y", 2, 3)])


class Bind(Refusal):
    def flags(self, *bindings):
        return [word for binding in bindings for word in ("--bind", binding)]

    def test_condition(self):
        """The program is that of the branch which the value chooses."""
        for kind in (TensorProto.INT64, TensorProto.INT32, TensorProto.UINT16, TensorProto.FLOAT):
            onnx.save(rated(kind), self.dir / "m.onnx")
            self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *self.flags("sr=16000"))
            x = np.float32([[1, -2, 3, 0.5, -1, 2, 0, 1]])
            np.save(self.dir / "x.npy", x)
            np.save(self.dir / "y.npy", np.maximum(x, 0) @ models.values(8, 6))
            self.right("m.sluice")
        self.assertIn("--bind sr=16000", self.ok("inspect", "m.sluice"))

    def test_every_command_that_reads_a_model(self):
        onnx.save(rated(), self.dir / "m.onnx")
        self.ok("check", "m.onnx", "--target", "c2b8", *self.flags("sr=16000"))
        self.assertIn("sr []: constant\n",
                      self.ok("check", "m.onnx", "--target", "c2b8", "--explain-layout=sr", *self.flags("sr=16000")))
        self.assertIn("node 2 'choose' (If)", self.ok("explain", "--plan", "m.onnx", "--target", "c2b8", "--verbose", *self.flags("sr=16000")))

    def test_as_far_as_the_operators(self):
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'Frobnicate' is not supported: ONNX has no operator of this name up to opset 26
              --> m.onnx: node 2 "choose/other" (Frobnicate)
             help: use operators that `sluice ops` lists, or cut the model before this node
            """, rated(other="Frobnicate"), flags=self.flags("sr=8000"))
        self.compile_refused(REFUSED, """
            error[E0205]: If: input 'cond' must be one bool known at compile time (a constant, or from constants and \
shapes); found a run-time tensor bool []
              --> m.onnx: node 2 "choose" (If)
             help: fold it with onnxsim (give the input shapes), or bind the input that it depends on (--bind)
             help: give the value of 'sr', if it is always the same (--bind sr=...)
            """, rated())

    def test_values_and_files(self):
        onnx.save(gathered(), self.dir / "m.onnx")
        table, factor, x = models.values(4, 3), np.float64([2, 1, 0.5]), np.float32([[1, 2, 3], [4, 5, 6]])
        np.save(self.dir / "factor.npy", factor)
        np.save(self.dir / "x.npy", x)
        for index in ("index=1,3", "index=1.0,3", "index=@index.npy"):
            for name, array in (("table.npy", table), ("table.pb", None)):
                if array is None:
                    self.save(name, numpy_helper.from_array(table, "table").SerializeToString())
                else:
                    np.save(self.dir / name, array)
                np.save(self.dir / "index.npy", np.int64([1, 3]))
                np.save(self.dir / "y.npy", x + table[[1, 3]] * np.float32(factor))
                self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice",
                        *self.flags(index, f"table=@{name}", "factor=@factor.npy"))
                self.right("m.sluice")
        np.save(self.dir / "y.npy", x + table[[2, 2]] * np.float32(-0.25))
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--input-shape", "n=3",
                *self.flags("index=2", "table=@table.npy", "factor=-0.25"))
        self.right("m.sluice")

    def test_form(self):
        onnx.save(rated(), self.dir / "m.onnx")
        for binding in ("sr", "=1", "sr=", "sr=one", "sr=1,", "sr=1x", "sr=1 2"):
            self.refused(USAGE, f"error[E0601]: --bind '{binding}' is not of the form NAME=NUMBER,... or "
                         "NAME=@FILE.npy\n", "check", "m.onnx", *self.flags(binding))
        self.refused(USAGE, "error[E0601]: --bind sets 'sr' more than once\n", "check", "m.onnx",
                     *self.flags("sr=1", "sr=1"))
        code, _, err = self.sluice("check", "m.onnx", *self.flags("sr=@no.npy"))
        self.assertEqual((code, err), (5, "error[E0501]: cannot read 'no.npy': No such file or directory\n"))

    def test_values_that_do_not_fit(self):
        np.save(self.dir / "two.npy", np.float32([16000, 8000]))
        for kind, binding, code, message in (
                (TensorProto.INT64, "sr=1.5", "E0117", "value 1.5 does not fit type int64 of input 'sr'"),
                (TensorProto.INT8, "sr=16000", "E0117", "value 16000 does not fit type int8 of input 'sr'"),
                (TensorProto.UINT8, "sr=-1", "E0117", "value -1 does not fit type uint8 of input 'sr'"),
                (TensorProto.BOOL, "sr=2", "E0117", "value 2 does not fit type bool of input 'sr'"),
                (TensorProto.INT64, "sr=nan", "E0117", "value nan does not fit type int64 of input 'sr'"),
                (TensorProto.FLOAT16, "sr=70000", "E0117",
                 "value 70000 does not fit type float16 of input 'sr'"),
                (TensorProto.INT64, "sr=1,2", "E0117", "input 'sr' [] is given 2 values; expected 1, or 1 for all"),
                (TensorProto.INT64, "sr=@two.npy", "E0112",
                 "input 'sr' has shape [] of rank 0, but the given shape [2] has rank 1"),
                (TensorProto.INT64, "W=1", "E0117", "cannot give a value for 'W': it is an initializer")):
            with self.subTest(binding=binding, kind=kind):
                bindings = [binding] if binding != "W=1" else ["sr=16000", "W=1"]
                self.compile_refused(USAGE, f"error[{code}]: {message}\n  --> m.onnx\n", rated(kind),
                                     flags=self.flags(*bindings))
        self.compile_refused(USAGE, """
            error[E0117]: the model has no input 'rate_'; its inputs are 'x', 'rate'
              --> m.onnx
             help: did you mean 'rate'
            """, models.model([helper.make_node("Add", ["x", "rate"], ["y"])],
                              [models.tensor("x", 1, 8), models.tensor("rate", 1)], [models.tensor("y", 1, 8)]),
                              flags=self.flags("rate_=1"))
        self.compile_refused(REFUSED, """
            error[E0114]: input 'sr' has type string; sluice supports float, float16, bfloat16, double, bool and \
8- to 64-bit integers
              --> m.onnx
            """, rated(TensorProto.STRING), flags=self.flags("sr=1"))
        np.save(self.dir / "factor.npy", np.float32([1, 2, 3]))
        self.compile_refused(USAGE, """
            error[E0117]: input 'factor' is given shape [1], but its value has shape [3]
              --> m.onnx
            """, gathered(), flags=[*self.flags("index=1", "table=0", "factor=@factor.npy"), "--input-shape",
                                    "factor=1"])

    def nothing_left(self, help, note, operators, proto=None, flags=()):
        """Compiling is refused, and what needs a program with it; checking says that the model is valid."""
        if proto is not None:
            onnx.save(proto, self.dir / "m.onnx")
        error = f"""
            error[E0118]: nothing to compile: the model is valid, but it has no input at run time
              --> m.onnx
             note: {note}
             help: {help}
            """
        for command in (("compile",), ("compile", "--emit", "plan"), ("explain", "--plan"), ("explain", "--index-space")):
            self.refused(REFUSED, error, *command, "m.onnx", *flags)
        self.assertIn("func.func @main()", self.ok("compile", "m.onnx", "--emit", "graph", *flags))
        code, out, err = self.sluice("check", "m.onnx", *flags)
        self.assertEqual((code, err), (0, f"note: {note}\n"))
        self.assertEqual(out.decode(), f"m.onnx: {operators} operators, all supported; nothing to compile: all outputs are "
                                       "constants\n")
        code, out, err = self.sluice("check", "m.onnx", "--json", *flags)
        self.assertEqual((code, err), (0, f"note: {note}\n"))
        found = json.loads(out)
        self.assertEqual((found["ok"], found["errors"], found["notes"]), (True, [], [note]))

    def test_nothing_left(self):
        """A graph of constants is valid, and none that could be run."""
        relu = helper.make_node("Relu", ["c"], ["y"], name="act")
        constants = [models.constant("c", models.values(1, 8))]
        help = "compute the outputs once, with any ONNX runtime"
        self.nothing_left(help, "output 'y' is a constant; it depends on no input", 1,
                          models.model([relu], [], [models.tensor("y", 1, 8)], constants))
        self.nothing_left(help, "outputs 'y', 'c' are constants; they depend on no input", 1,
                          models.model([relu], [], [models.tensor("y", 1, 8), models.tensor("c", 1, 8)], constants))
        self.nothing_left("bind only the inputs that are the same in every inference (--bind)",
                          "output 'y' is a constant; it depends on no input", 3, rated(), self.flags("sr=16000", "x=0"))
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'Frobnicate' is not supported: ONNX has no operator of this name up to opset 26
              --> m.onnx: node 0 "act" (Frobnicate)
             help: use operators that `sluice ops` lists, or cut the model before this node
            """, models.model([helper.make_node("Frobnicate", ["c"], ["y"], name="act")], [], [models.tensor("y")], constants))

    def test_some_outputs_are_constants(self):
        """Every inference gives them again."""
        x = np.float32([[1, -2, 3, 0.5, -1, 2, 0, 1]])
        np.save(self.dir / "x.npy", x)
        c = models.values(1, 8)
        nodes = [helper.make_node("Relu", ["x"], ["y"], name="act"),
                 helper.make_node("Abs", ["c"], ["k"], name="magnitude")]
        outputs = {"y": np.maximum(x, 0), "k": np.abs(c), "c": c}
        for names, note in ((("y", "k"), "output 'k' is a constant; it depends on no input"),
                            (("c", "y", "k"), "outputs 'c', 'k' are constants; they depend on no input"),
                            (("k", "c"), "outputs 'k', 'c' are constants; they depend on no input")):
            with self.subTest(outputs=names):
                onnx.save(models.model(nodes, [models.tensor("x", 1, 8)], [models.tensor(n, 1, 8) for n in names],
                                       [models.constant("c", c)]), self.dir / "m.onnx")
                for command in (("check",), ("compile", "-o", "m.sluice")):
                    code, _, err = self.sluice(*command, "m.onnx", "--target", "c2b8")
                    self.assertEqual((code, err), (0, f"note: {note}\n"))
                for name in names:
                    np.save(self.dir / "y.npy", outputs[name])
                    self.right("m.sluice", output=name)

    def test_textual_ir(self):
        self.save("m.mlir", b"func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> { return %x : tensor<1x8xf32> }")
        shapes = ("error[E0112]: --input-shape needs an ONNX model; in textual IR the types give the shapes\n"
                  "  --> m.mlir\n")
        values = ("error[E0117]: --bind needs an ONNX model; in textual IR use sluice.constant\n"
                  "  --> m.mlir\n")
        for error, flags in ((values, self.flags("x=1")), (shapes, ["--input-shape", "x=1,8"]),
                             (shapes + values, ["--input-shape", "x=1,8", *self.flags("x=1")])):
            for command in ("check", "compile"):
                self.refused(USAGE, error, command, "m.mlir", *flags)

    def test_json(self):
        onnx.save(rated(), self.dir / "m.onnx")
        code, out, _ = self.sluice("check", "m.onnx", "--json", *self.flags("sr=1.5"))
        self.assertEqual((code, [e["code"] for e in json.loads(out)["errors"]]), (USAGE, ["E0117"]))


if __name__ == "__main__":
    main()
