#!/usr/bin/env python3
"""Draws docs/drawings/overview.svg: the way of a model from ONNX to an answer, and the machine.

usage: overview.py [--check | --png]

--png also writes overview.png; it needs rsvg-convert (librsvg2-bin).
"""
from drawing import Drawing, main


def way_of_a_model(drawing):
    drawing.text(16, 24, "From model to answer", "head")
    top, height = 44, 74
    boxes = (("file", 92, "model.onnx", "your network"),
             ("step", 140, "import", "ONNX to MLIR", "checks every operator"),
             ("step", 150, "lay out", "the data dimension", "of every tensor"),
             ("step", 150, "plan", "a core, an order and", "an address for each row"),
             ("file", 110, "model.sluice", "program file"),
             ("unit", 140, "run", "rtl: the SystemVerilog", "vm: a model in C++"))
    gap = 25
    x = 16
    for number, (kind, width, *lines) in enumerate(boxes):
        drawing.box(kind, x, top, width, height, *lines)
        if number:
            drawing.arrow((x - gap, top + height / 2), (x - 2, top + height / 2))
        x += width + gap
    drawing.text(16 + 92 + gap + 140 + gap + 75, top + height + 24, "no layout: an error with fixes", "small")
    drawing.arrow((373, top + height), (373, top + height + 12))
    drawing.text(x - gap - 70, top + height + 24, "equal bits, equal cycles", "small")


def machine(drawing):
    drawing.text(16, 190, "The machine: cores on one network, every weight on chip", "head")
    drawing.parts.append('<rect class="area" x="16" y="204" width="928" height="280" rx="8"/>')
    drawing.box("step", 36, 222, 130, 50, "host port", "rows in, rows out")
    drawing.box("step", 200, 222, 724, 50, "network", "one row a cycle, from one source to any cores and the host")
    drawing.arrow((166, 240), (198, 240))
    drawing.arrow((200, 256), (168, 256))

    left, top = 200, 302
    drawing.parts.append(f'<rect class="area" x="{left}" y="{top}" width="560" height="166" rx="6"/>')
    drawing.text(left + 280, top + 18, "core 0", "small")
    drawing.box("ram", left + 16, top + 30, 130, 52, "tensor RAM", "inbox and local rows")
    drawing.box("unit", left + 176, top + 30, 200, 52, "matrix unit", "weights in the processing elements")
    drawing.box("unit", left + 406, top + 30, 138, 52, "vector unit", "maps, reductions")
    drawing.box("step", left + 176, top + 104, 200, 44, "sequencer", "one instruction loops over rows")
    drawing.arrow((left + 146, top + 56), (left + 174, top + 56))
    drawing.arrow((left + 376, top + 56), (left + 404, top + 56))
    drawing.arrow((left + 276, top + 104), (left + 276, top + 84))
    drawing.arrow((left + 376, top + 126), (left + 460, top + 126), (left + 460, top + 84))
    drawing.arrow((left + 81, 272), (left + 81, top + 28))
    drawing.arrow((left + 500, top + 30), (left + 500, 274))
    drawing.arrow((left + 520, top + 82), (left + 520, top + 158), (left + 81, top + 158), (left + 81, top + 84))
    for number, name in enumerate(("core 1", "core 2", "...")):
        y = top + number * 58
        drawing.box("unit", 800, y, 124, 46, name)
    drawing.arrow((862, 272), (862, 300))


def draw(_=None):
    drawing = Drawing("From an ONNX model to an answer, and the machine", 960, 500)
    way_of_a_model(drawing)
    machine(drawing)
    return drawing


if __name__ == "__main__":
    main(__file__, draw)
