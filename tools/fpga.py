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
import ast
import concurrent.futures
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIGURES = os.path.join(ROOT, "hw", "fpga_figures.json")
PAGE = os.path.join(ROOT, "docs", "hardware.md")
README = os.path.join(ROOT, "README.md")
CLOCK_LOSS, SIZE_GROWTH, DELAY_GROWTH = 0.10, 0.02, 0.05  # what --check tolerates
LEAST_CORRELATION, LEAST_UNITS = 0.8, 12  # of estimates and placed units
# How a machine is placed and routed: with more weight on wires without slack than by default, then refined for paths of
# WANTED_NS, by the estimate of tools/refine_placement.py. Shorter paths need longer wires, and the router then takes detours.
# The router works until no path is longer than that estimate times DETOURS.
PLACER = ["--placer-heap-critexp", "5", "--placer-heap-timingweight", "40"]
WANTED_NS = 11.5
DETOURS = 1.1
# nextpnr's names of the cells, and ours.
CELLS = {"TRELLIS_COMB": "sites", "TRELLIS_FF": "flip-flops", "MULT18X18D": "multipliers", "DP16KD": "block RAMs"}

sys.path.insert(0, os.path.join(ROOT, "tools"))
import path_delay  # noqa: E402
import prepare_netlist  # noqa: E402
import rtl_modules  # noqa: E402


class Failure(Exception):
    """A tool failed, or a design does not fit."""


