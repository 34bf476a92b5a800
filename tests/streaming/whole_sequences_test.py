#!/usr/bin/env python3
"""Whole sequences that do not fit when they are written out: gone through step by step, they give what PyTorch gives.

usage: whole_sequences_test.py SLUICE [unittest arguments]

Both engines run two inferences of each network, the second of which must not see the first, and agree in bits and
cycles, which are those that the compiler says. A result may be off by 2 % of the range: inputs, weights and what is
kept are bf16, of 8 significant bits, and errors of a step go on to the next.
"""
import io
import json
import os
import re
import sys
import warnings

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from folder import Folder, main  # noqa: E402
from networks import Branches, Causal, Recurrence, random_network  # noqa: E402

TOLERANCE = 0.02


class Tagger(nn.Module):
    """A recurrence, a dense layer on all steps, and another on the last."""

    def __init__(self, kind, units, **more):
        super().__init__()
        self.body = getattr(nn, kind)(4, units, batch_first=True, **more)
        self.head, self.last = nn.Linear(units, 3), nn.Linear(units, 2)

    def forward(self, x):
        y = self.body(x)[0]
        return self.head(y), self.last(y[:, -1])


class Sum(nn.Module):
    """A recurrence over the sum of two sequences, whose axes are not in the same order."""

    def __init__(self):
        super().__init__()
        self.body = Recurrence("GRU", 4, 8)

    def forward(self, x, z):
        return self.body(x + z.transpose(1, 2))


class Conditioned(nn.Module):
    """A second input that is the same in all steps."""

    def __init__(self):
        super().__init__()
        self.body, self.mix = Recurrence("GRU", 4, 8), nn.Linear(6, 4)

    def forward(self, x, z):
        return self.body(x + self.mix(z).unsqueeze(2))


class Mean(nn.Module):
    """The mean over the steps of a recurrence in both directions."""

    def __init__(self):
        super().__init__()
        self.body = nn.RNN(8, 8, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.body(x)[0].mean(1)


class Newest(nn.Module):
    """A dense layer on the last step."""

    def __init__(self, body, units):
        super().__init__()
        self.body, self.head = body, nn.Linear(units, 3)

    def forward(self, x):
        return self.head(self.body(x)[:, :, -1])


# Network, shapes of its inputs, trips and steps of each.
WHOLE = {
    "lstm, all steps and the last": (lambda: Tagger("LSTM", 16, num_layers=2), [(1, 96, 4)], (24, 4)),
    "gru, a prime number of steps": (lambda: Tagger("GRU", 16), [(1, 101, 4)], (21, 5)),
    "an input of every step and one for all": (Conditioned, [(1, 4, 80), (1, 6)], None),
    "two inputs of every step": (Sum, [(1, 4, 90), (1, 90, 4)], None),
    "convolutions and lstm": (lambda: nn.Sequential(Causal(4, 8, 3), nn.ReLU(), Causal(8, 8, 2, 2, cut=True),
                                                    Recurrence("LSTM", 8, 8)), [(1, 4, 120)], None),
    "windows without a border": (lambda: nn.Sequential(nn.Conv1d(4, 8, 5), nn.ReLU(), nn.Conv1d(8, 4, 3),
                                                       Recurrence("LSTM", 4, 8)), [(1, 4, 120)], None),
    "windows that read ahead": (lambda: nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), nn.ReLU(),
                                                      nn.Conv1d(8, 8, 5, padding=2), Recurrence("LSTM", 8, 8)),
                                [(1, 4, 120)], None),
    "windows behind a recurrence": (lambda: nn.Sequential(Recurrence("LSTM", 4, 8), nn.Conv1d(8, 4, 3, padding=1)),
                                    [(1, 4, 120)], (25, 5)),
    "branches that are late, and the last step": (lambda: Newest(nn.Sequential(
        nn.Conv1d(4, 8, 4), Branches(8), Recurrence("LSTM", 12, 8)), 8), [(1, 4, 100)], (21, 5)),
    "a border in front of the result": (lambda: nn.Sequential(Recurrence("LSTM", 4, 8), nn.ConstantPad1d((3, 2), 0.5)),
                                        [(1, 4, 120)], (25, 5)),
    "a stride of more steps than are taken together": (lambda: nn.Sequential(
        nn.Conv1d(4, 8, 9, stride=7, padding=4), Recurrence("LSTM", 8, 8)), [(1, 4, 840)], (120, 7)),
    "more trips than a digit counts": (lambda: nn.Sequential(nn.Conv1d(4, 8, 3, padding=1), Recurrence("GRU", 8, 8)),
                                       [(1, 4, 600)], None),
}


