#!/usr/bin/env python3
"""Draws docs/drawings/timeline.svg: what every unit of c2b8 does in each cycle of an inference of the digits, as `sluice report`
has it.

usage: timeline.py [--check] SLUICE
"""
import json
import pathlib
import subprocess
import tempfile

from drawing import Drawing, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT, TOP, HEIGHT, SCALE = 150, 60, 34, 6


def report(sluice):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([pathlib.Path(sluice).resolve(), "report", ROOT / "tools/digits/digits.onnx", "--target", "c2b8", "-o", "r.html",
                               "--json"], cwd=folder, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def draw(sluice):
    data = report(sluice)
    units, layers, cycles = data["timeline"]["units"], data["layers"], data["cycles"]
    bottom = TOP + HEIGHT * len(units)
    drawing = Drawing(f"Timeline of {len(units)} units over the {cycles} cycles of an inference", LEFT + SCALE * cycles + 20, bottom + 70)
    drawing.text(16, 24, f"An inference of {data['model']} on {data['target']}: {cycles} cycles", "head")
    for number, unit in enumerate(units):
        y = TOP + HEIGHT * number
        drawing.text(LEFT - 8, y + 18, unit["name"], "small right")
        instructions = data["timeline"]["instructions"]
        for first, length, activity, instruction in unit["spans"]:
            kind = "wait"
            if activity == 0:
                layer = instructions[core_of(unit["name"], len(instructions))][instruction]["layer"]
                kind = f"bar{layer}" if layer is not None and layers[layer]["operators"] else "other"
            elif data["timeline"]["activities"][activity] == "idle":
                continue
            drawing.parts.append(f'<rect class="{kind}" x="{LEFT + SCALE * first}" y="{y}" width="{SCALE * length}" height="26"/>')
    for cycle in range(0, cycles + 1, 20):
        x = LEFT + SCALE * cycle
        drawing.parts.append(f'<line class="axis" x1="{x}" y1="{TOP - 6}" x2="{x}" y2="{bottom}"/>')
        drawing.text(x, TOP - 12, str(cycle), "small")
    x = LEFT
    for kind, name in [*((f"bar{i}", one["title"]) for i, one in enumerate(layers) if one["operators"]), ("other", "input, synchronisation"),
                       ("wait", "waits")]:
        drawing.parts.append(f'<rect class="{kind}" x="{x}" y="{bottom + 20}" width="14" height="14"/>')
        drawing.text(x + 20, bottom + 32, name, "small left")
        x += 44 + 6 * len(name)
    return drawing


def core_of(unit, lists):
    """The list of instructions that a unit executes; the host port has the last one."""
    return int(unit.split()[1]) if unit.startswith("core") else lists - 1


if __name__ == "__main__":
    main(__file__, draw)
