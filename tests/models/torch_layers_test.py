#!/usr/bin/env python3
"""Layers of PyTorch as its exporter writes them, on both engines.

usage: torch_layers_test.py SLUICE PAGE WORK_DIR [--share K/N] [--write]

PyTorch's own output is what is expected, within 2 % of its range. PAGE lists every layer and
whether it runs; without --write it is compared with what happens, of every N-th layer from the
K-th on.
"""
import argparse
import json
import pathlib
import subprocess
import sys

from engines import judged

try:
    import torch
    from onnx import numpy_helper
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from torch_layers import layers

TARGET, TOLERANCE, OPSET = "c2b8", 0.02, 14
HEAD = """# Layers of PyTorch

This page lists layers of PyTorch and whether Sluice runs them. To check your own model, export it and type
`sluice check model.onnx`. `tests/models/torch_layers_test.py` writes this page; do not edit it.

Debian's PyTorch 1.13 exports every layer with its TorchScript exporter, opset 14 and static shapes. The test compiles it
for `c2b8` and runs it on both engines. [Networks from today's exporters](exporters.md) has newer versions. Bits and cycles
must be equal. The values must be within 2 % of the range of PyTorch's values. If PyTorch's values hardly
differ from each other, they must be within 2 % of the largest magnitude.

| layer | verdict |
|---|---|
"""


def export(module, shapes, folder):
    """The model, inputs and what PyTorch makes of them; the data's folder."""
    module.eval()
    inputs = [torch.randn(shape) for shape in shapes]
    with torch.no_grad():
        expected = module(*inputs)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(module, tuple(inputs), str(folder / "model.onnx"), opset_version=OPSET)
    for kind, values in (("input", inputs), ("output", [expected])):
        for i, value in enumerate(values):
            tensor = numpy_helper.from_array(value.numpy())
            (data / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())
    return data


def check(sluice, title, module, shapes, folder):
    """The verdict of a layer, and whether nothing is wrong with it."""
    try:
        data = export(module, shapes, folder)
    except (RuntimeError, torch.onnx.errors.CheckerError) as refusal:
        return f"not exported: {str(refusal).splitlines()[0][:120].strip()}", True
    program = folder / "model.sluice"
    flags = []
    for flags in ([], ["--allow-dynamic-weights"]):
        run = subprocess.run([sluice, "compile", str(folder / "model.onnx"), "--target", TARGET, "--json", "-o",
                              str(program), *flags], capture_output=True, text=True)
        if run.returncode == 0 or "--allow-dynamic-weights" not in run.stdout:
            break
    if run.returncode != 0:
        try:
            problem = json.loads(run.stdout)["errors"][0]
        except json.JSONDecodeError:
            return f"no answer, status {run.returncode}: {run.stderr.strip()[-200:]}", False
        return f"{problem['code']}: {problem['message']}", True
    good = judged(sluice, program, data, title, TOLERANCE,
                  scale=lambda output: output["reference_magnitude" if output["near_constant"] or not
                                              output["reference_range"] else "reference_range"])
    return " ".join(["runs", *(f"with `{flag}`" for flag in flags)]), good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sluice")
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    first, step = (int(word) for word in options.share.split("/"))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    rows, wrong = [], 0
    for index, (title, module, shapes) in list(enumerate(layers()))[first::step]:
        torch.manual_seed(index)
        verdict, good = check(options.sluice, title, module, shapes,
                              options.work / "torch-layers" / title.replace(" ", "_"))
        rows.append(f"| {title} | {verdict} |".replace("\n", " "))
        wrong += not good
    if options.write:
        options.page.write_text(HEAD + "".join(row + "\n" for row in rows))
    else:
        listed = options.page.read_text().splitlines()
        for row in rows:
            if row not in listed:
                print("not in the page:", row)
                wrong += 1
    print(f"{len(rows)} layers, {sum('| runs' in row for row in rows)} run, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
