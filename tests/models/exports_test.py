#!/usr/bin/env python3
"""Compiles networks as the exporters of today write them, and runs them on both engines.

usage: exports_test.py SLUICE EXPORTS_DIR WORK_DIR TARGET [--stored FILE] [--update]

EXPORTS_DIR has a folder for each network, with the inputs and each exporter's model and outputs of
onnxruntime: in_0.npy, M.onnx, M.out_0.npy. A model may have arrays of its own instead: M.x.npy as input,
M.y.npy or M.ref_0.npy as outputs. FILE (exports.json) lists the flags and cycles of each model. The engines must
agree in bits and cycles, and every output must be within 2 % of the range of onnxruntime's, or of its
magnitude where it is nearly constant (tests/models/published_models_test.py has the reason). Class
labels must be equal. A model may not take more cycles than stored. --update finds the flags with
--apply-fixes and stores cycles that are lower, or new.
"""
import argparse
import json
import pathlib
import re
import sys

import numpy as np
import onnx
from onnx import numpy_helper

from engines import Rejected, compiled, judged, spread

TOLERANCE = 0.02
HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def data_set(model, folder):
    """Writes the inputs and outputs of a model in ONNX's layout; the inputs."""
    folder.mkdir(parents=True, exist_ok=True)
    def arrays(*patterns):
        return [np.load(path) for pattern in patterns for path in sorted(model.parent.glob(pattern))]
    inputs = arrays("in_*.npy", f"{model.stem}.x.npy")
    outputs = arrays(f"{model.stem}.out_*.npy", f"{model.stem}.y.npy", f"{model.stem}.ref_*.npy")
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, value in enumerate(values):
            (folder / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
    return inputs


def shapes(model, inputs):
    """Flags with the shapes of inputs whose extents a model leaves open."""
    flags = []
    for value, data in zip(onnx.load(str(model)).graph.input, inputs):
        if not all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim):
            flags += ["--input-shape", f"{value.name}={','.join(map(str, data.shape))}"]
    return flags


def main():
    parser = argparse.ArgumentParser()
    for name in ("sluice", "exports", "work", "target"):
        parser.add_argument(name)
    parser.add_argument("--stored", type=pathlib.Path, default=HERE / "exports.json")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    exports, work = pathlib.Path(options.exports), pathlib.Path(options.work) / "exports"
    if not exports.is_dir():
        print(f"skipped: the exported networks are not here ({exports})")
        return SKIPPED
    stored = json.loads(options.stored.read_text())
    failures, found = 0, {}
    for model in sorted(exports.rglob("*.onnx")):
        name = re.sub(r"\.onnx$", "", str(model.relative_to(exports)))
        known = stored.get(name)
        if known is None and not options.update:
            print(f"{name}: {options.stored.name} does not have it")
            failures += 1
            continue
        folder = work / name.replace("/", "-")
        inputs = data_set(model, folder / "test_data_set_0")
        flags = ["--apply-fixes"] if options.update else known["flags"].split()
        try:
            applied, cycles = compiled(options.sluice, model, folder / "p.sluice", options.target, [*shapes(model, inputs), *flags])
        except Rejected as refusal:
            print(f"{name}: {refusal}")
            failures += 1
            continue
        failures += not judged(options.sluice, folder / "p.sluice", folder / "test_data_set_0", name, TOLERANCE, scale=spread)
        found[name] = {"flags": applied, "cycles": cycles}
        if known and cycles > known["cycles"]:
            print(f"{name}: {cycles} cycles, {known['cycles']} before")
            failures += 1
        elif known and cycles < known["cycles"]:
            print(f"{name}: {cycles} cycles, {known['cycles']} before; store it with --update")
    if options.update:
        lower = {name: one for name, one in found.items() if name not in stored or one["cycles"] < stored[name]["cycles"]}
        lines = [f" {json.dumps(name)}: {json.dumps(one)}" for name, one in sorted({**stored, **lower}.items())]
        options.stored.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(found)} models compiled")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
