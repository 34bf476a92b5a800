#!/usr/bin/env python3
"""Ctrl-C during sluice compile: the search ends and the best plan is written, or nothing is.

usage: interrupt_test.py SLUICE FAULTY_SLUICE [unittest arguments]

FAULTY_SLUICE is the driver with faults in the compiler (faulty_sluice.cpp).
"""
import json
import os
import re
import signal
import subprocess
import sys

import onnx
from onnx import helper

import bad_models as models
from folder import SLUICE, main
from refusal import Refusal

FAULTY = os.path.abspath(sys.argv.pop(2))
NOTE = "note: interrupted: this is the best plan so far; a search to its end may find a faster one\n"


def network(layers, width):
    nodes, constants = [], []
    for i in range(layers):
        nodes += [helper.make_node("Gemm", [f"a{i}" if i else "x", f"W{i}"], [f"h{i}"], name=f"fc{i}"),
                  helper.make_node("Tanh", [f"h{i}"], [f"a{i + 1}" if i + 1 < layers else "y"], name=f"act{i}")]
        constants.append(models.constant(f"W{i}", models.values(width, width) / width ** 0.5))
    return models.model(nodes, [models.tensor("x", 8, width)], [models.tensor("y", 8, width)], constants)


class Interrupt(Refusal):
    def start(self, tool, model, *flags, fault=""):
        onnx.save(model, self.dir / "m.onnx")
        return subprocess.Popen([tool, "compile", "m.onnx", "--target", "c2b8", "--progress", "always", *flags], cwd=self.dir,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "SLUICE_FAULT": fault})

    def wait_for(self, running, pattern):
        """Reads progress up to a line with the pattern."""
        for line in running.stderr:
            self.assertTrue(line.startswith("progress: "), line)
            if re.search(pattern, line):
                return line
        self.fail(f"no line with {pattern}")

    def test_the_best_plan_is_written(self):
        with self.start(FAULTY, network(3, 32), "-o", "m.sluice", "--json=m.json", fault="search Gemm") as running:
            self.wait_for(running, r": planning, \d+ % of its budget, \d+ plans, best \d+ cycles, \d+ s$")
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=3600)
        said = "".join(line for line in err.splitlines(True) if not line.startswith("progress: "))
        self.assertEqual((running.returncode, said), (0, NOTE), err)
        self.assertRegex(out, r"(?s)latency, spaced .*\nchecked  .*\nwritten  +m\.sluice, ")
        found = json.loads((self.dir / "m.json").read_text())
        self.assertTrue(found["interrupted"])
        self.assertEqual(json.loads(self.ok("bench", "m.sluice", "--engine", "vm", "--json"))["spaced"], found["latency"]["spaced"])
        # It is not worse than the plan without a search.
        fast = json.loads(self.ok("compile", "m.onnx", "--target", "c2b8", "--effort", "fast", "-o", "fast.sluice", "--json"))
        self.assertLessEqual(found["latency"]["spaced"], fast["latency"]["spaced"])
        self.assertFalse(fast["interrupted"])

    def test_a_second_one_ends_the_command(self):
        (self.dir / "m.sluice").write_bytes(self.old_output)
        with self.start(FAULTY, network(3, 32), "-o", "m.sluice", fault="endless Gemm") as running:
            self.wait_for(running, ": planning, .*, best ")
            running.send_signal(signal.SIGINT)
            self.wait_for(running, ": waiting, ") # the search has ended
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=3600)
        self.assertEqual((running.returncode, out), (-signal.SIGINT, ""))
        self.assertNotIn("note", err)
        self.assertEqual((self.dir / "m.sluice").read_bytes(), self.old_output)
        self.assertEqual({path.name for path in self.dir.iterdir()}, {"m.onnx", "m.sluice"})

    def test_one_after_the_search_ends_the_command(self):
        with self.start(FAULTY, network(1, 8), fault="wait Gemm") as running:
            self.wait_for(running, ": waiting, ")
            running.send_signal(signal.SIGINT)
            out, _ = running.communicate(timeout=3600)
        self.assertEqual((running.returncode, out), (-signal.SIGINT, ""))
        self.assertEqual({path.name for path in self.dir.iterdir()}, {"m.onnx"})

    def test_a_program_that_ignores_it(self):
        """Behind nohup or in the background of a shell, SIGINT stays ignored."""
        onnx.save(network(1, 8), self.dir / "m.onnx")
        done = subprocess.run(["sh", "-c", "trap '' INT; \"$0\" compile m.onnx --target c2b8 & kill -INT $!; wait $!", SLUICE],
                              cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("written             m.sluice, ", done.stdout)


if __name__ == "__main__":
    main()
