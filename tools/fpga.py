#!/usr/bin/env python3
"""Places and routes units of the accelerator, or a whole machine, with yosys and nextpnr-ecp5.

usage: tools/fpga.sh UNIT|TARGET|all... [--target TARGET] [--seeds N] [--jobs N]

A unit is one of tools/fpga.json, with the sizes that the target gives it. It stands alone in the
part: every input comes from a flip-flop, every output ends in one, and these flip-flops are not
counted. For each unit the command prints its cells, the clock as median and best of the seeds, and
the worst path of the median seed. A target is a preset or a target file: the whole machine, and its
bitstreams where it fits the part.

--target   the target that gives the units their sizes (c6b32)
--seeds    how often a unit is placed, each time from another seed (1)
--jobs     how many placements run at the same time (the number of cores)
--sizes    synthesises only: cells as the synthesis counts them, and the estimate of the longest path
--output   folder for the bitstreams (build/fpga)
--nextpnr  a nextpnr-ecp5 of the system instead of the one from PyPI: two to three times as fast, other clocks
--minutes  how long placing a design may take, and how long routing it (120)
--json     writes the figures to a file
--store    writes the figures to hw/fpga_figures.json
--check    compares with hw/fpga_figures.json: a clock that is more than a tenth lower, a number of cells
           that is more than 2 % higher, or an estimate that is more than 5 % longer, is an error
--fit      synthesises only: compares the estimates that other delays of wires would give with the placed
           units of hw/fpga_figures.json
--page     writes the stored figures into docs/hardware.md and README.md, without placing anything
"""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import clock_figures
from place_design import CELLS, ROOT, Failure, Unit, estimate_of, read_target


