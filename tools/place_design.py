"""Synthesises a unit of the accelerator or a whole machine with yosys, and places and routes it with nextpnr-ecp5."""
import ast
import json
import os
import re
import subprocess
import sys

import path_delay
import prepare_netlist
import rtl_modules

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# How a machine is placed and routed: with more weight on wires without slack than by default, then refined for paths of
# WANTED_NS, by the estimate of tools/refine_placement.py. Shorter paths need longer wires, and the router then takes detours.
# The router works until no path is longer than that estimate times DETOURS.
PLACER = ["--placer-heap-critexp", "5", "--placer-heap-timingweight", "40"]
WANTED_NS = 11.5
DETOURS = 1.1
# nextpnr's names of the cells, and ours.
CELLS = {"TRELLIS_COMB": "sites", "TRELLIS_FF": "flip-flops", "MULT18X18D": "multipliers", "DP16KD": "block RAMs"}


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
    """Returns the fields and the stages of a preset or of a target file. Its memories and multipliers are portable unless
    it names cells of a part."""
    path = name if name.endswith(".json") else os.path.join(ROOT, "hw", "targets", name + ".json")
    with open(os.path.join(ROOT, "hw", "isa", "isa.json"), encoding="utf-8") as file:
        latencies = json.load(file)["latencies"]
    with open(path, encoding="utf-8") as file:
        target = json.load(file)
    defaults = {one["name"]: one["value"] for one in latencies if "least" in one}
    return {"cells": "portable", **defaults, **target, **target.get("stages", {})}


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
        self.cells = None if geometry["cells"] == "portable" else geometry["cells"]  # folder of hw/rtl/cells
        self.block_rams = entry.get("in block RAMs", [])  # memories that yosys would build of LUTs
        self.folder = os.path.join(folder, re.sub(r"\W", "_", self.name))
        os.makedirs(self.folder)
        self.frame_flops = 0
        self.placed = "netlist.json"  # what nextpnr reads
        self.free_sites = 0

    def synthesise(self, isa_pkg):
        """Synthesises the unit; returns the cells that yosys counts."""
        files = " ".join(rtl_modules.sources(self.module, isa_pkg, self.cells))
        settings = "".join(f" -set {name} {value}" for name, value in self.params.items())
        read = f"read_verilog -sv -I{rtl_modules.RTL} {files}"
        self.yosys("ports", [read, f"chparam{settings} {self.module}" if settings else "",
                             f"hierarchy -top {self.module}", "proc", "rename -top unit_top",
                             "write_json ports.json"])
        text, self.frame_flops = frame(self.module, self.params, ports_of(self.folder, "unit_top"))
        with open(os.path.join(self.folder, "frame.v"), "w", encoding="utf-8") as file:
            file.write(text)
        whole = "" if self.is_flat() else " -noflatten"
        self.yosys("synth", [read, "read_verilog frame.v", "hierarchy -top frame",
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
