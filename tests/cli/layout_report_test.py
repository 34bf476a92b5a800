#!/usr/bin/env python3
"""What the user sees of layouts and their problems: --explain-layout word for
word, JSON, SARIF, lines of source, pins, models as textual IR.

usage: layout_report_test.py SLUICE [unittest arguments]
"""
import json
import random
import re

import numpy as np
import onnx
from onnx import TensorProto, helper

import bad_models as models
from folder import main
from refusal import MALFORMED, REFUSED, USAGE, Refusal


def one(op, shapes, result, constants=None, **attributes):
    """A model of one node on inputs x, z, ... of the shapes, with integer constants."""
    names = list("xzu"[:len(shapes)])
    node = helper.make_node(op, names + list(constants or {}), ["y"], name=op.lower(), **attributes)
    return models.model([node], [models.tensor(n, *s) for n, s in zip(names, shapes)], [models.tensor("y", *result)],
                        [models.constant(k, np.int64(v)) for k, v in (constants or {}).items()])


def matmul(lhs, rhs, result, constant):
    """x and z are the sides of a product; one of them is a constant."""
    sides = {"x": lhs, "z": rhs}
    return models.model([helper.make_node("MatMul", ["x", "z"], ["y"], name="product")],
                        [models.tensor(n, *s) for n, s in sides.items() if n != constant], [models.tensor("y", *result)],
                        [models.constant(constant, models.values(*sides[constant]))] if constant else [])


KEPT = "the data dimension keeps its stride"
LEFT = "weights on the left: the contracted data dimension becomes the weights' axis"
RIGHT = "weights on the right: the contracted data dimension becomes the weights' axis"


