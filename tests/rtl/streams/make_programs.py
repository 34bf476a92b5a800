#!/usr/bin/env python3
"""Compiles networks with a memory for streams_test: those of each kind and random ones.

usage: make_programs.py SLUICE OUT_DIR FIRST COUNT

A random network that c2b8 has no room for, or whose memory nothing reads, is left out.
"""
import pathlib
import shutil
import subprocess
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "state"))
from networks import (Network, mobilenet, random_network, residual_convolutions, state_space,  # noqa: E402
                      temporal_convolutions, windowed_attention)


def recurrence(kind):
    network = Network(3)
    x = network.input("x", 1, 9)
    network.give("y", getattr(network, kind)(getattr(network, kind)(x, 9, 20, "a"), 20, 11, "b"), 1, 11)
    return network


KINDS = {
    "lstm": lambda: recurrence("lstm"),
    "gru": lambda: recurrence("gru"),
    "state_space": lambda: state_space(12, 20),
    "convolutions": lambda: temporal_convolutions(12),
    "residual": lambda: residual_convolutions(8, 4),
    "separable": lambda: mobilenet(0.04),
    "attention": lambda: windowed_attention(16, 2, 4, 12),
}


def main():
    sluice, folder, first, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    networks = {f"random_{seed}": random_network(seed) for seed in range(first, first + count)}
    if first == 0:
        networks |= {name: make() for name, make in KINDS.items()}
    left_out = 0
    for name, network in networks.items():
        onnx.save(network.model(), folder / f"{name}.onnx")
        done = subprocess.run([sluice, "compile", folder / f"{name}.onnx", "--target", "c2b8", "-o",
                               folder / f"{name}.sluice", *network.flags()], capture_output=True, text=True)
        if done.returncode != 0:
            left_out += 1
            if name in KINDS or not any(f"error[{code}]" in done.stderr for code in ("E0405", "E0417")):
                raise SystemExit(f"{name}: {done.stderr}")
    print(f"{len(networks) - left_out} programs, {left_out} left out")
    if left_out > count // 2:
        raise SystemExit("more than half are left out")


if __name__ == "__main__":
    main()