def value_of(expression, geometry):
    """Returns the value of a parameter: arithmetic over the fields of a target, and bits(n) = ceil(log2(n))."""
    def walk(node):
        match node:
            case ast.Expression(body=body):
                return walk(body)
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name):
                return geometry[name]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return walk(left) + walk(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return walk(left) * walk(right)
            case ast.Call(func=ast.Name(id="bits"), args=[argument]):
                return (walk(argument) - 1).bit_length()
        raise Failure(f"tools/fpga.json: cannot evaluate '{expression}'")
    return walk(ast.parse(expression, mode="eval"))


def read_target(name):
    """Returns the fields and the stages of a preset or of a target file."""
    path = name if name.endswith(".json") else os.path.join(ROOT, "hw", "targets", name + ".json")
    with open(os.path.join(ROOT, "hw", "isa", "isa.json"), encoding="utf-8") as file:
        latencies = json.load(file)["latencies"]
    with open(path, encoding="utf-8") as file:
        target = json.load(file)
    return {**{one["name"]: one["value"] for one in latencies if "least" in one}, **target, **target.get("stages", {})}


def run(command, folder, log, minutes=None):
    """Runs a tool; returns nothing, raises Failure with the last error that it printed, or if it takes too long."""
    with open(os.path.join(folder, log), "w", encoding="utf-8") as file:
        try:
            code = subprocess.run(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, check=False,
                                  timeout=minutes and 60 * minutes).returncode
        except subprocess.TimeoutExpired as expired:
            raise Failure(f"{os.path.basename(command[0])}: not finished after {minutes:g} minutes") from expired
    if code != 0:
        with open(os.path.join(folder, log), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        errors = [line for line in lines if "ERROR" in line] or lines[-1:] or [f"ended with {code}"]
        raise Failure(f"{os.path.basename(command[0])}: {errors[-1].strip()}")


def tool(name):
    return os.path.join(os.path.dirname(sys.executable), "yowasp-" + name)


def ports_of(folder, module):
    """Returns [(name, direction, bits)] of the elaborated unit."""
    with open(os.path.join(folder, "ports.json"), encoding="utf-8") as file:
        ports = json.load(file)["modules"][module]["ports"]
    return [(name, port["direction"], len(port["bits"])) for name, port in ports.items()]


CHAIN = 256  # flip-flops behind a pin: yosys recurses along a chain


def frame(module, params, ports):
    """Returns a module that feeds the unit from a few pins through chains of flip-flops, and ends its
    outputs in flip-flops, and how many flip-flops these are.

    A unit has more ports than the part has pins, and no path of the unit leads to a pin. The clock
    of the readback, which stands still while the machine runs, is tied to zero.
    """
    inputs = [(name, bits) for name, way, bits in ports if way == "input" and not name.endswith("clk_i")]
    outputs = [(name, bits) for name, way, bits in ports if way == "output"]
    width_in, width_out = sum(bits for _, bits in inputs), sum(bits for _, bits in outputs)
    pins = -(-width_in // CHAIN)
    chains = [f"in_q[{min(pin * CHAIN + CHAIN, width_in) - 1}:{pin * CHAIN}]" for pin in range(pins)]
    shifts = "".join(f"{chain} <= {{{chain}, pin_i[{pin}]}}; " for pin, chain in enumerate(chains))
    lines = [f"module frame(input clk_i, input [{pins - 1}:0] pin_i);",
             f"(* keep *) reg [{width_in - 1}:0] in_q; (* keep *) reg [{width_out - 1}:0] out_q;",
             f"wire [{width_out - 1}:0] out;",
             f"always @(posedge clk_i) begin {shifts}out_q <= out; end",
             f"{module} #({', '.join(f'.{name}({value})' for name, value in params.items())}) unit (.clk_i(clk_i)"]
    place = 0
    for name, bits in inputs:
        lines.append(f", .{name}(in_q[{place + bits - 1}:{place}])")
        place += bits
    place = 0
    for name, bits in outputs:
        lines.append(f", .{name}(out[{place + bits - 1}:{place}])")
        place += bits
    if any(name == "readback_clk_i" for name, _, _ in ports):
        lines.append(", .readback_clk_i(1'b0)")
    return "\n".join(lines + [");", "endmodule"]) + "\n", width_in + width_out


class Unit:
    """A unit with its parameters, synthesised once and placed from several seeds."""

    def __init__(self, entry, geometry, folder):
        self.name = entry["name"]
        self.what = entry.get("what", self.name.replace("-", " "))
        self.module = entry["module"]
        self.params = {key: value_of(value, geometry) for key, value in entry.get("params", {}).items()}
        self.block_rams = entry.get("in block RAMs", [])  # memories that yosys would build of LUTs
        self.folder = os.path.join(folder, re.sub(r"\W", "_", self.name))
        os.makedirs(self.folder)
        self.frame_flops = 0
        self.placed = "netlist.json"  # what nextpnr reads
        self.free_sites = 0

    def synthesise(self, isa_pkg):
        """Synthesises the unit; returns the cells that yosys counts."""
        files = " ".join(rtl_modules.sources(self.module, isa_pkg))
        settings = "".join(f" -set {name} {value}" for name, value in self.params.items())
        read = f"read_verilog -sv -I{rtl_modules.RTL} {files}"
        self.yosys("ports", [read, f"chparam{settings} {self.module}" if settings else "",
                             f"hierarchy -check -top {self.module}", "proc", "rename -top unit_top",
                             "write_json ports.json"])
        text, self.frame_flops = frame(self.module, self.params, ports_of(self.folder, "unit_top"))
        with open(os.path.join(self.folder, "frame.v"), "w", encoding="utf-8") as file:
            file.write(text)
        whole = "" if self.is_flat() else " -noflatten"
        self.yosys("synth", [read, "read_verilog frame.v", "hierarchy -check -top frame",
                             *(f'setattr -set ram_style "block" {memory}' for memory in self.block_rams),
                             f"synth_ecp5 -top frame{whole} -json netlist.json", "tee -o stat.json stat -json"])
        with open(os.path.join(self.folder, "stat.json"), encoding="utf-8") as file:
            count = json.load(file)["design"]["num_cells_by_type"]
        # A carry cell is two sites; a RAM of 16 x 4 is its four outputs and two sites that write.
        return {"sites": count.get("LUT4", 0) + 2 * count.get("CCU2C", 0) + 6 * count.get("TRELLIS_DPR16X4", 0),
                "flip-flops": count.get("TRELLIS_FF", 0) - self.frame_flops,
                "multipliers": count.get("MULT18X18D", 0), "block RAMs": count.get("DP16KD", 0)}

    def is_flat(self):
        """A machine of several cores keeps its modules: flat, its synthesis takes gigabytes. One core is a fifth smaller
        flat."""
        return self.params.get("Cores", 1) == 1

    def netlist(self):
        """Returns the netlist of a synthesised unit that is flat."""
        return path_delay.Netlist.of_file(os.path.join(self.folder, "netlist.json"), "frame")

    def yosys(self, name, commands):
        path = os.path.join(self.folder, name + ".ys")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(commands) + "\n")
        run([tool("yosys"), "-q", "-s", name + ".ys"], self.folder, name + ".log")

    def is_machine(self):
        return self.module == "sluice_top"

    def prepare(self, part):
        """Prepares the netlist of a machine; the wires of a unit are short enough as they are."""
        if self.is_machine() and self.is_flat():
            self.placed = "prepared.json"
            self.free_sites = prepare_netlist.prepare(
                os.path.join(self.folder, "netlist.json"), os.path.join(self.folder, self.placed), "frame",
                part["rows beside RAMs and multipliers"], part["columns"])

    def place_machine(self, command, report, seed, minutes, note):
        """Places a machine, refines the placement and routes it."""
        import refine_placement  # needs numpy, which only this environment is sure to have
        placed = f"placed{seed}.json"
        file = os.path.join(self.folder, placed)
        run([*command, *PLACER, "--json", self.placed, "--no-route", "--write", placed], self.folder, f"place{seed}.log", minutes)
        note("placed")
        try:
            _, (longest, _) = refine_placement.refine(file, file, WANTED_NS, seed)
        except ValueError as error:
            raise Failure(f"refinement of the placement: {error}") from error
        note(f"placement refined, the longest path is about {longest:.1f} ns")
        prepare_netlist.set_router(file, 1000 / (longest * DETOURS))
        run([*command, "--json", placed, "--no-pack", "--no-place", "--router", "router2", "--textcfg", f"config{seed}.txt",
             *report], self.folder, f"route{seed}.log", minutes)

    def place(self, part, seed, args, note, bitstream=None):
        """Places and routes; returns {"mhz", "cells", "path"} of one seed. `note` is told what is done of a machine."""
        command = [args.nextpnr or tool("nextpnr-ecp5"), "--" + part["device"], "--package", part["package"], "--speed",
                   str(part["grade"]), "--seed", str(seed), "--freq", "150", "--timing-allow-fail",
                   "--lpf-allow-unconstrained", "-q"]
        report = ["--report", f"report{seed}.json"]
        if self.is_machine():
            self.place_machine(command, report, seed, args.minutes, note)
        else:
            run([*command, "--json", self.placed, *report], self.folder, f"route{seed}.log", args.minutes)
        with open(os.path.join(self.folder, f"report{seed}.json"), encoding="utf-8") as file:
            report = json.load(file)
        cells = {ours: report["utilization"].get(theirs, {"used": 0})["used"] for theirs, ours in CELLS.items()}
        cells["flip-flops"] -= self.frame_flops
        cells["sites"] -= self.free_sites
        if bitstream:
            run([tool("ecppack"), f"config{seed}.txt", bitstream], self.folder, f"pack{seed}.log")
        paths = [path for path in report["critical_paths"] if path["from"] == path["to"] != "<async>"]
        worst = max(paths, key=lambda path: sum(step["delay"] for step in path["path"]))["path"]
        return {"seed": seed, "mhz": max(clock["achieved"] for clock in report["fmax"].values()), "cells": cells,
                "path": describe(worst)}


def register(cell):
    """Returns the name of a register by that of its cell: yosys names a cell by the wire that it drives, and the unit is an
    instance of the frame."""
    name = re.sub(r"_(TRELLIS_FF|DP16KD|LUT4|CCU2C|PFUMX|L6MUX21|MULT18X18D|TRELLIS_DPR16X4)_.*", "", cell)
    return re.sub(r"^unit\.", "", re.sub(r"\.\d+\.\d+.*", "", name)) or cell


def describe(path):
    """Returns a sentence about a path: its ends, and what its nanoseconds are."""
    first, last = path[0]["from"]["cell"], path[-1]["to"]["cell"]
    start = sum(step["delay"] for step in path if step["type"] in ("clk-to-q", "source"))
    wires = sum(step["delay"] for step in path if step["type"] == "routing")
    total = sum(step["delay"] for step in path)
    levels = sum(step["type"] == "logic" for step in path)
    return {"from": register(first), "to": register(last), "ns": round(total, 2), "start_ns": round(start, 2),
            "wires_ns": round(wires, 2), "cells": levels}


def estimate_of(netlist):
    """Returns the estimate of the longest path of a netlist."""
    path = netlist.longest()
    return {"ns": round(path.ns, 2), "from": register(path.first), "to": register(path.last), "cells": path.cells}


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
    if os.path.exists(FIGURES):
        with open(FIGURES, encoding="utf-8") as file:
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
                worse += compare(unit.name, figures, {**stored["units"], **stored.get("machines", {})})
    if args.fit:
        fit(stored["units"], netlists)
    for sentence in worse:
        print(f"error: {sentence}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"part": part, "units": results}, file, indent=1)
            file.write("\n")
    if args.store and not failed:
        store(stored, results, [unit["name"] for unit in config["units"]], part)
    if args.page and not update_pages(stored, not args.check) and args.check:
        print("error: docs/hardware.md or README.md shows other clocks; run tools/fpga.sh --page")
        failed = True
    return 1 if failed or worse else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
