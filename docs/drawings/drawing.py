"""What the drawings share: their style, boxes and arrows, and the command line of their scripts.

A script draws one file beside it. With --check it fails where the file is another one.
"""
import pathlib
import subprocess
import sys
from xml.sax.saxutils import escape

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
    .lane { fill: #dafbe1; stroke: #1a7f37; }
    .cell { fill: #ffffff; stroke: #8c959f; }
    .empty { fill: none; stroke: #d0d7de; stroke-dasharray: 2 2; }
    .bar0 { fill: #1f6fb2; } .bar1 { fill: #b3490f; } .bar2 { fill: #2d7d46; } .other { fill: #66707d; } .wait { fill: #e3e7ed; }
    .left { text-anchor: start; }
    .right { text-anchor: end; }
    .axis { stroke: #8c959f; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .small { fill: #9ea7b3; }
      .file { fill: #161b22; stroke: #8b949e; }
      .step { fill: #0c2d6b; stroke: #58a6ff; }
      .unit { fill: #0f3d1e; stroke: #3fb950; }
      .ram { fill: #3d2e00; stroke: #d29922; }
      .wire { stroke: #9ea7b3; }
      .point { fill: #9ea7b3; }
      .lane { fill: #0f3d1e; stroke: #3fb950; }
      .cell { fill: #161b22; stroke: #8b949e; }
      .empty { stroke: #444c56; }
      .bar0 { fill: #6db3f2; } .bar1 { fill: #f2a36b; } .bar2 { fill: #7fd08f; } .other { fill: #a3adb9; } .wait { fill: #2d3744; }
    }
"""


class Drawing:
    def __init__(self, title, width, height):
        self.title, self.width, self.height, self.parts = title, width, height, []

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
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img" '
                f'aria-label="{escape(self.title)}">\n  <style>{STYLE}  </style>\n'
                '  <defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
                '<path class="point" d="M0,0 L8,4 L0,8 z"/></marker></defs>\n'
                f"  {body}\n</svg>\n")


def main(script, draw):
    """Writes what `draw` returns, or checks it; `draw` takes the arguments of the command line."""
    target = pathlib.Path(script).with_suffix(".svg")
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    drawing = draw(*[word for word in sys.argv[1:] if not word.startswith("--")])
    text = drawing.svg()
    if "--check" in options:
        if not target.exists() or target.read_text() != text:
            sys.exit(f"{target} is not what {script} draws; run the script")
        return
    target.write_text(text)
    if "--png" in options: # of an older viewer; librsvg2-bin
        png = target.with_suffix(".png")
        subprocess.run(["rsvg-convert", "-w", str(2 * drawing.width), "-b", "white", "-o", png, target], check=True)
