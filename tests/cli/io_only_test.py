#!/usr/bin/env python3
"""sluice compile --io-only: programs of inputs and outputs alone.

usage: io_only_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import main
from refusal import USAGE, Refusal

NOTE = "note: the program transports inputs and outputs (--io-only): its outputs are zero\n"


def dense(rows=4, features=40, results=12):
    """Three layers, the last along the lanes."""
    nodes = [helper.make_node("Gemm", ["x", "W0"], ["h0"], name="fc0"), helper.make_node("Tanh", ["h0"], ["a0"], name="act"),
             helper.make_node("Gemm", ["a0", "W1"], ["y"], name="fc1")]
    return models.model(nodes, [models.tensor("x", rows, features)], [models.tensor("y", rows, results)],
                        [models.constant("W0", models.values(features, 32)), models.constant("W1", models.values(32, results))])


class IoOnly(Refusal):
    def compiled(self, name, *flags):
        """Compiles m.onnx. Returns the JSON."""
        code, out, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", name, "--json", *flags)
        self.assertEqual((code, err), (0, NOTE if "--io-only" in flags else ""))
        return json.loads(out)

    def ports(self, name):
        found, = json.loads(self.ok("inspect", name, "--io", "--json"))["models"]
        return {key: found[key] for key in ("arrays", "inputs", "outputs", "steps")}

    def compare(self, model, *flags, inputs=("--input", "x=random:1")):
        """Compiles both programs. Returns their latencies."""
        onnx.save(model, self.dir / "m.onnx")
        whole, alone = self.compiled("whole.sluice", *flags), self.compiled("io.sluice", "--io-only", *flags)
        self.assertEqual(self.ports("io.sluice"), self.ports("whole.sluice"))
        self.assertEqual((alone["macs"], alone["parameters"], alone["checked"]), (0, 0, None))
        self.assertEqual(alone["operators"], {"total": whole["operators"]["total"], "accelerated": 0})
        used = {one["memory"]: one["used"] for one in alone["fits"]}
        self.assertEqual((used["weight blocks"], used["function tables"]), (0, 0))
        for figure in ("spaced", "contiguous", "period"):
            self.assertLessEqual(alone["latency"][figure], whole["latency"][figure])
        self.assertIn("--io-only", json.loads(self.ok("inspect", "io.sluice", "--io", "--json"))["options"])
        outputs = [words for one in self.output_names(model) for words in ("--output", f"{one}=@{one}.npy")]
        has = "c2b8" in json.loads(self.ok("version", "--json"))["engines"]["rtl"]
        out = self.ok("run", "io.sluice", "--engine", "both" if has else "vm", "--steps", 3, *inputs, *outputs)
        if has:
            self.assertIn("engines agree: equal bits, equal cycles\n", out)
        for one in self.output_names(model):
            np.testing.assert_array_equal(np.load(self.dir / f"{one}.npy"), 0)
        return whole["latency"], alone["latency"]

    def output_names(self, model):
        return [one.name for one in model.graph.output]

    def test_layers(self):
        whole, alone = self.compare(dense())
        self.assertLess(alone["spaced"], whole["spaced"])
        self.assertGreaterEqual(alone["period"], 4 * 40 // 8) # a row of 8 lanes in a cycle

    def test_the_layout_is_that_of_the_model(self):
        """Rows lie as the whole program has them, not as zeros would lie best."""
        self.compare(models.model([helper.make_node("Gemm", ["x", "W"], ["y"])], [models.tensor("x", 3, 8)],
                                  [models.tensor("y", 3, 20)], [models.constant("W", models.values(8, 20))]))

    def test_several_tensors(self):
        nodes = [helper.make_node("Add", ["x", "z"], ["y"]), helper.make_node("Sigmoid", ["x"], ["s"])]
        self.compare(models.model(nodes, [models.tensor("x", 2, 24), models.tensor("z", 2, 24)],
                                  [models.tensor("y", 2, 24), models.tensor("s", 2, 24)]),
                     inputs=("--input", "x=random:1", "--input", "z=zeros"))

    def test_no_state_is_kept(self):
        nodes = [helper.make_node("Add", ["x", "h"], ["y"]), helper.make_node("Identity", ["y"], ["h_out"])]
        model = models.model(nodes, [models.tensor("x", 1, 8), models.tensor("h", 1, 8)],
                             [models.tensor("y", 1, 8), models.tensor("h_out", 1, 8)])
        onnx.save(model, self.dir / "m.onnx")
        self.compiled("io.sluice", "--io-only", "--state", "h=h_out")
        self.ok("run", "io.sluice", "--engine", "vm", "--steps", 3, "--input", "x=random:1", "--output", "y=@y.npy")
        np.testing.assert_array_equal(np.load(self.dir / "y.npy"), 0)
        self.assertNotIn("\nstate ", self.ok("inspect", "io.sluice", "--memory"))

    def test_a_stream(self):
        model = models.model([helper.make_node("Conv", ["x", "W"], ["y"], pads=[2, 0])], [models.tensor("x", 1, 4, 32)],
                             [models.tensor("y", 1, 4, 32)], [models.constant("W", models.values(4, 4, 3))])
        self.compare(model, "--stream", "x=2")

    def test_long_sequences(self):
        """Positions in loops."""
        model = models.model([helper.make_node("Conv", ["x", "W"], ["c"]), helper.make_node("Relu", ["c"], ["y"])],
                             [models.tensor("x", 1, 4, 800)], [models.tensor("y", 1, 4, 798)], [models.constant("W", models.values(4, 4, 3))])
        self.compare(model)

    def test_the_summary(self):
        onnx.save(dense(), self.dir / "m.onnx")
        code, out, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "--io-only")
        self.assertEqual((code, err), (0, NOTE))
        self.assertIn("operators           0 of 3 on the accelerator\nparameters          0\n", out.decode())
        self.assertNotIn("checked", out.decode())

    def test_plans(self):
        onnx.save(dense(), self.dir / "m.onnx")
        code, out, _ = self.sluice("compile", "m.onnx", "--target", "c2b8", "--io-only", "--emit", "plan")
        self.assertEqual(code, 0)
        self.assertNotIn("linear", out.decode())
        code, out, _ = self.sluice("explain", "--plan", "m.onnx", "--target", "c2b8", "--io-only")
        self.assertEqual(code, 0)

    def test_wrong_flags(self):
        onnx.save(dense(), self.dir / "m.onnx")
        np.savez(self.dir / "x.npz", x=np.zeros((4, 40), np.float32))
        for message, *flags in (
                ("--check cannot be used with --io-only, which computes nothing", "--check", 3),
                ("--calibrate cannot be used with --io-only, which computes nothing", "--calibrate", "x.npz"),
                ("--core-partition cannot be used with --io-only, which computes nothing", "--core-partition", "fc0=0"),
                ("--emit rows cannot be used with --io-only, which has no rows of the model", "--emit", "rows"),
                ("--require 'error<=1%': no quantity 'error' is measured, allowed: cycles, contiguous, period, blocks, memory", "--require",
                 "error<=1%")):
            self.refused(USAGE, f"error[E0601]: {message}\n", "compile", "m.onnx", "--target", "c2b8", "--io-only", *flags)
        self.refused(USAGE, "error[E0601]: --io-only cannot be used with compare: it computes nothing\n  --> m.onnx\n", "compare", "m.onnx",
                     "--target", "c2b8", "--io-only")


if __name__ == "__main__":
    main()
