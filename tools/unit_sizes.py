#!/usr/bin/env python3
"""Measures the size of every hardware unit in UltraScale+ cells with yosys.

usage: unit_sizes.py [--isa-pkg isa_pkg.sv] [--jobs N] [--cache DIR] [--page docs/hardware.md [--write]] [unit...]

Reads the units from tools/unit_sizes.json and synthesises each one, without the modules
that it lists as "outside", to UltraScale+ cells (synth_xilinx -family xcup) with carry
chains, DSP blocks and memories. A unit with "lanes" is mapped with one lane and with
two; the first size includes the logic that lanes share. The size of a core, and of the
whole machine, is the sum of its units.

--page    compares the results with the tables of a page; sizes may differ by 5 %.
--write   writes the tables into the page, and the sizes into hw/area/unit_sizes.json.
--cache   is the folder for earlier results, by a hash of sources and commands
          (default: $XDG_CACHE_HOME/sluice-sizes).
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, fields

import rtl_modules

ROOT = rtl_modules.ROOT
# LUTs in the cells for small memories and shift registers.
LUT_MEMORIES = {"RAM32M16": 8, "RAM64M8": 8, "RAM32M": 4, "RAM64M": 4, "SRL16E": 1, "SRLC32E": 1}


@dataclass
class Size:
    """The size of a unit in UltraScale+ cells."""
    luts: float = 0
    lutram: float = 0  # LUTs used as memory
    flops: float = 0
    carries: float = 0  # carry chains of four bits
    dsps: float = 0
    brams: float = 0  # of 36 Kbit
    urams: float = 0  # of 288 Kbit

    def add(self, other, times):
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + times * getattr(other, one.name))

    @staticmethod
    def of_cells(cells):
        """Converts the cell counts that yosys reports, by type."""
        def count(pattern):
            return sum(number for cell, number in cells.items() if re.fullmatch(pattern, cell))
        return Size(luts=count("LUT[1-6]"),
                    lutram=sum(luts * cells.get(cell, 0) for cell, luts in LUT_MEMORIES.items()),
                    flops=count("FD[RSCP]E(_1)?"), carries=count("CARRY4"), dsps=count("DSP48E2"),
                    brams=count("RAMB36E2") + count("RAMB18E2") / 2, urams=count("URAM288.*"))


def elaboration(unit, isa_pkg, lanes=None):
    """Returns the yosys commands that read a unit."""
    files = " ".join(rtl_modules.sources(unit["module"], isa_pkg))
    params = dict(unit.get("params", {}))
    if lanes:
        params["Lanes"] = lanes
    settings = "".join(f" -set {name} {value}" for name, value in params.items())
    return [f"read_verilog -sv -I{rtl_modules.RTL} {files}", f"chparam{settings} {unit['module']}",
            f"hierarchy -check -top {unit['module']}"] + [f"blackbox *{name}*" for name in unit.get("outside", [])]


def size_commands(unit, isa_pkg, lanes):
    return elaboration(unit, isa_pkg, lanes) + [
        "synth_xilinx -family xcup -abc9 -flatten -noiopad -noclkbuf -uram",
        "tee -o {out} stat -json",
    ]


class Yosys:
    """Runs yosys commands and caches their output."""

    def __init__(self, cache):
        self.cache = cache
        self.version = subprocess.run(["yosys", "-V"], capture_output=True, text=True, check=True).stdout

    def key(self, commands):
        parts = [self.version]
        for word in "\n".join(commands).split():
            path = word[2:] if word.startswith("-I") else word
            if os.path.isfile(path):
                with open(path, encoding="utf-8") as file:
                    parts.append(file.read())
            elif os.path.isdir(path):
                with open(os.path.join(path, "assert.svh"), encoding="utf-8") as file:
                    parts.append(file.read())
            else:
                parts.append(word)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def run(self, commands):
        """Returns the text that the last command wrote to {out}; raises RuntimeError with yosys's message."""
        kept = os.path.join(self.cache, self.key(commands))
        if os.path.exists(kept):
            with open(kept, encoding="utf-8") as file:
                return file.read()
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out.txt")
            path = os.path.join(folder, "run.ys")
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(commands).replace("{out}", out))
            run = subprocess.run(["yosys", "-q", "-s", path], capture_output=True, text=True, check=False)
            if run.returncode != 0:
                raise RuntimeError(run.stderr.strip() or run.stdout.strip())
            with open(out, encoding="utf-8") as file:
                text = file.read()
        os.makedirs(self.cache, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.cache, delete=False, encoding="utf-8") as file:
            file.write(text)
        os.replace(file.name, kept)
        return text


def measure_size(yosys, unit, isa_pkg, lanes):
    report = json.loads(yosys.run(size_commands(unit, isa_pkg, lanes)))
    return Size.of_cells(report["design"]["num_cells_by_type"])


def measure(yosys, unit, isa_pkg):
    """Returns the size of a unit, or the sizes of the first and of each further lane."""
    if not unit.get("lanes"):
        return [measure_size(yosys, unit, isa_pkg, None)]
    first, both = (measure_size(yosys, unit, isa_pkg, lanes) for lanes in (1, 2))
    both.add(first, -1)
    return [first, both]


COLUMNS = "LUTs | LUTs as RAM | flip-flops | carry | DSP | RAM 36K | RAM 288K |\n{}---|---|---|---|---|---|---|"


