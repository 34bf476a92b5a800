#!/usr/bin/env python3
"""Draws docs/drawings/data_dimension.svg: how the layout of a tensor follows from its data dimension, for the tensors of
examples/layout-error as `sluice check --explain-layout` finds them.

usage: data_dimension.py [--check] SLUICE
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from drawing import Drawing, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
CELL, LANES = 20, 8
HOW = {"x": "input", "h": "after A @ x, and moved", "y": "after h @ B"}


def tensors(sluice):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / "examples/layout-error/sensors.py"], cwd=folder, check=True)
        done = subprocess.run([pathlib.Path(sluice).resolve(), "check", "sensors.onnx", "--target", "c2b8", "--rewrite-layout",
                               "--explain-layout=all", "--json"], cwd=folder, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["tensors"]


def grid(drawing, x, y, rows, columns, kinds):
    """Cells; `kinds` is the class of the cell in a row and a column."""
    for i in range(rows):
        for j in range(columns):
            drawing.parts.append(f'<rect class="{kinds(i, j)}" x="{x + CELL * j}" y="{y + CELL * i}" width="{CELL}" height="{CELL}"/>')


def draw(sluice):
    drawing = Drawing("Three tensors and the rows that hold them: the data dimension lies along the lanes", 960, 330)
    drawing.text(16, 24, "The data dimension lies along the lanes", "head")
    drawing.text(16, 92, "the tensor", "small left")
    drawing.text(16, 222, f"in memory: rows of {LANES} lanes", "small left")
    for number, one in enumerate(tensors(sluice)):
        (rows, columns), along = one["shape"], one["data_dim"]
        x = 190 + 260 * number
        marked = "[" + " ".join(f"{extent}{'!' if axis == along else ''}" for axis, extent in enumerate(one["shape"])) + "]"
        drawing.text(x, 56, f"{one['name']} {marked}", "left")
        drawing.text(x, 74, HOW[one["name"]], "small left")
        # One row of memory is one line of the tensor along its data dimension.
        grid(drawing, x, 86, rows, columns, lambda i, j, along=along: "lane" if (j if along == 0 else i) == 0 else "cell")
        count, used = (columns, rows) if along == 0 else (rows, columns)
        grid(drawing, x, 200, count, LANES, lambda i, j, used=used: "empty" if j >= used else "lane" if i == 0 else "cell")
        for i in range(count):
            drawing.text(x + CELL * LANES + 6, 200 + CELL * i + 15, f"{one['name']}[{':' if along == 0 else i}, {i if along == 0 else ':'}]",
                         "small left")
    drawing.text(190, 322, "green: the same row of the tensor and of the memory; dashed: lanes without an element", "small left")
    return drawing


if __name__ == "__main__":
    main(__file__, draw)
