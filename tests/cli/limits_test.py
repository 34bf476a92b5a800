#!/usr/bin/env python3
"""What does not fit: a model into each memory of a target, the compiler into the
host's memory, a program onto the disk.

usage: limits_test.py SLUICE TARGETS_FOLDER [unittest arguments]
"""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import textwrap
import unittest

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import SLUICE, main
from refusal import INTERNAL, LONG, REFUSED, TOO_BIG, USAGE, Refusal

TARGETS = pathlib.Path(sys.argv.pop(2))


def layers(*sizes, activations=("Relu",)):
    """Dense layers fc0, fc1, ... with biases, each with an activation behind it."""
    nodes, constants, value = [], [], "x"
    for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        constants += [models.constant(f"W{i}", models.values(inputs, outputs)),
                      models.constant(f"b{i}", models.values(outputs))]
        nodes += [helper.make_node("Gemm", [value, f"W{i}", f"b{i}"], [f"h{i}"], name=f"fc{i}"),
                  helper.make_node(activations[i % len(activations)], [f"h{i}"], [f"a{i}"], name=f"act{i}")]
        value = f"a{i}"
    nodes[-1].output[0] = "y"
    return models.model(nodes, [models.tensor("x", 1, sizes[0])], [models.tensor("y", 1, sizes[-1])], constants)


