#!/usr/bin/env python3
"""Measures every hardware unit with yosys: its depth in LUT6 levels, and its size.

Each unit of tools/depth.json is synthesised (synth -flatten -lut 6) with its
memories, and the modules it lists as outside, taken out: their ports become ports
of the unit. The depth is the longest path between registers, memories and ports
(ltp -noff). A unit above the limit is an error. The estimate of a core, and of the
whole machine, is the sum of its units.

usage: depth.py [--isa-pkg isa_pkg.sv] [--jobs N] [--page docs/hardware.md [--write]] [unit...]

--page compares what was measured with the tables of that page (sizes may differ by a
twentieth), --write puts it there.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEMORY_MAP = os.path.join(ROOT, "tools", "depth_memory.v")


@dataclass
class Size:
    """What a unit needs. multipliers: by "AxB" bits; kbits of memories deeper than 64 words;
    lutram: LUTs of the others."""
    luts: int = 0
    flops: int = 0
    multipliers: dict = field(default_factory=dict)
    kbits: float = 0
    lutram: int = 0

    def add(self, other, times):
        self.luts += times * other.luts
        self.flops += times * other.flops
        self.kbits += times * other.kbits
        self.lutram += times * other.lutram
        for shape, count in other.multipliers.items():
            self.multipliers[shape] = self.multipliers.get(shape, 0) + times * count


def closure(module, rtl):
    """The files of a module and of everything it names."""
    files = {name[:-3] for name in os.listdir(rtl) if name.endswith(".sv")}
    todo, found = [module], []
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.append(name)
        with open(os.path.join(rtl, name + ".sv"), encoding="utf-8") as file:
            text = re.sub(r"//.*", "", file.read())
        todo += sorted(files & set(re.findall(r"\w+", text)) - set(found))
    return sorted(found, key=lambda name: (not name.endswith("_pkg"), name))


def script(unit, isa_pkg):
    """The yosys commands for one unit; {out} stands for a file name."""
    rtl = os.path.join(ROOT, "hw", "rtl")
    files = " ".join([isa_pkg] + [os.path.join(rtl, name + ".sv") for name in closure(unit["module"], rtl)])
    params = "".join(f" -set {name} {value}" for name, value in unit.get("params", {}).items())
    lines = [f"read_verilog -sv -I{rtl} {files}", f"chparam{params} {unit['module']}",
             f"hierarchy -check -top {unit['module']}"]
    for name in unit.get("outside", []):
        lines.append(f"blackbox *{name}*")
    lines += [
        "proc",
        "flatten",
        "opt",
        "memory -nomap",
        "design -push-copy",
        "wreduce",
        "opt_clean",
        "json -o {out}.json t:$mem_v2 t:$mul",
        "design -pop",
        f"read_verilog -lib {MEMORY_MAP}",
        f"techmap -map {MEMORY_MAP}",
        "expose -evert c:* t:mem_lut %d",  # cells only: exposing a wire would keep it
        "synth -flatten -lut 6",
        "opt_clean -purge",
        "tee -o {out} stat",
        "tee -a {out} ltp -noff",
    ]
    return "\n".join(lines)


def count_cells(path, size):
    """Multipliers and memories, from yosys's description of the cells."""
    with open(path, encoding="utf-8") as file:
        modules = json.load(file)["modules"].values()
    for cell in (cell for module in modules for cell in module["cells"].values()):
        def number(name, cell=cell):
            return int(cell["parameters"][name], 2)
        if cell["type"] == "$mul":
            if any(all(isinstance(bit, str) for bit in cell["connections"][port]) for port in "AB"):
                continue  # by a constant: additions
            shape = "x".join(str(bits) for bits in sorted((number("A_WIDTH"), number("B_WIDTH"))))
            size.multipliers[shape] = size.multipliers.get(shape, 0) + 1
        else:
            # Every read port has a copy. A LUT holds a bit of 64 words.
            words, width, ports = number("SIZE"), number("WIDTH"), max(1, number("RD_PORTS"))
            if words <= 64:
                size.lutram += ports * width
            else:
                size.kbits += ports * width * words / 1024


