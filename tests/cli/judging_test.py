#!/usr/bin/env python3
"""What `run` says of outputs that differ from a reference, and of inputs that the
machine cannot hold.

usage: judging_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import helper, numpy_helper

import bad_models as models
from folder import Folder, main

RUN = ("run", "m.sluice", "--engine", "vm")


class Judging(Folder):
    def setUp(self):
        super().setUp()
        # y = x: what comes out is what goes in, rounded to bf16.
        proto = models.model([helper.make_node("Mul", ["x", "one"], ["y"], name="same")], [models.tensor("x", 2, 4)],
                             [models.tensor("y", 2, 4)], [models.constant("one", np.ones(1, np.float32))])
        onnx.save(proto, self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")

    def judged(self, result, reference, code, line, *flags):
        """What is said of output y of values `result`, and the JSON of it."""
        np.save(self.dir / "x.npy", np.asarray(result))
        np.save(self.dir / "ref.npy", np.asarray(reference))
        found, out, err = self.sluice(*RUN, "--input", "x=@x.npy", "--expect", "y=@ref.npy", "--json=r.json", *flags)
        self.assertEqual((found, out.decode().splitlines()[-1]), (code, f"output y [2, 4]: {line}"), err)
        if code:
            self.assertEqual(err, f"error[E0613]: output 'y' differs from its reference: {line.rsplit(', ', 1)[0]}\n"
                                  "  --> m.sluice\n")
        return json.loads((self.dir / "r.json").read_text())["outputs"][0]

    def test_max_mean_snr_and_the_worst_element(self):
        reference = np.array([[0, 1, 2, 3], [4, 5, 6, 8]], np.float32)
        found = self.judged(reference, reference, 0, "max error 0, 0 % of the range 8; allowed 2 %, ok")
        self.assertEqual((found["worst"], found["snr_db"]), ([0, 0], None))
        other = reference.copy()
        other[1, 2] += 1
        other[0, 1] -= 0.25
        # Errors 1 and 1/4 of 8 elements; squares of the reference: 155.
        found = self.judged(other, reference, 1, "max error 1 at [1, 2], 12.5 % of the range 8; mean 0.15625; SNR 21.6 dB; "
                                                 "allowed 2 %, too large")
        self.assertAlmostEqual(found["snr_db"], 10 * np.log10(155 / (1 + 1 / 16)))
        self.assertEqual((found["max_abs_error"], found["mean_abs_error"], found["worst"], found["ok"]),
                         (1, 1.25 / 8, [1, 2], False))
        self.judged(other, reference, 0, "max error 1 at [1, 2], 12.5 % of the range 8; mean 0.15625; SNR 21.6 dB; "
                                         "allowed 1 + 0 * |reference|, ok", "--atol", "1")

    def test_near_constant(self):
        """bf16 has steps of 4 at 1000: 2 % of a range of 8 would be less than its rounding."""
        reference = np.full((2, 4), 1000, np.float32)
        reference[0, 3] = 1008
        other = reference + np.float32(4)
        found = self.judged(other, reference, 0, "max error 4 at [0, 0], 50 % of the range 8, 0.397 % of the magnitude "
                                                 "1008; mean 4; SNR 48.0 dB; near-constant, allowed 2 % of the magnitude, ok")
        self.assertEqual((found["near_constant"], found["reference_range"], found["reference_magnitude"]), (True, 8, 1008))
        self.judged(reference + np.float32(40), reference, 1,
                    "max error 40 at [0, 0], 500 % of the range 8, 3.97 % of the magnitude 1008; mean 40; SNR 28.0 dB; "
                    "near-constant, allowed 2 % of the magnitude, too large")
        constant = np.full((2, 4), -16, np.float32)
        self.judged(constant, constant, 0, "max error 0, 0 % of the magnitude 16; constant, allowed 2 % of the magnitude, ok")
        # A fifth of the magnitude is a range like any other.
        self.judged(np.array([[80, 81, 82, 83], [90, 96, 98, 100]]), np.array([[80, 81, 82, 83], [90, 96, 98, 100]]), 0,
                    "max error 0, 0 % of the range 20; allowed 2 %, ok")

    def test_not_finite(self):
        reference = np.array([[0, 1, 2, 3], [4, 5, np.inf, 8]], np.float32)
        other = np.array([[0, 1, np.inf, 3], [4, np.nan, np.inf, 8]], np.float32)
        found = self.judged(other, reference, 1,
                            "max error inf at [0, 2], inf % of the range 8; mean 0; result: 2 infinite, the first at "
                            "[0, 2]; 1 NaN, at [1, 1]; reference: 1 infinite, at [1, 2]; allowed 2 %, too large")
        self.assertEqual((found["max_abs_error"], found["not_finite"]),
                         ("inf", {"infinite": 2, "first_infinite": [0, 2], "nan": 1, "first_nan": [1, 1]}))
        # Without a reference too.
        np.save(self.dir / "x.npy", other)
        self.assertTrue(self.ok(*RUN, "--input", "x=@x.npy").endswith(
            "output y [2, 4]: 0 1 inf 3 4 nan inf 8; 2 infinite, the first at [0, 2]; 1 NaN, at [1, 1]\n"))

    def test_every_type(self):
        values = np.array([[0, 1, 0, 1], [1, 1, 0, 1]])
        line = "max error 0, 0 % of the range 1; allowed 2 %, ok"
        for kind in ("?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", ">i2", ">u4", ">i8", ">f2", ">f4",
                     ">f8"):
            with self.subTest(kind=kind):
                self.judged(values.astype(kind), values.astype(kind), 0, line)
        self.judged(np.asfortranarray(values.astype(">i4")), np.asfortranarray(values.astype("u1")), 0, line)
        signed = np.array([[-1, -2, -3, -4], [-128, 5, 6, 127]])
        for kind in ("b", "h", "i", "q", ">i2", ">i8"):
            self.judged(signed.astype(kind), signed.astype("d"), 0, "max error 0, 0 % of the range 255; allowed 2 %, ok")

    def test_integers_are_rounded_once(self):
        """Just above the middle between two numbers of bf16, by less than float64 can tell."""
        x = np.full((2, 4), (257 << 54) + 1, np.int64)
        np.save(self.dir / "x.npy", x)
        self.ok(*RUN, "--input", "x=@x.npy", "--output", "y=@y.npy")
        self.assertEqual(np.load(self.dir / "y.npy")[0, 0], float(258 << 54))
        np.save(self.dir / "x.npy", x - 1)
        self.ok(*RUN, "--input", "x=@x.npy", "--output", "y=@y.npy")
        self.assertEqual(np.load(self.dir / "y.npy")[0, 0], float(256 << 54))

    def test_sets(self):
        for i, kind in enumerate((np.int64, np.uint8, np.bool_, np.int32, np.uint64, np.int16)):
            folder = self.dir / f"sets/test_data_set_{i}"
            folder.mkdir(parents=True)
            values = np.array([[0, 1, 0, 1], [1, 1, 0, 1]]).astype(kind)
            listed = helper.make_tensor("x", numpy_helper.from_array(values).data_type, [2, 4], values.flatten().tolist())
            (folder / "input_0.pb").write_bytes(listed.SerializeToString())
            if i == 1:
                values[0, 0] = 2
            (folder / "output_0.pb").write_bytes(numpy_helper.from_array(values, "y").SerializeToString())
        code, out, err = self.sluice(*RUN, "--data-set", "sets", "--json=r.json")
        wrong = "max error 2 at [0, 0], 100 % of the range 2; mean 0.25; SNR 3.5 dB; allowed 2 %"
        lines = [f"output y [2, 4]: {wrong}, too large"]
        lines += [f"  sets/test_data_set_{i}: " + (f"{wrong}, too large" if i == 1 else
                                                   "max error 0, 0 % of the range 1; allowed 2 %, ok") for i in range(6)]
        self.assertEqual((code, out.decode().splitlines()[-7:]), (1, lines))
        self.assertEqual(err, f"error[E0613]: output 'y' differs from its reference in sets/test_data_set_1: {wrong}\n"
                              "  --> m.sluice\n")
        sets = json.loads((self.dir / "r.json").read_text())["outputs"][0]["sets"]
        self.assertEqual([one["ok"] for one in sets], [True, False, True, True, True, True])

    def test_inputs_beyond_the_range(self):
        def warned(x, text):
            np.save(self.dir / "x.npy", x)
            code, out, err = self.sluice(*RUN, "--input", "x=@x.npy", "--json")
            self.assertEqual((code, err, json.loads(out)["warnings"]),
                             (0, f"warning: {text}\n" if text else "", [text] if text else []))
        x = np.zeros((2, 4))
        x[1, 3] = np.inf  # says itself what it is
        warned(x, "")
        x[0, 2] = 3.3895e38  # the largest number of bf16, rounded
        warned(x, "")
        x[1, 0] = 3.4e38
        warned(x, "input 'x' has 1 value beyond the range of bf16 (3.38953e+38), which becomes infinite; it is 3.4e+38 at "
                  "[1, 0]")
        x[0, 3] = -1e300
        warned(x, "input 'x' has 2 values beyond the range of bf16 (3.38953e+38), which become infinite; the first is "
                  "-1e+300 at [0, 3]")


if __name__ == "__main__":
    main()