def size_text(size, number):
    """Returns the size columns of a table row."""
    return " | ".join(number(value) if value else "-"
                      for value in (getattr(size, one.name) for one in fields(size))) + " |"


def exact(value):
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def unit_table(units, results):
    lines = ["| unit | " + COLUMNS.format("|---|")]
    for unit in units:
        for size, which in zip(results[unit["name"]], suffixes(unit)):
            lines.append(f"| {unit['name']}{which} | {size_text(size, exact)}")
    return "\n".join(lines)


def suffixes(unit):
    """What tells apart the rows of a unit."""
    return (", one lane", ", each further lane") if unit.get("lanes") else ("",)


def write_sizes(units, results, path=os.path.join(ROOT, "hw", "area", "unit_sizes.json")):
    """Writes the sizes from which the compiler estimates the area of a target."""
    lines = []
    for unit in units:
        for size, which in zip(results[unit["name"]], suffixes(unit)):
            lines.append("  " + json.dumps({"unit": unit["name"] + which, "luts": size.luts, "flip_flops": size.flops,
                                            "dsp_blocks": size.dsps}))
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"units": [\n' + ",\n".join(lines) + "\n]}\n")


def rounded(value):
    """Rounds to three digits, the precision of an estimate."""
    digits = max(0, len(str(round(value))) - 3)
    return f"{round(value, -digits):,.0f}"


def estimate_table(config, results):
    """Returns the table of estimates. Each target has a row for one core and one for the whole machine."""
    lines = ["| target | part | " + COLUMNS.format("|---|---|")]
    for target in config["estimates"]:
        core, machine = Size(), Size()
        for name, (units, lanes) in target["core"].items():
            sizes = results[name]
            core.add(sizes[0], units)
            for further in sizes[1:]:
                core.add(further, units * (lanes - 1))
        machine.add(core, target["cores"])
        for name, times in target["machine"].items():
            machine.add(results[name][0], times)
        for what, size in (("one core", core), (f"{target['cores']} cores, network, host port", machine)):
            lines.append(f"| {target['target']} | {what} | {size_text(size, rounded)}")
    return "\n".join(lines)


def alike(old, new):
    """Whether two texts are equal up to numbers that differ by at most 5 %."""
    number = re.compile(r"[\d,]+")
    pairs = zip(number.findall(old), number.findall(new))
    values = [[float(text.replace(",", "") or 0) for text in pair] for pair in pairs]
    return number.sub("", old) == number.sub("", new) and all(abs(a - b) <= max(a, b) / 20 for a, b in values)


def update_page(path, tables, write):
    """Compares the tables with the page and returns whether they agree; with `write`, replaces them."""
    with open(path, encoding="utf-8") as file:
        old = new = file.read()
    for name, table in tables.items():
        mark = re.compile(rf"(<!-- {name}: tools/unit_sizes.py -->\n).*?(<!-- end -->)", re.S)
        if not mark.search(new):
            raise SystemExit(f"{path}: no mark for the table '{name}'")
        new = mark.sub(lambda match, table=table: match.group(1) + table + "\n" + match.group(2), new)
    if write and new != old:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
    return write or alike(old, new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isa-pkg", help="generated package of the instruction set (default: generate it)")
    parser.add_argument("--jobs", type=int, default=1, help="number of syntheses that run at the same time (1)")
    parser.add_argument("--cache", default=os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sluice-sizes"))
    parser.add_argument("--page", help="page to compare the results with")
    parser.add_argument("--write", action="store_true", help="write the results to the page")
    parser.add_argument("units", nargs="*", help="names of units (default: all)")
    args = parser.parse_args()
    with open(os.path.join(ROOT, "tools", "unit_sizes.json"), encoding="utf-8") as file:
        config = json.load(file)
    units = [unit for unit in config["units"] if not args.units or unit["name"] in args.units]
    unknown = set(args.units) - {unit["name"] for unit in units}
    if unknown:
        raise SystemExit(f"no unit named {', '.join(sorted(unknown))}")
    if args.page and args.units:
        raise SystemExit("--page cannot be combined with a list of units")
    results, failed = {}, False
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        isa_pkg = args.isa_pkg
        if not isa_pkg:
            isa_pkg = os.path.join(folder, "isa_pkg.sv")
            subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gen_isa.py"),
                            os.path.join(ROOT, "hw", "isa", "isa.json"), "--sv", isa_pkg], check=True)
        print(f"{'unit':<40} {'LUTs':>7} {'FF':>7}")
        yosys = Yosys(args.cache)
        futures = [pool.submit(measure, yosys, unit, isa_pkg) for unit in units]
        for unit, future in zip(units, futures):
            try:
                sizes = results[unit["name"]] = future.result()
            except RuntimeError as error:
                print(f"{unit['name']:<40} {error}", flush=True)
                failed = True
                continue
            print(f"{unit['name']:<40} {sizes[0].luts:>7} {sizes[0].flops:>7}", flush=True)
    if args.page and len(results) == len(units):
        if args.write:
            write_sizes(units, results)
        tables = {"units": unit_table(units, results), "estimates": estimate_table(config, results)}
        if not update_page(args.page, tables, args.write):
            print(f"{args.page} shows other sizes; run tools/unit_sizes.py --page {args.page} --write")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