class Memories(Refusal):
    """One memory of c2b8 is made smaller than the model needs."""

    def too_small(self, memory, size, text, model):
        target = json.loads((TARGETS / "c2b8.json").read_text())
        target.update({"name": "small", memory: size})
        (self.dir / "small.json").write_text(json.dumps(target))
        self.compile_refused(TOO_BIG, text, model, target="small.json", flags=LONG)

    def test_weight_blocks(self):
        self.too_small("weight_blocks", 7, """
            error[E0401]: the model does not fit small: core 0 needs 8 weight blocks, 1 more than its 7
              --> m.onnx
             note: core 1 needs 8 weight blocks, 1 more than its 7
             note: node 0 'fc0' (Gemm) uses 8 weight blocks on core 0
             help: compiles for target 'c2b8' in 34 cycles (--target c2b8, verified)
             help: compiles with "weight_blocks": 8 instead of 7 in a target file in 34 cycles (verified)
             help: use a target with more weight blocks or more cores
            """, layers(32, 32))

    def test_weight_blocks_of_all_cores(self):
        """Counted before anything is planned."""
        self.too_small("weight_blocks", 4, """
            error[E0401]: the model does not fit small: its weights need at least 11 weight blocks, 3 more than the 8 of all cores
              --> m.onnx
             note: node 0 'fc0' (Gemm) needs at least 11 weight blocks
             help: compiles for target 'c2b8' in 34 cycles (--target c2b8, verified)
             help: compiles with "weight_blocks": 8 instead of 4 in a target file in 34 cycles (verified)
             help: use a target with more weight blocks or more cores
            """, layers(32, 32))

    def test_weight_blocks_of_a_form_that_is_not_planned(self):
        """One step at a time lacks no less: the message is that of the first form, which is not planned."""
        numbers = np.random.default_rng(1)
        weights = [models.constant(name, numbers.standard_normal(shape).astype(np.float32))
                   for name, shape in (("W0", (640, 128, 3)), ("W1", (64, 640, 1)))]
        nodes = [helper.make_node("Conv", ["x", "W0"], ["h"], name="conv0", pads=[1, 1]), helper.make_node("Relu", ["h"], ["a"]),
                 helper.make_node("Conv", ["a", "W1"], ["y"], name="conv1")]
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit c2b8: its weights need at least 4480 weight blocks, 384 more than the 4096 of all cores
              --> m.onnx
             note: node 0 'conv0' (Conv) needs at least 3840 weight blocks
             note: node 2 'conv1' (Conv) needs at least 640 weight blocks
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: try "weight_blocks": 4096 or more instead of 2048 in a target file
             help: use a target with more weight blocks or more cores
            """, models.model(nodes, [models.tensor("x", 1, 128, 4)], [models.tensor("y", 1, 64, 4)], weights),
                             flags=["--fit-seconds", "0"])

    def test_weight_blocks_of_loops(self):
        """All weights are alike in sign and size, so nothing is known of them before the loop is lowered."""
        weights = np.random.default_rng(0).uniform(0.55, 0.95, (64, 64, 16)).astype(np.float32)
        conv = helper.make_node("Conv", ["x", "w"], ["y"], name="conv")
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit ecp5-85f: its weights need at least 4096 weight blocks, 2048 more than the 2048 of all cores
              --> m.onnx
             note: node 0 'conv' (Conv) needs at least 4096 weight blocks
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: try "weight_blocks": 4096 or more instead of 2048 in a target file
             help: use a target with more weight blocks or more cores
            """, models.model([conv], [models.tensor("x", 1, 64, 256)], [models.tensor("y", 1, 64, 241)],
                              [models.constant("w", weights)]),
                             flags=["--data-dim", "x=1", "--fit-seconds", "0"], target="ecp5-85f")

    def test_rows_of_constants(self):
        """The activation becomes weights and the constant rows: 16,384 of them, but the count ends at 16 times what there are."""
        weights = np.random.default_rng(0).standard_normal((64, 2048)).astype(np.float32)
        product = helper.make_node("MatMul", ["x", "w"], ["y"], name="fc")
        self.compile_refused(TOO_BIG, """
            error[E0403]: the model does not fit c2b8: its constants need at least 8192 local rows, 7680 more than the 512 of all cores
              --> m.onnx
             note: node 0 'fc' (MatMul) needs at least 8192 local rows
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: try "local_rows": 4096 or more instead of 256 in a target file
             help: use a target with more local rows or more cores
            """, models.model([product], [models.tensor("x", 1, 64)], [models.tensor("y", 1, 2048)],
                              [models.constant("w", weights)]),
                             flags=["--data-dim", "x=0", "--allow-dynamic-weights", "--fit-seconds", "0"])

    def test_inbox_rows(self):
        self.too_small("inbox_rows", 8, """
            error[E0402]: the model does not fit small: core 0 needs 17 inbox rows, 9 more than its 8
              --> m.onnx
             note: core 1 needs 17 inbox rows, 9 more than its 8
             note: node 0 'fc0' (Gemm) uses 8 inbox rows on core 0
             note: node 2 'fc1' (Gemm) uses 8 inbox rows on core 0
             note: node 4 'fc2' (Gemm) uses 2 inbox rows on core 0
             help: compiles for target 'c2b8' in 101 cycles (--target c2b8, verified)
             help: compiles with "inbox_rows": 16 instead of 8 in a target file in 101 cycles (verified)
             help: use a target with more inbox rows or more lanes
            """, layers(8, 64, 64, 16))

    def test_input_rows(self):
        """Counted before anything is planned."""
        self.too_small("inbox_rows", 2, """
            error[E0402]: the model does not fit small: its inputs need 3 inbox rows, 1 more than its 2
              --> m.onnx
             note: input 'x' needs 3 rows
             help: compiles for target 'c2b8' in 54 cycles (--target c2b8, verified)
             help: compiles with "inbox_rows": 8 instead of 2 in a target file in 54 cycles (verified)
             help: use a target with more inbox rows or more lanes
            """, layers(24, 32, 16))

    def test_inputs_and_outputs(self):
        """Counted before anything is lowered: the steps of the network read rows of its output."""
        weights = [models.constant("W", models.values(2, 256, 8)), models.constant("R", models.values(2, 256, 256))]
        rnn = helper.make_node("RNN", ["x", "W", "R"], ["y"], name="rnn", hidden_size=256, direction="bidirectional")
        self.compile_refused(TOO_BIG, """
            error[E0402]: the model does not fit c6b32: its inputs and outputs need at least 2550 inbox rows, 502 more than the 2048 of an inbox
              --> m.onnx
             note: output 'y' needs at least 2400 inbox rows
             note: input 'x' needs at least 150 inbox rows
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: try "inbox_rows": 4096 or more instead of 2048 in a target file
             help: use a target with more inbox rows or more lanes
            """, models.model([rnn], [models.tensor("x", 150, 1, 8)], [models.tensor("y", 150, 2, 1, 256)], weights),
                             target="c6b32", flags=["--fit-seconds", "0"])

    def test_rows_at_once(self):
        """Counted before anything is planned."""
        nodes = [helper.make_node("Conv", ["x", "W"], ["h"], name="conv", pads=[1] * 4),
                 helper.make_node("Relu", ["h"], ["a"], name="relu"), helper.make_node("GlobalAveragePool", ["a"], ["y"])]
        self.compile_refused(TOO_BIG, """
            error[E0402]: the model does not fit c2b8: its tensors need at least 15872 inbox rows, 14848 more than the 1024 of an inbox
              --> m.onnx
             note: 16384 rows are stored at once, 512 of them in local rows
             note: node 1 'relu' (Relu) computes 16384 of these rows
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: try "inbox_rows": 16384 or more instead of 1024 in a target file
             help: use a target with more inbox rows or more lanes
            """, models.model(nodes, [models.tensor("x", 1, 3, 64, 64)], [models.tensor("y", 1, 32, 1, 1)],
                              [models.constant("W", models.values(32, 3, 3, 3))]), flags=["--fit-seconds", "0"])

    def test_rows_of_windows(self):
        """Counted before anything is lowered."""
        nodes, constants, value = [], [], "x"
        for i, inputs in enumerate((3, 32, 32)):
            constants.append(models.constant(f"W{i}", models.values(32, inputs, 3, 3)))
            nodes += [helper.make_node("Conv", [value, f"W{i}"], [f"c{i}"], name=f"conv{i}", pads=[1] * 4),
                      helper.make_node("Relu", [f"c{i}"], [f"a{i}"])]
            value = f"a{i}"
        nodes[-1].output[0] = "y"
        self.compile_refused(TOO_BIG, """
            error[E0402]: the model does not fit c2b8: its tensors need at least 3584 inbox rows, 2560 more than the 1024 of an inbox
              --> m.onnx
             note: 'x' needs at least 1536 inbox rows
             note: 'a0' needs at least 1024 inbox rows
             note: 'a1' needs at least 1024 inbox rows
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: try "inbox_rows": 4096 or more instead of 1024 in a target file
             help: use a target with more inbox rows or more lanes
            """, models.model(nodes, [models.tensor("x", 1, 3, 64, 64)], [models.tensor("y", 1, 32, 64, 64)], constants),
                             flags=["--fit-seconds", "0"])

    def test_rows_far_beyond_the_memory(self):
        """The scores of 512 positions are counted before anything is lowered."""
        nodes = [helper.make_node("MatMul", ["x", weights], [name], name=name) for name, weights in (("q", "Wq"), ("k", "Wk"), ("v", "Wv"))]
        nodes += [helper.make_node("Transpose", ["k"], ["t"], name="t", perm=[0, 2, 1]),
                  helper.make_node("MatMul", ["q", "t"], ["s"], name="scores"), helper.make_node("Div", ["s", "c"], ["d"], name="scaled"),
                  helper.make_node("Softmax", ["d"], ["p"], name="softmax"), helper.make_node("MatMul", ["p", "v"], ["y"], name="mix")]
        self.compile_refused(TOO_BIG, """
            error[E0402]: the model does not fit c6b32: its tensors need at least 10240 inbox rows, 8192 more than the 2048 of an inbox
              --> m.onnx
             note: 16384 rows are stored at once, 6144 of them in local rows
             note: node 6 'softmax' (Softmax) computes 8192 of these rows
             note: node 5 'scaled' (Div) computes 8192 of these rows
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: try "inbox_rows": 16384 or more instead of 2048 in a target file
             help: use a target with more inbox rows or more lanes
            """, models.model(nodes, [models.tensor("x", 1, 512, 64)], [models.tensor("y", 1, 512, 64)],
                              [models.constant(name, models.values(64, 64)) for name in ("Wq", "Wk", "Wv")] +
                              [models.constant("c", np.array(8, np.float32))]),
                             target="c6b32", flags=["--allow-dynamic-weights", "--fit-seconds", "0"])

    def test_local_rows(self):
        self.too_small("local_rows", 2, """
            error[E0403]: the model does not fit small: core 0 needs 3 local rows, 1 more than its 2
              --> m.onnx
             note: core 1 needs 3 local rows, 1 more than its 2
             note: node 0 (Add) reads the constant 'c' [1 48], 6 different rows
             help: compiles for target 'c2b8' in 23 cycles (--target c2b8, verified)
             help: compiles with "local_rows": 4 instead of 2 in a target file in 23 cycles (verified)
             help: use a target with more local rows or more cores
            """, models.model([helper.make_node("Add", ["x", "c"], ["y"])], [models.tensor("x", 1, 48)],
                              [models.tensor("y", 1, 48)], [models.constant("c", models.values(48))]))

    def test_constants_larger_than_local_rows(self):
        nodes = [helper.make_node("Mul", ["x", "scale"], ["scaled"], name="mul"), helper.make_node("Relu", ["scaled"], ["h"], name="relu"),
                 helper.make_node("Add", ["h", "shift"], ["y"], name="add")]
        constants = [models.constant("scale", np.repeat(models.values(25, 64), 4, axis=0)),
                     models.constant("shift", models.values(100, 64))]
        self.compile_refused(TOO_BIG, """
            error[E0403]: the model does not fit c2b8: core 0 needs 500 local rows, 244 more than its 256
              --> m.onnx
             note: core 1 needs 500 local rows, 244 more than its 256
             note: node 2 'add' (Add) reads a constant [100 64], 800 different rows
             note: node 2 'add' (Add) reads the constant 'scale' [100 64], 200 different rows
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: use a target with more local rows or more cores
            """, models.model(nodes, [models.tensor("x", 100, 64)], [models.tensor("y", 100, 64)], constants),
                             flags=["--fit-seconds", "0"])

    def test_equal_rows_are_stored_once(self):
        """Constants of 800 rows of which few differ, where a core has 256 local rows."""
        lines = np.repeat(models.values(4, 64), 25, axis=0)
        mask = np.repeat(np.arange(256).reshape(4, 64) % 3 == 0, 25, axis=0)
        index = np.repeat(np.arange(12).reshape(4, 3) * 5, 25, axis=0)
        for node, constants, different in (
                (helper.make_node("Add", ["x", "lines"], ["y"]), [models.constant("lines", lines)], 32),
                (helper.make_node("Where", ["mask", "x", "lines"], ["y"]),
                 [models.constant("mask", mask), models.constant("lines", lines)], 64),
                (helper.make_node("ScatterElements", ["x", "index", "ones"], ["y"], axis=1),
                 [models.constant("index", index), models.constant("ones", np.ones((100, 3), np.float32))], 64)):
            with self.subTest(op=node.op_type):
                onnx.save(models.model([node], [models.tensor("x", 100, 64)], [models.tensor("y", 100, 64)], constants),
                          self.dir / "m.onnx")
                code, out, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
                self.assertEqual(code, 0, err)
                stored = int(re.search(r"local rows +(\d+) of 256", out.decode())[1])
                self.assertTrue(0 < stored <= different, out)

    def test_preload_rows(self):
        self.too_small("preload_rows", 2, """
            error[E0404]: the model does not fit small: core 0 needs 4 preload rows, 2 more than its 2
              --> m.onnx
             note: core 1 needs 4 preload rows, 2 more than its 2
             note: node 0 'fc0' (Gemm) uses 4 preload rows on core 0
             help: compiles for target 'c2b8' in 33 cycles (--target c2b8, verified)
             help: compiles with "preload_rows": 4 instead of 2 in a target file in 33 cycles (verified)
             help: use a target with more preload rows or more cores
            """, layers(8, 64))

    def test_sums_of_a_state(self):
        """Counted before anything is lowered."""
        numbers = np.random.default_rng(1)
        constants = [models.constant("W", numbers.standard_normal((64, 64, 16)).astype(np.float32)),
                     *(models.constant(name, np.array(value, np.int64)) for name, value in (("last", [2]), ("begin", [1]), ("end", [16])))]
        nodes = [helper.make_node("Unsqueeze", ["x", "last"], ["newest"]),
                 helper.make_node("Concat", ["s", "newest"], ["all"], axis=2),
                 helper.make_node("Slice", ["all", "begin", "end", "last"], ["next"]),
                 helper.make_node("Conv", ["all", "W"], ["y"], name="conv")]
        self.compile_refused(TOO_BIG, """
            error[E0404]: the model does not fit c2b8: its sums need at least 960 preload rows, 448 more than the 512 of all cores
              --> m.onnx
             note: node 3 'conv' (Conv) needs at least 960 preload rows
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: try "preload_rows": 512 or more instead of 256 in a target file
             help: use a target with more preload rows or more cores
            """, models.model(nodes, [models.tensor("x", 1, 64), models.tensor("s", 1, 64, 15)],
                              [models.tensor("y", 1, 64, 1), models.tensor("next", 1, 64, 15)], constants),
                             flags=["--state", "s=next", "--data-dim", "x=0", "--fit-seconds", "0"])

    def test_tables(self):
        self.too_small("tables", 1, """
            error[E0405]: the model does not fit small: core 0 needs 3 function tables, 2 more than its 1
              --> m.onnx
             note: node 0 'fc0' (Gemm) uses 1 function table on core 0
             note: node 2 'fc1' (Gemm) uses 1 function table on core 0
             note: node 4 'fc2' (Gemm) uses 1 function table on core 0
             help: compiles for target 'c2b8' in 92 cycles (--target c2b8, verified)
             help: compiles with "tables": 2 instead of 1 in a target file in 98 cycles (verified, 6 more)
             help: use fewer different activation functions
            """, layers(8, 8, 8, 8, 8, activations=("Sigmoid", "Tanh", "Softplus")))

    def test_instructions(self):
        self.too_small("instructions", 2, """
            error[E0406]: the model does not fit small: core 0 needs 8 instructions, 6 more than its 2
              --> m.onnx
             help: compiles for target 'c2b8' in 66 cycles (--target c2b8, verified)
             help: compiles with "instructions": 8 instead of 2 in a target file in 66 cycles (verified)
             help: use a target with more instruction memory
            """, layers(8, 16, 16, 16))

    def test_host_instructions(self):
        self.too_small("host_instructions", 1, """
            error[E0407]: the model does not fit small: the host port needs 3 host instructions, 2 more than its 1
              --> m.onnx
             help: compiles for target 'c2b8' in 27 cycles (--target c2b8, verified)
             help: compiles with "host_instructions": 4 instead of 1 in a target file in 27 cycles (verified)
             help: use a target with more host instruction memory
            """, layers(8, 16))

    def test_delay_line(self):
        """What is kept of 3,000 inferences; nothing is planned with other cores or orders."""
        nodes = [helper.make_node("Pad", ["x", "pads"], ["padded"], name="pad"),
                 helper.make_node("Slice", ["padded", "start", "end", "axis"], ["past"], name="past"),
                 helper.make_node("Mul", ["x", "past"], ["y"], name="product")]
        constants = [models.constant(name, np.array(value, np.int64))
                     for name, value in (("pads", [3000, 0, 0, 0]), ("start", [0]), ("end", [8000]), ("axis", [0]))]
        onnx.save(models.model(nodes, [models.tensor("x", 8000, 8)], [models.tensor("y", 8000, 8)], constants),
                  self.dir / "m.onnx")
        self.refused(TOO_BIG, """
            error[E0403]: the model does not fit c2b8: core 0 needs 3000 local rows, 2744 more than its 256
              --> m.onnx
             help: compiles for target 'c6b32' in 25 cycles (--target c6b32, verified, 7 more)
             help: compiles with "local_rows": 4096 instead of 256 in a target file in 18 cycles (verified)
             help: use a target with more local rows or more cores
            """, "compile", "m.onnx", "--target", "c2b8", "--stream", "x=0", "-o", "m.sluice", *LONG)

    def test_more_positions_than_a_loop_has_passes(self):
        """A loop makes 65,535 at most: the positions are then taken a few at a time, if that fits."""
        node = helper.make_node("Relu", ["x"], ["y"], name="relu")
        x = models.values(65536, 8) - np.float32(0.5)
        for positions, note in ((65535, ""), (65536, "note: the 65536 steps of 'x' (axis 0) do not fit unrolled; the "
                                                     "program runs 16384 times, 4 steps each\n")):
            onnx.save(models.model([node], [models.tensor("x", positions, 8)], [models.tensor("y", positions, 8)]),
                      self.dir / "m.onnx")
            code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
            self.assertEqual((code, err), (0, note))
            np.save(self.dir / "x.npy", x[:positions])
            np.save(self.dir / "y.npy", np.maximum(x[:positions], 0))
            self.right("m.sluice")
        # An accumulator does not hold the sum of so many elements, and its parts do not fit.
        mean = helper.make_node("ReduceMean", ["x"], ["y"], name="mean", axes=[0])
        self.compile_refused(TOO_BIG, """
            error[E0402]: the model does not fit c2b8: its inputs need 8192 inbox rows, 7168 more than its 1024
              --> m.onnx
             note: the 8 steps of 'x' (axis 1) do not fit unrolled; the program runs 8 times, 1 step each
             note: input 'x' needs 8192 rows
             note: no preset target and no target with one larger memory has room
             help: use a target with more inbox rows or more lanes
            """, models.model([mean], [models.tensor("x", 65536, 8)], [models.tensor("y", 1, 8)]), flags=LONG)

    def test_windows_taken_together_that_do_not_fit(self):
        """Six steps are the fewest that give a position: there are no fewer to try where those do not fit. They come
        closest: all steps at once take 2048 inbox rows."""
        pool = helper.make_node("MaxPool", ["x"], ["y"], name="pool", kernel_shape=[6, 6], dilations=[6, 6], strides=[6, 6])
        self.compile_refused(TOO_BIG, """
            error[E0404]: the model does not fit c2b8: core 0 needs 270 preload rows, 14 more than its 256
              --> m.onnx
             note: the 300 steps of 'x' (axis 2) do not fit unrolled; the program runs 50 times, 6 steps each
             note: core 1 needs 270 preload rows, 14 more than its 256
             note: node 0 'pool' (MaxPool) uses 90 preload rows on core 0
             help: compiles for target 'c6b32' in 6078 cycles (--target c6b32, verified)
             help: compiles with "preload_rows": 512 instead of 256 in a target file in 57107 cycles (verified, 51029 more)
             help: use a target with more preload rows or more cores
            """, models.model([pool], [models.tensor("x", 1, 1, 300, 300)], [models.tensor("y", 1, 1, 45, 45)]), flags=LONG)

    def test_sums_over_positions(self):
        node = helper.make_node("ReduceMean", ["x"], ["y"], name="mean", axes=[0], keepdims=0)
        self.compile_refused(REFUSED, """
            error[E0414]: sums over 700 positions need 32 accumulators on every core, available: 31
              --> m.onnx: node 0 "mean" (ReduceMean)
             help: use a target with more accumulators or more lanes
            """, models.model([node], [models.tensor("x", 700, 256)], [models.tensor("y", 256)]))

    def test_weight_not_finite(self):
        model = layers(8, 16)
        for value in (np.inf, np.nan, 3.4e38):  # the last one only when it is rounded to bf16
            weights = models.values(8, 16).copy()
            weights[2, 3] = value
            model.graph.initializer[0].CopyFrom(models.constant("W0", weights))
            self.compile_refused(REFUSED, """
                error[E0412]: a weight is not finite in bf16; its magnitude must be below 3.4e38
                  --> m.onnx: node 0 "fc0" (Gemm)
                """, model)