class WholeTest(Folder):
    def export(self, network, shapes, seed=3):
        """The network, and two sets of inputs with PyTorch's outputs, along a new first axis."""
        generator = torch.Generator().manual_seed(seed)
        names = ["x", "z"][:len(shapes)]
        inputs = [[torch.randn(shape, generator=generator) for shape in shapes] for _ in range(2)]
        exported = io.BytesIO()
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(network.eval(), tuple(inputs[0]), exported, input_names=names, opset_version=14)
            given = [network(*one) for one in inputs]
        (self.dir / "m.onnx").write_bytes(exported.getvalue())
        for i, name in enumerate(names):
            np.save(self.dir / f"{name}.npy", np.stack([one[i].numpy() for one in inputs]))
        given = [one if isinstance(one, tuple) else (one,) for one in given]
        return names, [np.stack([one[i].numpy() for one in given]) for i in range(len(given[0]))]

    def compile(self, *flags, target="c2b8"):
        code, out, err = self.sluice("compile", "m.onnx", "--target", target, "-o", "m.sluice", "--json", *flags)
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_networks(self):
        for name, (make, shapes, trips) in WHOLE.items():
            with self.subTest(name):
                torch.manual_seed(1)
                names, expected = self.export(make(), shapes)
                said = self.compile("--effort", "fast") if trips is None else self.compile()
                self.assertEqual(len(said["notes"]), 1)
                long = [(one, shape) for one, shape in zip(names, shapes) if max(shape) == max(map(max, shapes))]
                axes = " and ".join(f"'{one}' (axis {shape.index(max(shape))})" for one, shape in long)
                taken = f"the {max(long[0][1])} steps of {axes} do not fit unrolled; the program runs "
                self.assertRegex(said["notes"][0], f"^{re.escape(taken)}[0-9]+ times, [0-9]+ steps each$")
                if trips is not None:
                    self.assertEqual(said["notes"][0], taken + "{} times, {} steps each".format(*trips))
                self.check(said, names, expected)

    def check(self, said, names, expected):
        """Two inferences on both engines give what is expected, in the cycles that the compiler said."""
        outputs = [one["name"] for one in json.loads(self.ok("inspect", "m.sluice", "--json"))["models"][0]["outputs"]]
        ran = json.loads(self.ok("run", "m.sluice", "--engine", "both", "--steps", 2, "--json",
                                 *(f"--input={one}=@{one}.npy" for one in names),
                                 *(f"--output={one}=@{i}.npy" for i, one in enumerate(outputs))))
        self.assertIs(ran["equal"], True)
        self.assertEqual(ran["engines"]["vm"]["step_cycles"], [said["latency"]["spaced"]] * 2)
        for i, one in enumerate(expected):
            got = np.load(self.dir / f"{i}.npy")
            self.assertEqual(got.shape, one.shape)
            self.assertLess(np.abs(got - one).max() / max(np.ptp(one), 0.1), TOLERANCE)

    def test_random(self):
        """Random windows in front of a recurrence, as many as SLUICE_WHOLE_NETWORKS says."""
        taken, first = 0, int(os.environ.get("SLUICE_WHOLE_FIRST", "0"))
        count = int(os.environ.get("SLUICE_WHOLE_NETWORKS", "6"))
        for seed in range(first, first + count):
            with self.subTest(seed=seed):
                windows, channels, _, _ = random_network(seed)
                shape = (1, channels, 200 + seed % 7)
                seen = windows(torch.zeros(shape)).shape
                if len(seen) != 3:
                    continue
                names, expected = self.export(nn.Sequential(windows, Recurrence("GRU", seen[1], 6)), [shape])
                code, out, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--json",
                                             "--effort", "fast")
                self.assertIn(code, (0, 4), err)  # what has no steps may be too large
                if code == 0:
                    self.check(json.loads(out), names, expected)
                    taken += bool(json.loads(out)["notes"])
        self.assertGreaterEqual(taken, count // 3)

    def test_bench(self):
        """The measures of the compiler are those of the engines."""
        torch.manual_seed(1)
        self.export(Tagger("LSTM", 16), [(1, 96, 4)])
        said = self.compile("--effort", "fast")["latency"]
        measured = json.loads(self.ok("bench", "m.sluice", "--engine", "both", "--json"))
        self.assertIs(measured["equal"], True)
        for what in ("spaced", "contiguous", "period"):
            self.assertEqual(measured[what], said[what], what)

    def test_length(self):
        """4,096 steps take the instructions of 16, at most 1.5 times, and the same program for any number of trips."""
        instructions, listings = {}, []
        for steps in (16, 128, 4096):
            torch.manual_seed(1)
            self.export(Tagger("GRU", 12), [(1, steps, 4)])
            self.compile()
            cores = json.loads(self.ok("inspect", "m.sluice", "--memory", "--json"))["memory"]
            instructions[steps] = sum(one["used"] for one in cores if "instructions" in one["memory"])
            listings.append(self.ok("inspect", "m.sluice", "--asm"))
        self.assertLessEqual(instructions[4096], 1.5 * instructions[16])
        self.assertEqual(listings[1], listings[2])

    def test_more_rows_than_a_token_counts(self):
        """Written out, a core sends more rows than a token counts before another reads them: its rows have several."""
        torch.manual_seed(1)
        names, expected = self.export(Mean(), [(1, 260, 8)])
        said = self.compile("--effort", "fast", target="c6b32")
        self.assertEqual(said["notes"], [])
        self.check(said, names, expected)

    def test_refused(self):
        """What has no steps that come one after the other is what it was: too large."""
        torch.manual_seed(1)
        self.export(Recurrence("LSTM", 4, 8, bidirectional=True), [(1, 4, 200)])
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
        self.assertEqual(code, 4, err)
        self.assertRegex(err, "^error\\[E04")


if __name__ == "__main__":
    main()
