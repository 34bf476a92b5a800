#!/usr/bin/env python3
"""The check of a program with the user's own inputs: sluice compile --calibrate.

usage: calibration_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import numpy_helper

import bad_models as models
from folder import main
from refusal import MALFORMED, USAGE, Refusal


class Calibration(Refusal):
    def setUp(self):
        super().setUp()
        onnx.save(models.dense(), self.dir / "m.onnx")

    def compile(self, *flags):
        return "compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice", *flags

    def checked(self, *flags):
        self.ok("--json=out.json", *self.compile(*flags))
        return json.loads((self.dir / "out.json").read_text())["checked"]

    def rejected(self, text, *flags, code=USAGE):
        self.refused(code, text, *self.compile(*flags))
        self.assertFalse((self.dir / "p.sluice").exists())

    def test_number_of_inputs(self):
        self.assertEqual(self.checked()["inputs"], 7)
        self.assertEqual(self.checked("--check", "12")["inputs"], 12)
        self.assertIsNone(self.checked("--check", "off"))

    def test_archives(self):
        np.savez(self.dir / "one.npz", x=models.values(1, 8))
        np.savez(self.dir / "many.npz", x=models.values(20, 1, 8))
        np.savez(self.dir / "hundred.npz", x=models.values(100, 1, 8))
        for name, inputs in ("one", 7), ("many", 20), ("hundred", 64):
            self.assertEqual(self.checked("--calibrate", f"{name}.npz")["inputs"], inputs)
        self.assertEqual(self.checked("--calibrate", "many.npz", "--check", "3")["inputs"], 3)

    def test_folders(self):
        for i in range(9):
            folder = self.dir / f"data/test_data_set_{i}"
            folder.mkdir(parents=True)
            (folder / "input_0.pb").write_bytes(numpy_helper.from_array(models.values(1, 8), "x").SerializeToString())
            (folder / "output_0.pb").write_bytes(b"not read")
        self.assertEqual(self.checked("--calibrate", "data")["inputs"], 9)

    def test_equal_elements(self):
        """Their mean is off by what fp32 rounds, which a variance of 0 must not make large."""
        for count in range(2, 14):
            graph = onnx.helper.make_graph(
                [onnx.helper.make_node("MeanVarianceNormalization", ["x"], ["y"], axes=[1])], "norm",
                [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, count])],
                [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, count])])
            onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8),
                      self.dir / "m.onnx")
            code, _, err = self.sluice(*self.compile("--check", "7"))
            self.assertEqual(code, 0, err)

    def test_wrong_inputs(self):
        np.savez(self.dir / "name.npz", z=models.values(1, 8))
        np.savez(self.dir / "shape.npz", x=models.values(1, 7))
        self.rejected("""
            error[E0602]: the model has no input 'z', allowed: 'x'
              --> m.onnx
             note: read from --calibrate 'name.npz'
            error[E0603]: input 'x' [1, 8] is not given
              --> m.onnx
             note: read from --calibrate 'name.npz'
            """, "--calibrate", "name.npz")
        self.rejected("""
            error[E0604]: input 'x' has shape [1, 7], allowed: [1, 8]
              --> m.onnx
             note: read from --calibrate 'shape.npz'
            """, "--calibrate", "shape.npz")
        self.rejected("""
            error[E0615]: 'missing' is not a folder
              --> m.onnx
             note: read from --calibrate 'missing'
            """, "--calibrate", "missing", code=MALFORMED)
        self.rejected("error[E0601]: --calibrate cannot be used with --check off\n", "--calibrate", "shape.npz",
                      "--check", "off")

    def test_number(self):
        for text in ("0", "10001", "-1", "x"):
            self.rejected(f"error[E0601]: --check is '{text}', allowed: 1 to 10000, auto or off\n", f"--check={text}")


if __name__ == "__main__":
    main()
