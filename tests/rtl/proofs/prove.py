#!/usr/bin/env python3
"""Proves the assertions of small control modules by induction with yosys.

usage: prove.py --isa-package isa_pkg.sv --rtl hw/rtl [--break]

For every module: the assertions hold in the first cycles after reset and, if they
held for `steps` cycles, in the next. --break proves that the proofs can fail: it
removes a guard from each module and expects a counterexample.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

# Module, parameters, induction steps, environment, and the edit that must break it.
# The environment is what the parents guarantee: a queue is not pushed while full.
PROOFS = [
    ("fifo_pointers", {"Depth": 4}, 4,
     "wire legal = !(push_i && full_o) && !(pop_i && !valid_o);",
     ("assign full_o  = wr_q == {~rd_q[PtrBits], rd_q[PtrBits-1:0]};", "assign full_o  = 1'b0;")),
    ("credit_counter", {"Depth": 5}, 3,
     "wire legal = !(take_i && !free_o) && !(give_i && idle_o);",
     ("count_q < Bits'(Depth)", "count_q <= Bits'(Depth)")),
    ("arbiter", {"Requesters": 7}, 2, "wire legal = 1'b1;", ("pick[i] && !seen", "pick[i]")),
    ("token_bank", {"Gives": 3}, 2, "wire legal = !(take_i && !enough_o);",
     ("count_q[i*9+:8] >= need_i", "count_q[i*9+:8] >= 8'd0")),
]

# What must hold beyond the assertions in the modules themselves.
PROPERTIES = {
    "fifo_pointers": """
  wire [PtrBits:0] used = wr_q - rd_q;
  always @* if (!rst_i) assert (used <= Depth);
""",
    "credit_counter": """
  always @* if (!rst_i) assert (count_q <= Depth);
""",
    "arbiter": """
  // after_q is a run of ones up to the top.
  wire [Requesters-1:0] low = ~after_q;
  always @* if (!rst_i) assert ((low & (low + 1'b1)) == '0);
  // Nobody is granted again while one after it asks.
  always @* if (!rst_i) assert ((grant_o & ~after_q) == '0 || later == '0);
""",
    "token_bank": """
  // A wait that is served takes what is there: a counter never falls below zero.
  always @* if (!rst_i && take_i) assert (count_q[token_i*9+:8] >= need_i);
""",
}


def prove(name, parameters, steps, environment, edit, args):
    text = (pathlib.Path(args.rtl) / f"{name}.sv").read_text(encoding="utf-8")
    if args.break_:
        if text.count(edit[0]) != 1:
            sys.exit(f"{name}: the text to break is not there once: {edit[0]}")
        text = text.replace(*edit)
    body, end, rest = text.rpartition("endmodule")
    text = body + "  " + environment + "\n  always @* assume (legal);\n" + PROPERTIES[name] + end + rest
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / f"{name}.sv"
        source.write_text(text, encoding="utf-8")
        chparam = " ".join(f"-set {key} {value}" for key, value in parameters.items())
        script = (f"read_verilog -sv -formal -I{args.rtl} {args.isa_package} {source}; "
                  f"chparam {chparam} {name}; hierarchy -check -top {name}; proc; flatten; memory -nordff; "
                  f"opt -full; "
                  f"sat -tempinduct -prove-asserts -set-assumes -set-at 1 rst_i 1 "
                  f"-maxsteps {4 * steps} -verify")
        run = subprocess.run(["yosys", "-q", "-p", script], capture_output=True, text=True, check=False)
    return run.returncode == 0, run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--isa-package", required=True)
    parser.add_argument("--rtl", required=True)
    parser.add_argument("--break", dest="break_", action="store_true")
    args = parser.parse_args()
    wrong = 0
    for proof in PROOFS:
        proved, log = prove(*proof, args)
        print(f"{proof[0]}: {'proved' if proved else 'not proved'}")
        if proved == args.break_:
            wrong += 1
            print(log[-2000:])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
