#!/usr/bin/env python3
"""Thousands of positions through single operators, and dense networks over hundreds: values against numpy, and how far
the cycles of the networks are from what the host port or the products need.

usage: positions_test.py SLUICE vm|both

With `both`, the Verilated machine runs the same inferences: equal bits, equal cycles.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TARGET = "c6b32"
CORES, LANES = 6, 32
TOLERANCE = 0.015  # of the largest reference, as in rows_test.py
SPACED, PERIOD = 1.5, 1.25  # at most, of the bound
RANDOM = np.random.default_rng(11)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def seen(x):
    """What the machine has of a number."""
    return (x.view(np.uint32) & 0xFFFF0000).view(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normalised(x, scale, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def model(nodes, x, y, constants):
    """From input `x` to output `y`, of these shapes."""
    def tensor(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "positions", [tensor("x", x)], [tensor("y", y)],
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def single(op, function, shape, result, constants=None, **attributes):
    node = helper.make_node(op, ["x", *(constants or {})], ["y"], **attributes)
    of = [np.float64(value) for value in (constants or {}).values()]
    return model([node], shape, result, constants or {}), lambda x: function(x, *of)


def dense(positions, widths):
    """Layers with relu between them."""
    layers = [(normal(a, b) / np.float32(np.sqrt(a)), normal(b)) for a, b in zip(widths, widths[1:])]
    nodes, constants, value = [], {}, "x"
    for i, (weights, bias) in enumerate(layers):
        constants |= {f"w{i}": weights, f"b{i}": bias}
        last = i + 1 == len(layers)
        nodes.append(helper.make_node("Gemm", [value, f"w{i}", f"b{i}"], ["y" if last else f"h{i}"]))
        if not last:
            nodes.append(helper.make_node("Relu", [f"h{i}"], [value := f"r{i}"]))

    def function(x):
        for i, (weights, bias) in enumerate(layers):
            x = x @ np.float64(weights) + bias
            x = np.maximum(x, 0) if i + 1 < len(layers) else x
        return x
    return model(nodes, [positions, widths[0]], [positions, widths[-1]], constants), function


def bound(positions, widths):
    """Cycles: one for each row at the host port, or products by all cores."""
    blocks = [width // LANES for width in widths]
    products = sum(a * b for a, b in zip(blocks, blocks[1:]))
    return max(positions * (blocks[0] + blocks[-1]), positions * products / CORES)


def check(sluice, engine, title, made, folder, flags=(), most=None):
    """What is wrong, and a line about it. `most`: the bound."""
    proto, function = made
    wrong, program = [], folder / "model.sluice"
    onnx.save(proto, folder / "model.onnx")

    def command(*args):
        done = subprocess.run([sluice, *map(str, args), "--json"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{title}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    latency = command("compile", folder / "model.onnx", "--target", TARGET, "-o", program, *flags)["latency"]
    x = seen(normal(*[extent.dim_value for extent in proto.graph.input[0].type.tensor_type.shape.dim]))
    np.save(folder / "x.npy", x)
    report = command("run", program, "--engine", engine, "--input", f"x=@{folder}/x.npy", "--output",
                     f"y=@{folder}/y.npy")
    y, reference = np.load(folder / "y.npy"), function(np.float64(x))
    error = np.abs(y - reference).max() / np.abs(reference).max()
    if y.shape != reference.shape or not error <= TOLERANCE:
        wrong.append(f"{title}: error {error:.4f} of the largest value, allowed {TOLERANCE}")
    cycles = {name: run["cycles"] for name, run in report["engines"].items()}
    if set(cycles.values()) != {latency["spaced"]} or (engine == "both" and report["equal"] is not True):
        wrong.append(f"{title}: {cycles} cycles, the compiler says {latency['spaced']}; equal: {report['equal']}")
    line = f"{title}: {latency['spaced']} cycles, period {latency['period']}, error {100 * error:.2f} %"
    if most is not None:
        line += f", bound {most:.0f}"
        if latency["spaced"] > SPACED * most or latency["period"] > PERIOD * most:
            wrong.append(f"{title}: {latency} cycles, bound {most:.0f}, allowed {SPACED} and {PERIOD} times that")
    return wrong, line


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    sluice, engine = sys.argv[1:]
    rows = [4096, 32]
    weights, bias = normal(32, 256) / np.float32(np.sqrt(32)), normal(256)
    along = ["--data-dim", "x=1"]  # a row of 32 is what the lanes hold
    cases = [
        ("Relu", single("Relu", lambda x: np.maximum(x, 0), rows, rows)),
        ("ReduceMean over axis 0", single("ReduceMean", lambda x: x.mean(0), rows, [32], axes=[0], keepdims=0)),
        ("Gemm to 256", single("Gemm", lambda x, w, b: x @ w + b, rows, [4096, 256], {"w": weights, "b": bias})),
        ("Softmax", single("Softmax", softmax, rows, rows, axis=-1), along),
        ("LayerNormalization", single("LayerNormalization", normalised, rows, rows, {"s": normal(32), "b": normal(32)}),
         along),
        ("Transpose", single("Transpose", lambda x: x.T, rows, rows[::-1], perm=[1, 0]), along),
        ("48 x 256 -> 64 -> 256", dense(48, [256, 64, 256])),
    ]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for title, made, *flags in cases:
            wrong, line = check(sluice, engine, title, made, folder, *flags)
            print(line, *wrong, sep="\n", flush=True)
            failed |= bool(wrong)
        for positions, widths in ((256, [128] * 3), (4096, [128] * 3), (256, [256] * 5)):
            title = f"{len(widths) - 1} layers of {widths[0]} over {positions} positions"
            # The Verilated machine takes long for the last ones, which are made of the same instructions.
            wrong, line = check(sluice, engine if positions == 256 and widths[0] == 128 else "vm", title,
                                dense(positions, widths), folder, most=bound(positions, widths))
            print(line, *wrong, sep="\n", flush=True)
            failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
