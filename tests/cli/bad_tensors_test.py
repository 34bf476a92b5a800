#!/usr/bin/env python3
"""Tensors that a model cannot be run on: for each the exit code, every word said,
nothing on standard output and no output file.

usage: bad_tensors_test.py SLUICE [unittest arguments]
"""
import numpy as np
from onnx import numpy_helper

from folder import main
from refusal import MALFORMED, USAGE, Refusal


class Inputs(Refusal):
    def setUp(self):
        super().setUp()
        self.compiled()
        self.save("y.npy", self.old_output)

    def run_refused(self, code, text, *args):
        self.refused(code, text, "run", "good.sluice", "--engine", "vm", "--output", "y=@y.npy", *args)

    def test_names(self):
        self.run_refused(USAGE, """
            error[E0602]: the model has no input 'X', allowed: 'x'
              --> good.sluice
             help: did you mean 'x'
            error[E0603]: input 'x' [1, 8] is not given
              --> good.sluice
            """, "--input", "X=zeros")
        self.run_refused(USAGE, """
            error[E0601]: '@x.npy' names no input, allowed: NAME=@FILE, or @FILE.npz with one member per input
              --> good.sluice
            error[E0603]: input 'x' [1, 8] is not given
              --> good.sluice
            """, "--input", "@x.npy")
        self.run_refused(USAGE, """
            error[E0603]: input 'x' [1, 8] is not given
              --> good.sluice
             help: add --input x=random:1, or @FILE in place of random:1
            """)
        for args, code, message in (
                (["--input", "x=zeros", "--input", "x=zeros"], "E0603", "input 'x' is given twice"),
                (["--input", "x=zeros", "--output", "z=@z.npy"], "E0602", "the model has no output 'z', allowed: 'y'"),
                (["--input", "x=zeros", "--expect", "z=@z.npy"], "E0602", "the model has no output 'z', allowed: 'y'"),
                (["--input", "x=ones"], "E0601", "input 'x' is 'ones', allowed: @FILE, zeros, random:SEED"),
                (["--input", "x=zeros", "--model", "other"], "E0602", "the file has no model 'other', allowed: good")):
            with self.subTest(args=args):
                self.run_refused(USAGE, f"error[{code}]: {message}\n  --> good.sluice\n", *args)

    onnx_types = ("float (1), uint8 (2), int8 (3), uint16 (4), int16 (5), int32 (6), int64 (7), bool (9), float16 (10), "
                  "double (11), uint32 (12), uint64 (13), bfloat16 (16)")

    def test_shape_and_type(self):
        ones = np.ones((1, 8), dtype=np.float32)
        np.save(self.dir / "flat.npy", ones.reshape(8))
        np.save(self.dir / "seven.npy", ones[:, :7])
        np.save(self.dir / "complex.npy", ones.astype(np.complex64))
        self.save("complex.pb", numpy_helper.from_array(ones.astype(np.complex64), "x").SerializeToString())
        numbers = "b1, i1 to i8, u1 to u8, f2, f4, f8, bfloat16 (V2)"
        for file, message in (
                ("flat.npy", "input 'x' has shape [8], allowed: [1, 8]"),
                ("seven.npy", "input 'x' has shape [1, 7], allowed: [1, 8]"),
                ("complex.npy", f"'complex.npy': the element type is '<c8', allowed: {numbers}"),
                ("complex.pb", f"'complex.pb': the ONNX element type is 14, allowed: {self.onnx_types}"),
                ("good.onnx", "'good.onnx' has an unknown extension, allowed: .npy, .npz, .pb")):
            with self.subTest(file=file):
                self.run_refused(USAGE, f"error[E0604]: {message}\n  --> good.sluice\n", "--input", f"x=@{file}")
        self.run_refused(USAGE, """
            error[E0604]: reference of output 'y' has shape [1, 7], allowed: [1, 6]
              --> good.sluice
            """, "--input", "x=zeros", "--expect", "y=@seven.npy")

    def test_files(self):
        self.save("cut.pb", numpy_helper.from_array(np.ones((1, 8), np.float32), "x").SerializeToString()[:-3])
        self.run_refused(MALFORMED, """
            error[E0605]: 'cut.pb': not a valid .pb tensor: the file is not a TensorProto
              --> good.sluice
            """, "--input", "x=@cut.pb")
        self.run_refused(MALFORMED, "error[E0501]: cannot read 'no.npy': No such file or directory\n", "--input",
                         "x=@no.npy")

    def test_data_set(self):
        self.run_refused(MALFORMED, "error[E0615]: 'no' is not a folder\n  --> good.sluice\n", "--data-set", "no")
        (self.dir / "set").mkdir()
        self.run_refused(MALFORMED, "error[E0615]: 'set' has neither input_0.pb nor test_data_set_0\n"
                         "  --> good.sluice\n", "--data-set", "set")
        self.save("set/input_0.pb", numpy_helper.from_array(np.ones((1, 8), np.complex64), "x").SerializeToString())
        self.run_refused(USAGE, f"""
            error[E0604]: 'set/input_0.pb': the ONNX element type is 14, allowed: {self.onnx_types}
              --> good.sluice
            """, "--data-set", "set")


if __name__ == "__main__":
    main()
