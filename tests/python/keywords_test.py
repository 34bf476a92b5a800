#!/usr/bin/env python3
"""Keywords of the Python package in place of the command's flags, and modules of PyTorch.

usage: keywords_test.py FOLDER_OF_THE_PACKAGE [unittest arguments]
"""
import importlib
import inspect
import re
import subprocess
import sys
import unittest

sys.path.insert(0, sys.argv[1])

import models
import sluice
from base import Python
from sluice import tool
from sluice.keywords import flag_of, in_python, keywords_of


class Keywords(Python):
    def test_every_flag_of_the_command_is_a_keyword(self):
        ours = {"help", "output", "emit", "json", "color", "progress", "verbose", "version", "format", "explain-layout", "rest"}
        for command, function in (("compile", sluice.compile), ("check", sluice.check), ("compare", sluice.compare),
                                  ("reduce", sluice.reduce), ("diff", sluice.diff)):
            text = subprocess.run([tool.executable(), command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
            flags = set(re.findall(r"^  (?:-\w,)?--([a-z-]+)", text, re.MULTILINE)) - ours
            flags -= {"stream", "stream-delay", "io-only"} if command == "compare" else set() # it rejects them
            keywords = set(inspect.signature(function).parameters) - {"a", "b", "example_inputs", "engine", "hold"}
            keywords -= {"model"} if command != "diff" else set()
            self.assertEqual({flag_of(keyword)[2:] for keyword in keywords}, flags)
        self.assertEqual(inspect.signature(sluice.plan).parameters, inspect.signature(sluice.check).parameters)

    def test_wrong_keywords(self):
        for call, message in (
                (lambda: sluice.compile(self.model, tarket="c2b8"), "compile() has no keyword 'tarket', did you mean 'target'?"),
                (lambda: sluice.check(self.model, input_shapes=1), "check() has no keyword 'input_shapes', did you mean "
                                                                   "'input_shape'?"),
                (lambda: sluice.plan(self.model, zz=1),
                 "plan() has no keyword 'zz', allowed: model, example_inputs, target, inputs, outputs, input_shape, bind, state, stream, "
                 "stream_delay, data_dim, core_partition, allow_dynamic_weights, rewrite_layout, fix, fixed_random, "
                 "io_only, without_rewrite, external_data, name, effort, fit_seconds")):
            with self.assertRaises(TypeError) as caught:
                call()
            self.assertIsInstance(caught.exception, sluice.ArgumentError)
            self.assertEqual(str(caught.exception), f"E0601: {message}")

    def test_messages_name_keywords(self):
        shapeless = models.dense()[0]
        shapeless.graph.input[0].type.tensor_type.ClearField("shape")
        for call, message in (
                (lambda: sluice.compile(self.model, effort="heroic"),
                 "error: effort: heroic not in {fast,default,high}; see help(sluice.compile)"),
                (lambda: sluice.compile(self.model, stream="x=1"), "E0601: stream is 'x=1', allowed: a dict by name"),
                (lambda: sluice.compile(self.model, core_partition={"fc": 9}),
                 "error[E0601]: core_partition={'fc': 9}: core 9, allowed: 0 to 5\n  --> <model>"),
                (lambda: sluice.compile(self.model, data_dim={"r": 1}),
                 "error[E0311]: the model has no tensor 'r' (data_dim={'r': 1})\n  --> <model>"),
                (lambda: sluice.compile(shapeless),
                 "error[E0111]: input 'x' has no shape in the model\n  --> <model>\n help: give its shape (input_shape={'x': ...})")):
            with self.assertRaises(sluice.Error) as caught:
                call()
            self.assertEqual(str(caught.exception), message)

    def test_requirements(self):
        program = sluice.compile(self.model, target="c2b8", require=["cycles<=1000", "error<=2%, blocks<=50%"])
        self.assertEqual(bytes(program), bytes(self.program))
        cycles = self.program.latency.spaced
        with self.assertRaises(sluice.CompileError) as caught:
            sluice.compile(self.model, target="c2b8", require="cycles<=1")
        self.assertEqual(str(caught.exception), f"error[E0620]: 'cycles' is {cycles}, required: cycles<=1\n  --> <model>")
        with self.assertRaisesRegex(sluice.ArgumentError, r"require 'cycles<1' is not of the form QUANTITY<=NUMBER or"):
            sluice.compile(self.model, require="cycles<1")

    def test_fixes_as_keywords(self):
        model = models.sensors()[0]
        checked = sluice.check(model, target="c2b8")
        fixes = checked.problems[0].fixes
        self.assertEqual([fix.keywords for fix in fixes], [{"allow_dynamic_weights": True}, {"rewrite_layout": True}])
        self.assertEqual(fixes[0].text, "compile with allow_dynamic_weights=True")
        self.assertEqual([one["keywords"] for one in checked.fixes], [fix.keywords for fix in fixes])
        for fix in fixes:
            self.assertEqual(sluice.compile(model, target="c2b8", **fix.keywords).latency.spaced, fix.cycles)
        lines = str(checked).splitlines()
        self.assertEqual(lines[1], '  --> <model>: node 1 "head" (MatMul)')
        self.assertEqual(lines[-4], " help: compile with allow_dynamic_weights=True (verified, 54 cycles)")
        self.assertEqual(lines[-2], "note: '!' marks the data dimension, the axis that lies along the hardware lanes; see "
                                    "sluice.explain('E0302')")
        self.assertEqual(lines[-1], "compiles with fix=True: 1 fix, 54 cycles")
        self.assertEqual(str(sluice.check(self.model, target="c2b8")), "<model>: 3 operators, all supported; fits c2b8")

    def test_flags_to_keywords_and_back(self):
        flags = ("--inputs a b --inputs c --outputs y --input-shape a b=1,16 --input-shape n=2 --bind sr=16000 --bind w=0.5,1 --bind t=true --state h:0=n=h "
                 "--stream x=1:4 --stream z=0 --data-dim a=b=1 --core-partition 3=0,1 --stream-delay 2 --rewrite-layout "
                 "--apply-fixes --effort high")
        keywords = {"inputs": ["a b", "c"], "outputs": ["y"], "input_shape": {"a b": (1, 16), "n": 2}, "bind": {"sr": 16000, "w": (0.5, 1), "t": True},
                    "state": {"h:0": "n=h"}, "stream": {"x": (1, 4), "z": 0}, "data_dim": {"a=b": 1},
                    "core_partition": {"3": (0, 1)}, "stream_delay": 2, "rewrite_layout": True, "fix": True, "effort": "high"}
        self.assertEqual(keywords_of(flags), keywords)
        with tool.Workspace() as workspace:
            words = workspace.flags({**keywords, "bind": {"sr": 16000, "t": True}})
        self.assertEqual(" ".join(words), flags.replace(" --bind w=0.5,1", ""))
        self.assertEqual(keywords_of("--inputs a,b --outputs y"), {"inputs": ["a", "b"], "outputs": ["y"]})
        for text, expected in (
                ("--inputs and --outputs both list 'x'", "inputs and outputs both list 'x'"),
                ("keep the input on the chip (--state IN=OUT), or make it a constant (--bind NAME=0)",
                 "keep the input on the chip (state={'IN': 'OUT'}), or make it a constant (bind={'NAME': 0})"),
                ("remove --core-partition, so that all cores can compute the rows",
                 "remove core_partition, so that all cores can compute the rows"),
                ("allow it (--stream-delay 3, verified), or --stream x=1:4: more",
                 "allow it (stream_delay=3, verified), or stream={'x': (1, 4)}: more"),
                ("unless --allow-dynamic-weights is given; 'sluice ops' lists --data-dims",
                 "unless allow_dynamic_weights=True is given; sluice.ops() lists --data-dims"),
                ("the program has no instructions to save its state; see sluice explain E0617",
                 "the program has no instructions to save its state; see sluice.explain('E0617')")):
            self.assertEqual(in_python(text), expected)
        self.assertEqual(in_python("set it (--data-dim a b=1), not --data-dim a b=12", ["--data-dim a b=1"]),
                         "set it (data_dim={'a b': 1}), not data_dim a b=12")


class Torch(Python):
    """Modules of PyTorch; the interpreters of virtual environments have none."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            cls.torch = importlib.import_module("torch")
        except ImportError:
            raise unittest.SkipTest("no PyTorch") from None

    def test_a_module(self):
        torch = self.torch
        module = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Dropout())
        module[0].eval()
        program = sluice.compile(module, torch.zeros(1, 8), target="c2b8")
        self.assertEqual(repr(program), "<sluice.Program 'Sequential' for c2b8: input[1, 8] -> output[1, 4]>")
        self.assertEqual([one.training for one in module.modules()], [True, False, True])
        x = self.inputs(1)[0]
        self.near(program(x)["output"], module.eval()(torch.from_numpy(x)).detach().numpy())
        self.assertTrue(sluice.check(module, torch.zeros(1, 8), target="c2b8"))
        self.assertEqual(sluice.plan(module, torch.zeros(1, 8), target="c2b8").text, program.plan().text)

    def test_names_of_several_inputs_and_outputs(self):
        torch = self.torch

        class Cell(torch.nn.Module):
            def forward(self, x, state):
                return x + state[0], {"h": state[0] + state[1]}

        example = torch.zeros(1, 8)
        program = sluice.compile(Cell(), (example, (example, example)), target="c2b8")
        self.assertEqual([port.name for port in program.inputs], ["x", "state_0", "state_1"])
        self.assertEqual([port.name for port in program.outputs], ["output_0", "h"])

    def test_wrong_modules(self):
        torch = self.torch
        module = torch.nn.Linear(8, 4)
        for kind, call, message in (
                (sluice.KeywordError, lambda: sluice.compile(module), "E0601: a torch.nn.Module needs example_inputs: a tensor, or "
                                                                      "a tuple of one for each parameter of forward"),
                (sluice.ArgumentError, lambda: sluice.compile(self.model, torch.zeros(1, 8)),
                 "E0601: example_inputs are for a torch.nn.Module, the model is of type ModelProto"),
                (sluice.CompileError, lambda: sluice.compile(module, torch.zeros(1, 7)),
                 f"E0101: torch {torch.__version__} cannot export the module: RuntimeError: mat1 and mat2 shapes cannot be "
                 "multiplied (1x7 and 8x4)")):
            with self.assertRaises(kind) as caught:
                call()
            self.assertEqual(str(caught.exception), message)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
