#!/usr/bin/env python3
"""sluice.reduce and sluice.diff.

usage: reduction_test.py FOLDER_OF_THE_PACKAGE FAULTY_SLUICE [unittest arguments]

FAULTY_SLUICE is the driver with faults in the compiler (tests/cli/faulty_sluice.cpp).
"""
import os
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, sys.argv[1])
FAULTY = os.path.abspath(sys.argv.pop(2))

import numpy as np
import onnx

import models
import sluice
from base import Python


class Reduce(Python):
    def test_a_rejected_model(self):
        found = sluice.reduce(models.sensors()[0], target="c2b8")
        self.assertEqual((found.before, found.after, found.inputs), (2, 2, None))
        self.assertEqual({key: found.failure[key] for key in ("kind", "code", "op", "signal")},
                         {"kind": "error", "code": "E0302", "op": "MatMul", "signal": None})
        self.assertEqual(found.command, "sluice check reduced.onnx --target c2b8")
        self.assertRegex(str(found), r"\Areduced 2 nodes to 2: E0302 \(.*\) at MatMul, \d+ models tried, \d+\.\d\d s\Z")
        self.assertEqual(sluice.check(bytes(found), target="c2b8").problems[0].code, "E0302")
        self.assertIn("<td>E0302</td>", found._repr_html_())
        self.assertNotIn("signal", found._repr_html_())

    def test_a_wrong_value(self):
        x = self.inputs(2)
        with unittest.mock.patch.dict(os.environ, SLUICE=FAULTY, SLUICE_FAULT="weight MatMul"):
            found = sluice.reduce(self.model, target="c2b8", keep="wrong", data={"x": x})
        self.assertEqual((found.failure["kind"], found.failure["code"], found.before), ("wrong", "E0498", 3))
        self.assertEqual(list(found.inputs), ["x"])
        self.assertIn("\nthis is a bug in sluice; please report it with these files and ", str(found))
        with tempfile.TemporaryDirectory() as folder:
            found.save(Path(folder) / "small.onnx")
            self.assertEqual(onnx.load(f"{folder}/small.onnx").SerializeToString(), bytes(found))
            with np.load(f"{folder}/small.npz") as saved:
                np.testing.assert_array_equal(saved["x"], found.inputs["x"])
            with unittest.mock.patch.dict(os.environ, SLUICE=FAULTY, SLUICE_FAULT="weight MatMul"), \
                    self.assertRaises(sluice.CompileError) as caught:
                sluice.compile(f"{folder}/small.onnx", target="c2b8", calibrate=f"{folder}/small.npz")
        self.assertEqual(caught.exception.code, "E0498")

    def test_options(self):
        self.assertEqual(sluice.reduce(models.sensors()[0], target="c2b8", trials=1, check=1, timeout=9, keep="E0302").trials, 1)

    def test_wrong_arguments(self):
        for call, message in (
                (lambda: sluice.reduce(self.model, target="c2b8"),
                 "error[E0623]: the model shows no failure: it compiles and its program passes the check\n  --> <model>"),
                (lambda: sluice.reduce(self.model, keep="Crash"),
                 "error[E0601]: keep is 'Crash', allowed: an error code, wrong, crash or timeout\n  --> <model>"),
                (lambda: sluice.reduce(self.model, timout=1), "E0601: reduce() has no keyword 'timout', did you mean 'timeout'?")):
            with self.assertRaises(sluice.ArgumentError) as caught:
                call()
            self.assertEqual(str(caught.exception), message)
        with self.assertRaises(TypeError):
            sluice.reduce(self.model, timout=1)


class Diff(Python):
    def test_two_programs(self):
        other = sluice.compile(self.model, target="c2b8", core_partition={"fc": 1})
        found = sluice.diff(self.program, other)
        self.assertEqual(found.cycles, (self.program.latency.spaced, other.latency.spaced))
        self.assertEqual((found.targets, found.same + len(found.layers)), (("c2b8", "c2b8"), 2))
        layer = found.layers[0]
        self.assertEqual((layer["nodes"], layer["operators"]), (["fc", "bias", "act"], ["MatMul", "Add", "Relu"]))
        self.assertEqual(layer["change"], layer["cycles_b"] - layer["cycles_a"])
        self.assertIn("placement: blocks by core ", layer["why"])
        self.assertTrue(found)
        lines = str(found).splitlines()
        self.assertEqual(lines[0], f"a  a.sluice: example on c2b8, {found.cycles[0]} cycles")
        self.assertEqual(lines[3].split()[0], "nodes")
        self.assertIn(layer["why"], lines[4])
        self.assertIn(layer["why"], found._repr_html_())

    def test_the_same(self):
        found = sluice.diff(self.program, self.model, target="c2b8", name="example")
        self.assertFalse(found)
        self.assertEqual((found.same, list(found.layers)), (2, []))
        self.assertTrue(str(found).endswith(f"\nequal: {found.cycles[0]} cycles"))

    def test_paths_and_targets(self):
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(self.model, f"{folder}/m.onnx")
            self.program.save(f"{folder}/m.sluice")
            found = sluice.diff(f"{folder}/m.sluice", Path(folder) / "m.onnx", target="c6b32")
        self.assertEqual(found.targets, ("c2b8", "c6b32"))
        self.assertEqual(found.layers[0]["why"], "blocks of 8 / 32 lanes")

    def test_another_layer(self):
        found = sluice.diff(self.model, models.scaled(), target="c2b8")
        rows = {row["nodes"][0]: row for row in found.layers}
        self.assertEqual((rows["fc"]["cycles_b"], rows["fc"]["change"], rows["fc"]["why"]), (None, -rows["fc"]["cycles_a"], "only in a"))
        self.assertEqual((rows["scale"]["rows_a"], rows["scale"]["why"]), (None, "only in b"))

    def test_wrong_arguments(self):
        for call, message in (
                (lambda: sluice.diff(self.program, self.program, target="c2b8"),
                 "error[E0601]: target compiles a model, but both files are compiled programs"),
                (lambda: sluice.diff(self.model, self.program, target_b="c2b8"),
                 "error[E0601]: target_b compiles a model, but 'b.sluice' is a compiled program"),
                (lambda: sluice.diff(self.program, self.program, model="z"),
                 "error[E0602]: the file has no model 'z', allowed: example\n  --> a.sluice"),
                (lambda: sluice.diff(self.program, self.model, np.zeros(1)),
                 "E0601: example_inputs are for a torch.nn.Module, the model is of type ModelProto"),
                (lambda: sluice.diff(self.model, self.model, target_c="c2b8"),
                 "E0601: diff() has no keyword 'target_c', did you mean 'target_b'?")):
            with self.assertRaises(sluice.ArgumentError) as caught:
                call()
            self.assertEqual(str(caught.exception), message)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
