#!/usr/bin/env python3
"""Layout errors that --apply-fixes repairs, with the flags that cost the fewest cycles.

usage: apply_fixes_test.py SLUICE [unittest arguments]
"""
import json
import re
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import SLUICE, main
from refusal import REFUSED, USAGE, Refusal

REWRITE, DYNAMIC = "--rewrite-layout", "--allow-dynamic-weights"
BOTH = f"{DYNAMIC} {REWRITE}"


def model(nodes, x, y, **constants):
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph([helper.make_node(op, inputs.split(), [output], name=output, **attributes)
                               for op, inputs, output, attributes in nodes], "fixes",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def values(*shape):
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def gram(rows, columns):
    """A product of two activations: it compiles with dynamic weights alone."""
    return model([("MatMul", "x w", "h", {}), ("Transpose", "h", "t", {"perm": [1, 0]}), ("MatMul", "h t", "y", {})],
                 [rows, columns], [rows, rows], w=values(columns, 8))


def mixer():
    """A product over positions, then over features: both flags are possible."""
    return model([("MatMul", "x w", "h", {}), ("Softmax", "h", "s", {"axis": 0}), ("Transpose", "s", "t", {"perm": [1, 0]}),
                  ("MatMul", "t v", "y", {})], [6, 8], [8, 4], w=values(8, 8), v=values(6, 4))


def mixed():
    """A product of two activations, and a TopK that dynamic weights make slow."""
    proto = gram(4, 8)
    top = model([("MatMul", "x v", "g", {}), ("TopK", "g k", "top", {"axis": 1})], [1, 8], [1, 3],
                v=values(8, 12), k=np.int64([3])).graph
    top.node[1].output.append("places")
    top.input[0].name = top.node[0].input[0] = "z"
    top.output[0].name = "top"
    for field in ("node", "input", "output", "initializer"):
        getattr(proto.graph, field).extend(getattr(top, field))
    return proto


def slow():
    """A TopK whose program takes long to plan with dynamic weights."""
    proto = model([("MatMul", "x w", "h", {}), ("TopK", "h k", "y", {"axis": 1})], [1, 16], [1, 8], w=values(16, 44), k=np.int64([8]))
    proto.graph.node[1].output.append("places")
    return proto


class ApplyFixes(Refusal):
    def compiled(self, proto, *flags):
        onnx.save(proto, self.dir / "m.onnx")
        code, _, err = self.sluice("--json=c.json", "compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice", *flags)
        self.assertEqual((code, err), (0, ""))
        return json.loads((self.dir / "c.json").read_text())

    def cycles(self, proto, *flags):
        onnx.save(proto, self.dir / "m.onnx")
        code, _, _ = self.sluice("--json=c.json", "compile", "m.onnx", "--target", "c2b8", "-o", "q.sluice", *flags)
        return json.loads((self.dir / "c.json").read_text())["latency"]["spaced"] if code == 0 else None

    def test_the_fastest_flags_are_applied(self):
        """The prices are those of the programs that the flags give."""
        for proto in gram(4, 8), mixer():
            found = self.compiled(proto, "--apply-fixes")
            prices = {flags: self.cycles(proto, *flags.split()) for flags in (REWRITE, DYNAMIC, BOTH)}
            possible = {flags: cycles for flags, cycles in prices.items() if cycles is not None}
            fixes = {fix["flags"]: fix for fix in found["fixes"]}
            self.assertLessEqual({*fixes} | {BOTH}, {*possible})
            self.assertEqual({*possible} - {BOTH}, {*fixes} - {BOTH})
            self.assertEqual(found["latency"]["spaced"], min(possible.values()))
            self.assertEqual([fix["applied"] for fix in found["fixes"]], [True, *[False] * (len(fixes) - 1)])
            for flags, fix in fixes.items():
                self.assertEqual(fix["extra_cycles"], fix["cycles"] - min(possible.values()))
                self.assertGreater(len(fix["changes"]), 0)
                if flags == BOTH:
                    self.assertLessEqual(possible[flags], fix["cycles"])
                else:
                    self.assertEqual(fix["cycles"], possible[flags])

    def test_both_flags_are_no_slower_than_one(self):
        for proto in gram(4, 8), mixer():
            one = [self.cycles(proto, flag) for flag in (REWRITE, DYNAMIC)]
            self.assertLessEqual(self.cycles(proto, REWRITE, DYNAMIC), min(c for c in one if c is not None))

    def test_each_flag_where_it_pays(self):
        """Dynamic weights repair both errors, but the second one costs less with a relayout."""
        self.assertIsNone(self.cycles(mixed(), REWRITE))
        dynamic = self.cycles(mixed(), DYNAMIC)
        found = self.compiled(mixed(), "--apply-fixes")
        self.assertEqual([(fix["flags"], fix["cycles"]) for fix in found["fixes"][1:]], [(DYNAMIC, dynamic)])
        applied = found["fixes"][0]
        self.assertEqual((applied["flags"], applied["cycles"]), (BOTH, self.cycles(mixed(), DYNAMIC, REWRITE)))
        self.assertLess(applied["cycles"], dynamic)
        self.assertEqual([(change["node"], change["text"].split()[0]) for change in applied["changes"]],
                         [(2, "activations"), (4, "relayout")])

    def test_the_mixed_program_is_right(self):
        self.compiled(mixed(), "--apply-fixes")
        x, z = values(4, 8), values(1, 8)
        np.save(self.dir / "x.npy", x)
        np.save(self.dir / "z.npy", z)
        np.save(self.dir / "y.npy", x @ values(8, 8) @ (x @ values(8, 8)).T)
        np.save(self.dir / "top.npy", -np.sort(-(z @ values(8, 12)), axis=1)[:, :3])
        self.right("p.sluice", more=("--input", "z=@z.npy", "--expect", "top=@top.npy"))

    def test_the_program_is_right(self):
        self.compiled(mixer(), "--apply-fixes")
        x = values(6, 8)
        np.save(self.dir / "x.npy", x)
        h = x @ values(8, 8)
        s = np.exp(h - h.max(0)) / np.exp(h - h.max(0)).sum(0)
        np.save(self.dir / "y.npy", s.T @ values(6, 4))
        self.right("p.sluice")

    def test_summary(self):
        onnx.save(mixed(), self.dir / "m.onnx")
        out = self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice", "--apply-fixes")
        lines = [line for line in out.splitlines() if line.startswith(("fix ", "rewritten "))]
        found = self.compiled(mixed(), "--apply-fixes")["fixes"]
        price = [f"{fix['cycles']} cycles" for fix in found]
        self.assertEqual(lines, [f"fix applied         {BOTH} ({price[0]})",
                                 f"fix not applied     {DYNAMIC} ({price[1]}, {found[1]['extra_cycles']} more)",
                                 "rewritten           relayout of operand 0 'top' from [1 1 12!] to [1 1! 12] at node 4 \"top\" (TopK)",
                                 "rewritten           activations as weights at node 2 \"y\" (MatMul)"])

    def test_check_says_what_would_be_done(self):
        onnx.save(mixed(), self.dir / "m.onnx")
        for flags in (), (DYNAMIC,):
            code, out, _ = self.sluice("check", "m.onnx", "--target", "c2b8", *flags)
            if flags:
                self.assertEqual((code, out.decode().splitlines()[-1]), (0, "m.onnx: 5 operators, all supported; fits c2b8"))
                continue
            cycles = self.cycles(mixed(), "--apply-fixes")
            self.assertEqual((code, out.decode()), (REFUSED, f"compiles with --apply-fixes: 2 fixes, {cycles} cycles\n"))
            code, out, _ = self.sluice("check", "m.onnx", "--target", "c2b8", "--format", "json")
            found = self.compiled(mixed(), "--apply-fixes")["fixes"]
            self.assertEqual(json.loads(out)["fixes"], [{**fix, "applied": False} for fix in found])

    def test_prices_that_take_long_to_find(self):
        """Planning is not cut short for a program that is written, but for a price."""
        onnx.save(slow(), self.dir / "m.onnx")
        code, out, err = self.sluice("check", "m.onnx", "--target", "c6b32")
        price = int(re.search(r"1 fix, (\d+) cycles", out.decode())[1])
        self.assertEqual((code, out.decode()), (REFUSED, f"compiles with --apply-fixes: 1 fix, {price} cycles\n"))
        self.assertEqual(re.findall(r" help: .*", err), [
            " help: compile with --rewrite-layout: relayout of operand 0 'y' from [1 1 44!] to [1 1! 44] at node 1 "
            f"(verified, {price} cycles)",
            " help: compile with --allow-dynamic-weights (verified, price not measured)"])
        code, out, _ = self.sluice("check", "m.onnx", "--target", "c6b32", "--format", "json")
        self.assertEqual([(fix["cycles"], fix["extra_cycles"]) for fix in json.loads(out)["fixes"]], [(price, 0), (None, None)])

    def test_models_from_standard_input(self):
        """They are compiled several times, but read once."""
        for command in ("check",), ("compile", "-o", "p.sluice"):
            done = subprocess.run([SLUICE, command[0], "-", "--target", "c2b8", "--apply-fixes", *command[1:]], cwd=self.dir,
                                  input=mixer().SerializeToString(), capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_nothing_to_fix(self):
        proto = model([("Relu", "x", "y", {})], [1, 8], [1, 8])
        self.assertEqual(self.compiled(proto, "--apply-fixes")["fixes"], [])

    def test_errors_without_a_fix_stay_as_they_are(self):
        proto = model([("Softmax", "x", "y", {"axis": 1})], [1, 8], [1, 8])
        onnx.save(proto, self.dir / "m.onnx")
        arguments = ("compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice", "--data-dim", "x=7")
        code, _, err = self.sluice(*arguments)
        self.assertEqual(code, USAGE)
        self.refused(USAGE, err, *arguments, "--apply-fixes")


if __name__ == "__main__":
    main()
