#!/usr/bin/env python3
"""sluice run --hold: an input that the device keeps from one inference to the next.

usage: hold_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import main
from refusal import USAGE, Refusal

STEPS = 6


class Hold(Refusal):
    def setUp(self):
        super().setUp()
        nodes = [helper.make_node("Mul", ["x", "gain"], ["scaled"], name="scale"),
                 helper.make_node("Add", ["scaled", "h"], ["y"], name="sum"), helper.make_node("Identity", ["y"], ["h_out"])]
        onnx.save(models.model(nodes, [models.tensor(name, 1, 8) for name in ("x", "gain", "h")],
                               [models.tensor(name, 1, 8) for name in ("y", "h_out")]), self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "--state", "h=h_out", "-o", "m.sluice")
        random = np.random.default_rng(1)
        self.x = random.integers(-8, 8, (STEPS, 1, 8)).astype(np.float32)
        self.gain = random.integers(1, 4, (1, 8)).astype(np.float32)
        np.save(self.dir / "x.npy", self.x)
        np.save(self.dir / "gain.npy", self.gain)
        has = "c2b8" in json.loads(self.ok("version", "--json"))["engines"]["rtl"]
        self.engine = ("--engine", "both" if has else "vm")

    def run_steps(self, *flags, output="y.npy"):
        out = self.ok("run", "m.sluice", *self.engine, "--steps", STEPS, "--input", "x=@x.npy", "--input", "gain=@gain.npy",
                      "--output", f"y=@{output}", *flags)
        return out.replace(output, "y.npy"), np.load(self.dir / output)

    def test_the_input_is_given_once(self):
        """Values, cycles and text are those of a run that gives it every time."""
        for flags in ((), ("--reset-every", 2)):
            with self.subTest(flags):
                plain, expected = self.run_steps(*flags)
                held, found = self.run_steps("--hold", "gain", *flags, output="held.npy")
                np.testing.assert_array_equal(found, expected)
                self.assertEqual(held, plain)
                every = flags[1] if flags else STEPS
                for step in range(STEPS):
                    first = step - step % every
                    np.testing.assert_array_equal(found[step], (self.x[first:step + 1] * self.gain).sum(axis=0))

    def test_streams(self):
        np.save(self.dir / "x.npy", np.stack([self.x, -self.x]))
        _, expected = self.run_steps("--streams", 2)
        _, found = self.run_steps("--streams", 2, "--hold", "gain", output="held.npy")
        np.testing.assert_array_equal(found, expected)

    def test_random_values(self):
        """Those of the first inference stay."""
        self.ok("run", "m.sluice", *self.engine, "--steps", 3, "--input", "x=zeros", "--input", "gain=random:1", "--hold", "gain",
                "--hold", "x", "--output", "y=@y.npy")
        np.testing.assert_array_equal(np.load(self.dir / "y.npy"), 0)

    def test_wrong_flags(self):
        np.save(self.dir / "gains.npy", np.stack([self.gain] * STEPS))
        run = ("run", "m.sluice", "--engine", "vm", "--steps", STEPS, "--input", "x=@x.npy")
        for message, *flags in (
                ("E0602]: the model has no input 'gian', allowed: 'x', 'gain'\n  --> m.sluice",
                 "--input", "gain=@gain.npy", "--hold", "gian"),
                ("E0604]: input 'gain' has shape [6, 1, 8], allowed with --hold: [1, 8]\n  --> m.sluice", "--input", "gain=@gains.npy",
                 "--hold", "gain"),
                ("E0603]: input 'gain' [1, 8] is not given\n  --> m.sluice\n help: add --input gain=random:1, or @FILE in place of random:1",
                 "--hold", "gain")):
            self.refused(USAGE, f"error[{message}\n", *run, *flags)
        self.refused(USAGE, "error[E0601]: --data-set cannot be used with --input, --steps, --streams or --hold\n  --> m.sluice\n"
                     "error[E0615]: '.' has neither input_0.pb nor test_data_set_0\n  --> m.sluice\n", "run", "m.sluice", "--engine", "vm", "--data-set", ".", "--hold", "gain")


if __name__ == "__main__":
    main()
