#!/usr/bin/env python3
"""Plants the smallest faults that sluice compare must find, and checks that it names the layer.

usage: smallest_faults.py SLUICE PLANT_FAULT [--share]

A depthwise separable CNN, an LSTM over steps and an encoder have ten faults each: a wrong weight, a wrong entry of a function
table, or a row that an instruction reads one row further on. The size of a weight or an entry grows by steps of 1.25 until the
tensor of the node is at twice its bound; of the rows, the one is taken that moves the tensor the least beyond that. `compare`
must name the node with this first wrong tensor. Ten runs of each model without a fault must name nothing. Each run has other
inputs. With --share, two faults and one run without a fault for each model.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SLUICE, PLANT = map(os.path.abspath, sys.argv[1:3])
IS_SHARE = "--share" in sys.argv
sys.argv[1:] = sys.argv[1:2] + [PLANT] # what compare_test reads

import numpy as np
import onnx

import compare_test as nets

SAMPLES, TWICE, GROWTH, LEAST, MOST = 6, 2.0, 1.25, 2.0 ** -10, 2.0 ** 6


def ds_cnn():
    """Keyword spotting in small: a convolution, two depthwise separable blocks, pooling, a dense layer."""
    nodes, constants, value, random = [], {}, "x", np.random.default_rng(1)

    def conv(name, features, inputs, kernel, group=1, **more):
        nonlocal value
        fan = inputs // group * kernel ** 2
        constants[f"{name}.w"] = random.standard_normal((features, inputs // group, kernel, kernel)) * 1.2 / np.sqrt(fan)
        constants[f"{name}.b"] = 0.3 * random.standard_normal(features)
        nodes.append(("Conv", [value, f"{name}.w", f"{name}.b"], f"{name}.c", name, {"group": group, **more}))
        nodes.append(("Sigmoid" if name == "pw2" else "Relu", [f"{name}.c"], f"{name}.r", f"{name}.act", {}))
        value = f"{name}.r"

    conv("conv", 8, 1, 3, strides=[2, 2], pads=[1, 1, 1, 1])
    for block in "12":
        conv(f"dw{block}", 8, 8, 3, group=8, pads=[1, 1, 1, 1])
        conv(f"pw{block}", 8, 8, 1)
    nodes.append(("GlobalAveragePool", [value], "pool", "pool", {}))
    nodes.append(("Flatten", ["pool"], "flat", "flatten", {}))
    constants.update({"fc.w": random.standard_normal((8, 6)), "fc.b": random.standard_normal(6)})
    nodes.append(("Gemm", ["flat", "fc.w", "fc.b"], "y", "fc", {}))
    return nets.network(nodes, {"x": (1, 1, 10, 8)}, {"y": (1, 6)}, {name: value.astype(np.float32) for name, value in constants.items()})


# By model: how it is made, its flags, its steps, and its faults: kind, node, and the tensor that must be the first wrong one.
MODELS = {
    "ds_cnn": (ds_cnn, (), 1, [
        ("weight", 0, "conv.r"), ("weight", 2, "dw1.r"), ("weight", 4, "pw1.r"), ("weight", 6, "dw2.r"), ("weight", 12, "y"),
        ("table", 9, "pw2.r"), ("row", 0, "conv.r"), ("row", 2, "dw1.r"), ("row", 4, "pw1.r"), ("row", 12, "y")]),
    "lstm": (nets.lstm, nets.STATE, 6, [
        ("weight", 0, "Yc"), ("weight", 2, "y"), ("table", 0, "Yc"), ("row", 0, "Yc"), ("row", 2, "y")] * 2),
    "encoder": (nets.encoder, ("--allow-dynamic-weights",), 1, [
        ("weight", 0, "q"), ("weight", 2, "a"), ("weight", 10, "h1r"), ("weight", 13, "y"), ("table", 6, "a"), ("table", 9, "ln"),
        ("row", 0, "q"), ("row", 7, "a"), ("row", 10, "h1r"), ("row", 13, "y")]),
}


class Model:
    """A compiled model in a folder, and inputs."""
    def __init__(self, name, folder):
        build, flags, self.steps, self.faults = MODELS[name]
        self.name, self.folder, self.model = name, folder, build()
        onnx.save(self.model, folder / "m.onnx")
        self.flags = ["m.onnx", "--target", "c2b8", *flags]
        self.run("compile", *self.flags, "-o", "m.sluice")
        self.compared = 0

    def run(self, *words, codes=(0,)):
        done = subprocess.run([SLUICE, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode not in codes:
            sys.exit(f"sluice {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def draw(self, seed):
        """Writes inputs for all samples."""
        shape = [d.dim_value for d in self.model.graph.input[0].type.tensor_type.shape.dim]
        x = np.random.default_rng(seed).standard_normal((SAMPLES * self.steps, *shape)).astype(np.float32)
        np.savez(self.folder / "x.npz", x=x)

    def compare(self, program):
        """Compares a program with the model. Returns the layers by tensor, in their order."""
        self.compared += 1
        steps = ["--steps", str(self.steps)] if self.steps > 1 else []
        found = json.loads(self.run("compare", *self.flags, *steps, "--data", "x.npz", "--program", program, "--json", codes=(0, 1)))
        return found["first_wrong"], {layer["tensor"]: layer for layer in found["layers"]}

    def plant(self, kind, node, place, size):
        """Writes bad.sluice. Returns whether the node has such a place."""
        done = subprocess.run([PLANT, "m.sluice", "bad.sluice", kind, str(node), str(place), repr(size)], cwd=self.folder, check=False)
        return done.returncode == 0

    def share(self, tensor):
        """How many times the bound of a tensor its error in bad.sluice is."""
        first, layers = self.compare("bad.sluice")
        return float(layers[tensor]["share_of_bound"]), first, layers

    def smallest_size(self, kind, node, place, tensor):
        """Returns share, size, the first wrong node and the layers of the smallest fault in a place; None if none is large enough."""
        if not self.plant(kind, node, place, MOST) or self.share(tensor)[0] < TWICE:
            return None
        low, high, best = 0, round(np.log(MOST / LEAST) / np.log(GROWTH)), None # by steps of the size
        while low <= high:
            middle = (low + high) // 2
            size = LEAST * GROWTH ** middle
            found = self.share(tensor) if self.plant(kind, node, place, size) else (0.0,)
            if found[0] >= TWICE:
                best, high = (found[0], size, *found[1:]), middle - 1
            else:
                low = middle + 1
        return best

    def smallest(self, kind, node, tensor, random):
        """Returns the smallest fault of a kind in a node."""
        if kind == "row":
            rows = []
            for place in range(8):
                if not self.plant(kind, node, place, 0.0):
                    break
                share, first, layers = self.share(tensor)
                if share >= TWICE:
                    rows.append((share, 1.0, first, layers))
            return min(rows, key=lambda one: one[0], default=None)
        for _ in range(200):
            if found := self.smallest_size(kind, node, int(random.integers(0, 4096)), tensor):
                return found
        return None


def try_faults(name):
    """Prints a line for each fault. Returns the number that compare named, and of all."""
    right = count = 0
    with tempfile.TemporaryDirectory() as folder:
        model = Model(name, Path(folder))
        faults = model.faults[::5] if IS_SHARE else model.faults
        for seed, (kind, node, tensor) in enumerate(faults):
            model.draw(seed)
            found = model.smallest(kind, node, tensor, np.random.default_rng(seed))
            count += 1
            if found is None:
                print(f"{name:8} {kind:6} node {node:2}: no fault of this kind is large enough", flush=True)
                continue
            share, size, first, layers = found
            wrong = next(layer["tensor"] for layer in layers.values() if not layer["ok"])
            is_named = wrong == tensor and first == layers[tensor]["node"]
            right += is_named
            print(f"{name:8} {kind:6} node {node:2}: size {size:9.4g}, {share:6.2f} times the bound of {tensor}; compare names "
                  f"node {first['index']} \"{first['name']}\", tensor {wrong}{'' if is_named else ', WRONG'}", flush=True)
        quiet = 0
        runs = 1 if IS_SHARE else 10
        for seed in range(runs):
            model.draw(1000 + seed)
            first, layers = model.compare("m.sluice")
            quiet += first is None and all(layer["ok"] for layer in layers.values())
        print(f"{name:8} without a fault: {quiet} of {runs} runs name nothing; {model.compared} comparisons", flush=True)
    return right, count, quiet, runs


def main():
    totals = np.sum([try_faults(name) for name in MODELS], axis=0)
    print(f"named {totals[0]} of {totals[1]} faults; {totals[2]} of {totals[3]} runs without a fault name nothing")
    return 0 if totals[0] == totals[1] and totals[2] == totals[3] else 1


if __name__ == "__main__":
    sys.exit(main())
