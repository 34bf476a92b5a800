#!/usr/bin/env python3
"""compile --check: what is printed of the check of a program, and which numbers of inputs are allowed.

usage: checked_programs_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
from onnx import helper

import bad_models as models
from folder import main
from refusal import USAGE, Refusal


class CheckedPrograms(Refusal):
    def save(self, op, **attributes):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node(op, ["h"], ["y"], **attributes)]
        weights = np.random.default_rng(1).standard_normal((8, 8)).astype(np.float32)
        model = models.model(nodes, [models.tensor("x", 2, 8)], [models.tensor("y", 2, 8)],
                             [models.constant("w", weights)])
        (self.dir / "m.onnx").write_bytes(model.SerializeToString())

    def compile(self, *flags):
        code, out, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *flags)
        return code, out.decode(), err

    def test_a_checked_program(self):
        self.save("Relu")
        code, out, err = self.compile("--check", "5")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"(?m)^checked             5 inputs, largest error 0\.\d+ % of the range$")
        code, out, err = self.compile("--check", "1")
        self.assertRegex(out, r"(?m)^checked             1 input, largest error 0\.\d+ % of the range$")

    def test_a_number_that_fits_the_compile_time(self):
        self.save("Relu")
        code, out, err = self.compile("--check", "auto", "--json")
        self.assertEqual((code, err), (0, ""))
        checked = json.loads(out)["checked"]
        self.assertGreaterEqual(checked["inputs"], 1)
        self.assertIsNone(checked["steps"])
        self.assertEqual(checked["unchecked_percent"], 0)
        self.assertLess(checked["max_error_percent"], 1)

    def test_no_check(self):
        self.save("Relu")
        code, out, err = self.compile("--check", "off", "--json")
        self.assertEqual((code, err), (0, ""))
        self.assertIsNone(json.loads(out)["checked"])

    def test_outputs_that_rounding_alone_moves(self):
        """A floor of large numbers jumps wherever the sum is rounded."""
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Mod", ["h", "one"], ["y"], fmod=1)]
        model = models.model(nodes, [models.tensor("x", 2, 8)], [models.tensor("y", 2, 8)],
                             [models.constant("w", 100 * np.random.default_rng(1).standard_normal((8, 8)).astype(np.float32)),
                              models.constant("one", np.float32(1))])
        (self.dir / "m.onnx").write_bytes(model.SerializeToString())
        code, out, err = self.compile("--check", "1")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"\Awarning: \d+ % of the outputs are unchecked: rounding to bf16 alone moves them by more "
                              r"than 10 % of their range\n\Z")
        self.assertRegex(out, r"(?m)^checked             1 input, largest error [0-9.]+ % of the range, [0-9.]+ % unchecked$")

    def test_numbers_that_are_not_allowed(self):
        self.save("Relu")
        for text in ("0", "-1", "10001", "many", "1.5"):
            with self.subTest(text):
                code, _, err = self.compile(f"--check={text}")
                self.assertEqual((code, err.splitlines()[0]),
                                 (USAGE, f"error[E0601]: --check is '{text}', allowed: 1 to 10000, auto or off"))


if __name__ == "__main__":
    main()
