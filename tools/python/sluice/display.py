"""Tables and timelines, as text and as HTML for notebooks."""
from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence

from .errors import printable

if TYPE_CHECKING:
    from .errors import Problem


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_text, value))
    return "" if value is None else printable(str(value))


class Table(List[Dict[str, Any]]):
    """A table: a list of rows, each a dict with the same keys.

    >>> Table([{"core": 0, "used": 3}, {"core": 1, "used": 12}])
    core  used
    0     3
    1     12
    """

    @property
    def columns(self) -> List[str]:
        return list(self[0]) if self else []

    def __repr__(self) -> str:
        rows = [self.columns] + [[_text(row[name]) for name in self.columns] for row in self]
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(_text(row[name]))}</td>" for name in self.columns) + "</tr>"
                       for row in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def pairs_html(title: str, pairs: Mapping[str, Any]) -> str:
    rows = "".join(f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(_text(value))}</td></tr>"
                   for name, value in pairs.items())
    return f"<table><caption>{escape(title)}</caption><tbody>{rows}</tbody></table>"


def problem_html(problem: "Problem") -> str:
    parts = [f"<p><b>{escape(problem.code)}</b>: {escape(problem.message)}"]
    if problem.node:
        parts.append(f"<br>{escape(str(problem.node))}")
    parts += [f"<br>{escape(note)}" for note in problem.notes]
    parts.append("</p>")
    if problem.chain:
        parts.append(Table([{"node": str(step.node), "tensor": step.tensor, "shape": list(step.shape),
                             "data_dim": step.data_dim, "why": step.why} for step in problem.chain])._repr_html_())
    if problem.fixes:
        parts.append("<ul>" + "".join(f"<li>{escape(fix.text)}{' (verified)' if fix.verified else ''}</li>"
                                      for fix in problem.fixes) + "</ul>")
    return "".join(parts)


_ROW, _WIDTH, _LABEL = 16, 720, 120
_MOST_TICKS = 10
_COLOURS = ("#1976d2", "#ef6c00", "#388e3c", "#8e24aa", "#c62828", "#00838f", "#f9a825", "#5d4037", "#3949ab", "#7cb342")
_WAIT = "#cfd8dc"


def _step(cycles: int) -> int:
    """Returns the cycles between two ticks of an axis: 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if cycles <= factor * power * _MOST_TICKS:
                return factor * power
        power *= 10


def _text_svg(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' font-size='11' text-anchor='{anchor}'>{escape(text)}</text>"


def _axis_svg(top: int, cycles: int, scale: float) -> str:
    """Draws an axis in cycles, with a faint line up to the first row at each tick."""
    parts = [f"<line x1='{_LABEL}' y1='{top}' x2='{_WIDTH}' y2='{top}' stroke='black'/>"]
    step = _step(cycles)
    for tick in range(0, cycles + 1, step):
        x = _LABEL + tick * scale
        parts.append(f"<line x1='{x:.1f}' y1='0' x2='{x:.1f}' y2='{top + 4}' stroke='black' stroke-opacity='0.25'/>")
        if x < _WIDTH - 60: # the name of the axis is there
            parts.append(_text_svg(x, top + 15, str(tick), "middle"))
    return "".join(parts) + _text_svg(_WIDTH, top + 15, "cycles", "end")


def _legend_svg(top: int, colours: Mapping[str, str]) -> "tuple[str, int]":
    """Draws a square and a name for each colour, line after line. Returns the height too."""
    parts, x, y, letter = [], 0, top, 6
    for name, colour in colours.items():
        width = 24 + letter * len(name)
        if x and x + width > _WIDTH:
            x, y = 0, y + _ROW
        parts.append(f"<rect x='{x}' y='{y + 3}' width='10' height='10' fill='{colour}'/>" + _text_svg(x + 14, y + 12, name))
        x += width
    return "".join(parts), y + _ROW - top


def timeline_svg(events: Sequence[Mapping[str, Any]], cycles: int) -> str:
    """Draws what every unit did: one row per unit, one bar per instruction in the colour of its layer, pale while the
    unit waits; below it the cycles and the names of the layers. The events are those of `sluice profile --trace`."""
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    units = [(e["pid"], e["tid"], f"{processes[e['pid']]}, {e['args']['name']}")
             for e in events if e["ph"] == "M" and e["name"] == "thread_name"]
    spans = sorted((e for e in events if e["ph"] == "X"), key=lambda e: int(e["args"]["first"]))
    layers = list(dict.fromkeys(printable(str(e["name"])) for e in spans if e["cat"] != "wait"))
    colours = {name: _COLOURS[index % len(_COLOURS)] for index, name in enumerate(layers)}
    scale = (_WIDTH - _LABEL) / max(cycles, 1)
    parts = [_axis_svg(len(units) * _ROW, cycles, scale)]
    for row, (pid, tid, label) in enumerate(units):
        top = row * _ROW
        parts.append(_text_svg(0, top + 12, label))
        own = [e for e in spans if (e["pid"], e["tid"]) == (pid, tid)]
        for event in sorted(own, key=lambda e: str(e["cat"])): # waits over instructions
            first, last, name = event["args"]["first"], event["args"]["last"], printable(str(event["name"]))
            colour = _WAIT if event["cat"] == "wait" else colours[name]
            parts.append(f"<rect x='{_LABEL + first * scale:.1f}' y='{top + 2}' width='{(last - first + 1) * scale:.1f}' "
                         f"height='{_ROW - 4}' fill='{colour}'><title>{escape(name)}, cycles {first} to {last}"
                         "</title></rect>")
    top = len(units) * _ROW + 24
    legend, height = _legend_svg(top, {**colours, "waits": _WAIT})
    return (f"<svg width='{_WIDTH}' height='{top + height}' xmlns='http://www.w3.org/2000/svg'>{''.join(parts)}{legend}"
            "</svg>")
