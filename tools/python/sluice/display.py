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


def timeline_svg(events: Sequence[Mapping[str, Any]], cycles: int) -> str:
    """Draws what every unit did: one row per unit, one bar per instruction, pale while the unit waits. The events are
    those of `sluice profile --trace`."""
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    units = [(e["pid"], e["tid"], f"{processes[e['pid']]}, {e['args']['name']}")
             for e in events if e["ph"] == "M" and e["name"] == "thread_name"]
    scale = (_WIDTH - _LABEL) / max(cycles, 1)
    parts = []
    for row, (pid, tid, label) in enumerate(units):
        top = row * _ROW
        parts.append(f"<text x='0' y='{top + 12}' font-size='11'>{escape(label)}</text>")
        spans = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (pid, tid)]
        for event in sorted(spans, key=lambda e: str(e["cat"])): # waits over instructions
            first, last = event["args"]["first"], event["args"]["last"]
            colour = "#cfd8dc" if event["cat"] == "wait" else "#1976d2"
            parts.append(f"<rect x='{_LABEL + first * scale:.1f}' y='{top + 2}' width='{(last - first + 1) * scale:.1f}' "
                         f"height='{_ROW - 4}' fill='{colour}'><title>{escape(event['name'])}, cycles {first} to {last}"
                         "</title></rect>")
    return f"<svg width='{_WIDTH}' height='{len(units) * _ROW}' xmlns='http://www.w3.org/2000/svg'>{''.join(parts)}</svg>"