class ExplainLayout(Refusal):
    """The examples of the data dimension's definition, through ONNX."""

    def explained(self, proto, pins, expected):
        onnx.save(proto, self.dir / "m.onnx")
        flags = [word for name, dim in pins.items() for word in ("--data-dim", f"{name}={dim}")]
        code, out, err = self.sluice("check", "m.onnx", "--target", "c2b8", "--explain-layout", *flags)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.decode(), expected + "m.onnx: 1 operators, all supported; fits c2b8\n")

    def test_reshapes(self):
        for source, target, dim, result in (
                ([2, 12], [2, 3, 4], 0, 0),           # [a! (b*c)] -> [a! b c]
                ([2, 3, 4], [3, 2, 4], 2, 2),         # [a b c!] -> [b a c!]
                ([2, 3, 4], [6, 4], 1, 0),            # [a b! c] -> [(a*b)! c]
                ([2, 6, 4], [2, 2, 3, 4], 1, 2),      # [a (n*b)! c] -> [a n b! c]
                ([3, 4], [3, 1, 4], 0, 0)):           # [a! b] -> [a! 1 b]
            with self.subTest(source=source, target=target):
                self.explained(one("Reshape", [source], target, {"s": target}), {"x": dim},
                               f"x {source}: data dimension {dim}, pinned by --data-dim x={dim}\n"
                               f"y {target}: data dimension {result}, {KEPT}\n")

    def test_products(self):
        self.explained(matmul([5, 3], [3, 4], [5, 4], "x"), {},
                       "z [3, 4]: data dimension 0, the only data dimension that its uses allow\n"
                       f"y [5, 4]: data dimension 0, {LEFT}\n")
        self.explained(matmul([4, 3], [3, 5], [4, 5], "z"), {},
                       "x [4, 3]: data dimension 1, the only data dimension that its uses allow\n"
                       f"y [4, 5]: data dimension 1, {RIGHT}\n")
        # Batch axes are never the data dimension; a linear layer has no second axis.
        self.explained(matmul([2, 5, 3], [2, 3, 4], [2, 5, 4], "x"), {},
                       "z [2, 3, 4]: data dimension 1, the only data dimension that its uses allow\n"
                       f"y [2, 5, 4]: data dimension 1, {LEFT}\n")
        self.explained(matmul([5, 3], [3], [5], "x"), {},
                       "z [3]: data dimension 0, the only data dimension that its uses allow\n"
                       f"y [5]: data dimension 0, {LEFT}\n")

    def test_views(self):
        self.explained(one("Transpose", [[2, 3, 4, 2]], [4, 3, 2, 2], perm=[2, 1, 0, 3]), {"x": 0},
                       "x [2, 3, 4, 2]: data dimension 0, pinned by --data-dim x=0\n"
                       "y [4, 3, 2, 2]: data dimension 2, the data dimension moves with its axis\n")
        self.explained(one("Unsqueeze", [[2, 3]], [1, 2, 3], {"a": [0]}), {"x": 0},
                       "x [2, 3]: data dimension 0, pinned by --data-dim x=0\n"
                       "y [1, 2, 3]: data dimension 1, a new axis is never the data dimension\n")
        self.explained(one("Expand", [[3, 1]], [3, 4], {"s": [3, 4]}), {"x": 1},
                       "x [3, 1]: data dimension 1, pinned by --data-dim x=1\n"
                       "y [3, 4]: data dimension 1, a broadcast keeps the data dimension\n")
        self.explained(one("Concat", [[2, 3], [4, 3]], [6, 3], axis=0), {"x": 0},
                       "x [2, 3]: data dimension 0, pinned by --data-dim x=0\n"
                       "z [4, 3]: data dimension 0, the only data dimension that its uses allow\n"
                       "y [6, 3]: data dimension 0, concatenated tensors share one data dimension\n")

    def test_bias(self):
        """The reason is that of the product in the node, not of the bias."""
        for op, x, weights, y in (("Gemm", (2, 8), (8, 3), (2, 3)), ("Conv", (1, 8, 9), (3, 8, 2), (1, 3, 8))):
            with self.subTest(op=op):
                constants = [models.constant(name, models.values(*shape)) for name, shape in (("W", weights), ("B", (3,)))]
                proto = models.model([helper.make_node(op, ["x", "W", "B"], ["y"])], [models.tensor("x", *x)],
                                     [models.tensor("y", *y)], constants)
                self.explained(proto, {"x": 1}, f"x {list(x)}: data dimension 1, pinned by --data-dim x=1\n"
                               f"y {list(y)}: data dimension 1, {RIGHT}\n")

    def test_refused_reshape(self):
        self.layout_refused("""
            error[E0303]: no axis after the reshape has the stride of the data dimension
              --> m.onnx: node 0 "reshape" (Reshape)
               |  operand 0 'x': activation [2 3! 4]
             rule DD-RESHAPE: the data dimension keeps its stride: [a (n*b)! c] -> [a n b! c]
             chain:
               'x' [2 3! 4], pinned by --data-dim x=1
               node 0 "reshape" (Reshape): 'x' [2 3! 4], but this operation needs [2! 3 4] or [2 3 4!]
             help: replace --data-dim x=1 with --data-dim x=2, or remove it (verified, 30 cycles)
             help: transpose axes 1 and 2 before the reshape, if the order of the elements may change \
(verified, 33 cycles, 3 more)
             help: compile with --rewrite-layout: relayout of operand 0 'x' from [2 3! 4] to [2! 3 4] at node 0 \
(verified, 41 cycles, 11 more)
            compiles with --apply-fixes: 1 fix, 41 cycles
            """, one("Reshape", [[2, 3, 4]], [2, 12], {"s": [2, 12]}), flags=("--data-dim", "x=1"))


