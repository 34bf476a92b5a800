#!/usr/bin/env python3
"""Values of the benchmark rows against numpy, and the engines against each other.

usage: rows_test.py SLUICE TARGET vm|both [ROW...]

Every row is evaluated in float64 on seeded inputs, a window that is streamed position by position. A result may be off by TOLERANCE
of the largest reference: operands, activations and results are bf16 (2^-9 relative
each), weights too, and the errors of a layer pass through the ones behind it. With
`both`, the Verilated machine runs the same inferences: equal bits, equal cycles.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import make_models

TOLERANCE = 0.015
STEPS = 2


def convolve(x, w, b, kernel_shape, strides, pads, group):
    """As ONNX says, element of the window by element of it; each channel has a part of the features to itself, or
    all have all."""
    assert group in (1, x.shape[1])
    axes = len(kernel_shape)
    padded = np.pad(x, [(0, 0), (0, 0), *zip(pads[:axes], pads[axes:])])
    counts = [(padded.shape[2 + i] - kernel_shape[i]) // strides[i] + 1 for i in range(axes)]
    y = np.zeros([1, w.shape[0], *counts]) + b.reshape(1, -1, *[1] * axes)
    for at in np.ndindex(*kernel_shape):
        seen = padded[(slice(None), slice(None), *[slice(a, a + s * (n - 1) + 1, s)
                                                   for a, s, n in zip(at, strides, counts)])]
        of = w[(slice(None), slice(None), *at)]
        if group == 1:
            y += np.einsum("oc,nc...->no...", of, seen)
        else:
            y += of.reshape(1, -1, *[1] * axes) * np.repeat(seen, len(w) // group, axis=1)
    return y


def long_short_term(x, w, r, b, hidden_size, layout):
    """As ONNX says, step after step, forward; batch first."""
    assert layout == 1 and x.shape[0] == 1
    bias = b[0, :4 * hidden_size] + b[0, 4 * hidden_size:]
    h, c, rows = np.zeros(hidden_size), np.zeros(hidden_size), []
    for step in x[0]:
        i, o, f, g = np.split(w[0] @ step + r[0] @ h + bias, 4)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        rows.append(h)
    return np.stack(rows)[None, :, None]


def softmax(x, axis):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def layer_normalization(x, scale, bias, axis):
    distance = x - x.mean(axis=axis, keepdims=True)
    return distance / np.sqrt((distance**2).mean(axis=axis, keepdims=True) + 1e-5) * scale + bias


OPERATORS = {
    "Softmax": softmax,
    "LayerNormalization": layer_normalization,
    "Relu": lambda x: np.maximum(x, 0),
    "Elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Sqrt": np.sqrt,
    "Identity": lambda x: x,
    "Add": np.add,
    "Mul": np.multiply,
    "Div": np.divide,
    "ReduceMean": lambda x, axes, keepdims: np.mean(x, axis=tuple(axes), keepdims=bool(keepdims)),
    "Conv": convolve,
    "LSTM": long_short_term,
    "MatMul": np.matmul,
    "Reshape": lambda x, shape: x.reshape(shape.astype(int)),
    "Gemm": lambda x, w, b=0.0, transB=0: x @ (w.T if transB else w) + b,
}


def evaluate(model, x):
    """The graph's output in float64; weights as the model has them."""
    values = {i.name: numpy_helper.to_array(i).astype(np.float64) for i in model.graph.initializer}
    values["x"] = x.astype(np.float64)
    for node in model.graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        values[node.output[0]] = OPERATORS[node.op_type](*(values[name] for name in node.input), **attributes)
    return values["y"]


def check(sluice, target, engine, name, folder):
    """What is wrong with a row, and a line about it."""
    model = make_models.MODELS[name](name)
    path, wrong = folder / name, []
    onnx.save(model, path.with_suffix(".onnx"))

    def command(*args):
        done = subprocess.run([sluice, *map(str, args), "--json"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{name} on {target}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    program = f"{path}-{pathlib.Path(target).stem}.sluice"
    expected = command("compile", path.with_suffix(".onnx"), "--target", target, "-o", program,
                       *make_models.flags_of(model))["latency"]["spaced"]
    shape = [extent.dim_value for extent in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(1).standard_normal(shape)
    # The engines see bf16: so does the reference, and what remains is the machine's error.
    x = (x.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    np.save(f"{path}-x.npy", x)
    streamed = name in make_models.SEQUENCES  # a step for every position
    result = command("run", program, "--engine", engine, "--steps", shape[1] if streamed else STEPS, "--input",
                     f"x=@{path}-x.npy", "--output", f"y=@{path}-y.npy")
    y, reference = np.load(f"{path}-y.npy").astype(np.float64), evaluate(model, x)
    y = np.concatenate(y, axis=1) if streamed else y[-1]
    error = np.abs(y - reference).max() / np.abs(reference).max()
    if y.shape != reference.shape or not error <= TOLERANCE:
        wrong.append(f"{name} on {target}: error {error:.4f} of the largest value, allowed {TOLERANCE}")
    cycles = {engine: run["cycles"] for engine, run in result["engines"].items()}
    if engine == "both" and (result["equal"] is not True or len(set(cycles.values())) != 1):
        wrong.append(f"{name} on {target}: the engines differ: {result}")
    if set(cycles.values()) != {expected}:
        wrong.append(f"{name} on {target}: {cycles} cycles, the compiler says {expected}")
    return wrong, f"{name} on {target}: error {100 * error:.2f} % of the largest value, {cycles} cycles"


def main():
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    sluice, target, engine = sys.argv[1:4]
    more = make_models.WINDOWS | make_models.LINES | make_models.SEQUENCES | make_models.WHOLE if target == "c6b32" else []
    names = sys.argv[4:] or [name for name in [*make_models.ROWS, *more] if name != make_models.LARGEST]
    failed = False
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for wrong, line in pool.map(lambda name: check(sluice, target, engine, name, pathlib.Path(folder)), names):
            print(line, *wrong, sep="\n", flush=True)
            failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
