#!/usr/bin/env python3
"""Draws docs/drawings/overview.svg: the way of a model from ONNX to an answer, and the machine.

usage: overview.py [--check | --png FILE]

Without an argument, writes the drawing beside this script. --check fails where the file there is another
one. --png also needs rsvg-convert (librsvg2-bin).
"""
import pathlib
import subprocess
import sys
from xml.sax.saxutils import escape

TARGET = pathlib.Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT = 960, 500
STYLE = """
    text { font-family: Helvetica, Arial, sans-serif; font-size: 13px; fill: #1f2328; text-anchor: middle; }
    .small { font-size: 11px; fill: #57606a; }
    .head { font-size: 14px; font-weight: bold; text-anchor: start; }
    .file { fill: #ffffff; stroke: #57606a; }
    .step { fill: #ddf4ff; stroke: #0969da; }
    .unit { fill: #dafbe1; stroke: #1a7f37; }
    .ram { fill: #fff8c5; stroke: #9a6700; }
    .area { fill: none; stroke: #8c959f; stroke-dasharray: 5 4; }
    .wire { fill: none; stroke: #57606a; stroke-width: 1.5; }
    .point { fill: #57606a; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .small { fill: #9ea7b3; }
      .file { fill: #161b22; stroke: #8b949e; }
      .step { fill: #0c2d6b; stroke: #58a6ff; }
      .unit { fill: #0f3d1e; stroke: #3fb950; }
      .ram { fill: #3d2e00; stroke: #d29922; }
      .wire { stroke: #9ea7b3; }
      .point { fill: #9ea7b3; }
    }
"""


class Drawing:
    def __init__(self):
        self.parts = []

    def box(self, kind, x, y, width, height, *lines):
        """A rectangle with centred lines of text; all after the first are small."""
        self.parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>')
        top = y + height / 2 - 7.5 * (len(lines) - 1) + 4.5
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + 15 * number, line, "small" if number else "")

    def text(self, x, y, line, kind=""):
        self.parts.append(f'<text{f" class={chr(34)}{kind}{chr(34)}" if kind else ""} x="{x:g}" y="{y:g}">{escape(line)}</text>')

    def arrow(self, *points):
        """A line through the points, with a tip at the last one."""
        self.parts.append('<polyline class="wire" marker-end="url(#tip)" points="'
                          + " ".join(f"{x:g},{y:g}" for x, y in points) + '"/>')

    def svg(self):
        body = "\n  ".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
                f'aria-label="From an ONNX model to an answer, and the machine">\n  <style>{STYLE}  </style>\n'
                '  <defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
                '<path class="point" d="M0,0 L8,4 L0,8 z"/></marker></defs>\n'
                f"  {body}\n</svg>\n")


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


def main():
    drawing = Drawing()
    way_of_a_model(drawing)
    machine(drawing)
    text = drawing.svg()
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text() != text:
            sys.exit(f"{TARGET} is not what {__file__} draws; run the script")
        return
    TARGET.write_text(text)
    if "--png" in sys.argv:
        png = sys.argv[sys.argv.index("--png") + 1]
        subprocess.run(["rsvg-convert", "-w", str(2 * WIDTH), "-b", "white", "-o", png, TARGET], check=True)


if __name__ == "__main__":
    main()
