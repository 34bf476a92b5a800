#!/usr/bin/env python3
"""Builds the networks of examples/gallery, compiles them, runs them and compares them with onnxruntime.

usage: gallery.py SLUICE [--write] [--engine vm|both] [NAME...]      (python of tools/test_environment.sh)

Ends with 1 if a figure is not the one in docs/gallery.md; --write writes the page, of all networks. The engine rtl takes part
for targets that the build has hardware of.
"""
import argparse
import importlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FOLDER, PAGE = ROOT / "examples/gallery", ROOT / "docs/gallery.md"
NAMES = ("ds_cnn", "mobilenet", "resnet8", "deeplob", "lstm_spotter", "gru_spotter", "policy", "transformer", "tcn", "autoencoder",
         "bert_tiny", "anomaly")
SAMPLES = 8
ALLOWED = 3 # percent
NEAR = 0.02 # percent: another processor's onnxruntime sums in another order
HEAD = """# Gallery

Twelve known networks, each with the script that builds it, the flags that it needs, its cycles and its error.
`tools/gallery.py` writes this page; do not edit it. To build, compile and run one:

```sh
python3 examples/gallery/policy.py policy.onnx
sluice compile policy.onnx --target c6b32 -o policy.sluice
sluice run policy.sluice --engine both --input observations=random:1
sluice report policy.onnx --target c6b32 -o policy.html
```

The weights are random numbers of a fixed seed; other weights have other errors. For trained networks, see
[the networks of other tools](exporters.md) and the digits of the [quickstart](installing.md).

| column | meaning |
|---|---|
| target | a preset, or a target file beside the scripts ([every field](targets.md)) |
| cycles, us | of one inference from its first input row to its last output row, at the nominal clock of 300 MHz |
| period | cycles between inferences if inputs always wait |
| error | the largest difference from onnxruntime in fp32 over {samples} samples, or over all steps of a stream, as a share of the range of the output; it contains the rounding of the inputs to bf16 |

| network | parameters | target | flags | cycles | us | period | error, % |
|---|---:|---|---|---:|---:|---:|---:|
"""


class Network:
    """A script of the gallery."""

    def __init__(self, name):
        sys.path.insert(0, str(FOLDER))
        module = importlib.import_module(name)
        self.name, self.title, self.build, self.note = name, module.TITLE, module.build, module.NOTE
        self.about = " ".join(module.__doc__.split("\n\nusage:")[0].split())
        self.target = getattr(module, "TARGET", "c6b32")
        self.flags = getattr(module, "FLAGS", [])
        self.steps = getattr(module, "STEPS", None)
        self.feeds = getattr(module, "feeds", None)

    @property
    def target_path(self):
        return str(FOLDER / self.target) if self.target.endswith(".json") else self.target

    @property
    def stream(self):
        """The input and the axis that are streamed, or None."""
        if "--stream" not in self.flags:
            return None
        name, axis = self.flags[self.flags.index("--stream") + 1].split("=")
        return name, int(axis)

    def samples(self, model):
        """Inputs, [samples, ...], or those of one sequence."""
        random = np.random.default_rng(3)
        if self.feeds:
            return self.feeds(random, SAMPLES)
        shape = lambda value: [one.dim_value for one in value.type.tensor_type.shape.dim]
        first = [] if self.stream else [SAMPLES]
        return {value.name: random.standard_normal([*first, *shape(value)]).astype(np.float32) for value in model.graph.input}


def expected(model, samples, is_sequence):
    """What onnxruntime computes in fp32, of the shape of `samples`."""
    import onnxruntime # pylint: disable=import-outside-toplevel
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    if is_sequence:
        return dict(zip(names, session.run(None, samples)))
    runs = [session.run(None, {name: values[i] for name, values in samples.items()}) for i in range(SAMPLES)]
    return {name: np.stack([run[k] for run in runs]) for k, name in enumerate(names)}


