"""The stored figures of placed units and machines (hw/fpga_figures.json): comparison, pages that show them, and how well the
estimate orders the units."""
import json
import os
import re
import statistics

import path_delay
from place_design import ROOT, Failure

FIGURES = os.path.join(ROOT, "hw", "fpga_figures.json")
PAGE = os.path.join(ROOT, "docs", "hardware.md")
README = os.path.join(ROOT, "README.md")
CLOCK_LOSS, SIZE_GROWTH, DELAY_GROWTH = 0.10, 0.02, 0.05  # what --check tolerates
LEAST_CORRELATION, LEAST_UNITS = 0.8, 12  # of estimates and placed units


def page_table(first, figures):
    """Returns a table of docs/hardware.md; `first` is the header of its first column."""
    lines = [f"| {first} | sites | flip-flops | multipliers | block RAMs | estimate, ns | placements | MHz, median | MHz, best | "
             "worst path |", "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"]
    for one in figures.values():
        cells, path = one["cells"], one["path"]
        lines.append(f"| {one['what']} | {cells['sites']:,} | {cells['flip-flops']:,} | {cells['multipliers']} | "
                     f"{cells['block RAMs']} | {one['estimate']['ns']:.1f} | {one['seeds']} | {one['mhz']['median']:.1f} | {one['mhz']['best']:.1f} | "
                     f"`{path['from']}` to `{path['to']}`: {path['ns']:.1f} ns, wires {path['wires_ns']:.1f} |")
    return "\n".join(lines)


def update_pages(stored, write):
    """Compares the stored figures with docs/hardware.md and README.md, or writes them; returns whether they agreed."""
    clocks = [one["mhz"]["median"] for one in stored["units"].values()]
    texts = [(PAGE, r"(<!-- clocks: tools/fpga.sh -->\n).*?(<!-- end -->)", page_table("unit", stored["units"]) + "\n"),
             (PAGE, r"(<!-- estimate: tools/fpga.sh -->\n).*?(<!-- end -->)", fit_text(stored["units"])),
             (README, r"(they reach )\d+ to \d+( MHz)", f"{min(clocks):.0f} to {max(clocks):.0f}")]
    machines = {name: one for name, one in stored.get("machines", {}).items() if "mhz" in one}
    if machines:
        texts.append((PAGE, r"(<!-- machines: tools/fpga.sh -->\n).*?(<!-- end -->)", page_table("target", machines) + "\n"))
    agreed = True
    for path, pattern, text in texts:
        with open(path, encoding="utf-8") as file:
            old = file.read()
        if not re.search(pattern, old, re.S):
            raise Failure(f"{os.path.basename(path)}: no place for the clocks")
        new = re.sub(pattern, lambda match, text=text: match.group(1) + text + match.group(2), old, flags=re.S)
        agreed &= old == new
        if write and old != new:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    return agreed


def compare(name, figures, stored):
    """Returns what is worse than the stored figures of a unit, a sentence each."""
    if name not in stored:
        return [f"{name}: hw/fpga_figures.json has no figures; run tools/fpga.sh {name} --seeds 5 --store"]
    old, worse = stored[name], []
    # The tools are deterministic: one placement is compared with the first of the stored ones.
    which = "median" if figures.get("seeds", 1) > 1 else "first"
    if "mhz" in figures and figures["mhz"][which] < old["mhz"][which] * (1 - CLOCK_LOSS):
        worse.append(f"{name}: {figures['mhz'][which]:.1f} MHz, more than {CLOCK_LOSS:.0%} below the stored "
                     f"{old['mhz'][which]:.1f}")
    if "estimate" in figures and figures["estimate"]["ns"] > old["estimate"]["ns"] * (1 + DELAY_GROWTH):
        worse.append(f"{name}: a path of {figures['estimate']['ns']:.2f} ns by the estimate, more than {DELAY_GROWTH:.0%} "
                     f"above the stored {old['estimate']['ns']:.2f}")
    cells = "cells" if "mhz" in figures else "synthesis"
    for kind, value in figures["cells"].items():
        if value > old[cells][kind] * (1 + SIZE_GROWTH):
            worse.append(f"{name}: {value} {kind}, more than {SIZE_GROWTH:.0%} above the stored {old[cells][kind]}")
    return worse


def store(stored, results, units, part):
    """Writes figures to hw/fpga_figures.json; those of a synthesis replace those of an earlier synthesis alone."""
    stored["part"] = f"{part['name']}-{part['grade']}"
    for name, figures in results.items():
        kind = stored["units"] if name in units else stored.setdefault("machines", {})
        if "mhz" not in figures:
            figures = kind.get(name, {}) | {key: value for key, value in figures.items() if key != "cells"}
        kind[name] = figures
    stored["units"] = {name: stored["units"][name] for name in units if name in stored["units"]}
    with open(FIGURES, "w", encoding="utf-8") as file:
        json.dump(stored, file, indent=1)
        file.write("\n")


def rank_correlation(pairs):
    """Returns Spearman's coefficient of pairs of numbers."""
    def ranks(values):
        order = sorted(values)
        # Equal values share the mean of their ranks.
        return [(order.index(value) + len(order) - 1 - order[::-1].index(value)) / 2 for value in values]
    return statistics.correlation(*(ranks(values) for values in zip(*pairs)))


def estimated_and_placed(units):
    """Returns (estimate, placed), in nanoseconds, of the units with both."""
    return [(one["estimate"]["ns"], 1000 / one["mhz"]["median"]) for one in units.values() if "estimate" in one and "mhz" in one]


def fit_text(units):
    """Returns the sentence of docs/hardware.md on how well the estimate orders the placed units."""
    pairs = estimated_and_placed(units)
    correlation = rank_correlation(pairs)
    if len(pairs) < LEAST_UNITS or correlation < LEAST_CORRELATION:
        raise Failure(f"the estimate orders {len(pairs)} placed units with a rank correlation of {correlation:.2f}; at least "
                      f"{LEAST_UNITS} units and {LEAST_CORRELATION} are needed; see tools/fpga.sh --fit")
    off = [estimate / placed - 1 for estimate, placed in pairs]
    return (f"Over the {len(pairs)} placed units, estimate and placed path have a rank correlation of {correlation:.2f}. The "
            f"estimate is between {-min(off):.0%} shorter and {max(off):.0%} longer.\n")


def fit(units, netlists):
    """Prints how well other delays of wires would order the placed units."""
    names = [name for name in netlists if "mhz" in units.get(name, {})]
    rows = []
    for each in (step / 20 for step in range(4, 25, 2)):
        for hard in (step / 20 for step in range(0, 25, 4)):
            wires = path_delay.Wires(each, hard)
            pairs = [(netlists[name].longest(wires).ns, 1000 / units[name]["mhz"]["median"]) for name in names]
            error = statistics.fmean((estimate / placed - 1) ** 2 for estimate, placed in pairs) ** 0.5
            rows.append((rank_correlation(pairs), error, wires))
    print(f"{len(names)} units; correlation of ranks, mean error, delays of wires")
    for correlation, error, wires in sorted(rows, key=lambda one: (-round(one[0], 2), one[1]))[:10]:
        print(f"{correlation:.3f} {error:6.1%} {wires}")
    now = [one for one in rows if one[2] == path_delay.Wires()]
    print("now:", ", ".join(f"{correlation:.3f} {error:.1%}" for correlation, error, _ in now) or path_delay.Wires())