class Host(Refusal):
    def limited(self, kind, limit, *args):
        done = subprocess.run([SLUICE, *args], cwd=self.dir, capture_output=True, timeout=3600, check=False,
                              preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)))
        return done.returncode, done.stderr.decode()

    def test_file_that_may_not_grow(self):
        """Like a full disk: the old file stays, nothing half written is left behind."""
        onnx.save(models.dense(), self.dir / "m.onnx")
        (self.dir / "old.sluice").write_bytes(self.old_output)
        for output in ("new.sluice", "old.sluice"):
            found = self.limited(resource.RLIMIT_FSIZE, 512, "compile", "m.onnx", "--target", "c2b8", "-o", output)
            self.assertEqual(found, (USAGE, f"error[E0516]: cannot write '{output}': File too large\n"))
        self.assertEqual((self.dir / "old.sluice").read_bytes(), self.old_output)
        self.assertEqual(sorted(p.name for p in self.dir.iterdir()), ["m.onnx", "old.sluice"])

    def test_full_device(self):
        """Behind a link: a device is written to, not replaced."""
        onnx.save(models.dense(), self.dir / "m.onnx")
        (self.dir / "full").symlink_to("/dev/full")
        command = ("compile", "m.onnx", "--target", "c2b8", "-o")
        self.refused(USAGE, "error[E0516]: cannot write 'full': No space left on device\n", *command, "full")
        code, _, err = self.sluice(*command, "m.sluice", "--json=full")
        self.assertEqual((code, err), (USAGE, "error[E0516]: cannot write 'full': No space left on device\n"))
        self.assertTrue((self.dir / "full").is_char_device())
        for args in ((*command, "m.sluice"), (*command, "m.sluice", "--json"), ("check", "m.onnx"), ("--help",)):
            with self.subTest(args=args), open("/dev/full", "wb") as full:
                done = subprocess.run([SLUICE, *args], cwd=self.dir, stdout=full, stderr=subprocess.PIPE, check=False)
                self.assertEqual((done.returncode, done.stderr.decode()),
                                 (USAGE, "error[E0516]: cannot write to standard output\n"))

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_folder_that_is_read_only(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        self.dir.chmod(0o500)
        self.addCleanup(self.dir.chmod, 0o700)
        self.refused(USAGE, "error[E0516]: cannot write 'm.sluice': Permission denied\n", "compile", "m.onnx",
                     "--target", "c2b8", "-o", "m.sluice")

    def test_memory_of_sums(self):
        """Of a sum whose weights no other has, nothing is kept for others: that took twice as much memory."""
        scale = models.constant("scale", np.array([1, 1, 8, 8], np.float32))
        resize = helper.make_node("Resize", ["x", "", "scale"], ["y"], name="resize", mode="linear")
        onnx.save(models.model([resize], [models.tensor("x", 1, 1, 64, 64)], [models.tensor("y", 1, 1, 512, 512)], [scale]),
                  self.dir / "m.onnx")
        code, text = self.limited(resource.RLIMIT_AS, 512 << 20, "compile", "m.onnx", "--target", "c6b32", "--effort",
                                  "fast", "-o", "m.sluice", "--fit-seconds", "0")
        self.assertEqual((code, text), (TOO_BIG, textwrap.dedent("""\
            error[E0406]: the model does not fit c6b32: core 0 needs 1684 instructions, 660 more than its 1024
              --> m.onnx
             note: core 1 needs 1683 instructions, 659 more than its 1024
             note: core 2 needs 1681 instructions, 657 more than its 1024
             note: core 3 needs 1681 instructions, 657 more than its 1024
             note: core 4 needs 1170 instructions, 146 more than its 1024
             note: core 5 needs 1682 instructions, 658 more than its 1024
             help: use a target with more instruction memory
            error[E0407]: the model does not fit c6b32: the host port needs 130 host instructions, 2 more than its 128
              --> m.onnx
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
             help: use a target with more host instruction memory
            """)))

    def test_little_memory(self):
        """With any limit either all goes well or the reason is memory; never a crash, never half a file."""
        onnx.save(layers(512, 512, 64), self.dir / "m.onnx")
        command = ("compile", "m.onnx", "--target", "c6b32", "--effort", "fast", "-o", "m.sluice")
        refused = 0
        for megabytes in range(180, 420, 12):
            code, text = self.limited(resource.RLIMIT_AS, megabytes << 20, *command)
            if self.limited(resource.RLIMIT_AS, megabytes << 20, "version")[0] != 0:
                continue  # the program itself does not fit
            with self.subTest(megabytes=megabytes):
                if code == 0:
                    (self.dir / "m.sluice").unlink()
                    continue
                refused += 1
                self.assertIn(code, (REFUSED, INTERNAL), text)
                self.assertRegex(text, r"error\[E0(103|610)\]: .*memory")
                self.assertNotIn("please report", text)
                self.assertFalse((self.dir / "m.sluice").exists())
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    main()
