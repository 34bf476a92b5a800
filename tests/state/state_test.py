#!/usr/bin/env python3
"""Networks with a memory on the chip: what they compute step after step, on both engines, against numpy in float64.

usage: state_test.py SLUICE [unittest arguments]

A result may be off by 2 % of the largest magnitude: inputs, weights and what is kept are bf16, of 8 significant bits,
and errors of a step go on to the next. SLUICE_STATE_NETWORKS is the number of random networks (24), SLUICE_STATE_FIRST
the seed of the first one; SLUICE_STATE_STEPS (4) is how long a published row runs.
"""
import csv
import json
import os
import pathlib
import sys

import numpy as np
import onnx

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from folder import Folder, main  # noqa: E402
from networks import (PUBLISHED, Network, bf16, evaluate, random_network, residual_convolutions,  # noqa: E402
                      windowed_attention)

TOLERANCE = 0.02
STEPS = 10


class StateTest(Folder):
    def engine(self, target="c2b8", steps=STEPS):
        """Both, where the Verilated machine is built and the run is not a long one."""
        return "both" if steps <= 1000 and target in json.loads(self.ok("version", "--json"))["engines"]["rtl"] else "vm"

    def compiled(self, network, *flags, target="c2b8"):
        onnx.save(network.model(), self.dir / "m.onnx")
        return json.loads(self.ok("compile", "m.onnx", "--target", target, "-o", "m.sluice", "--json", *network.flags(),
                                  *flags))

    def steps(self, network, count=STEPS, seed=7):
        """Inputs along a new first axis, by name."""
        random = np.random.default_rng(seed)
        kept = {f"{name}_in" for name in network.states}
        return {name: bf16(random.standard_normal((count, *shape))) for name, shape in network.inputs
                if name not in kept}

    def run_steps(self, network, inputs, *flags, target="c2b8"):
        """The outputs of all steps, by name, and what `run` says of itself."""
        kept = {f"{name}_out" for name in network.states}
        names = [name for name, _ in network.outputs if name not in kept]
        specs = []
        for name, values in inputs.items():
            np.save(self.dir / f"{name}.npy", values)
            specs += ["--input", f"{name}=@{name}.npy"]
        for name in names:
            specs += ["--output", f"{name}=@{name}.npy"]
        count = len(next(iter(inputs.values())))
        steps = [] if "--steps" in flags else ["--steps", count]
        said = json.loads(self.ok("run", "m.sluice", "--engine", self.engine(target, count), *steps, "--json", *specs, *flags))
        self.assertIn(said["equal"], (True, None))
        return {name: np.load(self.dir / f"{name}.npy") for name in names}, said

    def right(self, network, *flags, target="c2b8", steps=STEPS):
        """Compiles, runs, compares; what `compile` says."""
        said = self.compiled(network, *flags, target=target)
        inputs = self.steps(network, steps)
        outputs, run = self.run_steps(network, inputs, target=target)
        self.assertEqual(run["steps"], steps)
        expected = evaluate(network, [{name: values[i] for name, values in inputs.items()} for i in range(steps)])
        for name, values in outputs.items():
            reference = np.stack([step[name] for step in expected])
            self.assertEqual(values.shape, reference.shape)
            error = np.abs(values - reference).max() / np.abs(reference).max()
            self.assertLessEqual(error, TOLERANCE, f"output {name}")
            if steps > STEPS:
                print(f"output {name}: error {100 * error:.2f} % of the largest magnitude in {steps} steps")
        return said

    def lstm(self):
        network = Network(1)
        hidden = network.lstm(network.lstm(network.input("x", 1, 7), 7, 20, "a"), 20, 12, "b")
        network.give("y", hidden, 1, 12)
        return network

    def test_lstm(self):
        self.right(self.lstm())

    def test_gru(self):
        network = Network(2)
        network.give("y", network.gru(network.input("x", 1, 9), 9, 17, "a"), 1, 17)
        self.right(network)

    def test_state_space(self):
        network = Network(3)
        x, h = network.input("x", 1, 12), network.state("h", 1, 20)
        now = network.op("Add", network.op("MatMul", h, network.uniform((20, 20), 0.15)),
                         network.linear(x, 12, 20, bias=False))
        network.keep("h", now, 1, 20)
        network.give("y", network.op("Add", network.linear(now, 20, 12, bias=False), network.linear(x, 12, 12)), 1, 12)
        self.right(network)

    def test_causal_convolutions(self):
        network = Network(4)
        x = network.input("x", 1, 3)
        for layer, dilation in enumerate((1, 2, 4)):
            x = network.op("Relu", network.causal(x, 3 if layer == 0 else 10, 10, 3, dilation, f"s{layer}"))
        network.give("y", x, 1, 10)
        self.right(network)

    def test_a_delay_line_read_by_steps(self):
        """x of three inferences before, and the states that it passes through on its way."""
        network = Network(5)
        x = network.input("x", 1, 10)
        past = [network.state(f"d{i}", 1, 10) for i in range(3)]
        for i, value in enumerate([x, *past[:-1]]):
            network.keep(f"d{i}", value, 1, 10)
        network.give("y", network.op("Max", network.op("Sub", x, past[2]), network.op("Mul", past[0], past[1])), 1, 10)
        self.right(network)

    def test_states_that_change_places(self):
        network = Network(6)
        x, a, b = network.input("x", 1, 5), network.state("a", 1, 5), network.state("b", 1, 5)
        total = network.op("Add", network.op("Sub", x, a), b)
        network.keep("a", b, 1, 5)
        network.keep("b", total, 1, 5)
        network.give("y", network.op("Tanh", network.op("Add", a, total)), 1, 5)
        self.right(network)

    def test_a_state_is_an_output_too(self):
        network = Network(7)
        x, h = network.input("x", 1, 9), network.state("h", 1, 9)
        now = network.op("Tanh", network.op("Add", network.linear(x, 9, 9), network.linear(h, 9, 9)))
        network.keep("h", now, 1, 9)
        network.give("y", now, 1, 9)
        network.give("before", h, 1, 9)
        self.right(network)

    def test_random_networks(self):
        first = int(os.environ.get("SLUICE_STATE_FIRST", "0"))
        ran = 0
        for seed in range(first, first + int(os.environ.get("SLUICE_STATE_NETWORKS", "24"))):
            with self.subTest(seed=seed):
                network = random_network(seed)
                onnx.save(network.model(), self.dir / "m.onnx")
                code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *network.flags())
                if code == 3:  # states that become nothing but states
                    self.assertIn("error[E0417]", err)
                    continue
                self.right(network)
                ran += 1
        print(f"{ran} random networks ran")

    def twice(self, network, rows, flags=()):
        """What steps give: at once, and saved and restored between them, on a machine that does something else."""
        inputs = self.steps(network, 2 * rows)
        whole, _ = self.run_steps(network, inputs, *flags)
        first, _ = self.run_steps(network, {name: values[:rows] for name, values in inputs.items()},
                                  "--save-state", "state", *flags)
        second, _ = self.run_steps(network, {name: values[rows:] for name, values in inputs.items()},
                                   "--load-state", "state", *flags)
        for name, values in whole.items():
            np.testing.assert_array_equal(np.concatenate([first[name], second[name]]), values)

    def streams(self, network, count, steps, *flags):
        """Streams that take turns give what each gives alone."""
        inputs = [self.steps(network, steps, seed) for seed in range(count)]
        alone = [self.run_steps(network, one, *flags)[0] for one in inputs]
        together, said = self.run_steps(network, {name: np.stack([one[name] for one in inputs]) for name in inputs[0]},
                                        "--streams", count, "--steps", steps, *flags)
        self.assertEqual((said["steps"], said["streams"]), (count * steps, count))
        for name, values in together.items():
            np.testing.assert_array_equal(values, np.stack([one[name] for one in alone]))
        return said["engines"]["vm"]

    def test_saved_and_restored(self):
        network = self.lstm()
        self.compiled(network)
        self.twice(network, 4)
        costs = self.streams(network, 3, 4)
        places = json.loads(self.ok("inspect", "m.sluice", "--memory", "--json"))["state"]
        rows = sum(place["rows"] * (4 if place["memory"] == "preload" else 1) for place in places["places"])
        self.assertEqual((costs["reset_cycles"], costs["restore_cycles"]), (rows + 2, rows + 2))
        self.assertEqual((self.dir / "state").stat().st_size, 80 + 16 * rows)
        self.streams(network, 2, 5, "--reset-every", 2)

    def run_refused(self, code, err, *flags):
        found = self.sluice("run", "m.sluice", "--engine", "vm", *flags)
        self.assertEqual((found[0], found[2]), (code, err))

    def test_what_cannot_be_restored(self):
        network = Network(9)
        network.give("y", network.linear(network.input("x", 1, 6), 6, 6), 1, 6)
        self.compiled(network)
        self.assertNotIn("state", self.ok("inspect", "m.sluice", "--memory"))
        self.run_refused(3, "error[E0617]: the program keeps no state\n  --> m.sluice\n", "--input", "x=zeros", "--save-state", "s")
        self.run_refused(3, "error[E0617]: the program keeps no state\n  --> m.sluice\n", "--input", "x=zeros", "--streams", 2,
                     "--steps", 2)
        network = Network(9)
        x, h = network.input("x", 1, 6), network.state("h", 1, 6)
        now = network.op("Tanh", network.op("Add", x, h))
        network.keep("h", now, 1, 6)
        network.give("y", now, 1, 6)
        self.compiled(network)
        self.assertIn("state core 0, inbox row 0\n", self.ok("inspect", "m.sluice", "--memory"))
        only = "error[E0601]: --load-state and --save-state cannot be used with --data-set or --streams\n  --> m.sluice\n"
        self.run_refused(2, only, "--input", "x=zeros", "--streams", 2, "--save-state", "s")
        many = "error[E0601]: --steps 1048576 times --streams 2 is 2097152 inferences, allowed: up to 1048576\n  --> m.sluice\n"
        self.run_refused(2, many, "--input", "x=zeros", "--streams", 2, "--steps", 1048576)
        (self.dir / "set").mkdir()
        self.run_refused(2, "error[E0601]: --data-set cannot be used with --input, --steps, --streams or --hold\n  --> m.sluice\n"
                            "error[E0615]: 'set' has neither input_0.pb nor test_data_set_0\n  --> m.sluice\n", "--data-set", "set",
                         "--streams", 2)
        self.ok("run", "m.sluice", "--engine", "vm", "--input", "x=zeros", "--save-state", "s")
        (self.dir / "bad").write_bytes((self.dir / "s").read_bytes()[:-1])
        self.run_refused(2, "error[E0601]: the state has 95 bytes, the program needs 96\n  --> m.sluice\n", "--input", "x=zeros",
                     "--load-state", "bad")
        (self.dir / "bad").write_bytes(bytes(96))
        self.run_refused(5, "error[E0616]: the state cannot be used: the magic bytes at the start are missing\n"
                        "  --> m.sluice\n", "--input", "x=zeros", "--load-state", "bad")
        self.run_refused(5, "error[E0501]: cannot read 'no': No such file or directory\n", "--input", "x=zeros",
                     "--load-state", "no")
        self.run_refused(2, "error[E0516]: cannot write 'no/s': No such file or directory\n", "--input", "x=zeros",
                     "--save-state", "no/s")
        np.save(self.dir / "x.npy", np.zeros((3, 4, 1, 6), np.float32))
        for flags, known in ((["--steps", 4, "--streams", 2], ", [4, 1, 6] for 4 steps, [2, 4, 1, 6] for 2 streams"),
                             (["--streams", 2], ", [2, 1, 6] for 2 streams"), (["--steps", 4], ", [4, 1, 6] for 4 steps")):
            self.run_refused(2, "error[E0604]: input 'x' has shape [3, 4, 1, 6], allowed: [1, 6]" + known +
                            "\n  --> m.sluice\n", "--input", "x=@x.npy", *flags)
        text = self.ok("run", "m.sluice", "--engine", "vm", "--input", "x=zeros", "--streams", 2, "--steps", 2)
        self.assertRegex(text, r"\n  a reset takes 3 cycles, a save [0-9]+, a restore 3\n")

    def test_all_kinds_of_states_are_saved(self):
        for seed in range(int(os.environ.get("SLUICE_STATE_NETWORKS", "24")) // 4):
            with self.subTest(seed=seed):
                network = random_network(seed)
                onnx.save(network.model(), self.dir / "m.onnx")
                if self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *network.flags())[0] != 0:
                    continue
                state = json.loads(self.ok("inspect", "m.sluice", "--memory", "--json"))["state"]
                self.assertEqual(bool(state["saved_at"]), bool(state["places"]))  # none: no output asks for the state
                if not state["places"]:
                    continue
                self.twice(network, 3)
                self.streams(network, 2, 3)

    def test_a_published_row(self):
        """On the real geometry; the first step takes what the compiler says."""
        said = self.right(PUBLISHED["lstm-1x128"](), target="c6b32", steps=int(os.environ.get("SLUICE_STATE_STEPS", "4")))
        run = json.loads(self.ok("run", "m.sluice", "--engine", "vm", "--input", "x=random:1", "--json"))
        self.assertEqual(run["engines"]["vm"]["cycles"], said["latency"]["spaced"])
        # Three gates of a cell on its core, each of four products with the state; the fourth is elsewhere.
        self.assertEqual(said["latency"]["ahead"], 12)
        bench = ["bench", "m.sluice", "--engine", "vm"]
        self.assertEqual(json.loads(self.ok(*bench, "--json"))["ahead"], 12)
        self.assertIn("\nprecomputed sums    12 cycles (0.040 us at 300 MHz, nominal)\n", self.ok(*bench))

    def test_attention_over_a_window(self):
        """Longer than the window: what is not there yet is masked, and what is no more is forgotten."""
        self.right(windowed_attention(24, 3, 5, 32), steps=12)
        self.right(PUBLISHED["swa-192"](), target="c6b32", steps=int(os.environ.get("SLUICE_STATE_STEPS", "4")))

    def test_a_norm_in_front_of_a_window(self):
        """Its root is multiplied behind the products of the newest position, and what the past sums to is a row."""
        network = residual_convolutions(16, 4)
        self.right(network)
        plan = self.ok("compile", "m.onnx", "--target", "c2b8", "--emit", "plan", *network.flags())
        self.assertRegex(plan, r"stage [12]:\n  row \d+ linear on core 0, 0 blocks")

    def test_parameters_are_those_of_the_published_rows(self):
        path = pathlib.Path(os.environ.get("SLUICE_SHARED", ""), "reference/published_cycles.csv")
        if not path.exists():
            self.skipTest(f"the published figures are not here: {path}")
        with path.open() as file:
            published = {row["id"]: int(row["parameters"]) for row in csv.DictReader(file)}
        for name, make in PUBLISHED.items():
            constants = make().constants.values()
            # An epsilon is no parameter.
            count = sum(value.size for value in constants if value.dtype != np.int64 and value.size > 1)
            self.assertEqual(count, published[name], name)

    def test_effort_changes_nothing_but_cycles(self):
        network = self.lstm()
        fast = self.right(network, "--effort", "fast")
        best = self.right(network)
        self.assertLessEqual(best["latency"]["spaced"], fast["latency"]["spaced"])

    def test_reset(self):
        """After a reset the program gives, bit for bit, what it gave from the beginning on."""
        network = self.lstm()
        self.compiled(network)
        x = self.steps(network, 4)["x"]
        whole, _ = self.run_steps(network, {"x": np.concatenate([x, x])})
        again, _ = self.run_steps(network, {"x": np.concatenate([x, x])}, "--reset-every", 4)
        self.assertTrue(np.array_equal(again["y"][:4], whole["y"][:4]))
        self.assertTrue(np.array_equal(again["y"][4:], whole["y"][:4]))
        self.assertFalse(np.array_equal(whole["y"][4:], whole["y"][:4]))

    def test_initial_values(self):
        """In textual IR a state may begin with other values than zeros: of sums ahead and of what steps read."""
        random = np.random.default_rng(8)
        w, h = bf16(random.standard_normal((4, 4))), bf16(random.standard_normal((1, 4)))
        text = lambda values: json.dumps(values.astype(float).tolist())
        (self.dir / "m.mlir").write_text(f"""
func.func @main(%x: tensor<1x4xf32> {{sluice.name = "x"}}) -> (tensor<1x4xf32> {{sluice.name = "y"}}) {{
  %w = sluice.constant dense<{text(w)}> : tensor<4x4xf32>
  %h = sluice.state initial dense<{text(h)}> : tensor<1x4xf32> : tensor<1x4xf32>
  %p = sluice.matmul %h, %w : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %n = sluice.map (%a = %p, %b = %x, %c = %h) : (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> \
tensor<1x4xf32> {{
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %0, %c : f32
    %2 = math.tanh %1 : f32
    sluice.yield %2
  }}
  %k = sluice.keep %n in %h : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  return %n : tensor<1x4xf32>
}}
""")
        self.ok("compile", "m.mlir", "--target", "c2b8", "-o", "m.sluice")
        x = bf16(random.standard_normal((5, 1, 4)))
        np.save(self.dir / "x.npy", x)
        self.ok("run", "m.sluice", "--engine", self.engine(), "--steps", 5, "--input", "x=@x.npy", "--output", "y=@y.npy")
        y, state = np.load(self.dir / "y.npy"), h.astype(np.float64)
        for i in range(5):
            state = np.tanh((state @ w + x[i]) * state)
            self.assertLessEqual(np.abs(y[i] - state).max(), TOLERANCE)

    # ---- what is refused
    def refused(self, network, flags, expected, code=2):
        onnx.save(network.model(), self.dir / "m.onnx")
        got = self.sluice("check", "m.onnx", "--target", "c2b8", *flags)
        self.assertEqual((got[0], got[2]), (code, expected))

    def pair(self):
        network = Network(9)
        x, h = network.input("x", 1, 8), network.input("h", 1, 8)
        network.give("y", network.op("Add", x, h), 1, 8)
        network.give("z", network.op("Sub", x, h), 1, 8)
        network.give("half", network.linear(x, 8, 4), 1, 4)
        return network

    def test_refusals(self):
        network = self.pair()
        for flags, message in (
                (["--state", "h=yy"], "the model has no output 'yy'\n  --> m.onnx\n help: did you mean 'y'\n"),
                (["--state", "hh=y"], "the model has no input 'hh'\n  --> m.onnx\n help: did you mean 'h'\n"),
                (["--state", "h=y", "--state", "h=z"], "input 'h' belongs to two states\n  --> m.onnx\n"),
                (["--state", "h=y", "--state", "x=y"], "output 'y' belongs to two states\n  --> m.onnx\n"),
                (["--state", "h=half"],
                 "state output 'half' has shape [1 4], but state input 'h' has shape [1 8]\n  --> m.onnx\n")):
            with self.subTest(flags=flags):
                self.refused(network, flags, f"error[E0119]: {message}")
        only = Network(10)
        only.give("y", only.op("Add", only.input("x", 1, 8), only.input("h", 1, 8)), 1, 8)
        self.refused(only, ["--state", "h=y"], "error[E0119]: every output of the model is a state; at least "
                     "one must go to the host\n  --> m.onnx\n")
        for spec in ("h", "=y", "h="):
            self.refused(network, ["--state", spec], f"error[E0601]: --state '{spec}' is not of the form IN=OUT\n")

    def test_a_circle(self):
        network = Network(11)
        x, h = network.input("x", 1, 8), network.state("h", 1, 8)
        network.keep("h", h, 1, 8)
        network.give("y", network.op("Add", x, network.linear(h, 8, 8)), 1, 8)
        onnx.save(network.model(), self.dir / "m.onnx")
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *network.flags())
        self.assertEqual((code, err), (3, """\
error[E0417]: state 'h_in_0' is updated only from states, so it keeps its initial values
  --> m.onnx
 help: bind the input to its value (--bind), or update the state from an input
"""))


if __name__ == "__main__":
    main()
