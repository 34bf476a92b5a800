#!/usr/bin/env python3
"""Networks on machines of one core, of four and of eight lanes, compared with numpy in float64.

usage: small_machines_test.py SLUICE WORK_DIR [TARGET]...

TARGET is a preset whose RTL is built: it runs on both engines, which must agree in bits and cycles. Other machines
of one core run on the vm. The weights and inputs are multiples of 1/8, so they are exact in bf16. Every result may be
off by 1 % of the largest.
"""
import itertools
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

ALLOWED = 0.01
SHAPES = [(4, 1), (4, 4), (8, 4), (8, 8)]  # lanes, pe_terms
rng = np.random.default_rng(1)


def eighths(*shape, most=8):
    return (rng.integers(-most, most + 1, shape) / 8).astype(np.float32)


def model(nodes, x, constants):
    """A model of the nodes; its input is x, its output y."""
    graph = helper.make_graph(nodes, "small", [helper.make_tensor_value_info("x", 1, x.shape)],
                              [helper.make_tensor_value_info("y", 1, None)],
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def dense():
    """Widths that no number of lanes divides; a table, a sum along the lanes and a maximum."""
    x, w, b, v = eighths(1, 13), eighths(13, 19), eighths(19), eighths(19, 6)
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["a"]), helper.make_node("Tanh", ["a"], ["t"]),
             helper.make_node("MatMul", ["t", "v"], ["s"]), helper.make_node("Softmax", ["s"], ["y"], axis=-1)]
    s = np.tanh(x @ w.astype(float) + b) @ v
    e = np.exp(s - s.max())
    return model(nodes, x, {"w": w, "b": b, "v": v}), x, e / e.sum()


def norm():
    """Sums along the lanes over several rows, and a residual."""
    x, w = eighths(1, 10), eighths(10, 10)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Add", ["a", "x"], ["r"]),
             helper.make_node("ReduceMean", ["r"], ["m"], axes=[1]), helper.make_node("Sub", ["r", "m"], ["d"]),
             helper.make_node("Mul", ["d", "d"], ["q"]), helper.make_node("ReduceMean", ["q"], ["v"], axes=[1]),
             helper.make_node("Sqrt", ["v"], ["s"]), helper.make_node("Div", ["d", "s"], ["y"])]
    r = x @ w.astype(float) + x
    d = r - r.mean()
    return model(nodes, x, {"w": w}), x, d / np.sqrt((d * d).mean())


def window():
    """A convolution whose taps are loops, and a maximum over positions."""
    x, w, b = eighths(1, 3, 11), eighths(5, 3, 3), eighths(5)
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("ReduceMax", ["r"], ["y"], axes=[2])]
    padded = np.pad(x[0].astype(float), ((0, 0), (1, 1)))
    taps = np.stack([padded[:, t:t + 11] for t in range(3)], 2)  # channel, position, tap
    c = np.einsum("oct,cpt->op", w, taps) + b[:, None]
    return model(nodes, x, {"w": w, "b": b}), x, np.maximum(c, 0).max(1, keepdims=True)[None]


def recurrent():
    """Four steps of an LSTM: gates, products of activations, a state."""
    steps, inputs, hidden = 4, 3, 5
    x, w, r, b = eighths(steps, 1, inputs), eighths(1, 20, inputs), eighths(1, 20, hidden, most=4), eighths(1, 40)
    nodes = [helper.make_node("LSTM", ["x", "w", "r", "b"], ["", "y", ""], hidden_size=hidden)]
    h = c = np.zeros(hidden)
    for step in x[:, 0]:
        i, o, f, g = np.split(w[0].astype(float) @ step + r[0] @ h + b[0, :20] + b[0, 20:], 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return model(nodes, x, {"w": w, "r": r, "b": b}), x, h[None, None]


def views():
    """Slices, a transposition and a concat: rows and lanes change places."""
    x, w = eighths(6, 7), eighths(6, 9)
    nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]),
             helper.make_node("MatMul", ["t", "w"], ["a"]),
             helper.make_node("Split", ["a", "split"], ["l", "m"], axis=1),
             helper.make_node("Concat", ["m", "l"], ["y"], axis=1)]
    a = x.T @ w.astype(float)
    return model(nodes, x, {"w": w, "split": np.array([4, 5])}), x, np.concatenate([a[:, 4:], a[:, :4]], 1)


NETWORKS = {make.__name__: make() for make in (dense, norm, window, recurrent, views)}


def main():
    sluice, work, *targets = sys.argv[1:]
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    machines = [(target, target, "both") for target in targets]
    preset = json.loads(subprocess.run([sluice, "targets", "--show", "ecp5-85f", "--json"], check=True,
                                       stdout=subprocess.PIPE).stdout)["target"]
    for lanes, terms in SHAPES:
        name = f"c1b{lanes}t{terms}"
        (work / f"{name}.json").write_text(json.dumps({**preset, "name": name, "lanes": lanes, "pe_terms": terms}))
        machines.append((name, work / f"{name}.json", "vm"))
    failures = 0
    for (name, (made, x, y)), (machine, target, engine) in itertools.product(NETWORKS.items(), machines):
        path = work / f"{name}.onnx"
        onnx.save(made, path)
        np.save(work / "x.npy", x)
        np.save(work / "y.npy", y)
        program = work / f"{name}-{machine}.sluice"
        subprocess.run([sluice, "compile", path, "--target", target, "--apply-fixes", "-o", program], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run = subprocess.run([sluice, "run", program, "--engine", engine, "--json", "--atol", "1", "--input",
                              f"x=@{work / 'x.npy'}", "--expect", f"y=@{work / 'y.npy'}"], stdout=subprocess.PIPE)
        report = json.loads(run.stdout)
        error = float(report["outputs"][0]["max_abs_error"]) / np.abs(y).max()
        cycles = {one["cycles"] for one in report["engines"].values()}
        good = run.returncode == 0 and error <= ALLOWED and len(cycles) == 1
        if engine == "both":
            good &= report["equal"] is True and len(report["engines"]) == 2
        print(f"{name} on {machine} ({engine}): cycles {sorted(cycles)}, error {100 * error:.3f} % of the largest"
              f"{'' if good else '  FAILED'}")
        failures += not good
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
