#!/usr/bin/env python3
"""A chain of windows over few positions and over many: the length costs next to no instructions and no planning, and
feature maps of which the tensor memory holds a part go through rings.

usage: lengths_test.py SLUICE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import onnx

import make_models
import rows_test

TARGET = "c6b32"
SHORT, LONG = make_models.LENGTHS
GROWTH = 1.5  # at most, of the instructions of all lists together, and of the planning work
LARGER = 4    # at least, all feature maps against an inbox
LANES = 32
IMAGE, IMAGE_INSTRUCTIONS = "conv2d-3x64-32x32", 1300  # a statement makes all positions of a line


def sizes(sluice, name, folder):
    """Instructions of all cores and the host port, beats that planning has counted, inbox rows of a core."""
    model = make_models.MODELS[name](name)
    onnx.save(model, folder / f"{name}.onnx")
    done = subprocess.run([sluice, "compile", str(folder / f"{name}.onnx"), "--target", TARGET, "--json", "-o",
                           str(folder / f"{name}.sluice")], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name} does not compile: {done.stdout}{done.stderr}")
    report = json.loads(done.stdout)
    instructions = sum(one["used"] for one in report["fits"] if "instructions" in one["memory"])
    inbox = next(one["capacity"] for one in report["fits"] if one["memory"] == "inbox rows")
    return instructions, report["planning_work"], inbox


def rows(name):
    """Of all feature maps, the input among them."""
    model = make_models.MODELS[name](name)
    channels, positions = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim][1:]
    layers = sum(node.op_type == "Conv" for node in model.graph.node)
    return (layers + 1) * positions * channels // LANES


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sluice = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        few, few_beats, inbox = sizes(sluice, SHORT, folder)
        many, many_beats, _ = sizes(sluice, LONG, folder)
        image, _, _ = sizes(sluice, IMAGE, folder)
        wrong, line = rows_test.check(sluice, TARGET, "vm", LONG, folder)
    print(f"{SHORT}: {few} instructions, {few_beats} beats of planning; {LONG}: {many}, {many_beats}; "
          f"at most {GROWTH} times as many are allowed")
    print(f"{LONG}: {rows(LONG)} rows of feature maps, an inbox has {inbox}")
    print(f"{IMAGE}: {image} instructions, at most {IMAGE_INSTRUCTIONS} are allowed")
    print(line, *wrong, sep="\n")
    return bool(wrong) or image > IMAGE_INSTRUCTIONS or many > GROWTH * few or many_beats > GROWTH * few_beats or rows(LONG) < LARGER * inbox


if __name__ == "__main__":
    sys.exit(main())
