#!/usr/bin/env python3
"""Layout errors that --apply-fixes repairs, with the flags that cost the fewest cycles.

usage: apply_fixes_test.py SLUICE [unittest arguments]
"""
import json
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import SLUICE, main
from refusal import USAGE, Refusal

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
            self.assertEqual(fixes.keys(), possible.keys())
            self.assertEqual(found["latency"]["spaced"], min(possible.values()))
            self.assertEqual([fix["applied"] for fix in found["fixes"]], [True, *[False] * (len(fixes) - 1)])
            for flags, cycles in possible.items():
                self.assertLessEqual(cycles, fixes[flags]["cycles"])
                if flags != BOTH:
                    self.assertEqual(fixes[flags]["cycles"], cycles)
                self.assertEqual(fixes[flags]["extra_cycles"], fixes[flags]["cycles"] - min(possible.values()))

    def test_both_flags_are_no_slower_than_one(self):
        for proto in gram(4, 8), mixer():
            one = [self.cycles(proto, flag) for flag in (REWRITE, DYNAMIC)]
            self.assertLessEqual(self.cycles(proto, REWRITE, DYNAMIC), min(c for c in one if c is not None))

    def test_the_program_is_right(self):
        self.compiled(mixer(), "--apply-fixes")
        x = values(6, 8)
        np.save(self.dir / "x.npy", x)
        h = x @ values(8, 8)
        s = np.exp(h - h.max(0)) / np.exp(h - h.max(0)).sum(0)
        np.save(self.dir / "y.npy", s.T @ values(6, 4))
        self.right("p.sluice")

    def test_summary(self):
        onnx.save(gram(4, 8), self.dir / "m.onnx")
        out = self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice", "--apply-fixes")
        lines = [line for line in out.splitlines() if line.startswith("fix ")]
        found = self.compiled(gram(4, 8), "--apply-fixes")["fixes"]
        self.assertEqual(lines, [f"{'fix applied' if i == 0 else 'fix not applied':<20}{fix['flags']} ({fix['cycles']} cycles)"
                                 for i, fix in enumerate(found)])

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