class Names(Refusal):
    def layout(self, proto, *flags):
        onnx.save(proto, self.dir / "m.onnx")
        code, out, err = self.sluice("check", "m.onnx", "--target", "c2b8", "--explain-layout", *flags)
        return code, out.decode(), err

    def test_outputs_without_an_operation(self):
        """Identity makes no operation, a constant no activation; both are tensors of the model."""
        proto = models.model(
            [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("Identity", ["h"], ["y"]),
             helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Reshape", ["y", "s"], ["z"])],
            [models.tensor("x", 3, 4)], [models.tensor("z", 3, 4)])
        self.assertEqual(self.layout(proto, "--data-dim", "y=0"), (0, (
            "x [3, 4]: data dimension 0, the only data dimension that its uses allow\n"
            "h [3, 4]: data dimension 0, pinned by --data-dim y=0\n"
            "y [3, 4]: data dimension 0, pinned by --data-dim y=0\n"
            "s [2]: constant\n"
            "z [3, 4]: data dimension 0, pinned by --data-dim y=0\n"
            "m.onnx: 4 operators, all supported; fits c2b8\n"), ""))
        code, _, err = self.layout(proto, "--data-dim", "y=0", "--data-dim", "h=1")
        self.assertEqual(code, REFUSED)
        self.assertIn("error[E0308]: tensor 'h' is pinned to [3 4!] but must be [3! 4]\n", err)
        self.assertIn("'h' [3! 4], pinned by --data-dim y=0\n", err)

    def test_pins_of_constants(self):
        for name in ("W", "b"):
            code, _, err = self.layout(models.dense(), "--data-dim", f"{name}=0")
            self.assertEqual((code, err), (USAGE, f"error[E0311]: tensor '{name}' is a constant and has no data "
                                                    "dimension\n  --> m.onnx\n"))

    def test_the_result_of_a_node_of_several_operations(self):
        """A pin is on the node's output, not on what it is computed from."""
        proto = one("ReduceL2", [[3, 4]], [3], axes=[1], keepdims=0)
        code, out, err = self.layout(proto, "--data-dim", "y=0")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("y [3]: data dimension 0, ", out)


def with_trace(proto):
    """Nodes with the stack traces of both exporters of PyTorch."""
    proto.graph.node[0].doc_string = ("/x/dist-packages/torch/nn/functional.py(1848): linear\n"
                                      "/home/ann/net.py(7): forward\n/home/ann/train.py(40): <module>\n")
    entry = onnx.StringStringEntryProto(key="pkg.torch.onnx.stack_trace",
                                        value='  File "/home/ann/net.py", line 8, in forward\n    return y.flatten()\n')
    data = entry.SerializeToString()  # metadata_props, a field this version of the package does not know
    proto.graph.node[1].MergeFromString(b"\x4a" + bytes([len(data)]) + data)
    return proto


class Sources(Refusal):
    def test_lines_of_pytorch(self):
        """Below the place in the model is the one in its program; the rest is as without."""
        onnx.save(models.lost_by_reshape(), self.dir / "m.onnx")
        _, repaired, without = self.sluice("check", "m.onnx", "--target", "c2b8")
        place = '  --> m.onnx: node 1 "flat" (Flatten)\n'
        self.assertEqual(without.count(place), 1)
        self.compile_refused(REFUSED, without.replace(place, place + "  --> /home/ann/net.py:8\n") + repaired.decode(),
                             with_trace(models.lost_by_reshape()))
        code, out, _ = self.sluice("check", "m.onnx", "--format", "json")
        error = json.loads(out)["errors"][0]
        self.assertEqual((code, error["node"]["source"]), (REFUSED, "/home/ann/net.py:8"))
        self.assertEqual([step["node"]["source"] for step in error["chain"]],
                         ["/home/ann/net.py:7", "/home/ann/net.py:8"])


class Rewrites(Refusal):
    """What was changed, where it is told: summary, JSON, the list of tensors. What costs nothing needs no flag."""

    SWAPPED = "operands swapped and the result transposed"

    def rewritten(self, proto, flags, node, name, text, cost, tensors):
        onnx.save(proto, self.dir / "m.onnx")
        arguments = ["m.onnx", "--target", "c2b8", *flags]
        line = f"{text} at node {node} {name}{f', {cost}' if cost else ''}\n"
        code, out, err = self.sluice("compile", *arguments, "-o", "m.sluice")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual([l for l in out.decode().splitlines(True) if l.startswith("rewritten")],
                         [f"rewritten           {line}"])
        code, out, err = self.sluice("check", *arguments, "--explain-layout")
        self.assertEqual((code, err), (0, ""))
        operators = len(proto.graph.node)
        self.assertEqual(out.decode(),
                         f"{tensors}rewritten: {line}m.onnx: {operators} operators, all supported; fits c2b8\n")
        cycles = 0 if cost else None  # the price of a relayout is not known apart from the program's
        for command in (("compile", "--json", "-o", "m.sluice"), ("check", "--format", "json")):
            code, out, err = self.sluice(*command, *arguments)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(json.loads(out)["rewrites"], [{"node": node, "text": text, "cycles": cycles}])

    def test_mirrored(self):
        """A constant vector times a matrix."""
        self.rewritten(matmul([5], [5, 8], [8], "x"), (), 0, '"product" (MatMul)', "vector multiplied from the other side",
                       "at no cost",
                       "z [5, 8]: data dimension 0, the only data dimension that its uses allow\n"
                       f"y [8]: data dimension 0, {RIGHT}\n")

    def test_swapped(self):
        """The product is another operation then; its tensor is listed as before."""
        pins = {"x": 1, "z": 0, "y": 0}
        flags = ["--allow-dynamic-weights", *(word for k, v in pins.items() for word in ("--data-dim", f"{k}={v}"))]
        self.rewritten(matmul([7, 8], [8, 9], [7, 9], None), flags, 0, '"product" (MatMul)', self.SWAPPED,
                       "at no cost",
                       "x [7, 8]: data dimension 1, pinned by --data-dim x=1\n"
                       "z [8, 9]: data dimension 0, pinned by --data-dim z=0\n"
                       "y [7, 9]: data dimension 0, pinned by --data-dim y=0\n")

    def test_relayout(self):
        self.rewritten(models.two_layouts(), ("--rewrite-layout",), 0, '"left_weights" (MatMul)',
                       "relayout of the result 'left' from [4! 5] to [4 5!]", None,
                       "x [4, 5]: data dimension 0, the only data dimension that its uses allow\n"
                       "z [4, 6]: data dimension 1, the only data dimension that its uses allow\n"
                       "left [4, 5]: data dimension 1, moved by --rewrite-layout\n"
                       f"right [4, 5]: data dimension 1, {RIGHT}\n"
                       "y [4, 5]: data dimension 1, pointwise operands and result share one data dimension\n")

    def test_what_is_left(self):
        """Of several conflicts only those that the flag does not resolve."""
        nodes = [helper.make_node("MatMul", ["W", "x"], ["a"], name="left"),
                 helper.make_node("MatMul", ["z", "W"], ["b"], name="right"),
                 helper.make_node("Add", ["a", "b"], ["s"], name="sum"),
                 helper.make_node("MatMul", ["x", "z"], ["q"], name="attention")]
        onnx.save(models.model(nodes, [models.tensor("x", 4, 4), models.tensor("z", 4, 4)],
                               [models.tensor("s", 4, 4), models.tensor("q", 4, 4)],
                               [models.constant("W", models.values(4, 4))]), self.dir / "m.onnx")
        for flags, codes in (((), ["E0301", "E0306"]), (("--rewrite-layout",), ["E0306"]),
                             (("--rewrite-layout", "--allow-dynamic-weights"), [])):
            code, _, err = self.sluice("check", "m.onnx", "--target", "c2b8", *flags)
            self.assertEqual((code, re.findall(r"error\[(E\d+)\]", err)), (REFUSED if codes else 0, codes))

    def test_nothing(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        arguments = ("m.onnx", "--target", "c2b8", "--rewrite-layout")
        code, out, _ = self.sluice("compile", *arguments, "-o", "m.sluice")
        self.assertEqual((code, b"rewritten" in out), (0, False))
        code, out, _ = self.sluice("check", *arguments, "--format", "json")
        self.assertEqual((code, json.loads(out)["rewrites"]), (0, []))


TEXT = """\
func.func @mix(%x: tensor<4x5xf32>) -> tensor<20xf32> {
  %w = sluice.constant dense<0.5> : tensor<4x4xf32>
  %h = sluice.matmul %w, %x : (tensor<4x4xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %t = sluice.transpose %h [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %f = sluice.reshape %t : (tensor<5x4xf32>) -> tensor<20xf32>
  return %f : tensor<20xf32>
}
"""


class TextualIr(Refusal):
    def test_runs(self):
        self.save("m.mlir", TEXT.encode())
        code, out, err = self.sluice("check", "m.mlir", "--target", "c2b8", "--explain-layout")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.decode(), (
            "x [4, 5]: data dimension 0, the only data dimension that its uses allow\n"
            "w [4, 4]: constant\n"
            f"h [4, 5]: data dimension 0, {LEFT}\n"
            "t [5, 4]: data dimension 1, the data dimension moves with its axis\n"
            f"f [20]: data dimension 0, {KEPT}\n"
            "m.mlir: 3 operators, all supported; fits c2b8\n"))
        x = models.values(4, 5)
        np.save(self.dir / "x.npy", x)
        np.save(self.dir / "f.npy", (np.full((4, 4), 0.5) @ x).T.reshape(20).astype(np.float32))
        self.assertEqual(self.sluice("compile", "m.mlir", "--target", "c2b8", "-o", "m.sluice")[0], 0)
        code, _, err = self.sluice("run", "m.sluice", "--engine", "vm", "--input", "x=@x.npy", "--expect", "f=@f.npy")
        self.assertEqual((code, err), (0, ""))

    def test_what_import_prints_is_read(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        code, text, _ = self.sluice("compile", "m.onnx", "--emit", "graph")
        self.assertEqual(code, 0)
        self.save("m.mlir", text)
        for stage in ("plan", "core"):
            emitted = [self.sluice("compile", f"m.{kind}", "--target", "c2b8", "--emit", stage)
                       for kind in ("onnx", "mlir")]
            self.assertEqual([one[0] for one in emitted], [0, 0])
            # But for the names of nodes.
            lines = [len(one[1].splitlines()) for one in emitted]
            self.assertEqual(lines[0], lines[1])

    def test_refused_by_a_rule(self):
        self.save("m.mlir", TEXT.replace("sluice.transpose %h [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>",
                                         "sluice.slice %h starts [0, 4] sizes [4, 5] steps [1, -1] : "
                                         "(tensor<4x5xf32>) -> tensor<4x5xf32>")
                  .replace("%t : (tensor<5x4", "%t : (tensor<4x5").encode())
        self.refused(REFUSED, """
            error[E0303]: no axis after the reshape has the stride of the data dimension
              --> m.mlir: node 2 "f" (sluice.reshape)
              --> m.mlir:5
               |  operand 0 't': activation [4! 5]
             rule DD-RESHAPE: the data dimension keeps its stride: [a (n*b)! c] -> [a n b! c]
             chain:
               node 0 "h" (sluice.matmul): 'h' [4! 5], weights on the left: the contracted data dimension becomes the \
weights' axis
               node 1 "t" (sluice.slice): 't' [4! 5], from [4! 5]: a slice keeps the data dimension
               node 2 "f" (sluice.reshape): 't' [4! 5], but this operation needs [4 5!]
             help: transpose axes 0 and 1 before the reshape, if the order of the elements may change \
(verified, 48 cycles)
             help: compile with --rewrite-layout: relayout of the result 't' from [4! 5] to [4 5!] at node 1 \
(verified, 55 cycles, 7 more)
             help: compile with --allow-dynamic-weights (verified, 56 cycles, 8 more)
            note: '!' marks the data dimension, the axis that lies along the hardware lanes; see 'sluice explain E0303'
            compiles with --apply-fixes: 1 fix, 55 cycles
            """, "check", "m.mlir", "--target", "c2b8")

    def test_malformed(self):
        for text, message in (
                ("", "  --> m.mlir"),
                ("func.func @f(%x: tensor<4xf32>)", "  --> m.mlir:1"),
                (TEXT.replace("[1, 0]", "[1, 1]"), "  --> m.mlir:4"), (TEXT[:60], "  --> m.mlir:2"),
                (TEXT.replace("x5xf32>) -> tensor<20", "x5xi8>) -> tensor<20", 1), "  --> m.mlir:3")):
            with self.subTest(text=text[:40]):
                self.save("m.mlir", text.encode())
                code, out, err = self.sluice("check", "m.mlir", "--target", "c2b8")
                self.assertEqual((code, out), (MALFORMED, b""), err)
                self.assertTrue(err.startswith("error[E0116]: "), err)
                self.assertEqual(err.splitlines()[1], message)
        for text, message in (
                (TEXT + TEXT.replace("@mix", "@b"), "the file has 2 functions; it must have exactly one, with a body\n"
                                                    "  --> m.mlir"),
                ("func.func private @f(tensor<4xf32>)", "the file has 1 functions; it must have exactly one, with a body\n"
                                                        "  --> m.mlir"),
                ("func.func @f(%x: tensor<4xf32>) {\n return\n}",
                 "the function must have one block, and tensors of f32 as arguments and results\n  --> m.mlir:1"),
                ('#n = #sluice.node<-1, "n", "Relu">\n' + TEXT.replace(" -> tensor<5x4xf32>\n",
                                                                     ' -> tensor<5x4xf32> loc(fused<#n>["a.py":7:0])\n'),
                 "a node has index -1, allowed: 0 to 100000\n  --> a.py:7")):
            with self.subTest(text=text[:40]):
                self.save("m.mlir", text.encode())
                self.refused(MALFORMED, f"error[E0116]: {message}\n", "check", "m.mlir", "--target", "c2b8")
        self.refused(MALFORMED, "error[E0116]: cannot open input file 'no.mlir': No such file or directory\n"
                                "  --> no.mlir\n", "check", "no.mlir")


class Sarif(Refusal):
    """The structure SARIF 2.1.0 demands, and what is in it."""

    def log(self, proto, name="m.onnx", *flags):
        onnx.save(proto, self.dir / name)
        code, out, err = self.sluice("check", name, "--target", "c2b8", "--format", "sarif", *flags)
        log = json.loads(out)
        self.validate(log)
        return code, log["runs"][0]

    def validate(self, log):
        self.assertEqual(log["version"], "2.1.0")
        self.assertLessEqual(set(log), {"$schema", "version", "runs"})
        for run in log["runs"]:
            driver = run["tool"]["driver"]
            self.assertTrue(driver["name"])
            ids = [rule["id"] for rule in driver["rules"]]
            self.assertEqual(len(ids), len(set(ids)))
            for rule in driver["rules"]:
                self.assertTrue(rule["shortDescription"]["text"] and rule["help"]["text"])
            for result in run["results"]:
                self.assertLessEqual(set(result), {"ruleId", "ruleIndex", "level", "message", "locations",
                                                   "relatedLocations", "analysisTarget", "properties"})
                self.assertEqual(ids[result["ruleIndex"]], result["ruleId"])
                self.assertIn(result["level"], ("none", "note", "warning", "error"))
                self.assertTrue(result["message"]["text"])
                for location in result["locations"] + result.get("relatedLocations", []):
                    self.validate_location(location)
                self.assertEqual([l["id"] for l in result.get("relatedLocations", [])],
                                 list(range(len(result.get("relatedLocations", [])))))

    def validate_location(self, location):
        self.assertLessEqual(set(location), {"id", "physicalLocation", "logicalLocations", "message"})
        physical = location["physicalLocation"]
        self.assertLessEqual(set(physical), {"artifactLocation", "region"})
        # A URI reference: no spaces, no bare percent sign, nothing beyond ASCII.
        self.assertRegex(physical["artifactLocation"]["uri"], r"^([A-Za-z0-9/._~-]|%[0-9A-F]{2})+$")
        if "region" in physical:
            self.assertGreaterEqual(physical["region"]["startLine"], 1)
        for logical in location.get("logicalLocations", []):
            self.assertLessEqual(set(logical), {"name", "fullyQualifiedName", "kind"})

    def test_nothing_wrong(self):
        self.assertEqual(self.log(models.dense()), (0, {
            "tool": {"driver": {"name": "sluice", "version": self.version(), "rules": []}}, "results": []}))

    def version(self):
        return json.loads(self.sluice("version", "--json")[1])["version"]

    def test_a_layout_error(self):
        code, run = self.log(with_trace(models.lost_by_reshape()), "a b%.onnx")
        self.assertEqual(code, REFUSED)
        self.assertEqual(run["tool"]["driver"]["rules"],
                         [{"id": "E0303", "shortDescription": {"text": "a reshape loses the data dimension"},
                           "help": {"text": "sluice explain E0303"}}])
        result, = run["results"]
        self.assertEqual(result["analysisTarget"], {"uri": "a%20b%25.onnx"})
        self.assertEqual(result["locations"][0]["physicalLocation"],
                         {"artifactLocation": {"uri": "/home/ann/net.py"}, "region": {"startLine": 8}})
        self.assertEqual(result["locations"][0]["logicalLocations"],
                         [{"name": "flat", "fullyQualifiedName": 'node 1 "flat" (Flatten)', "kind": "member"}])
        self.assertEqual([step["message"]["text"] for step in result["relatedLocations"]],
                         [f"node 0 \"proj\" (MatMul): 'h' [4! 5], {LEFT}",
                          "node 1 \"flat\" (Flatten): 'h' [4! 5], but this operation needs [4 5!]"])
        self.assertEqual([step["physicalLocation"]["region"]["startLine"] for step in result["relatedLocations"]], [7, 8])
        self.assertEqual(result["properties"]["rule"], "DD-RESHAPE")
        fixes = result["properties"]["fixes"]
        self.assertEqual([fix["flag"] for fix in fixes], [None, "--rewrite-layout", "--allow-dynamic-weights"])
        for fix in fixes:
            self.assertTrue(fix["verified"] and fix["text"] in result["message"]["text"], fix)

    def test_several_errors(self):
        """All conflicts of a model, in one run, in every format."""
        proto = models.model(
            [helper.make_node("MatMul", ["W", "x"], ["a"], name="left"),
             helper.make_node("MatMul", ["z", "W"], ["b"], name="right"),
             helper.make_node("Add", ["a", "b"], ["s"], name="sum"),
             helper.make_node("MatMul", ["W", "x"], ["c"], name="mix"),
             helper.make_node("Flatten", ["c"], ["f"], name="flat", axis=0)],
            [models.tensor("x", 4, 4), models.tensor("z", 4, 4)],
            [models.tensor("s", 4, 4), models.tensor("f", 1, 16)], [models.constant("W", models.values(4, 4))])
        code, run = self.log(proto)
        self.assertEqual((code, [r["ruleId"] for r in run["results"]]), (REFUSED, ["E0301", "E0303"]))
        self.assertEqual([r["id"] for r in run["tool"]["driver"]["rules"]], ["E0301", "E0303"])
        code, out, err = self.sluice("check", "m.onnx", "--target", "c2b8", "--format", "json")
        result = json.loads(out)
        self.assertEqual((code, result["schema"], result["ok"], result["tensors"]), (REFUSED, 1, False, []))
        self.assertEqual([e["code"] for e in result["errors"]], ["E0301", "E0303"])
        self.assertEqual(re.findall(r"error\[(E\d+)\]", err), ["E0301", "E0303"])
        for error in result["errors"]:
            self.assertEqual(set(error), {"code", "rule", "node", "message", "notes", "chain", "fixes", "kind"})
            for step in error["chain"]:
                self.assertEqual(set(step), {"node", "tensor", "shape", "data_dim", "why"})
            for fix in error["fixes"]:
                self.assertEqual(set(fix), {"text", "flag", "verified", "cycles", "extra_cycles"})
                # What resolves one of two errors does not compile.
                self.assertEqual(fix["verified"], fix["flag"] is not None, fix)
            self.assertIn("--allow-dynamic-weights", [fix["flag"] for fix in error["fixes"]])


def puzzle(variables, clauses, seed):
    """A hard instance of one-in-three satisfiability as a layout. An input [1 1 1] is a clause: its data dimension is
    the one literal that holds. A variable is a tensor [1 1] whose data dimension is 1 if it is true. The literals are
    indices, since a maximum of one element is the element."""
    source = random.Random(seed)
    nodes, inputs, uses = [], [], {}

    def add(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    for i in range(clauses):
        x = f"x{i}"
        inputs.append(models.tensor(x, 1, 1, 1))
        # Without the last axis, the middle one is alone at place 1; without the first one, the last.
        literals = [add("Cast", [add("ArgMax", [y], f"{name}{i}i", axis=axis, keepdims=0)], f"{name}{i}", to=TensorProto.FLOAT)
                    for name, y, axis in (("a", add("Transpose", [x], f"t{i}", perm=[1, 0, 2]), 2), ("b", x, 2), ("c", x, 0))]
        for literal, variable in zip(literals, source.sample(range(variables), 3)):
            uses.setdefault(variable, []).append(literal)
    outputs = []
    for variable, literals in sorted(uses.items()):
        outputs.append(literals[0])
        for k, literal in enumerate(literals[1:]):
            outputs[-1] = add("Add", [outputs[-1], literal], f"v{variable}_{k}")
    return models.model(nodes, inputs, [models.tensor(y, 1, 1) for y in outputs])


class Search(Refusal):
    def test_gives_up(self):
        onnx.save(puzzle(200, 140, 1), self.dir / "m.onnx")
        code, out, err = self.sluice("check", "m.onnx", "--target", "c2b8")
        self.assertEqual((code, out), (REFUSED, b""))
        self.assertRegex(err, r"\Aerror\[E0310\]: \d+ operations have conflicting data dimensions, too many to list "
                              r"\(limit 100\); pin tensors with --data-dim\n  --> m.onnx\n\Z")


if __name__ == "__main__":
    main()
