#!/usr/bin/env python3
"""Networks over a sequence, streamed: what they give step after step is what PyTorch gives for the whole sequence.

usage: streaming_test.py SLUICE [unittest arguments]

The exported sequence is shorter than the one that is streamed, so that the program cannot know its end. Both engines
run each network and agree in bits and cycles. A result may be off by 2 % of the range: inputs, weights and what is kept
are bf16, of 8 significant bits, and errors of a step go on to the next. SLUICE_STREAMING_NETWORKS is the number of
random networks (12), SLUICE_STREAMING_FIRST the seed of the first one.
"""
import io
import json
import os
import pathlib
import re
import sys
import warnings

try:
    import numpy as np
    import onnx
    import torch
    from onnx import numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from folder import Folder, main  # noqa: E402
from networks import NAMED, ROWS, Attention, random_network  # noqa: E402

TOLERANCE = 0.02
EXPORTED = 24  # steps of the model: whole inferences, however many steps those take
STREAMED = 48  # steps that are run


class StreamingTest(Folder):
    def export(self, network, channels, length=EXPORTED):
        exported = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(network.eval(), torch.zeros(1, channels, length), exported, input_names=["x"],
                              output_names=["y"], opset_version=14)
        (self.dir / "m.onnx").write_bytes(exported.getvalue())

    def compile(self, network, steps, late, *flags, target="c2b8"):
        """Positions that the output is behind."""
        if any(isinstance(part, Attention) for part in network.modules()):
            flags += ("--allow-dynamic-weights",)
        code, out, err = self.sluice("compile", "m.onnx", "--target", target, "--effort", "fast", "--stream",
                                     f"x=2:{steps}", "--stream-delay", late, "-o", "m.sluice", "--json", *flags)
        self.assertEqual(code, 0, err)
        behind = [re.fullmatch("output 'y' lags the input by \\d+ steps?; ignore its first (\\d+) positions?",
                               note) for note in json.loads(out)["notes"]]
        return int(behind[0][1]) if behind else 0

    def run_steps(self, x, steps, *flags):
        """The outputs of all inferences, along a new first axis."""
        np.save(self.dir / "x.npy", x)
        said = json.loads(self.ok("run", "m.sluice", "--engine", "both", "--steps", x.shape[2] // steps,
                                  "--input", "x=@x.npy", "--output", "y=@y.npy", "--json", *flags))
        self.assertIs(said["equal"], True)
        return np.load(self.dir / "y.npy")

    def compare(self, network, channels, steps, late, seed=3, target="c2b8", length=EXPORTED):
        self.export(network, channels, length)
        behind = self.compile(network, steps, late, target=target)
        x = torch.randn(1, channels, STREAMED, generator=torch.Generator().manual_seed(seed))
        with torch.no_grad():
            whole = network(x).numpy()
        got = self.run_steps(x.numpy(), steps)
        if whole.ndim == 2:  # as of the last step
            got, scale = got[-1], max(np.abs(whole).max(), 0.1)
        else:
            got = np.concatenate(list(got), axis=2)[:, :, behind:]
            self.assertGreater(got.shape[2], 0)
            whole, scale = whole[:, :, :got.shape[2]], np.ptp(whole)
        error = np.abs(got - whole).max() / scale
        self.assertLess(error, TOLERANCE)

    def test_named(self):
        for name, (make, channels, steps, late) in NAMED.items():
            with self.subTest(name):
                torch.manual_seed(1)
                self.compare(make(), channels, steps, late)

    def test_random(self):
        first = int(os.environ.get("SLUICE_STREAMING_FIRST", "0"))
        for seed in range(first, first + int(os.environ.get("SLUICE_STREAMING_NETWORKS", "12"))):
            with self.subTest(seed=seed):
                self.compare(*random_network(seed))

    def test_benchmark_rows(self):
        """On the real geometry; a window of 32 steps is full and passes on."""
        if "c6b32" not in json.loads(self.ok("version", "--json"))["engines"]["rtl"]:
            self.skipTest("this build has no Verilated c6b32")
        for name, (make, channels) in ROWS.items():
            with self.subTest(name):
                torch.manual_seed(1)
                self.compare(make(), channels, 1, 0, target="c6b32", length=40)

    def test_a_published_model(self):
        """Step by step as all at once in its authors' framework; the hardware runs the first steps."""
        model = pathlib.Path(os.environ.get("SLUICE_SHARED", ""), "models/nafx_tcn")
        if not model.exists():
            self.skipTest(f"the published models are not here: {model}")
        read = lambda name: numpy_helper.to_array(onnx.load_tensor(model / "test_data_set_0" / name))
        x, whole = read("input_0.pb"), read("output_0.pb")
        np.save(self.dir / "x.npy", x)
        code, _, err = self.sluice("compile", model / "model.onnx", "--input-shape", "input=1,1,2048", "--stream", "input=2",
                                   "--target", "c6b32", "-o", "m.sluice")
        self.assertEqual((code, err), (0, "note: output 'output' lags the input by 132 steps; ignore its first 132 positions\n"))
        self.ok("run", "m.sluice", "--engine", "vm", "--steps", x.shape[2], "--input", "input=@x.npy", "--output",
                "output=@y.npy")
        got = np.load(self.dir / "y.npy").ravel()
        late = got.size - whole.size
        self.assertEqual(late, 132)  # no window is full before
        self.assertLess(np.abs(got[late:] - whole.ravel()).max() / np.ptp(whole), TOLERANCE)
        np.save(self.dir / "x.npy", x[:, :, :150])
        said = json.loads(self.ok("run", "m.sluice", "--engine", "both", "--steps", 150, "--input", "input=@x.npy",
                                  "--output", "output=@first.npy", "--json"))
        self.assertIs(said["equal"], True)
        np.testing.assert_array_equal(np.load(self.dir / "first.npy").ravel(), got[:150])

    def test_reset(self):
        """Nothing of the steps before a reset is seen behind it: every stretch gives the same bits."""
        for name in ("lstm", "tcn", "windows that are full late", "cnn and lstm", "attention"):
            make, channels, steps, late = NAMED[name]
            with self.subTest(name):
                torch.manual_seed(1)
                network = make()
                self.export(network, channels)
                self.compile(network, steps, late)
                part = torch.randn(1, channels, 12, generator=torch.Generator().manual_seed(5)).numpy()
                got = self.run_steps(np.concatenate([part, part, part], axis=2), steps, "--reset-every", 12 // steps)
                stretches = np.split(got, 3)
                np.testing.assert_array_equal(stretches[0], stretches[1])
                np.testing.assert_array_equal(stretches[0], stretches[2])

    def test_wrong_options(self):
        (self.dir / "m.mlir").write_text("""
            func.func @main(%x: tensor<16x4xf32> {sluice.name = "x"}, %z: tensor<8x4xf32> {sluice.name = "z"})
                -> (tensor<16x4xf32> {sluice.name = "y"}, tensor<8x4xf32> {sluice.name = "v"}) {
              return %x, %z : tensor<16x4xf32>, tensor<8x4xf32>
            }""")
        for flags, message in (
                (["y=0"], "E0120]: the model has no input 'y'"),
                (["X=0"], "E0120]: the model has no input 'X'\n  --> m.mlir\n help: did you mean 'x'"),
                (["x=2"], "E0120]: input 'x' has rank 2 and no axis 2 to stream along"),
                (["x=0:17"], "E0120]: input 'x': 17 steps per inference along axis 0, allowed: 1 to 16"),
                (["x=0:0"], "E0120]: input 'x': 0 steps per inference along axis 0, allowed: 1 to 16"),
                (["x=0", "z=0"], "E0120]: input 'z' has 8 steps, 1 per inference; another streamed input has 16, "
                                 "1 per inference"),
                (["x"], "E0601]: --stream 'x' is not of the form NAME=AXIS or NAME=AXIS:STEPS"),
                (["x=0:"], "E0601]: --stream 'x=0:' is not of the form NAME=AXIS or NAME=AXIS:STEPS")):
            with self.subTest(flags):
                code, _, err = self.sluice("check", "m.mlir", "--target", "c2b8", *(f"--stream={one}" for one in flags))
                self.assertEqual(code, 2)
                self.assertTrue(err.startswith(f"error[{message}"), err)


if __name__ == "__main__":
    main()
