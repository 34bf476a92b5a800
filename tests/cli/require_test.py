#!/usr/bin/env python3
"""--require of compile, bench and compare: lines, JSON and exit codes of limits that are met and not met, and limits
that cannot be read, word for word.

usage: require_test.py SLUICE [unittest arguments]
"""
import json
import re

import numpy as np
import onnx

import bad_models as models
from folder import main
from refusal import USAGE, Refusal

DIFFERENT = 1


class Require(Refusal):
    def setUp(self):
        super().setUp()
        onnx.save(models.dense(), self.dir / "m.onnx")
        self.facts = json.loads(self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--json"))
        self.cycles, self.period = self.facts["latency"]["spaced"], self.facts["latency"]["period"]

    def required(self, *command):
        """Exit code, the lines about limits, and standard error."""
        code, out, err = self.sluice(*command)
        return code, [line for line in out.decode().splitlines() if line.startswith("required")], err

    def compile(self, *limits, more=()):
        flags = [word for limit in limits for word in ("--require", limit)]
        return ["compile", "m.onnx", "--target", "c2b8", "-o", "n.sluice", *flags, *more]

    def test_limits_that_are_met(self):
        code, lines, err = self.required(*self.compile(f"cycles<={self.cycles},  period <= {self.period}", "blocks<=80 %"))
        blocks = max(100 * one["used"] / one["capacity"] for one in self.facts["fits"] if one["memory"] == "weight blocks")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(lines, [f"required            cycles<={self.cycles}: {self.cycles}, met",
                                 f"required            period <= {self.period}: {self.period}, met",
                                 f"required            blocks<=80 %: {blocks:.6g} %, met"])

    def test_limits_that_are_not_met(self):
        limit = f"cycles<={self.cycles - 1}"
        code, lines, err = self.required(*self.compile(f"{limit}, period>=1, error>=50%"))
        error = self.facts["checked"]["max_error_percent"]
        self.assertEqual(code, DIFFERENT)
        self.assertEqual(lines, [f"required            {limit}: {self.cycles}, not met",
                                 f"required            period>=1: {self.period}, met",
                                 f"required            error>=50%: {error:.6g} %, not met"])
        self.assertEqual(err, f"error[E0620]: 'cycles' is {self.cycles}, required: {limit}\n  --> m.onnx\n"
                              f"error[E0620]: 'error' is {error:.6g} %, required: error>=50%\n  --> m.onnx\n")
        self.assertEqual((self.dir / "n.sluice").read_bytes(), (self.dir / "m.sluice").read_bytes())

    def test_json(self):
        for command in (self.compile(), ["bench", "m.sluice", "--engine", "vm"]):
            for limit, ok in ((self.cycles, True), (self.cycles - 1, False)):
                text = f"cycles<={limit}"
                code, out, _ = self.sluice(*command, "--json", "--require", text)
                found = json.loads(out)
                self.assertEqual((code, found["ok"]), (0 if ok else DIFFERENT, ok))
                self.assertEqual(found["required"], [{"text": text, "value": self.cycles, "ok": ok}])
                self.assertEqual([one["code"] for one in found.get("errors", [])], [] if ok else ["E0620"])
            self.assertNotIn("required", json.loads(self.ok(*command, "--json")))

    def test_every_memory(self):
        _, lines, _ = self.required(*self.compile("memory<=100%"))
        fullest = max(100 * one["used"] / one["capacity"] for one in self.facts["fits"])
        self.assertEqual(lines, [f"required            memory<=100%: {fullest:.6g} %, met"])

    def test_bench(self):
        code, lines, err = self.required("bench", "m.sluice", "--engine", "vm", "--require",
                                         f"cycles<=1, contiguous>=1, period>={self.period}")
        self.assertEqual((code, len(lines)), (DIFFERENT, 3))
        self.assertEqual(lines[::2], [f"required            cycles<=1: {self.cycles}, not met",
                                      f"required            period>={self.period}: {self.period}, met"])
        self.assertEqual(err, f"error[E0620]: 'cycles' is {self.cycles}, required: cycles<=1\n  --> m.sluice\n")
        self.refused(USAGE, "error[E0601]: --require 'period<=1': no quantity 'period' is measured, allowed: cycles\n", "bench",
                     "m.sluice", "--spacing", "spaced", "--require", "period<=1")

    def test_compare(self):
        x = np.stack([models.values(1, 8) for _ in range(4)])
        np.savez(self.dir / "x.npz", x=x)
        np.save(self.dir / "labels.npy", np.zeros(4))
        command = ["compare", "m.onnx", "--target", "c2b8", "--data", "x.npz"]
        code, lines, err = self.required(*command, "--require", "error<=2%, bound<=100%, snr>=20")
        self.assertEqual((code, err, len(lines)), (0, "", 3))
        for line, (limit, unit) in zip(lines, (("error<=2%", "%"), ("bound<=100%", "%"), ("snr>=20", "dB"))):
            self.assertRegex(line, rf"^required            {limit}: [0-9.e-]+ {unit}, met$")
        output, = json.loads(self.ok(*command, "--json"))["outputs"]
        code, lines, err = self.required(*command, "--require", "error<=0%, snr>=200dB")
        self.assertEqual(code, DIFFERENT)
        self.assertEqual(lines[1], f"required            snr>=200dB: {output['snr_db']:.6g} dB, not met")
        error = 100 * output["max_abs_error"] / output["range"]
        self.assertTrue(err.startswith(f"error[E0620]: 'error' is {error:.6g} %, required: error<=0%\n  --> m.onnx\n"), err)
        labelled = [*command, "--labels", "labels.npy"]
        accuracy = json.loads(self.ok(*labelled, "--json"))["accuracy"]["program"]
        _, lines, _ = self.required(*labelled, "--require", "top1>=0%,top5>=0%")
        self.assertEqual(lines, [f"required            top1>=0%: {accuracy['top1_percent']:.6g} %, met",
                                 f"required            top5>=0%: {accuracy['top5_percent']:.6g} %, met"])
        self.refused(USAGE, "error[E0601]: --require 'top1>=1%': no quantity 'top1' is measured, allowed: error, snr, bound\n"
                            "  --> m.onnx\n", *command, "--require", "top1>=1%")

    def test_an_exact_result_has_no_noise(self):
        onnx.save(models.model([models.helper.make_node("Relu", ["x"], ["y"])], [models.tensor("x", 1, 5)],
                               [models.tensor("y", 1, 5)], []), self.dir / "relu.onnx")
        np.savez(self.dir / "x.npz", x=np.arange(5.0).reshape(1, 1, 5))
        command = ["compare", "relu.onnx", "--target", "c2b8", "--data", "x.npz", "--require", "snr>=300, error<=0%"]
        code, lines, _ = self.required(*command)
        self.assertEqual((code, lines), (0, ["required            snr>=300: inf dB, met", "required            error<=0%: 0 %, met"]))
        self.assertEqual(json.loads(self.ok(*command, "--json"))["required"][0], {"text": "snr>=300", "value": "inf", "ok": True})

    def test_limits_that_cannot_be_read(self):
        form = "is not of the form QUANTITY<=NUMBER or QUANTITY>=NUMBER"
        known = "cycles, contiguous, period, blocks, memory"
        for limit, message in (
                ("cycles", f"'cycles' {form}"), ("cycles<3", f"'cycles<3' {form}"), ("cycles<=x", f"'cycles<=x' {form}"),
                ("cycles<=nan", f"'cycles<=nan' {form}"), ("", f"'' {form}"), ("cycles<=3,", f"'' {form}"),
                ("cycels<=3", f"'cycels<=3': no quantity 'cycels' is measured, allowed: {known}, error, unchecked\n"
                              " help: did you mean 'cycles'"),
                ("error<=0.1", "'error<=0.1' has no unit, allowed: the unit %"),
                ("cycles<=3%", "'cycles<=3%' has the unit %, allowed: no unit"),
                ("error<=1%%", "'error<=1%%' has the unit %%, allowed: the unit %")):
            self.refused(USAGE, f"error[E0601]: --require {message}\n", *self.compile(limit))
        self.refused(USAGE, f"error[E0601]: --require 'error<=1%': no quantity 'error' is measured, allowed: {known}\n",
                     *self.compile("error<=1%", more=["--check", "off"]))
        self.refused(USAGE, "error[E0601]: --require cannot be used with --emit, which measures nothing\n", "compile", "m.onnx",
                     "--target", "c2b8", "--emit", "plan", "--require", "cycles<=1")

    def test_help(self):
        for command in ("compile", "bench", "compare"):
            self.assertRegex(self.ok(command, "--help"), r"--require LIMITS \.\.\. +end with exit code 1 if a limit is not met: \"")


if __name__ == "__main__":
    main()
