#!/usr/bin/env python3
"""Proves the assertions of small control modules by induction with yosys.

usage: prove.py --isa-package isa_pkg.sv [--break] [module...]

For every module: its assertions, those of the modules in it and the properties of
<module>.svh hold in the first cycles after reset and, if they held for some cycles,
in the next. What <module>.svh assumes is what the parents guarantee. --break proves
that the proofs can fail: it removes a guard and expects a counterexample.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "tools"))
import rtl_modules  # noqa: E402


class Proof:
    def __init__(self, module, parameters, steps, edit, cut_memory=False, drop="", connect=None):
        """edit: (file, text, other text), which must break the proof. steps: cycles of the
        induction. cut_memory: a memory read gives anything; drop: the instance whose assertions
        are left out, because they are about the memory's contents. connect: wires of the
        properties that are signals of modules inside."""
        self.module, self.parameters, self.steps = module, parameters, steps
        self.edit, self.cut_memory, self.drop, self.connect = edit, cut_memory, drop, connect or {}


PROOFS = [
    Proof("fifo_pointers", {"Depth": 4}, 4,
          ("fifo_pointers", "assign full_o  = wr_q == {~rd_q[PtrBits], rd_q[PtrBits-1:0]};", "assign full_o  = 1'b0;")),
    Proof("fifo", {"Width": 4, "Depth": 4}, 3, ("fifo", ".read_addr_i (rd)", ".read_addr_i (wr)"),
          connect={"at_wr": "u_pointers.wr_q", "at_rd": "u_pointers.rd_q"}),
    Proof("fifo_ahead", {"Width": 4, "Ahead": 2, "Depth": 4}, 3,
          ("fifo_ahead", "pop_i && second == wr", "pop_i && rd == wr"),
          connect={"at_wr": "u_pointers.wr_q", "at_rd": "u_pointers.rd_q", "aheads": "u_aheads.contents"}),
    Proof("credit_counter", {"Depth": 5}, 3, ("credit_counter", "count_q < Bits'(Depth)", "count_q <= Bits'(Depth)")),
    Proof("result_credits", {}, 3, ("credit_counter", "count_q < Bits'(Depth)", "count_q <= Bits'(Depth)"),
          connect={"outstanding": "u_credits.count_q", "wr": "u_results.wr_q", "rd": "u_results.rd_q"}),
    Proof("arbiter", {"Requesters": 7}, 2, ("arbiter", "pick[i] && !seen", "pick[i]")),
    Proof("token_bank", {"Gives": 3}, 2, ("token_bank", "have_q >= need_i", "have_q >= 8'd0")),
    Proof("loop_nest", {}, 2, ("loop_nest", "last_q[l] ? single_q[l] : left_q[l] == 12'd1", "left_q[l] == 12'd1")),
    Proof("ring_address", {}, 2, ("loop_address", "& moving) | (from & ~moving)", ") | (from & ~moving)"),
          connect={"partial": "u_address.partial_q", "moving": "u_address.moving"}),
    Proof("sequencer", {"Instructions": 8, "ChunkBits": 576}, 2,
          ("sequencer", "loop_more_q[0]    <= loop_left_q[15:0] != 16'd2;", "loop_more_q[0]    <= loop_left_q[15:0] != 16'd1;"),
          cut_memory=True),
    Proof("unit_front", {"PcBits": 2, "Gives": 1}, 2,
          ("unit_front", "(!wait_q || enough)", "(!wait_q || enough || push_i)"),
          cut_memory=True, drop="u_queue.u_check"),
    Proof("path_gate", {"Lanes": 32}, 2, ("path_gate", "after = places[i] ? mine : less", "after = places[i] && i != 1 ? mine : less")),
    Proof("unit_counters", {"Width": 3}, 2, ("unit_counters", "written_q[state_q] ? count : '0", "count"),
          connect={"counts": "u_counts.contents"}),
]


def texts(module):
    """The source of each module that a module is made of, itself included, packages first."""
    files = rtl_modules.module_files() | {path.stem: path for path in HERE.glob("*.sv")}
    return {name: pathlib.Path(files[name]).read_text(encoding="utf-8") for name in rtl_modules.closure(module, files)}


def written(sources, folder):
    """Writes the sources into a folder and returns what yosys reads, in order."""
    paths = []
    for name, text in sources.items():
        paths.append(pathlib.Path(folder) / f"{name}.sv")
        paths[-1].write_text(text, encoding="utf-8")
    return " ".join(map(str, paths))


def prove(proof, args):
    sources = texts(proof.module)
    if args.break_:
        name, old, new = proof.edit
        if sources[name].count(old) != 1:
            sys.exit(f"{name}: the text to break is not there once: {old}")
        sources[name] = sources[name].replace(old, new)
    properties = (HERE / f"{proof.module}.svh").read_text(encoding="utf-8")
    body, end, rest = sources[proof.module].rpartition("endmodule")
    sources[proof.module] = body + properties + end + rest
    with tempfile.TemporaryDirectory() as folder:
        chparam = "".join(f" -set {key} {value}" for key, value in proof.parameters.items())
        connect = "".join(f"connect -set {wire} {signal}; " for wire, signal in proof.connect.items())
        memory = "memory -nordff; opt -full"
        if proof.cut_memory:
            drop = proof.drop.replace(".", "*")
            memory = (f"delete t:$assert c:*{drop}* %i; " if drop else "") + "delete t:$mem*; opt"
        script = (f"read_verilog -sv -formal -I{rtl_modules.RTL} {args.isa_package} {written(sources, folder)}; "
                  f"{'chparam' + chparam + ' ' + proof.module + '; ' if chparam else ''}"
                  f"hierarchy -check -top {proof.module}; proc; flatten; {connect}{memory}; "
                  f"sat -tempinduct -prove-asserts -set-assumes -set-at 1 rst_i 1 -maxsteps {4 * proof.steps} -verify")
        run = subprocess.run(["yosys", "-q", "-p", script], capture_output=True, text=True, check=False)
    return run.returncode == 0, run.stdout + run.stderr


def check_all(description, checks, check, holds):
    """Calls check(item, args) for every (module, item) asked for on the command line and
    prints whether it `holds`; with --break, none may. Returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isa-package", required=True)
    parser.add_argument("--break", dest="break_", action="store_true")
    parser.add_argument("modules", nargs="*")
    args = parser.parse_args()
    wrong = 0
    for module, item in checks:
        if args.modules and module not in args.modules:
            continue
        true, log = check(item, args)
        print(f"{module}: {holds if true else 'not ' + holds}", flush=True)
        if true == args.break_:
            wrong += 1
            print(log[-2000:])
    return 1 if wrong else 0


def main():
    return check_all(__doc__, [(proof.module, proof) for proof in PROOFS], prove, "proved")


if __name__ == "__main__":
    sys.exit(main())
