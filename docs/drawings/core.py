#!/usr/bin/env python3
"""Draws docs/drawings/core.svg: the units of a core of c6b32, their sizes from its target file, their cycles from the
instruction set.

usage: core.py [--check]
"""
import json
import math
import pathlib

from drawing import Drawing, main

ROOT = pathlib.Path(__file__).resolve().parents[2]


def draw(_=None):
    target = json.loads((ROOT / "hw/targets/c6b32.json").read_text())
    cycles = {one["name"]: one["value"] for one in json.loads((ROOT / "hw/isa/isa.json").read_text())["latencies"]}
    lanes, elements = target["lanes"], target["lanes"] // target["pe_terms"]
    drawing = Drawing("A core of c6b32: rows pass from the tensor RAM through the matrix unit and the vector unit to the network", 960, 420)
    drawing.text(16, 24, f"A core of {target['name']}: {lanes} lanes, {lanes * lanes:,} products a cycle", "head")
    drawing.box("step", 16, 44, 928, 50, "network", f"one row a cycle, {cycles['net_hop']} cycles from an outbox to the inboxes")

    drawing.box("ram", 16, 140, 170, 90, "tensor RAM", f"inbox: {target['inbox_rows']:,} rows", f"local: {target['local_rows']:,} rows",
                f"{lanes} numbers of bf16 each")
    drawing.text(101, 250, "4 read ports", "small")

    drawing.parts.append('<rect class="area" x="220" y="118" width="380" height="200" rx="6"/>')
    drawing.text(410, 136, "matrix unit", "small")
    drawing.box("unit", 234, 146, 170, 84, "array", f"{lanes} columns of {elements} elements,", f"{target['pe_terms']} products each",
                f"{cycles['mm_read'] + cycles['mm_fanout'] + cycles['mm_pe'] + elements - 1} cycles")
    drawing.box("unit", 430, 146, 156, 84, "accumulators", f"{target['accumulators']} rows of 48-bit sums", "rounded once",
                f"{cycles['mm_accumulate'] + cycles['mm_normalise']} cycles")
    drawing.box("ram", 234, 258, 170, 46, "weight RAM", f"{target['weight_blocks']} blocks of {lanes} x {lanes}")
    drawing.box("ram", 430, 258, 156, 46, "preload RAM", f"{target['preload_rows']} biases and sums")

    drawing.parts.append('<rect class="area" x="634" y="118" width="310" height="200" rx="6"/>')
    drawing.text(789, 136, "vector unit", "small")
    for x, name, *lines in ((646, "alu", f"{cycles['vec_alu']} cycles"), (718, "table", f"{cycles['vec_table']} cycles"),
                            (790, "reduce", "max: " + str(int(math.log2(lanes)) + cycles["vec_reduce_max"]),
                             "sum: " + str(math.ceil(math.log2(lanes) / 2) + cycles["vec_reduce_sum"])),
                            (862, "alu", f"{cycles['vec_alu']} cycles")):
        drawing.box("unit", x, 146, 66, 84, name, *lines)
    drawing.box("ram", 690, 258, 122, 46, "tables", f"{target['tables']} functions")
    drawing.text(826, 278, "steps not in use", "small left")
    drawing.text(826, 293, "take no cycles", "small left")

    drawing.box("step", 220, 346, 724, 46, "sequencer", f"{target['instructions']:,} instructions; each is a nest of loops over rows")

    drawing.arrow((101, 94), (101, 138))
    drawing.arrow((186, 186), (232, 186))
    drawing.arrow((404, 186), (428, 186))
    drawing.arrow((586, 186), (644, 186))
    drawing.arrow((319, 258), (319, 232))
    drawing.arrow((508, 258), (508, 232))
    drawing.arrow((751, 258), (751, 232))
    for x in (712, 784, 856):
        drawing.arrow((x, 186), (x + 6, 186))
    drawing.arrow((895, 146), (895, 96))
    drawing.arrow((410, 346), (410, 320))
    drawing.arrow((789, 346), (789, 320))
    drawing.arrow((928, 186), (952, 186), (952, 408), (101, 408), (101, 258))
    return drawing


if __name__ == "__main__":
    main(__file__, draw)
