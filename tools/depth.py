#!/usr/bin/env python3
"""Prints the depth of every hardware unit in LUT6 levels, and its size.

Each unit of tools/depth.json is synthesised by yosys (synth -flatten -lut 6) with
its memories, and the modules it lists as outside, taken out: their ports become
ports of the unit. The depth is the longest path between registers, memories and
ports (ltp -noff). A unit above the limit is an error.

usage: depth.py [--isa-pkg isa_pkg.sv] [--jobs N] [unit...]
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEMORY_MAP = os.path.join(ROOT, "tools", "depth_memory.v")


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
    """The yosys commands for one unit."""
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
        f"read_verilog -lib {MEMORY_MAP}",
        f"techmap -map {MEMORY_MAP}",
        "expose -evert c:*",  # cells only: exposing a wire would keep it
        "synth -flatten -lut 6",
        "opt_clean -purge",
        "tee -o {out} stat",
        "tee -a {out} ltp -noff",
    ]
    return "\n".join(lines)


def measure(unit, isa_pkg):
    """(depth, luts, flip-flops) of one unit; raises with yosys's message."""
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
    depth = re.search(r"Longest topological path in .*\(length=(\d+)\)", text)
    luts = re.search(r"\$lut\s+(\d+)", text)
    flops = sum(int(count) for count in re.findall(r"\$_(?:S?DFFE?|SDFFCE)_\w+_\s+(\d+)", text))
    return int(depth.group(1)), int(luts.group(1)) if luts else 0, flops


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isa-pkg", help="generated package (default: generate it)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("units", nargs="*", help="names of units (default: all)")
    args = parser.parse_args()
    with open(os.path.join(ROOT, "tools", "depth.json"), encoding="utf-8") as file:
        config = json.load(file)
    units = [unit for unit in config["units"] if not args.units or unit["name"] in args.units]
    unknown = set(args.units) - {unit["name"] for unit in units}
    if unknown:
        raise SystemExit(f"no unit named {', '.join(sorted(unknown))}")

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        isa_pkg = args.isa_pkg
        if not isa_pkg:
            isa_pkg = os.path.join(folder, "isa_pkg.sv")
            subprocess.run([sys.executable, os.path.join(ROOT, "tools", "gen_isa.py"),
                            os.path.join(ROOT, "hw", "isa", "isa.json"), "--sv", isa_pkg], check=True)
        print(f"{'unit':<26} {'levels':>6} {'LUT6':>7} {'FF':>7}   limit {config['limit']}")
        failed = False
        futures = [pool.submit(measure, unit, isa_pkg) for unit in units]
        for unit, future in zip(units, futures):
            try:
                depth, luts, flops = future.result()
            except RuntimeError as error:
                print(f"{unit['name']:<26} {error}", flush=True)
                failed = True
                continue
            over = depth > config["limit"]
            failed |= over
            print(f"{unit['name']:<26} {depth:>6} {luts:>7} {flops:>7}{'   above the limit' if over else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
