#!/usr/bin/env python3
"""Compiles models for every target file beside this script, for stages_test.

usage: make_programs.py SLUICE OUT_DIR
"""
import pathlib
import shutil
import subprocess
import sys

import onnx

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "state"))
from networks import Network  # noqa: E402


def recurrence(kind):
    network = Network(3)
    x = network.input("x", 1, 5)
    network.give("y", getattr(network, kind)(x, 5, 7, "a"), 1, 7)
    return network


def softmax():
    """Products, a table, and reductions of both kinds."""
    network = Network(4)
    x = network.input("x", 1, 9)
    hidden = network.op("Tanh", network.linear(x, 9, 14))
    network.give("y", network.op("Softmax", network.linear(hidden, 14, 6), axis=-1), 1, 6)
    return network


def main():
    sluice, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    digits = HERE.parents[2] / "tools/digits/digits.onnx"
    models = [(digits.stem, digits, [])]
    for name, network in (("lstm", recurrence("lstm")), ("gru", recurrence("gru")), ("softmax", softmax())):
        onnx.save(network.model(), folder / f"{name}.onnx")
        models.append((name, folder / f"{name}.onnx", network.flags()))
    for name, model, flags in models:
        for target in sorted(HERE.glob("*.json")):
            subprocess.run([sluice, "compile", model, "--target", target, "-o",
                            folder / f"{name}-{target.stem}.sluice", *flags], check=True)


if __name__ == "__main__":
    main()
