#!/usr/bin/env python3
"""Random quantised networks, compared in every integer with the text of ONNX in float64, on both engines.

usage: quantised_networks.py SLUICE [--count N] [--first SEED] [--target c6b32]

Each network takes quantised integers, has one to three layers (dense, convolution, residual Add, a block with a skip
connection, a product that is transposed, Concat, AveragePool, MaxPool, Relu) and gives quantised integers. Half of them are
QDQ networks, half of operators on integers. Weights are quantised per tensor or per channel, activations asymmetrically; types
are int8 and uint8.

Float64 stands for real numbers here. A quotient within 2^-20 of the middle between two integers may become either of them:
there fp32, in which the scales are given, decides nothing. All other integers must be equal, unless the compiler says in a note
that they may differ. Ends with 1 if a network without a note differs, and prints
the counts. Uses onnx and NumPy only.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

KINDS = {np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8}
TIE = 2.0 ** -20


@dataclass
class Value:
    """A quantised tensor: its name, its integers (the sets that are allowed: from `low` to `high`), and what they stand for."""
    name: str
    integers: np.ndarray
    scale: np.float32
    zero: np.generic

    @property
    def real(self):
        return (self.integers.astype(np.float64) - float(self.zero)) * float(self.scale)


class Network:
    """A random network with the integers that it gives."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.ties = [], [], 0
        self.is_qdq = bool(self.rng.integers(2))
        self.type = np.dtype(self.rng.choice([np.uint8, np.int8]))
        self.is_image = bool(self.rng.integers(2))
        self.words = []
        shape = (1, int(self.rng.integers(1, 5)), *map(int, self.rng.integers(5, 9, 2))) if self.is_image \
            else (int(self.rng.integers(1, 4)), int(self.rng.integers(4, 70)))
        info = np.iinfo(self.type)
        x = self.rng.integers(info.min, info.max + 1, shape).astype(self.type)
        value = Value("x", x, np.float32(self.rng.uniform(0.005, 0.05)), self.zero())
        self.x = x
        for _ in range(int(self.rng.integers(1, 4))):
            value = self.layer(value)
        self.result = value

    def zero(self):
        info = np.iinfo(self.type)
        return self.type.type(self.rng.integers(info.min + 60, info.max - 60))

    def name(self):
        return f"t{len(self.nodes)}_{len(self.constants)}"

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, domain="", **attributes):
        name = self.name()
        self.nodes.append(helper.make_node(op, inputs, [name], domain=domain, **attributes))
        return name

    def quantised(self, real, name=None):
        """The integers of a real tensor, by a scale that uses most of the range."""
        info = np.iinfo(self.type)
        zero = self.zero()
        reach = max(np.abs(real).max(), 1e-3)
        scale = np.float32(reach / self.rng.uniform(60, 140))
        quotient = real / float(scale)
        self.ties += int((np.abs(quotient - np.floor(quotient) - 0.5) < TIE).sum())
        integers = np.clip(np.rint(quotient) + float(zero), info.min, info.max).astype(self.type)
        return Value(name, integers, scale, zero)

    def pair(self, value):
        return [self.constant(value.scale), self.constant(value.zero)]

    def restored(self, value):
        return self.node("DequantizeLinear", [value.name, *self.pair(value)])

    def requantised(self, float_name, real):
        value = self.quantised(real)
        value.name = self.node("QuantizeLinear", [float_name, *self.pair(value)])
        return value

    def layer(self, x):
        small = self.is_image and min(x.integers.shape[2:]) < 3
        choices = ["conv", "depthwise", "residual", "concat", "block"] + ([] if small else ["pool", "maxpool"]) \
            if self.is_image else ["dense", "dense", "residual", "concat", "relu", "block", "turned"]
        kind = str(self.rng.choice(choices))
        if not self.is_qdq and kind in ("pool", "residual", "concat", "relu", "block", "turned"):
            kind = "conv" if self.is_image else "dense"
        self.words.append(kind)
        return getattr(self, kind)(x)

    def weights(self, shape, axis):
        """Integers, scales and zero points, per channel in half of the networks."""
        w = self.rng.integers(-127, 128, shape).astype(np.int8)
        if self.rng.integers(2):
            self.words.append("per channel")
            return w, self.rng.uniform(0.001, 0.02, shape[axis]).astype(np.float32), np.zeros(shape[axis], np.int8)
        return w, np.float32(self.rng.uniform(0.001, 0.02)), np.int8(0)

    def weighted(self, x, w, scale, zero, axis, op, real, **attributes):
        """A product with quantised weights: `real` computes it from the reals of both."""
        shape = [1] * w.ndim
        if np.ndim(scale):
            shape[axis] = -1
        y = real(x.real, w.astype(np.float64) * np.asarray(scale, np.float64).reshape(shape))
        integers = [self.constant(w), self.constant(scale), self.constant(zero)]
        bias = None
        if self.rng.integers(2) and op != "MatMul":
            count = w.shape[0]
            by = np.float64(np.asarray(scale, np.float32) * x.scale)
            bias = self.rng.integers(-2000, 2000, count).astype(np.int32)
            y = y + (bias * by).reshape((1, -1) + (1,) * (y.ndim - 2))
        if self.is_qdq:
            named = {"axis": axis} if np.ndim(scale) else {}
            floats = [self.restored(x), self.node("DequantizeLinear", integers, **named)]
            if bias is not None:
                by = np.asarray(scale, np.float32) * x.scale
                floats.append(self.node("DequantizeLinear", [self.constant(bias), self.constant(by),
                                                             self.constant(np.zeros(np.shape(by), np.int32))],
                                        **({"axis": 0} if np.ndim(by) else {})))
            product = self.node(op, floats, **attributes)
            if self.rng.integers(3) == 0:
                product, y = self.node("Relu", [product]), np.maximum(y, 0)
            return self.requantised(product, y)
        result = self.quantised(y)
        inputs = [x.name, *self.pair(x), *integers, *self.pair(result)]
        if bias is not None:
            inputs.append(self.constant(bias))
        result.name = self.node({"MatMul": "QLinearMatMul", "Conv": "QLinearConv"}[op], inputs, **attributes)
        return result

    def dense(self, x):
        w, scale, zero = self.weights((x.integers.shape[-1], int(self.rng.integers(3, 70))), 1)
        return self.weighted(x, w, scale, zero, 1, "MatMul", np.matmul)

    def conv(self, x, group=1):
        channels = x.integers.shape[1]
        size = int(self.rng.integers(1, min(3, *x.integers.shape[2:]) + 1))
        outputs = channels if group > 1 else int(self.rng.integers(2, 12))
        pad, stride = int(self.rng.integers(0, 2)) if size > 1 else 0, int(self.rng.integers(1, 3))
        w, scale, zero = self.weights((outputs, channels // group, size, size), 0)

        def real(data, weights):
            data = np.pad(data, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
            windows = np.lib.stride_tricks.sliding_window_view(data, (size, size), (2, 3))[:, :, ::stride, ::stride]
            if group > 1:
                return np.einsum("nchwij,cij->nchw", windows, weights[:, 0])
            return np.einsum("nchwij,ocij->nohw", windows, weights)
        return self.weighted(x, w, scale, zero, 0, "Conv", real, kernel_shape=[size, size], pads=[pad] * 4, strides=[stride] * 2,
                             group=group)

    def depthwise(self, x):
        return self.conv(x, x.integers.shape[1]) if x.integers.shape[1] > 1 else self.conv(x)

    def pool(self, x):
        windows = np.lib.stride_tricks.sliding_window_view(x.real, (2, 2), (2, 3))
        return self.requantised(self.node("AveragePool", [self.restored(x)], kernel_shape=[2, 2]), windows.mean((-1, -2)))

    def maxpool(self, x):
        windows = np.lib.stride_tricks.sliding_window_view(x.integers, (2, 2), (2, 3))
        return Value(self.node("MaxPool", [x.name], kernel_shape=[2, 2]), windows.max((-1, -2)), x.scale, x.zero)

    def residual(self, x):
        side = self.quantised(x.real)
        side.name = self.node("QuantizeLinear", [self.restored(x), *self.pair(side)])
        return self.requantised(self.node("Add", [self.restored(x), self.restored(side)]), x.real + side.real)

    def block(self, x):
        """A product of the extents of `x`, to which `x` is added."""
        extent = x.integers.shape[1]
        if self.is_image:
            w, scale, zero = self.weights((extent, extent, 1, 1), 0)
            y = self.weighted(x, w, scale, zero, 0, "Conv",
                              lambda data, weights: np.einsum("nchw,oc->nohw", data, weights[:, :, 0, 0]), kernel_shape=[1, 1])
        else:
            w, scale, zero = self.weights((extent, extent), 1)
            y = self.weighted(x, w, scale, zero, 1, "MatMul", np.matmul)
        return self.requantised(self.node("Add", [self.restored(y), self.restored(x)]), y.real + x.real)

    def turned(self, x):
        """A product that is quantised behind a transposition, and transposed back."""
        extent = x.integers.shape[1]
        w = self.rng.integers(-127, 128, (extent, int(self.rng.integers(3, 40)))).astype(np.int8)
        scale = np.float32(self.rng.uniform(0.001, 0.02))
        weights = self.node("DequantizeLinear", [self.constant(w), self.constant(scale), self.constant(np.int8(0))])
        product = self.node("MatMul", [self.restored(x), weights])
        y = self.requantised(self.node("Transpose", [product], perm=[1, 0]), (x.real @ (w * float(scale))).T)
        return Value(self.node("Transpose", [y.name], perm=[1, 0]), y.integers.T, y.scale, y.zero)

    def concat(self, x):
        side = self.quantised(-x.real)
        side.name = self.node("QuantizeLinear", [self.node("Neg", [self.restored(x)]), *self.pair(side)])
        return self.requantised(self.node("Concat", [self.restored(x), self.restored(side)], axis=1),
                                np.concatenate([x.real, side.real], 1))

    def relu(self, x):
        return self.requantised(self.node("Relu", [self.restored(x)]), np.maximum(x.real, 0))

    def model(self):
        def info(name, array):
            return helper.make_tensor_value_info(name, KINDS[array.dtype], array.shape)
        graph = helper.make_graph(self.nodes, "q", [info("x", self.x)], [info(self.result.name, self.result.integers)],
                                  self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def tried(sluice, target, seed, folder):
    """A word for what became of a network, the integers that differ and the largest difference."""
    network = Network(seed)
    model, output = folder / "m.onnx", network.result.name
    onnx.save(network.model(), str(model))
    np.save(folder / "x.npy", network.x)
    done = subprocess.run([sluice, "compile", str(model), "--target", target, "--json", "-o", str(folder / "m.sluice")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    title = f"seed {seed}: {'QDQ' if network.is_qdq else 'QLinear'} {network.type} {', '.join(network.words)}"
    if done.returncode != 0:
        return "rejected", f"{title}: {done.stderr.strip()[:300]} {done.stdout[:300]}"
    notes = [note for note in json.loads(done.stdout).get("notes", []) if "integers" in note]
    run = subprocess.run([sluice, "run", str(folder / "m.sluice"), "--engine", "both", "--input", f"x=@{folder}/x.npy",
                          "--output", f"{output}=@{folder}/y.npy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         check=False)
    if run.returncode != 0 or "engines agree: equal bits, equal cycles" not in run.stdout:
        return "wrong", f"{title}: {run.stdout}{run.stderr}"
    found = np.load(folder / "y.npy").astype(int)
    off = np.abs(found - network.result.integers.astype(int))
    text = f"{title}: {(off > 0).sum()} of {off.size} differ, by {off.max()} at most{''.join('; ' + n for n in notes)}"
    if not off.any():
        return "noted and equal" if notes else "equal", text
    if network.ties:
        return "ties", f"{text}; {network.ties} ties"
    return "noted" if notes else "different", text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sluice")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", default="c6b32")
    parser.add_argument("--all", action="store_true", help="print every network")
    arguments = parser.parse_args()
    counts = {}
    with tempfile.TemporaryDirectory() as name:
        for seed in range(arguments.first, arguments.first + arguments.count):
            word, text = tried(arguments.sluice, arguments.target, seed, pathlib.Path(name))
            counts[word] = counts.get(word, 0) + 1
            if arguments.all or word not in ("equal", "noted and equal"):
                print(f"{word}: {text}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    return int(bool(counts.get("different") or counts.get("wrong")))


if __name__ == "__main__":
    sys.exit(main())
