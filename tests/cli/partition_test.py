#!/usr/bin/env python3
"""--core-partition: operations stay on the cores they are given, or are refused.

usage: partition_test.py SLUICE [unittest arguments]
"""
import json
import re

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import main
from refusal import LONG, REFUSED, TOO_BIG, USAGE, Refusal


def layers(*extents, rows=1, seed=1):
    """Dense layers with Relu between, fc0, act0, fc1, ... from x [rows, extents[0]]; and their values."""
    random = np.random.default_rng(seed)
    weights = [random.standard_normal(shape).astype(np.float32) / 8 for shape in zip(extents, extents[1:])]
    nodes = []
    for i in range(len(weights)):
        last = i + 1 == len(weights)
        nodes.append(helper.make_node("MatMul", [f"a{i - 1}" if i else "x", f"w{i}"], ["y" if last else f"h{i}"],
                                      name=f"fc{i}"))
        if not last:
            nodes.append(helper.make_node("Relu", [f"h{i}"], [f"a{i}"], name=f"act{i}"))

    def values(x):
        for i, w in enumerate(weights):
            x = x @ w if i + 1 == len(weights) else np.maximum(x @ w, 0)
        return x
    model = models.model(nodes, [models.tensor("x", rows, extents[0])], [models.tensor("y", rows, extents[-1])],
                         [models.constant(f"w{i}", w) for i, w in enumerate(weights)])
    return model, values


