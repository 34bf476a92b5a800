"""Models of many nodes that show a failure, and the base of the tests of sluice reduce.

The second argument of the script is the driver with faults in the compiler (faulty_sluice.cpp).
"""
import json
import os
import shlex
import signal
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from refusal import Refusal

FAULTY = os.path.abspath(sys.argv.pop(2))
NODES = 60
WIDTH = 8


class Chain:
    """A model of many nodes of one shape, in which a test puts others."""
    def __init__(self, seed=1):
        self.nodes, self.constants, self.value, self.number = [], [], "x", 0
        self.inputs = [models.tensor("x", 4, WIDTH)]
        self.rng = np.random.default_rng(seed)

    def name(self, text="t"):
        self.number += 1
        return f"{text}{self.number}"

    def constant(self, array):
        self.constants.append(models.constant(self.name("c"), np.asarray(array, np.float32)))
        return self.constants[-1].name

    def add(self, op, *more, inputs=None, **attributes):
        """A node that reads the last value."""
        output = self.name()
        self.nodes.append(helper.make_node(op, inputs or [self.value, *more], [output], name=f"{op}_{output}", **attributes))
        self.value = output
        return output

    def filler(self, count):
        """Nodes that keep the shape, some with a second path."""
        before = self.value
        for i in range(count):
            kind = i % 6
            if kind == 0:
                self.add("Relu")
            elif kind == 1:
                self.add("Add", self.constant(self.rng.standard_normal(WIDTH)))
            elif kind == 2:
                self.add("Mul", self.constant(self.rng.uniform(0.5, 1, WIDTH)))
            elif kind == 3:
                self.add("MatMul", self.constant(self.rng.standard_normal((WIDTH, WIDTH)) / 4))
            elif kind == 4:
                self.add("Add", before)
            else:
                before = self.add("Sigmoid")

    def model(self, *more):
        """The last value and others are outputs."""
        return models.model(self.nodes, self.inputs, [models.tensor(name, 4, WIDTH) for name in (self.value, *more)],
                            self.constants)


def around(change, before=NODES // 2, after=NODES // 2):
    """What `change` adds between many nodes. The nodes behind would hide a wrong value if it were no output."""
    chain = Chain()
    chain.filler(before)
    change(chain)
    changed = chain.value
    chain.filler(after)
    return chain.model(changed)


class Reduce(Refusal):
    def run_tool(self, tool, *args, env=(), timeout=3600):
        done = subprocess.run([tool, *map(str, args)], cwd=self.dir, capture_output=True, timeout=timeout, check=False,
                              env={**os.environ, **dict(env)})
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def reduced(self, model, *flags, fault="", most=5, env=(), kind=None, code=None, op=None):
        """Reduces the model and checks what is written; returns the JSON and the small model."""
        onnx.save(model, self.dir / "m.onnx")
        self.assertGreaterEqual(len(model.graph.node), 50)
        env = {"SLUICE_FAULT": fault, **dict(env)}
        status, out, err = self.run_tool(FAULTY, "reduce", "m.onnx", "--target", "c2b8", *flags, "--json", env=env)
        self.assertEqual((status, err), (0, ""))
        found = json.loads(out)
        small = onnx.load(self.dir / "reduced.onnx")
        onnx.checker.check_model(small)
        self.assertEqual(found["nodes"], {"before": len(model.graph.node), "after": len(small.graph.node)})
        self.assertLessEqual(found["nodes"]["after"], most, [n.op_type for n in small.graph.node])
        self.assertEqual((found["failure"]["kind"], found["failure"]["code"], found["failure"]["op"]), (kind, code, op))
        self.shows(found, env)
        return found, small

    def shows(self, found, env):
        """The command that the result names shows the failure."""
        tool, *words = shlex.split(found["command"])
        self.assertEqual(tool, "sluice")
        if found["failure"]["kind"] == "timeout":
            with self.assertRaises(subprocess.TimeoutExpired):
                self.run_tool(FAULTY, *words, env=env, timeout=2)
            return
        env = {**env, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0"} # a crash ends as without sanitizers
        status, out, err = self.run_tool(FAULTY, *words, *(["-o", "small.sluice"] if words[0] == "compile" else []), env=env)
        if found["failure"]["kind"] == "crash":
            self.assertEqual(-status, signal.Signals[found["failure"]["signal"]], err)
            return
        self.assertIn(f"error[{found['failure']['code']}]: ", err + out)
        if found["failure"]["op"]:
            self.assertRegex(err, rf"node \d+ .*\({found['failure']['op']}\)")