class Progress:
    """One line on a terminal: what runs, and for how long."""

    def __init__(self, total):
        self.total, self.done, self.began, self.lock = total, 0, time.monotonic(), threading.Lock()

    def show(self, text, steps=1):
        with self.lock:
            self.done += steps
            if sys.stderr.isatty():
                print(f"\r\033[K{self.done} of {self.total} after {time.monotonic() - self.began:.0f} s: {text}",
                      end="", file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def summary(unit, runs):
    """Returns the figures of a unit over its seeds; the median of an even number is the lower of the two."""
    order = sorted(runs, key=lambda one: one["mhz"])
    median = order[(len(order) - 1) // 2]
    return {"what": unit.what, "params": unit.params, "seeds": len(order),
            "mhz": {"median": round(median["mhz"], 1), "best": round(order[-1]["mhz"], 1),
                    "first": round(runs[0]["mhz"], 1)},
            "cells": {kind: int(statistics.median(one["cells"][kind] for one in order)) for kind in CELLS.values()},
            "path": median["path"]}


def path_text(path):
    if "wires_ns" not in path:
        return f"longest path by the estimate: {path['from']} to {path['to']}, {path['cells']} cells between"
    return (f"{path['from']} to {path['to']}: {path['ns']:.1f} ns, of which {path['start_ns']:.1f} to leave the first cell "
            f"and {path['wires_ns']:.1f} on wires, {path['cells']} cells between")


def row(name, figures, part):
    """Returns a line of the table on the terminal."""
    cells = figures["cells"]
    share = 100 * cells["sites"] / part["sites"]
    estimate = f"{figures['estimate']['ns']:>7.2f}" if "estimate" in figures else f"{'-':>7}"
    clock = f"{figures['mhz']['median']:>7.1f} {figures['mhz']['best']:>7.1f}" if "mhz" in figures else f"{'-':>7} {'-':>7}"
    return (f"{name:<16} {cells['sites']:>7} {share:>5.1f} {cells['flip-flops']:>7} {cells['multipliers']:>5} "
            f"{cells['block RAMs']:>5} {estimate} {clock}")


def arguments(config):
    parser = argparse.ArgumentParser(prog="tools/fpga.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("designs", nargs="*", metavar="UNIT|TARGET|all", help="what to place")
    parser.add_argument("--target", default="c6b32")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--output", default=os.path.join(ROOT, "build", "fpga"))
    parser.add_argument("--nextpnr", metavar="PROGRAM")
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--json")
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--fit", action="store_true")
    args = parser.parse_args()
    args.sizes |= args.fit
    if args.seeds < 1 or args.jobs < 1:
        parser.error("--seeds and --jobs take a number of at least 1")
    if args.store and args.target != "c6b32":
        parser.error("--store keeps the figures of c6b32 only")
    names = [unit["name"] for unit in config["units"]]
    if not args.designs and not args.page:
        parser.error(f"name a unit ({', '.join(names)}), a target, or 'all' for every unit")
    for name in args.designs:
        if name != "all" and name not in names and not os.path.exists(
                name if name.endswith(".json") else os.path.join(ROOT, "hw", "targets", name + ".json")):
            parser.error(f"no unit and no target named '{name}'; the units are {', '.join(names)}")
    return args


def chosen(config, args, folder):
    """Returns the units to place, in the order of the file, then the whole machines."""
    geometry = read_target(args.target)
    units = [Unit(entry, geometry, folder) for entry in config["units"]
             if "all" in args.designs or entry["name"] in args.designs]
    names = {entry["name"] for entry in config["units"]} | {"all"}
    for name in args.designs:
        if name not in names:
            machine = dict(config["machine"], name=os.path.basename(name).removesuffix(".json"))
            machine["what"] = f"`{machine['name']}`"
            units.append(Unit(machine, read_target(name), folder))
    return units


def measure(unit, args, part, isa_pkg, progress, pool, netlists):
    """Returns the figures of a unit."""
    count = unit.synthesise(isa_pkg)
    progress.show(f"{unit.name} synthesised")
    for kind, used in count.items():
        if used > part[kind] and not args.sizes:
            raise Failure(f"does not fit: {used:,} {kind}, {part['name']} has {part[kind]:,}")
    estimate = {}
    if unit.is_flat():
        netlist = unit.netlist()
        estimate["estimate"] = estimate_of(netlist)
        if args.fit:
            netlists[unit.name] = netlist
    if args.sizes:
        return {"what": unit.what, "params": unit.params, "cells": count, "synthesis": count} | estimate

    unit.prepare(part)

    def place(seed):
        bitstream = os.path.join(args.output, f"{unit.name}-seed{seed}.bit") if unit.is_machine() else None
        try:
            one = unit.place(part, seed, args, lambda text: progress.show(f"{unit.name} from seed {seed}: {text}", 0), bitstream)
        except Failure as failure:
            progress.show(f"{unit.name} from seed {seed}: {failure}")
            return Failure(f"seed {seed}: {failure}")
        progress.show(f"{unit.name} placed from seed {seed}: {one['mhz']:.1f} MHz")
        return one
    runs = list(pool.map(place, range(1, args.seeds + 1)))
    routed = [one for one in runs if not isinstance(one, Failure)]
    if not routed:
        raise runs[0]
    figures = summary(unit, routed)
    if len(routed) < len(runs):
        figures["not routed"] = [str(one) for one in runs if isinstance(one, Failure)]
    figures["synthesis"] = count
    return figures | estimate


def main():
    with open(os.path.join(ROOT, "tools", "fpga.json"), encoding="utf-8") as file:
        config = json.load(file)
    args, part = arguments(config), config["part"]
    args.output = os.path.abspath(args.output)
    stored = {"units": {}}
    if os.path.exists(clock_figures.FIGURES):
        with open(clock_figures.FIGURES, encoding="utf-8") as file:
            stored = json.load(file)
    results, netlists, worse, failed = {}, {}, [], False
    # The tools from PyPI see a /tmp of their own.
    os.makedirs(args.output, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.output) as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as placements:
        isa_pkg = os.path.join(folder, "isa_pkg.sv")
        subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gen_isa.py"),
                        os.path.join(ROOT, "hw", "isa", "isa.json"), "--sv", isa_pkg], check=True)
        units = chosen(config, args, folder)
        progress = Progress(len(units) * (1 if args.sizes else 1 + args.seeds))
        if units:
            print(f"{'unit':<16} {'sites':>7} {'%':>5} {'FFs':>7} {'mult':>5} {'RAMs':>5} {'est. ns':>7} {'median':>7} {'best':>7}"
                  f"  MHz on {part['name']}-{part['grade']}", flush=True)
        futures = [pool.submit(measure, unit, args, part, isa_pkg, progress, placements, netlists) for unit in units]
        for unit, future in zip(units, futures):
            try:
                figures = results[unit.name] = future.result()
            except Failure as failure:
                progress.end()
                print(f"{unit.name:<16} {failure}", flush=True)
                failed = True
                continue
            progress.end()
            print(row(unit.name, figures, part), flush=True)
            path = figures.get("path", figures.get("estimate"))
            if path:
                print(f"{'':<16} {path_text(path)}", flush=True)
            for reason in figures.get("not routed", []):
                print(f"{'':<16} {reason}", flush=True)
                failed |= not unit.is_machine()
            if args.check:
                worse += clock_figures.compare(unit.name, figures, {**stored["units"], **stored.get("machines", {})})
    if args.fit:
        clock_figures.fit(stored["units"], netlists)
    for sentence in worse:
        print(f"error: {sentence}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"part": part, "units": results}, file, indent=1)
            file.write("\n")
    if args.store and not failed:
        clock_figures.store(stored, results, [unit["name"] for unit in config["units"]], part)
    if args.page and not clock_figures.update_pages(stored, not args.check) and args.check:
        print("error: docs/hardware.md or README.md shows other clocks; run tools/fpga.sh --page")
        failed = True
    return 1 if failed or worse else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
