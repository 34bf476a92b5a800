#!/usr/bin/env python3
"""Checks that everything derived from the instruction table says the same.

usage: agreement_test.py isa.json isa_pkg.sv FIELD_MASKS_BINARY WORK_DIR docs/isa.md generated_isa.md

For every field of every instruction three sources give the set of bits it
occupies: the table (positions computed here), the SystemVerilog structs (as
Verilator lays them out), and the C++ encoder (bits that change).
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def masks_of_table(path):
    table = json.loads(path.read_text())
    masks = {}
    for inst in table["instructions"]:
        position = 4
        fields = [f for group in inst.get("groups", []) for f in table["groups"][group]] + inst["fields"]
        for field in fields:
            width = field["bits"] * field.get("count", 1)
            masks[inst["name"], field["name"]] = ((1 << width) - 1) << position
            position += width
    return masks


def masks_of_verilog(package, fields, work):
    lines = ["module probe;", "  import isa_pkg::*;"]
    insts = sorted({inst for inst, _ in fields})
    lines += [f"  {inst}_inst_t s_{inst};" for inst in insts]
    lines.append("  initial begin")
    for inst, field in fields:
        lines += [f"    s_{inst} = '0;", f"    s_{inst}.{field} = '1;",
                  f'    $display("MASK {inst} {field} %h", s_{inst});']
    lines += ["    $finish;", "  end", "endmodule"]
    work.mkdir(parents=True, exist_ok=True)
    probe = work / "probe.sv"
    probe.write_text("\n".join(lines) + "\n")
    # Not in the build folder, whose path may have a space: make cannot build there.
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["verilator", "--binary", "-fno-const-bit-op-tree", "--compiler", "clang", "-MAKEFLAGS",
                        "CXX=clang++-19 LINK=clang++-19", "-Wno-fatal", "--top-module", "probe", "--Mdir", folder,
                        str(package), str(probe)], check=True, stdout=subprocess.DEVNULL, cwd=folder)
        return parse(subprocess.run([f"{folder}/Vprobe"], check=True, capture_output=True, text=True).stdout)


def parse(text):
    masks = {}
    for line in text.splitlines():
        if line.startswith("MASK "):
            _, inst, field, value = line.split()
            masks[inst, field] = int(value, 16)
    return masks


def main():
    table, package, binary, work, committed, generated = map(pathlib.Path, sys.argv[1:])
    expected = masks_of_table(table)
    verilog = masks_of_verilog(package, list(expected), work)
    cpp = parse(subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout)
    failures = []
    for key, mask in expected.items():
        for source, masks in (("SystemVerilog", verilog), ("C++", cpp)):
            if masks.get(key) != mask:
                failures.append(f"{source} has {key[0]}.{key[1]} at {masks.get(key)}, the table at {mask:#x}")
    if set(cpp) != set(expected):
        failures.append(f"C++ fields differ from the table: {sorted(set(cpp) ^ set(expected))}")
    if committed.read_text() != generated.read_text():
        failures.append("docs/isa.md is not what tools/gen_isa.py writes; run it with --markdown docs/isa.md")
    print("\n".join(failures) or f"{len(expected)} fields agree in the table, SystemVerilog, C++ and the manual")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