def command(sluice, *words):
    """The JSON that a command prints."""
    done = subprocess.run([sluice, *map(str, words), "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"sluice {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def measured(sluice, network, engine, folder):
    """Compiles and runs a network; its figures and the sentences of its plan."""
    import onnx # pylint: disable=import-outside-toplevel
    model, path, program = network.build(), folder / f"{network.name}.onnx", folder / f"{network.name}.sluice"
    onnx.save(model, str(path))
    flags = ["--target", network.target_path, *network.flags]
    compiled = command(sluice, "compile", path, *flags, "-o", program)
    plan = command(sluice, "explain", "--plan", path, *flags)["summary"]
    samples = network.samples(model)
    wanted = expected(model, samples, network.stream)
    words = ["--steps", network.steps or SAMPLES, "--engine", engine if network.target in hardware(sluice) else "vm"]
    for name, values in samples.items():
        np.save(folder / f"{name}.npy", values)
        words += ["--input", f"{name}=@{folder / name}.npy"]
    for name in wanted:
        words += ["--output", f"{name}=@{folder / name}.npy"]
    ran = command(sluice, "run", program, *words)
    cycles = {one["cycles"] for one in ran["engines"].values()}
    if ran["equal"] is False or cycles != {compiled["latency"]["spaced"]}:
        sys.exit(f"{network.name}: engines and compiler differ: {ran['engines']}, {compiled['latency']}")
    error = max(error_of(np.load(folder / f"{name}.npy"), value, network.stream) for name, value in wanted.items())
    if error > ALLOWED:
        sys.exit(f"{network.name}: error {error:.2f} %, allowed: {ALLOWED} %")
    return {"parameters": compiled["parameters"], "cycles": compiled["latency"]["spaced"], "period": compiled["latency"]["period"],
            "seconds": compiled["seconds"], "error": error, "plan": plan[1:]}


def hardware(sluice):
    """The targets that the engine rtl of the build runs."""
    return command(sluice, "version")["engines"]["rtl"]


def error_of(found, wanted, stream):
    """In percent of the range of an output, or of its magnitude if it is one number."""
    if stream: # a step along a new first axis
        wanted = np.moveaxis(wanted, stream[1], 0)
    found = found.reshape(wanted.shape)
    scale = np.ptp(wanted) if wanted[0].size > 1 else np.abs(wanted).max()
    return 100 * float(np.abs(found - wanted).max() / scale)


def row(network, figures):
    """The row of the table, without its error."""
    target = f"[`{network.target}`](../examples/gallery/{network.target})" if network.target.endswith(".json") else f"`{network.target}`"
    flags = f"`{' '.join(network.flags)}`" if network.flags else ""
    cells = [f"[{network.title}](#{anchor(network.title)})", f"{figures['parameters']:,}", target, flags, f"{figures['cycles']:,}",
             f"{figures['cycles'] / 300:.3g}", f"{figures['period']:,}"]
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def anchor(title):
    return "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -").replace(" ", "-")


def section(network, figures):
    return (f"\n## {network.title}\n{network.about} {network.note}\n\n"
            f"{' '.join(figures['plan']).replace('of that time', 'of the time')}\n\nScript: [{network.name}.py](../examples/gallery/{network.name}.py)\n")


def differences(text, network, figures):
    """Yields what the page says differently."""
    start = row(network, figures)
    found = next((line for line in text.splitlines() if line.startswith(start)), None)
    if found is None:
        yield f"no row {start}"
    elif abs(float(found[len(start):].strip(" |")) - figures["error"]) > NEAR:
        yield f"error {figures['error']:.2f} %, not{found[len(start):].strip('|')}"
    if section(network, figures) not in text:
        yield f"no section{section(network, figures)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--engine", choices=("vm", "both"), default="both")
    options = parser.parse_intermixed_args()
    for name in set(options.names) - set(NAMES):
        parser.error(f"unknown network '{name}', allowed: {', '.join(NAMES)}")
    table, sections, wrong = "", "", []
    for name in NAMES if options.write else options.names or NAMES:
        network = Network(name)
        with tempfile.TemporaryDirectory() as folder:
            figures = measured(str(Path(options.sluice).resolve()), network, options.engine, Path(folder))
        print(f"{name}: {figures['cycles']} cycles, error {figures['error']:.2f} %", flush=True)
        table += f"{row(network, figures)} {figures['error']:.2f} |\n"
        sections += section(network, figures)
        if not options.write:
            wrong += [f"{name}: {what}" for what in differences(PAGE.read_text(), network, figures)]
    if options.write:
        PAGE.write_text(HEAD.format(samples=SAMPLES) + table + sections)
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
