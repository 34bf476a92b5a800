#!/usr/bin/env python3
"""sluice.compare: layers against the model, against arrays and against onnxruntime.

usage: comparison_test.py FOLDER_OF_THE_PACKAGE [unittest arguments]
"""
import importlib.util
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv[1])

import numpy as np
import onnx

import sluice
from base import Python

HAS_RUNTIME = importlib.util.find_spec("onnxruntime") is not None


class Compare(Python):
    def setUp(self):
        self.x = self.inputs(3)
        self.y = np.stack([self.reference(x) for x in self.x])

    def compare(self, **more):
        return sluice.compare(self.model, target="c2b8", **{"data": {"x": self.x}, **more})

    def test_with_the_model(self):
        for found, samples in ((self.compare(), 3), (self.compare(data=2), 2), (self.compare(program=self.program), 3)):
            self.assertTrue(found)
            self.assertEqual((found.ok, found.samples, found.first_wrong, found.accuracy), (True, samples, None, None))
            layer, = found.layers
            self.assertEqual((layer["node"], layer["tensor"], layer["verdict"]), ('node 2 "act" (Relu)', "y", "ok"))
            self.assertGreater(layer["bound"], 0)
            self.assertEqual([row["name"] for row in found.outputs], ["y"])
            self.assertTrue(str(found).startswith(f"model example on c2b8, {samples} samples\n"))
            self.assertTrue(str(found).endswith("the layer is within its bound"))
            self.assertEqual(found._repr_html_().count("<table>"), 2)

    def test_with_arrays(self):
        self.assertTrue(self.compare(against={"y": self.y}))
        self.y[1, 0, 2] += 3
        with tempfile.TemporaryDirectory() as folder:
            np.savez(f"{folder}/y.npz", y=self.y)
            np.savez(f"{folder}/x.npz", x=self.x)
            found = self.compare(data=f"{folder}/x.npz", against=f"{folder}/y.npz")
        self.assertFalse(found)
        self.assertEqual(found.first_wrong, sluice.Node(2, "act", "Relu"))
        self.assertEqual(found.layers[0]["verdict"], "wrong")
        self.assertRegex(str(found), r"\nerror\[E0619\]: 'y' is \S+ at \[0, 2\], the reference gives ")
        self.assertIn("<td>wrong</td>", found._repr_html_())

    def test_accuracy_and_limits(self):
        labels = self.y.reshape(3, -1).argmax(axis=1)
        found = self.compare(labels=labels, require="top1>=100%, error<=0%")
        self.assertEqual(found.accuracy["reference"], {"top1_percent": 100.0, "top5_percent": 100.0})
        self.assertEqual([one["ok"] for one in found.required], [True, False])
        self.assertFalse(found)

    def test_wrong_arguments(self):
        for call, message in (
                (lambda: self.compare(steps=2), "error[E0601]: data has 3 samples, allowed with steps=2: a multiple of 2\n"
                                                "  --> <model>"),
                (lambda: sluice.compare(self.model, labels=[1]), "error[E0601]: labels needs data with the samples that they belong "
                                                                 "to\n  --> <model>"),
                (lambda: sluice.compare(self.model, against="onnxruntime"),
                 "E0601: against='onnxruntime' needs data with arrays, and a whole model without state and bind"),
                (lambda: sluice.compare(self.model, datta=1), "E0601: compare() has no keyword 'datta', did you mean 'data'?")):
            with self.assertRaises(sluice.ArgumentError) as caught:
                call()
            self.assertEqual(str(caught.exception), message)

    @unittest.skipIf(HAS_RUNTIME, "onnxruntime is there")
    def test_without_onnxruntime(self):
        with self.assertRaises(sluice.ArgumentError) as caught:
            self.compare(against="onnxruntime")
        self.assertEqual(str(caught.exception), "E0601: against='onnxruntime' needs the package onnxruntime in this interpreter")

    @unittest.skipUnless(HAS_RUNTIME, "no onnxruntime")
    def test_with_onnxruntime(self):
        seen = onnx.ModelProto()
        seen.CopyFrom(self.model)
        seen.graph.output.append(onnx.helper.make_tensor_value_info("s", onnx.TensorProto.FLOAT, [1, 8]))
        single = {"x": self.x[0]}
        for model, data, layers in ((self.model, {"x": self.x}, 1), (seen, {"x": self.x}, 2), (self.model, single, 1)):
            found = sluice.compare(model, data=data, against="onnxruntime", target="c2b8")
            self.assertTrue(found)
            self.assertEqual(len(found.layers), layers)
            self.assertIn(", against ", str(found))
        self.assertEqual(len(seen.graph.output), 2)
        # A program of other weights is not that of the model.
        other = onnx.ModelProto()
        other.CopyFrom(self.model)
        other.graph.initializer[0].raw_data = (-onnx.numpy_helper.to_array(self.model.graph.initializer[0])).tobytes()
        wrong = sluice.compare(self.model, data={"x": self.x}, against="onnxruntime", target="c2b8",
                               program=sluice.compile(other, target="c2b8"))
        self.assertEqual(wrong.first_wrong, sluice.Node(2, "act", "Relu"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