def measure(unit, isa_pkg):
    """(depth, size) of one unit; raises with yosys's message."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.txt")
        path = os.path.join(folder, "run.ys")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script(unit, isa_pkg).replace("{out}", out))
        run = subprocess.run(["yosys", "-q", "-s", path], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise RuntimeError(run.stderr.strip() or run.stdout.strip())
        with open(out, encoding="utf-8") as file:
            text = file.read()
        size = Size()
        count_cells(out + ".json", size)
    depth = re.search(r"Longest topological path in .*\(length=(\d+)\)", text)
    luts = re.search(r"\$lut\s+(\d+)", text)
    size.luts = int(luts.group(1)) if luts else 0
    size.flops = sum(int(count) for count in re.findall(r"\$_(?:S?DFFE?|SDFFCE)_\w+_\s+(\d+)", text))
    return int(depth.group(1)), size


def multipliers_text(multipliers):
    return ", ".join(f"{count:,.0f} of {shape}" for shape, count in sorted(multipliers.items())) or "-"


def unit_table(units, results):
    lines = ["| unit, as measured | levels | LUT6 | flip-flops | multipliers | memory, Kbit | LUT RAM |", "|---|---|---|---|---|---|---|"]
    for unit in units:
        depth, size = results[unit["name"]]
        lines.append(f"| {unit['name']} | {depth} | {size.luts:,} | {size.flops:,} | {multipliers_text(size.multipliers)} "
                     f"| {f'{size.kbits:,.0f}' if size.kbits else '-'} | {f'{size.lutram:,}' if size.lutram else '-'} |")
    return "\n".join(lines)


def rounded(value):
    """Three digits: an estimate has no more."""
    digits = max(0, len(str(round(value))) - 3)
    return f"{round(value, -digits):,.0f}"


def estimate_table(config, results):
    """Rows per target: a core, and the machine of all cores, network and host port."""
    lines = ["| target | of | LUT6 | flip-flops | multipliers | memory, Kbit | LUT RAM |", "|---|---|---|---|---|---|---|"]
    for target in config["estimates"]:
        core, machine = Size(), Size()
        for name, times in target["core"].items():
            core.add(results[name][1], times)
        machine.add(core, target["cores"])
        for name, times in target["machine"].items():
            machine.add(results[name][1], times)
        for what, size in (("one core", core), (f"{target['cores']} cores, network, host port", machine)):
            lines.append(f"| {target['target']} | {what} | {rounded(size.luts)} | {rounded(size.flops)} "
                         f"| {rounded(sum(size.multipliers.values()))} | {rounded(size.kbits)} | {rounded(size.lutram)} |")
    return "\n".join(lines)


def alike(old, new):
    """The same text, with numbers that differ by no more than a twentieth."""
    number = re.compile(r"[\d,]+")
    pairs = zip(number.findall(old), number.findall(new))
    values = [[float(text.replace(",", "") or 0) for text in pair] for pair in pairs]
    return number.sub("", old) == number.sub("", new) and all(abs(a - b) <= max(a, b) / 20 for a, b in values)


def update_page(path, tables, write):
    """Puts the tables between their marks; whether the page had them already, more or less."""
    with open(path, encoding="utf-8") as file:
        old = new = file.read()
    for name, table in tables.items():
        mark = re.compile(rf"(<!-- {name}: tools/depth.py -->\n).*?(<!-- end -->)", re.S)
        if not mark.search(new):
            raise SystemExit(f"{path}: no place for the table '{name}'")
        new = mark.sub(lambda match, table=table: match.group(1) + table + "\n" + match.group(2), new)
    if write and new != old:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
    return write or alike(old, new)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isa-pkg", help="generated package (default: generate it)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", help="the page that has the tables")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("units", nargs="*", help="names of units (default: all)")
    args = parser.parse_args()
    with open(os.path.join(ROOT, "tools", "depth.json"), encoding="utf-8") as file:
        config = json.load(file)
    units = [unit for unit in config["units"] if not args.units or unit["name"] in args.units]
    unknown = set(args.units) - {unit["name"] for unit in units}
    if unknown:
        raise SystemExit(f"no unit named {', '.join(sorted(unknown))}")
    if args.page and args.units:
        raise SystemExit("the page needs every unit")

    results, failed = {}, False
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        isa_pkg = args.isa_pkg
        if not isa_pkg:
            isa_pkg = os.path.join(folder, "isa_pkg.sv")
            subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gen_isa.py"),
                            os.path.join(ROOT, "hw", "isa", "isa.json"), "--sv", isa_pkg], check=True)
        print(f"{'unit':<34} {'levels':>6} {'LUT6':>7} {'FF':>7}   limit {config['limit']}")
        futures = [pool.submit(measure, unit, isa_pkg) for unit in units]
        for unit, future in zip(units, futures):
            try:
                depth, size = results[unit["name"]] = future.result()
            except RuntimeError as error:
                print(f"{unit['name']:<34} {error}", flush=True)
                failed = True
                continue
            over = depth > config["limit"]
            failed |= over
            print(f"{unit['name']:<34} {depth:>6} {size.luts:>7} {size.flops:>7}{'   above the limit' if over else ''}", flush=True)
    if args.page and len(results) == len(units):
        tables = {"units": unit_table(units, results), "estimates": estimate_table(config, results)}
        if not update_page(args.page, tables, args.write):
            print(f"{args.page} has other numbers: run tools/depth.py --page {args.page} --write")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
