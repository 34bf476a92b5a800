"""The table of a sweep: a row for each point, as text, CSV and JSON."""
from __future__ import annotations

import csv
import io
from typing import Any, Dict, List, Mapping, Sequence

from .plan import Point
from .task import Outcome

Row = Dict[str, Any]

AREA = ("luts", "flip_flops", "dsp_blocks", "block_rams", "ultra_rams", "ram_bits")  # estimates
COLUMNS = ("model", "target", "options", "state", "code", "reason", "fits", "cycles", "contiguous", "period", "microseconds", "clock_mhz",
           "clock_source", "macs_per_cycle", *AREA, "error_percent", "parameters", "macs", "pareto")
STATES = ("compiled", "rejected", "does not fit", "wrong input", "failed")
_STATES = {0: STATES[0], 2: STATES[3], 3: STATES[1], 4: STATES[2], 5: STATES[3]}


def _row(point: Point, outcome: Outcome, target: Mapping[str, Any]) -> Row:
    row: Row = dict.fromkeys(COLUMNS)
    row.update(point.about, clock_mhz=target["clock_mhz"], clock_source=target["clock_source"],
               macs_per_cycle=target["cores"] * target["lanes"] ** 2, pareto=False,
               **{name: target["area"][name] for name in AREA})
    if "lost" in outcome:
        return {**row, "state": STATES[4], "reason": outcome["lost"]}
    row["state"] = _STATES[outcome["exit"]]
    if outcome["exit"] != 0:
        row.update(code=outcome["code"], reason=outcome["message"], fits=False if outcome["exit"] == 4 else None)
        return row
    figures = outcome["figures"]
    row.update(fits=True, cycles=figures["spaced"], microseconds=figures["spaced"] / target["clock_mhz"])
    row.update({name: figures[name] for name in ("contiguous", "period", "error_percent", "parameters", "macs")})
    return row


def _mark_front(rows: Sequence[Row]) -> None:
    """Marks the rows of one model that no other beats: as fast with fewer multipliers, or faster with as many."""
    compiled = [row for row in rows if row["state"] == STATES[0]]
    for row in compiled:
        here = (row["microseconds"], row["macs_per_cycle"])
        row["pareto"] = not any(one["microseconds"] <= here[0] and one["macs_per_cycle"] <= here[1]
                                and (one["microseconds"], one["macs_per_cycle"]) != here for one in compiled)


def rows_of(points: Sequence[Point], outcomes: Mapping[str, Outcome], targets: Mapping[str, Mapping[str, Any]]) -> List[Row]:
    """Returns the rows in the order of the sweep file."""
    rows = [_row(point, outcomes[point.key], targets[point.target]) for point in points]
    for model in dict.fromkeys(row["model"] for row in rows):
        _mark_front([row for row in rows if row["model"] == model])
    return rows


def counts(rows: Sequence[Row]) -> Dict[str, int]:
    return {state: sum(row["state"] == state for row in rows) for state in STATES}


def csv_text(rows: Sequence[Row]) -> str:
    """Returns the table with a header. Truth values are `true` and `false`, missing values empty."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in rows:
        table.writerow({name: str(value).lower() if isinstance(value, bool) else value for name, value in row.items()})
    return text.getvalue()


def summary(rows: Sequence[Row]) -> str:
    """Returns how many points ended how, the front of each model, and the points that failed."""
    lines = [f"{len(rows)} points: " + ", ".join(f"{count} {state}" for state, count in counts(rows).items() if count)]
    for row in sorted((row for row in rows if row["pareto"]), key=lambda row: (row["model"], row["macs_per_cycle"])):
        lines.append(f"Pareto front of {row['model']}: {row['target']} {row['options']}".rstrip() +
                     f": {row['cycles']} cycles, {row['microseconds']:.3f} us at {row['clock_mhz']} MHz, {row['clock_source']}")
    for row in rows:
        if row["state"] == STATES[4]:
            lines.append(f"failed: {row['model']} {row['target']} {row['options']}".rstrip() + f": {row['reason']}")
    return "\n".join(lines) + "\n"
