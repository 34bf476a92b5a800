#!/usr/bin/env python3
"""Measures each rewrite of views: instructions and cycles without it, on the published models and a transformer block.

usage: rewrites.py SLUICE MODELS_DIR [TARGET [--write PAGE | MODEL...]]

Prints the table of docs/views.md; --write puts it there. It lists the models whose program some rewrite changes.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BEGIN, END = "<!-- rewrites.py -->\n", "<!-- end -->\n"
FLAGS = {"sdp": ["--allow-dynamic-weights"], "nafx_tcn": ["--input-shape", "input=1,1,2048"],
         "aircraft_rul_lstm": ["--input-shape", "input_layer=1,30,17"], "cntk_lstm_bidir": ["--input-shape", "Input3=1,1,2"],
         "scan_1": ["--input-shape", "Input13165=7,1,3"], "layernorm": ["--input-shape", "X=4,8", "--input-shape", "Scale=8",
                                                                        "--input-shape", "B=8"],
         "transformer block": ["--allow-dynamic-weights"]}


def transformer(path, positions=8, features=64, heads=2):
    """A block of a decoder whose last position is asked for: norm, attention over all positions, norm, two layers."""
    random = np.random.default_rng(1)
    nodes, constants = [], {}

    def weights(*shape):
        name = f"w{len(constants)}"
        constants[name] = (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
        return name

    def numbers(*values):
        name = f"n{len(constants)}"
        constants[name] = np.int64(values)
        return name

    def node(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"t{len(nodes)}"], name=f"{op.lower()}{len(nodes)}", **attributes))
        return nodes[-1].output[0]

    def norm(x):
        return node("LayerNormalization", x, weights(features), weights(features), axis=-1)

    size = features // heads
    qkv = node("MatMul", norm("x"), weights(features, 3 * features))
    parts = []
    for i in range(3):
        part = node("Slice", qkv, numbers(i * features), numbers((i + 1) * features), numbers(1))
        split = node("Reshape", part, numbers(positions, heads, size))
        parts.append(node("Transpose", split, perm=[1, 2, 0] if i == 1 else [1, 0, 2]))
    scores = node("MatMul", parts[0], parts[1])
    constants["scale"] = np.float32(size ** -0.5)
    seen = node("MatMul", node("Softmax", node("Mul", scores, "scale"), axis=-1), parts[2])
    joined = node("Reshape", node("Transpose", seen, perm=[1, 0, 2]), numbers(positions, features))
    x = node("Add", "x", node("MatMul", joined, weights(features, features)))
    hidden = node("Relu", node("MatMul", norm(x), weights(features, 2 * features)))
    x = node("Add", x, node("MatMul", hidden, weights(2 * features, features)))
    nodes.append(helper.make_node("Slice", [x, numbers(-1), numbers(positions), numbers(0)], ["y"], name="last"))
    graph = helper.make_graph(nodes, "block", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [positions, features])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, features])],
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def refused(done):
    return done.returncode != 0


def compiled(sluice, model, target, flags, without, folder):
    """Instructions, cycles of one inference from rest, and the program; nothing if it is refused."""
    program = folder / "program.sluice"
    done = subprocess.run([sluice, "compile", str(model), "--target", target, *flags, "-o", str(program), "--json",
                           *(word for one in without for word in ("--without-rewrite", one))],
                          capture_output=True, text=True, check=False)
    if refused(done):
        return None
    result = json.loads(done.stdout)
    instructions = sum(one["used"] for one in result["fits"] if one["memory"].endswith("instructions"))
    rows = subprocess.run([sluice, "inspect", str(program), "--asm", "--json"], capture_output=True, text=True, check=True)
    return instructions, result["latency"]["spaced"], json.loads(rows.stdout)["asm"]


def rewrites(sluice):
    """Their names, as the refusal of another one lists them."""
    done = subprocess.run([sluice, "check", "none.onnx", "--without-rewrite", "none"], capture_output=True, text=True, check=False)
    return done.stderr.split("allowed: ")[1].split("\n")[0].split(", ")


def change(with_it, without):
    if without is None:
        return "rejected"
    return f"{without - with_it:+}" if without != with_it else "0"


def main():
    sluice, models = sys.argv[1], pathlib.Path(sys.argv[2])
    target = sys.argv[3] if len(sys.argv) > 3 else "c6b32"
    page = pathlib.Path(sys.argv[5]) if sys.argv[4:5] == ["--write"] else None
    wanted = [] if page else sys.argv[4:]
    names = rewrites(sluice)
    lines, unchanged, refusals = [], [], []
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        transformer(folder / "block.onnx")
        found = {path.parent.name: path for path in sorted(models.glob("*/model.onnx"))}
        found["transformer block"] = folder / "block.onnx"
        for name, path in found.items():
            if wanted and name not in wanted:
                continue
            flags = FLAGS.get(name, [])
            whole = compiled(sluice, path, target, flags, [], folder)
            if whole is None:
                refusals.append(name)
                continue
            none = compiled(sluice, path, target, flags, names, folder)
            if none == whole:
                unchanged.append(name)
                continue
            lines.append((name, "", whole[0], whole[1]))
            for one in names:
                without = compiled(sluice, path, target, flags, [one], folder)
                if without != whole:
                    lines.append((name, f"`{one}`", change(whole[0], without and without[0]), change(whole[1], without and without[1])))
            lines.append((name, "all of them", change(whole[0], none and none[0]), change(whole[1], none and none[1])))
            print(*lines[-1], file=sys.stderr)
    text = "| model | without | instructions | cycles |\n|---|---|---:|---:|\n"
    text += "".join("| {} | {} | {} | {} |\n".format(*line) for line in lines)
    if unchanged:
        text += f"\nNo rewrite changes the programs of {', '.join(unchanged)}.\n"
    if refusals:
        text += f"\nThe compiler rejects these models on {target}: {', '.join(refusals)}.\n"
    if page:
        old = page.read_text()
        begin, end = old.index(BEGIN) + len(BEGIN), old.index(END)
        page.write_text(old[:begin] + text + old[end:])
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