class Partition(Refusal):
    def cores(self, node):
        """The cores that have unit instructions of a node."""
        instructions = {(core["core"], i): one["text"] for core in json.loads(self.ok("inspect", "m.sluice", "--asm", "--json"))["asm"]
                        for i, one in enumerate(core["instructions"])}
        places = next(one["instructions"] for one in json.loads(self.ok("inspect", "m.sluice", "--map", "--json"))["map"]
                      if one["name"] == node)
        return {core for core, i in places if core != "host port" and re.match("mm|vec", instructions[core, i])}

    def compiled(self, model, values, *pins, flags=()):
        onnx.save(model, self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", *flags, "-o", "m.sluice",
                *(word for pin in pins for word in ("--core-partition", pin)))
        shape = [one.dim_value for one in model.graph.input[0].type.tensor_type.shape.dim]
        x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
        np.save(self.dir / "x.npy", x)
        np.save(self.dir / "y.npy", values(x))
        self.right("m.sluice")

    def test_operations_stay(self):
        model, values = layers(40, 48, 32, 24)
        self.compiled(model, values)
        self.assertEqual([self.cores(f"fc{i}") for i in range(3)], [{0, 1}] * 3)
        self.compiled(model, values, "fc0=0", "fc1=1", "4=1,0")
        self.assertEqual([self.cores(f"fc{i}") for i in range(3)], [{0}, {1}, {0, 1}])
        self.assertEqual(self.cores("act1"), {1}) # computed with its layer
        self.assertIn("--core-partition fc0=0 --core-partition fc1=1 --core-partition 4=1,0 ", self.ok("inspect", "m.sluice", "--io"))
        # A function alone takes its layer with it.
        self.compiled(model, values, "act0=1")
        self.assertEqual(self.cores("fc0"), {1})

    def test_all_on_one_core(self):
        model, values = layers(16, 24, 8)
        self.compiled(model, values, "fc0=1", "fc1=1")
        self.assertEqual((self.cores("fc0"), self.cores("fc1")), ({1}, {1}))
        plan = self.ok("explain", "--plan", "m.onnx", "--target", "c2b8", "--verbose", "--core-partition", "fc0=1", "--core-partition", "fc1=1")
        self.assertRegex(plan, r"\n    1 .*  0 3, 0 6: node 0 'fc0' \(MatMul\), node 1 'act0' \(Relu\)\n")

    def test_whatever_is_searched(self):
        random = np.random.default_rng(3)
        for seed in range(6):
            extents = [int(random.integers(5, 60)) for _ in range(4)]
            model, values = layers(*extents, rows=int(random.integers(1, 4)), seed=seed)
            pins = [int(core) for core in random.integers(0, 3, 3)] # 2: any
            self.compiled(model, values, *(f"fc{i}={core}" for i, core in enumerate(pins) if core < 2),
                          flags=("--effort", ("fast", "default", "high")[seed % 3]))
            for i, core in enumerate(pins):
                with self.subTest(seed=seed, layer=i):
                    if core < 2:
                        self.assertEqual(self.cores(f"fc{i}"), {core})

    def test_state_stays_with_its_operation(self):
        random = np.random.default_rng(4)
        constants = [models.constant("w", random.standard_normal((12, 16)).astype(np.float32)),
                     models.constant("r", (random.standard_normal((16, 16)) / 8).astype(np.float32))]
        model = models.model([helper.make_node("MatMul", ["x", "w"], ["i"], name="in"),
                              helper.make_node("MatMul", ["h", "r"], ["k"], name="keep"),
                              helper.make_node("Add", ["i", "k"], ["s"], name="sum"),
                              helper.make_node("Tanh", ["s"], ["next"], name="act"),
                              helper.make_node("Neg", ["next"], ["y"], name="turn")],
                             [models.tensor("x", 1, 12), models.tensor("h", 1, 16)],
                             [models.tensor("next", 1, 16), models.tensor("y", 1, 16)], constants)
        onnx.save(model, self.dir / "m.onnx")
        flags = ("m.onnx", "--target", "c2b8", "--state", "h=next")
        self.ok("compile", *flags, "--core-partition", "keep=1", "-o", "m.sluice")
        self.assertEqual(self.cores("keep"), {1})
        x = random.standard_normal((5, 1, 12)).astype(np.float32)
        h, steps = np.zeros((1, 16)), []
        for one in x:
            h = np.tanh(one @ onnx.numpy_helper.to_array(constants[0]) + h @ onnx.numpy_helper.to_array(constants[1]))
            steps.append(-h)
        np.save(self.dir / "x.npy", x)
        np.save(self.dir / "y.npy", np.float32(steps))
        self.ok("run", "m.sluice", "--engine", "vm", "--steps", "5", "--input", "x=@x.npy", "--expect", "y=@y.npy")

    def refuses(self, text, *pins, code=USAGE, flags=()):
        self.refused(code, text, "compile", "m.onnx", "--target", "c2b8", "-o", "new.sluice", *flags,
                     *(word for pin in pins for word in ("--core-partition", pin)))

    def test_usage(self):
        onnx.save(layers(16, 24, 8)[0], self.dir / "m.onnx")
        for spec in ("fc0", "=0", "fc0=", "fc0=a", "fc0=0,", "fc0=0;1"):
            self.refuses(f"error[E0601]: --core-partition '{spec}' is not of the form NODE=CORE,CORE,...\n", spec)
        self.refuses("error[E0601]: --core-partition sets 'fc0' more than once\n", "fc0=0", "fc0=1")
        self.refuses("error[E0601]: --core-partition 'fc0=0,2': core 2, allowed: 0 to 1\n"
                     "  --> m.onnx\n"
                     "error[E0601]: --core-partition 'fc1=-1': core -1, allowed: 0 to 1\n"
                     "  --> m.onnx\n", "fc0=0,2", "fc1=-1")

    def test_nodes(self):
        onnx.save(layers(16, 24, 8)[0], self.dir / "m.onnx")
        for node in ("fc9", "9", "-1", "fc"):
            self.refuses(f"error[E0418]: --core-partition '{node}=0': no operation on the accelerator comes from node '{node}'; "
                         "give the number or name of a node\n"
                         "  --> m.onnx\n", f"{node}=0")
        self.refuses("error[E0418]: --core-partition pins node 0 'fc0' (MatMul) on core 0 and node 1 'act0' (Relu) on core 1, "
                     "but they share rows that one core computes\n"
                     "  --> m.onnx\n", "fc0=0", "act0=1")
        onnx.save(models.model([helper.make_node("Transpose", ["x"], ["t"], name="turn", perm=[1, 0, 2]),
                                helper.make_node("Relu", ["t"], ["y"], name="act")],
                               [models.tensor("x", 2, 3, 8)], [models.tensor("y", 3, 2, 8)]), self.dir / "m.onnx")
        self.refuses("error[E0418]: --core-partition 'turn=1': no row is computed for node 0 'turn' (Transpose); other operations "
                     "absorb it\n"
                     "  --> m.onnx\n", "turn=1", "act=0")

    def test_positions_of_loops(self):
        """All of a loop's positions are dealt out to the cores of what is pinned in it."""
        model, values = layers(40, 48, 24, rows=600)
        self.compiled(model, values)
        self.assertEqual((self.cores("fc0"), self.cores("fc1")), ({0, 1}, {0, 1}))
        for core in 0, 1:
            self.compiled(model, values, f"fc0={core}")
            self.assertEqual((self.cores("fc0"), self.cores("fc1")), ({core}, {core}))
        self.compiled(model, values, "fc0=0,1", "fc1=1")
        self.assertEqual((self.cores("fc0"), self.cores("fc1")), ({1}, {1}))

    def test_layers_of_windows(self):
        """Layers that read each other's lines wherever they are have cores of their own."""
        random = np.random.default_rng(5)
        w = [random.standard_normal(shape).astype(np.float32) / 8 for shape in ((16, 8, 3), (8, 16, 3))]
        model = models.model([helper.make_node("Conv", ["x", "w0"], ["h"], name="conv0", pads=[1, 1]),
                              helper.make_node("Relu", ["h"], ["a"], name="act"),
                              helper.make_node("Conv", ["a", "w1"], ["y"], name="conv1", pads=[1, 1])],
                             [models.tensor("x", 1, 8, 400)], [models.tensor("y", 1, 8, 400)],
                             [models.constant(f"w{i}", one) for i, one in enumerate(w)])

        def conv(x, w):
            padded = np.pad(x, ((0, 0), (0, 0), (1, 1)))
            return sum(np.einsum("oc,ncx->nox", w[:, :, k], padded[:, :, k:k + x.shape[2]]) for k in range(3))

        def values(x):
            return conv(np.maximum(conv(x, w[0]), 0), w[1]).astype(np.float32)
        for pins, wanted in (((), ({0, 1}, {0, 1})), (("conv0=0", "conv1=1"), ({0}, {1})), (("conv0=1",), ({1}, {0, 1})),
                             (("conv1=0",), ({0, 1}, {0}))):
            with self.subTest(pins):
                self.compiled(model, values, *pins)
                self.assertEqual((self.cores("conv0"), self.cores("conv1")), wanted)
                flags = [word for pin in pins for word in ("--core-partition", pin)]
                stages = json.loads(self.ok("explain", "--plan", "m.onnx", "--target", "c2b8", "--json", *flags))["stages"]
                for layer, cores in zip(("conv0", "conv1"), wanted):
                    planned = [sum(stage["rows_by_core"][core] for stage in stages if layer in [n["name"] for n in stage["nodes"]])
                               for core in range(2)]
                    self.assertEqual({core for core in range(2) if planned[core]}, cores)

    def test_what_loops_refuse(self):
        onnx.save(layers(32, 32, 16, rows=4000)[0], self.dir / "m.onnx")
        self.refuses("error[E0418]: --core-partition pins node 0 'fc0' (MatMul) on core 0 and node 2 'fc1' (MatMul) on core 1, "
                     "but one core computes each position of the loop\n"
                     "  --> m.onnx\n", "fc0=0", "fc1=1")
        self.refuses("error[E0418]: --core-partition 'fc9=0': no operation on the accelerator comes from node 'fc9'; "
                     "give the number or name of a node\n"
                     "  --> m.onnx\n", "fc9=0")
        onnx.save(models.model([helper.make_node("MatMul", ["x", "w"], ["h"], name="fc"),
                                helper.make_node("ReduceMean", ["h"], ["y"], name="mean", axes=[0], keepdims=0)],
                               [models.tensor("x", 4000, 32)], [models.tensor("y", 16)],
                               [models.constant("w", np.ones((32, 16), np.float32))]), self.dir / "m.onnx")
        self.refuses("error[E0418]: --core-partition pins node 0 'fc' (MatMul) on core 0, but the loop reduces over all "
                     "positions and needs every core; allowed: 0,1\n"
                     "  --> m.onnx\n", "fc=0")

    def test_lines_of_loops_that_do_not_fit(self):
        w = [np.ones(shape, np.float32) for shape in ((16, 8, 3, 3), (8, 16, 3, 3))]
        onnx.save(models.model([helper.make_node("Conv", ["x", "w0"], ["h"], name="conv0", pads=[1] * 4),
                                helper.make_node("Conv", ["h", "w1"], ["y"], name="conv1", pads=[1] * 4)],
                               [models.tensor("x", 1, 8, 30, 30)], [models.tensor("y", 1, 8, 30, 30)],
                               [models.constant(f"w{i}", one) for i, one in enumerate(w)]), self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
        self.refuses("""
            error[E0402]: the model does not fit c2b8: core 0 needs 1928 inbox rows, 904 more than its 1024
              --> m.onnx
             note: core 1 needs 1928 inbox rows, 904 more than its 1024
             note: 'x' (900 rows in total) uses inbox rows on core 0
             help: compiles for target 'c6b32' in 15608 cycles (--target c6b32, verified)
             help: compiles with "inbox_rows": 2048 instead of 1024 in a target file in 18339 cycles (verified, 2731 more)
             help: use a target with more inbox rows or more lanes
             help: remove --core-partition, so that all cores can compute the positions
            """, "conv0=0", "conv1=1", code=TOO_BIG, flags=LONG)

    def test_what_does_not_fit_is_said_with_numbers(self):
        model, values = layers(496, 512, 8)
        self.compiled(model, values, flags=("--effort", "fast"))
        self.refuses("""
            error[E0401]: the model does not fit c2b8: core 1 needs 3968 weight blocks, 1920 more than its 2048
              --> m.onnx
             note: node 0 'fc0' (MatMul) uses 3968 weight blocks on core 1
             help: compiles for target 'c6b32' in 302 cycles (--target c6b32, verified)
             help: compiles with "weight_blocks": 4096 instead of 2048 in a target file in 4014 cycles (verified, 3712 more)
             help: use a target with more weight blocks or more cores
             help: remove --core-partition, so that all cores can compute the rows
            """, "fc0=1", "fc1=0", code=TOO_BIG, flags=("--effort", "fast", *LONG))


if __name__ == "__main__":
    main()
