#!/usr/bin/env python3
"""Measures hardware units, and whole machines, in UltraScale+ cells with yosys.

usage: unit_sizes.py [--isa-pkg isa_pkg.sv] [--jobs N] [--cache DIR] [--page docs/hardware.md [--write]] [unit...]
       unit_sizes.py --machine TARGET... [--write]
       unit_sizes.py --machines [--write]
       unit_sizes.py --errors

Reads the units from tools/unit_sizes.json and synthesises each one, without the modules
that it lists as "outside", to UltraScale+ cells (synth_xilinx -family xcup) with carry
chains and DSP blocks. A unit grows with one field of a target and is measured at some
values of this field. The block RAMs and UltraRAMs of a unit do not count: the model of
the area (runtime/format/area.cpp) derives them from the depths and widths of the memories.

--page      compares the results with the table of a page; sizes may differ by 5 %.
--write     writes the results: those of units into the page and into
            hw/area/unit_sizes.json, those of machines into hw/area/whole_machines.json.
--machine   synthesises whole machines: presets or .json files. One of a single core is flat.
            With several cores, each kind of unit is synthesised once, flat in itself. A test
            compares the model with the figures.
--machines  synthesises all machines of hw/area/whole_machines.json again.
--errors    compares the area model of sluice, on the PATH, with the stored machines.
--cache     is the folder for earlier results, by a hash of sources and commands
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
from dataclasses import dataclass

import rtl_modules

ROOT = rtl_modules.ROOT
AREA = os.path.join(ROOT, "hw", "area")
# LUTs in the cells for small memories and shift registers.
LUT_MEMORIES = {"RAM32M16": 8, "RAM64M8": 8, "RAM32M": 4, "RAM64M": 4, "SRL16E": 1, "SRLC32E": 1}
SYNTHESIS = "synth_xilinx -family xcup -abc9 -flatten -noiopad -noclkbuf -uram"
# In machines of several cores these units stay modules, each of which is synthesised once. All else is flat.
KEPT = ["core", "matrix_unit", "matrix_array", "fdot_pe", "accumulator", "normalise", "vector_unit", "vec_alu_lane", "vec_table",
        "vec_reduce", "vec_out", "network", "host_port"]
# yosys 0.23 weighs all combinations of ways to read a memory, whose number grows as a power of its read ports.
MOST_READ_PORTS = 8
# The parameters of sluice_top, and the fields and stages of a target that they follow.
MACHINE = {"Cores": "cores", "Lanes": "lanes", "PeTerms": "pe_terms", "WeightBlocks": "weight_blocks", "InboxRows": "inbox_rows",
           "LocalRows": "local_rows", "Accumulators": "accumulators", "PreloadRows": "preload_rows", "Instructions": "instructions",
           "HostInstructions": "host_instructions", "Tables": "tables"}
STAGES = {"MmFanout": "mm_fanout", "MmNormalise": "mm_normalise", "VecAlu": "vec_alu", "VecTable": "vec_table", "VecOut": "vec_out",
          "NetHop": "net_hop"}


@dataclass
class Size:
    """A size in UltraScale+ cells."""
    luts: int = 0  # without those used as memory
    lut_rams: int = 0  # LUTs used as memory
    flip_flops: int = 0
    dsp_blocks: int = 0
    block_rams: float = 0  # of 36 Kbit
    ultra_rams: int = 0  # of 288 Kbit

    @staticmethod
    def of_cells(cells):
        """Converts the cell counts that yosys reports, by type."""
        def count(pattern):
            return sum(number for cell, number in cells.items() if re.fullmatch(pattern, cell))
        return Size(luts=count("LUT[1-6]"),
                    lut_rams=sum(luts * cells.get(cell, 0) for cell, luts in LUT_MEMORIES.items()),
                    flip_flops=count("FD[RSCP]E(_1)?"), dsp_blocks=count("DSP48E2"),
                    block_rams=count("RAMB36E2") + count("RAMB18E2") / 2, ultra_rams=count("URAM288.*"))

    def logic(self):
        """Returns the size without block RAMs and UltraRAMs."""
        return {name: getattr(self, name) for name in ("luts", "lut_rams", "flip_flops", "dsp_blocks")}


def elaboration(module, params, isa_pkg):
    """Returns the yosys commands that read a module."""
    files = " ".join(rtl_modules.sources(module, isa_pkg))
    settings = "".join(f" -set {name} {value}" for name, value in params.items())
    return [f"read_verilog -sv -I{rtl_modules.RTL} {files}", f"chparam{settings} {module}", f"hierarchy -check -top {module}"]


def unit_commands(unit, value, isa_pkg):
    params = {**unit["sizes"][value], **unit.get("params", {})}
    return (elaboration(unit["module"], params, isa_pkg) + [f"blackbox *{name}*" for name in unit.get("outside", [])] +
            [SYNTHESIS, "tee -o {out} stat -json"])


def machine_commands(target, isa_pkg):
    """Returns the commands that synthesise a machine, without the readback of tensor rows."""
    params = {name: target[field] for name, field in MACHINE.items()}
    params.update({name: target["stages"][stage] for name, stage in STAGES.items() if stage in target.get("stages", {})})
    keep = ["setattr -mod -set keep_hierarchy 1 " + " ".join(rf"*\\{name}*" for name in KEPT),
            r"setattr -set keep_hierarchy 1 *\\core*/u_sequencer"] if target["cores"] > 1 else []
    outside = ["blackbox *late_ram*"] if target["lanes"] > MOST_READ_PORTS else []
    return elaboration("sluice_top", {**params, "Readback": 0}, isa_pkg) + outside + keep + [SYNTHESIS, "tee -o {out} stat -json"]


def table_commands(target, isa_pkg):
    """Returns the commands that synthesise the function tables of one lane."""
    address = (target["tables"] - 1).bit_length() + 12  # of 4,096 entries in each table
    return elaboration("late_ram", {"Width": 16, "Rows": 1 << address}, isa_pkg) + [SYNTHESIS, "tee -o {out} stat -json"]


def measure_machine(yosys, target, isa_pkg):
    """Returns the size of a machine. If the tables have too many read ports, those of one lane are synthesised apart."""
    size = vars(yosys.measure(machine_commands(target, isa_pkg)))
    if target["lanes"] > MOST_READ_PORTS:
        for name, count in vars(yosys.measure(table_commands(target, isa_pkg))).items():
            size[name] += target["cores"] * target["lanes"] * count
    return size


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

    def measure(self, commands):
        """Returns the size of the whole design."""
        # In a design of several modules, yosys prints their tree into the JSON, in front of the sum.
        report = self.run(commands)
        return Size.of_cells(json.loads("{" + report[report.index('"design"'):])["design"]["num_cells_by_type"])


def measure_units(yosys, units, isa_pkg, jobs):
    """Returns the logic of each unit by its name and the value of its field, and whether all were measured."""
    results, failed = {}, False
    print(f"{'unit':<42} {'field':>14} {'LUTs':>7} {'FF':>7}")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [(unit["name"], f"{unit['field']} {value}", value, pool.submit(yosys.measure, unit_commands(unit, value, isa_pkg)))
                   for unit in units for value in unit["sizes"]]
        for name, field, value, future in futures:
            try:
                size = results.setdefault(name, {})[value] = future.result().logic()
                print(f"{name:<42} {field:>14} {size['luts']:>7} {size['flip_flops']:>7}", flush=True)
            except RuntimeError as error:
                print(f"{name:<42} {field:>14} {error}", flush=True)
                failed = True
    return results, not failed


def unit_table(units, results):
    lines = ["| unit | of | LUTs | LUTs as RAM | flip-flops | DSP blocks |", "|---|---|--:|--:|--:|--:|"]
    for unit in units:
        for value, size in results[unit["name"]].items():
            cells = " | ".join(f"{count:,}" if count else "-" for count in size.values())
            lines.append(f"| {unit['name']} | `{unit['field']}` {value} | {cells} |")
    return "\n".join(lines)


def write_units(units, results):
    """Writes the sizes from which the compiler estimates the area of a target."""
    lines = []
    for unit in units:
        rows = ",\n".join("    " + json.dumps({"at": int(value), **size}) for value, size in results[unit["name"]].items())
        lines.append(f'  {{"unit": {json.dumps(unit["name"])}, "field": {json.dumps(unit["field"])}, "sizes": [\n{rows}]}}')
    with open(os.path.join(AREA, "unit_sizes.json"), "w", encoding="utf-8") as file:
        file.write('{"units": [\n' + ",\n".join(lines) + "\n]}\n")


def alike(old, new):
    """Whether two texts are equal up to numbers that differ by at most 5 %."""
    number = re.compile(r"[\d,]+")
    pairs = zip(number.findall(old), number.findall(new))
    values = [[float(text.replace(",", "") or 0) for text in pair] for pair in pairs]
    return number.sub("", old) == number.sub("", new) and all(abs(a - b) <= max(a, b) / 20 for a, b in values)


def update_page(path, table, write):
    """Compares the table with the page and returns whether they agree; with `write`, replaces it."""
    with open(path, encoding="utf-8") as file:
        old = file.read()
    mark = re.compile(r"(<!-- units: tools/unit_sizes.py -->\n).*?(<!-- end -->)", re.S)
    if not mark.search(old):
        raise SystemExit(f"{path}: no mark for the table of units")
    new = mark.sub(lambda match: match.group(1) + table + "\n" + match.group(2), old)
    if write and new != old:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
    return write or alike(old, new)


def stored_machines(path=os.path.join(AREA, "whole_machines.json")):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["machines"]


def write_machines(machines, path=os.path.join(AREA, "whole_machines.json")):
    lines = [f'  {{"target": {json.dumps(one["target"])},\n   "size": {json.dumps(one["size"])}}}' for one in machines]
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"machines": [\n' + ",\n".join(lines) + "\n]}\n")


def load_target(name):
    path = name if name.endswith(".json") else os.path.join(ROOT, "hw", "targets", name + ".json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def measure_machines(yosys, targets, isa_pkg, write):
    """Synthesises machines one after the other and returns whether the stored figures are still those, up to 5 %."""
    same = True
    for target in targets:
        size = measure_machine(yosys, target, isa_pkg)
        known = {one["target"]["name"]: one for one in stored_machines()}
        print(f"{target['name']}: " + ", ".join(f"{count:,} {name}" for name, count in size.items()), flush=True)
        old = known.get(target["name"], {"target": None, "size": {}})
        same = same and old["target"] == target and alike(str(old["size"]), str(size))
        known[target["name"]] = {"target": target, "size": size}
        if write:
            write_machines(known.values())
    if not same and not write:
        print("hw/area/whole_machines.json stores other figures; --write replaces them")
    return same or write


def print_errors():
    """Prints the figures of each stored machine, those of the model and their difference."""
    names = ("luts", "flip_flops", "dsp_blocks", "block_rams", "ultra_rams")
    for machine in stored_machines():
        target = machine["target"]
        counted = dict(machine["size"], luts=machine["size"]["luts"] + machine["size"]["lut_rams"])
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            json.dump(target, file)
            file.flush()
            text = subprocess.run(["sluice", "targets", "--show", file.name, "--area", "--json"], capture_output=True, text=True,
                                  check=True).stdout
        model = json.loads(text)["areas"][0]["machine"]
        rows = [("", "LUTs", "flip-flops", "DSP blocks", "block RAMs", "UltraRAMs"),
                ("yosys", *(f"{counted[name]:,}" for name in names)), ("model", *(f"{model[name]:,}" for name in names)),
                ("difference", *(f"{100 * (model[name] / counted[name] - 1):+.1f} %" for name in names))]
        print(f"{target['name']}: {target['cores']} x {target['lanes']} lanes, elements of {target['pe_terms']}, "
              f"{target['weight_blocks']} weight blocks, {target['inbox_rows']} + {target['local_rows']} rows, {target['tables']} tables")
        for title, *cells in rows:
            print(f"  {title:<10}" + "".join(f"  {cell:>10}" for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isa-pkg", help="generated package of the instruction set (default: generate it)")
    parser.add_argument("--jobs", type=int, default=1, help="number of syntheses that run at the same time (1)")
    parser.add_argument("--cache", default=os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "sluice-sizes"))
    parser.add_argument("--page", help="page to compare the results with")
    parser.add_argument("--write", action="store_true", help="write the results")
    parser.add_argument("--machine", nargs="+", metavar="TARGET", help="synthesise whole machines instead of units")
    parser.add_argument("--machines", action="store_true", help="synthesise the stored machines again")
    parser.add_argument("--errors", action="store_true", help="compare the model with the stored machines")
    parser.add_argument("units", nargs="*", help="names of units (default: all)")
    args = parser.parse_args()
    if args.errors:
        print_errors()
        return 0
    with open(os.path.join(ROOT, "tools", "unit_sizes.json"), encoding="utf-8") as file:
        config = json.load(file)
    units = [unit for unit in config["units"] if not args.units or unit["name"] in args.units]
    unknown = set(args.units) - {unit["name"] for unit in units}
    if unknown:
        raise SystemExit(f"no unit named {', '.join(sorted(unknown))}")
    if args.page and args.units:
        raise SystemExit("--page cannot be combined with a list of units")
    with tempfile.TemporaryDirectory() as folder:
        isa_pkg = args.isa_pkg
        if not isa_pkg:
            isa_pkg = os.path.join(folder, "isa_pkg.sv")
            subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gen_isa.py"),
                            os.path.join(ROOT, "hw", "isa", "isa.json"), "--sv", isa_pkg], check=True)
        yosys = Yosys(args.cache)
        if args.machine or args.machines:
            targets = [load_target(name) for name in args.machine or []]
            targets += [one["target"] for one in stored_machines() if args.machines]
            return 0 if measure_machines(yosys, targets, isa_pkg, args.write) else 1
        results, complete = measure_units(yosys, units, isa_pkg, args.jobs)
    if args.page and complete:
        if args.write:
            write_units(units, results)
        if not update_page(args.page, unit_table(units, results), args.write):
            print(f"{args.page} shows other sizes; run tools/unit_sizes.py --page {args.page} --write")
            complete = False
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
