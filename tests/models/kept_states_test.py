#!/usr/bin/env python3
"""Published models that are one step, their state as input and output: kept on the chip they give what they give with the
state outside.

usage: kept_states_test.py SLUICE MODELS_DIR [unittest arguments]

The state outside goes through the host port as bf16, as it is kept on the chip, and sums that are done ahead are not
rounded on the way: the bits are the same. Both engines run the streams.
"""
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
MODELS = pathlib.Path(sys.argv.pop(2))
if not MODELS.is_dir():
    print(f"skipped: the published models are not here ({MODELS})")
    sys.exit(77)
import numpy as np  # noqa: E402
from folder import Folder, main  # noqa: E402

STEPS = 4
# By model: its input, its output, and the pair of the state.
KEPT = {"silero_vad": ("input", "output", "state", "stateN", [1, 576], [2, 1, 128]),
        "dtln_1": ("input_2", "activation_2", "input_3", "tf_op_layer_stack_2", [1, 1, 257], [1, 2, 128, 2])}


class KeptStates(Folder):
    def compile(self, name, program, *flags):
        code, out, err = self.sluice("compile", MODELS / name / "model.onnx", "--target", "c6b32", "-o", program, "--json",
                                     *flags)
        self.assertEqual(code, 0, err)
        # Random inputs and states saturate the networks.
        self.assertRegex(err, r"\A(warning: [0-9]+ % of the outputs are unchecked: .*\n)?\Z")
        return json.loads(out)

    def test_on_the_chip_and_outside(self):
        for name, (x, y, state, next_state, shape, state_shape) in KEPT.items():
            with self.subTest(name):
                inputs = np.random.default_rng(4).standard_normal((STEPS, *shape)).astype(np.float32)
                np.save(self.dir / "x.npy", inputs)
                outside = self.compile(name, "outside.sluice")
                kept = self.compile(name, "kept.sluice", "--state", f"{state}={next_state}")
                self.assertGreater(kept["latency"]["ahead"], 0)
                said = json.loads(self.ok("run", "kept.sluice", "--engine", "both", "--json", "--steps", STEPS, "--input",
                                          f"{x}=@x.npy", "--output", f"{y}=@y.npy"))
                self.assertIs(said["equal"], True)
                got = np.load(self.dir / "y.npy")
                np.save(self.dir / "s0.npy", np.zeros(state_shape, np.float32))
                for i, step in enumerate(inputs):
                    np.save(self.dir / "one.npy", step)
                    self.ok("run", "outside.sluice", "--engine", "vm", "--input", f"{x}=@one.npy", "--input",
                            f"{state}=@s{i}.npy", "--output", f"{y}=@one_y.npy", "--output",
                            f"{next_state}=@s{i + 1}.npy")
                    np.testing.assert_array_equal(got[i], np.load(self.dir / "one_y.npy"))
                print(f"{name}: {kept['latency']['spaced']} cycles a step, {outside['latency']['spaced']} with the state outside")
                self.assertLess(kept["latency"]["spaced"], outside["latency"]["spaced"])


if __name__ == "__main__":
    main()
