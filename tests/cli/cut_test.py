#!/usr/bin/env python3
"""--inputs and --outputs: the part of a model between named tensors is compiled.

usage: cut_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import TensorProto, helper

import bad_models as models
from folder import main
from refusal import REFUSED, USAGE, Refusal

W, V = models.values(8, 8), models.values(8, 6)


def chain(middle="Frobnicate", last="Relu", batch=1, more=(), values=()):
    """x W -> a, middle -> b, b V -> c, last -> y; c2 = 2 c at the side. `more` are outputs beside y."""
    nodes = [helper.make_node("MatMul", ["x", "W"], ["a"], name="first"),
             helper.make_node(middle, ["a"], ["b"], name="middle"),
             helper.make_node("MatMul", ["b", "V"], ["c"], name="second"),
             helper.make_node("Add", ["c", "c"], ["c2"], name="side"),
             helper.make_node(last, ["c"], ["y"], name="last")]
    proto = models.model(nodes, [models.tensor("x", batch, 8)],
                         [models.tensor("y", batch, 6), *(helper.make_empty_tensor_value_info(name) for name in more)],
                         [models.constant("W", W), models.constant("V", V)])
    proto.graph.value_info.extend(values)
    return proto


def skip():
    """y = Relu(x W + x) over two paths, of which one has a Split with a second reader."""
    nodes = [helper.make_node("MatMul", ["x", "W"], ["h"], name="fc"),
             helper.make_node("Sigmoid", ["h"], ["s"], name="gate"),
             helper.make_node("Tanh", ["s"], ["t"], name="front"),
             helper.make_node("Add", ["t", "h"], ["sum"], name="skip"),
             helper.make_node("Split", ["sum"], ["left", "right"], name="halves", axis=1),
             helper.make_node("Mul", ["left", "right"], ["y"], name="product"),
             helper.make_node("Constant", [], ["one"], name="constant", value=models.constant("", np.float32([1]))),
             helper.make_node("Add", ["x2", "one"], ["z"], name="apart")]
    return models.model(nodes, [models.tensor("x", 1, 8), models.tensor("x2", 1, 8)],
                        [models.tensor("y", 1, 4), models.tensor("z", 1, 8)], [models.constant("W", W)])


class Cut(Refusal):
    def refuse(self, text, proto, *flags):
        self.compile_refused(USAGE, text, proto, flags=flags)

    def program(self, proto, *flags):
        """The names of the inputs and outputs of the program."""
        onnx.save(proto, self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *flags)
        io = json.loads(self.ok("inspect", "m.sluice", "--io", "--json"))["models"][0]
        return [one["name"] for one in io["inputs"]], [one["name"] for one in io["outputs"]]

    def save_x(self, x):
        np.save(self.dir / "x.npy", x)

    def save_y(self, y):
        np.save(self.dir / "y.npy", y)

    def test_part(self):
        """The part has the values of the model, whatever is not supported around it."""
        x = models.values(1, 8)
        self.save_x(x)
        self.assertEqual(self.program(chain(), "--outputs", "a"), (["x"], ["a"]))
        self.save_y(x @ W)
        self.right("m.sluice", output="a")
        b = models.tensor("b", 1, 8)
        self.assertEqual(self.program(chain(values=[b]), "--inputs", "b"), (["b"], ["y"]))
        self.save_y(np.maximum(x @ V, 0))
        np.save(self.dir / "b.npy", x)
        self.run_right("y", "b=@b.npy")
        self.assertEqual(self.program(chain(last="Frobnicate", values=[b]), "--inputs", "b", "--outputs", "c2"),
                         (["b"], ["c2"]))
        self.save_y(2 * x @ V)
        self.run_right("c2", "b=@b.npy")
        self.assertIn("--inputs b --outputs c2", self.ok("inspect", "m.sluice"))

    def run_right(self, output, *inputs):
        has = "c2b8" in json.loads(self.ok("version", "--json"))["engines"]["rtl"]
        flags = [word for one in inputs for word in ("--input", one)]
        self.ok("run", "m.sluice", "--engine", "both" if has else "vm", *flags, "--expect", f"{output}=@y.npy")

    def test_several(self):
        """Inputs and outputs keep the order of the flags; inputs that no listed output needs are left out."""
        self.assertEqual(self.program(skip(), "--outputs", "sum,s"), (["x"], ["sum", "s"]))
        self.assertEqual(self.program(skip(), "--inputs", "h", "--inputs", "t", "--outputs", "y"), (["h", "t"], ["y"]))
        self.assertEqual(self.program(skip(), "--inputs", "x2", "--outputs", "z"), (["x2"], ["z"]))

    def test_shapes(self):
        """An import of the nodes in front finds the shape, if the model does not say it."""
        self.assertEqual(self.program(chain("Tanh"), "--inputs", "b"), (["b"], ["y"]))
        self.program(chain("Tanh", batch="n"), "--inputs", "b", "--input-shape", "n=2")
        self.program(chain("Tanh", batch="n"), "--inputs", "b", "--input-shape", "x=2,8")
        self.assertIn("b [2, 8]", self.ok("check", "m.onnx", "--target", "c2b8", "--inputs", "b", "--input-shape", "x=2,8",
                                         "--explain-layout=b"))
        self.program(chain("Tanh"), "--inputs", "b", "--data-dim", "b=1")
        named = models.tensor("b", "rows", 8)
        self.program(chain(values=[named]), "--inputs", "b", "--input-shape", "rows=1")
        self.program(chain(values=[named]), "--inputs", "b", "--input-shape", "b=1,8")
        onnx.save(chain(), self.dir / "m.onnx")
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--inputs", "b",
                                   "--input-shape", "b=1,8")
        self.assertEqual((code, err), (0, "note: input 'b' is taken as float, as the model does not say its type\n"))
        self.refuse("""
            error[E0121]: the model does not say the type and shape of 'b'
              --> m.onnx
             note: a node in front of it is not supported, so the compiler cannot infer them
             help: write the shapes into the model (onnx.shape_inference.infer_shapes)
             help: give the shape of a float tensor (--input-shape b=...)
            """, chain(), "--inputs", "b")
        self.refuse("""
            error[E0111]: input 'b' has dynamic dimensions in its shape [rows 8]
              --> m.onnx
             help: give every extent, for example with --input-shape b=1,8
            """, chain(values=[named]), "--inputs", "b")

    def test_commands(self):
        """The commands that read a model take the flags."""
        onnx.save(chain(), self.dir / "m.onnx")
        flags = ("m.onnx", "--target", "c2b8", "--outputs", "a")
        self.assertEqual(self.ok("check", *flags), "m.onnx: 1 operators, all supported; fits c2b8\n")
        self.assertIn("first", self.ok("explain", "--plan", *flags, "--verbose"))
        self.assertIn("first", self.ok("explain", "--index-space", *flags))
        self.assertIn("sluice.name = \"a\"", self.ok("compile", *flags, "--emit", "graph"))

    def test_names(self):
        self.refuse("""
            error[E0121]: the model has no tensor 'bb', which --inputs lists
              --> m.onnx
             help: did you mean 'b'
            error[E0121]: the model has no tensor 'quite another', which --outputs lists
              --> m.onnx
            """, chain(), "--inputs", "bb", "--outputs", "quite another")
        self.refuse("""
            error[E0121]: --inputs lists 'W', which is a constant
              --> m.onnx
             help: leave it out: every part that reads a constant has it
            error[E0121]: --inputs lists 'one', which is a constant
              --> m.onnx
             help: leave it out: every part that reads a constant has it
            """, skip(), "--inputs", "W,x,one")
        self.refuse("""
            error[E0121]: --inputs lists 'x' more than once
              --> m.onnx
            error[E0121]: --outputs lists 'y' more than once
              --> m.onnx
            """, skip(), "--inputs", "x,x", "--outputs", "y", "--outputs", "y")
        self.refuse("""
            error[E0121]: --inputs and --outputs both list 's'
              --> m.onnx
            """, skip(), "--inputs", "s", "--outputs", "s")
        self.refuse("""
            error[E0121]: --outputs lists 'x', which is an input of the model
              --> m.onnx
            """, skip(), "--outputs", "x")
        for flag in ("--inputs", "--outputs"):
            for names in ("", "a,", ",a", "a,,b"):
                self.refused(USAGE, f"error[E0601]: {flag} '{names}' is not of the form NAME,NAME,...\n", "check",
                             "m.onnx", flag, names)

    def test_parts_that_are_none(self):
        self.refuse("""
            error[E0121]: output 'sum' needs input 'x' of the model, which --inputs does not list
              --> m.onnx
             help: list it, or a tensor between the two (--inputs t,x)
            """, skip(), "--inputs", "t", "--outputs", "sum")
        self.refuse("""
            error[E0121]: no output needs 's', which --inputs lists
              --> m.onnx
             help: leave it out, or list an output that depends on it
            """, skip(), "--inputs", "h,t,s", "--outputs", "sum")
        self.refuse("""
            error[E0121]: input 't' depends on 'h', which the compiled part computes
              --> m.onnx
             help: list 'h' in --inputs, or leave 't' out
            """, skip(), "--inputs", "t,x", "--outputs", "sum")
        self.refuse("""
            error[E0121]: input 't' depends on 's', which the compiled part computes
              --> m.onnx
             help: list 's' in --inputs, or leave 't' out
            """, skip(), "--inputs", "h,t", "--outputs", "s,sum")
        self.refuse("""
            error[E0121]: input 'left' is an output of node 4 'halves' (Split), which the compiled part needs
              --> m.onnx
             help: list the other outputs of the node too, or its inputs
            """, skip(), "--inputs", "left,x", "--outputs", "y")

    def test_offered(self):
        """The cut with most of the work is offered, with its share, if it has a layout. Two products of 64 and 48
        multiplications; the nodes in between are not supported."""
        problem = """
            error[E0201]: operator 'Frobnicate' is not supported: ONNX has no operator of this name up to opset 26
              --> m.onnx: node {} (Frobnicate)
             help: use operators that `sluice ops` lists, or cut the model before this node
            """
        offer = " help: compile with {}: {} % of the multiply-accumulates stay on the accelerator (verified)\n            "
        b = models.tensor("b", 1, 8)
        for proto, node, cut, share in (
                (chain(values=[b]), '1 "middle"', "--inputs x --outputs a", 57),
                (chain(values=[b], more=["c2"], batch=2), '1 "middle"', "--inputs x --outputs a", 57),
                (chain("Tanh", last="Frobnicate"), '4 "last"', "--inputs x --outputs c", 100),
                (chain("Tanh", last="Frobnicate", more=["c2"]), '4 "last"', "--inputs x --outputs c,c2", 100)):
            with self.subTest(cut=cut, node=node):
                if proto.graph.value_info:
                    proto.graph.value_info[0].type.tensor_type.shape.dim[0].dim_value = \
                        proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value
                text = problem.format(node) + offer.format(cut, share)
                self.compile_refused(REFUSED, text, proto)
                self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *cut.split())
        twice = models.model([helper.make_node("MatMul", ["x", "V"], ["a"]), helper.make_node("Frobnicate", ["a"], ["b"], name="bad"),
                              helper.make_node("MatMul", ["b", "W"], ["c"]), helper.make_node("Relu", ["c"], ["d"]),
                              helper.make_node("Frobnicate", ["d"], ["y"], name="worse")],
                             [models.tensor("x", 1, 8)], [models.tensor("y", 1, 8)],
                             [models.constant("W", W), models.constant("V", V)])
        twice.graph.value_info.append(b)
        self.compile_refused(REFUSED, problem.format('1 "bad"').replace("26\n", "26, at 2 nodes\n").replace(
            " help:", ' also: node 4 "worse" (Frobnicate)\n             help:') + offer.format("--inputs b --outputs d", 57), twice)
        onnx.save(chain("Tanh", last="Frobnicate", more=["c2"]), self.dir / "m.onnx")
        code, out, _ = self.sluice("check", "m.onnx", "--target", "c2b8", "--json")
        self.assertEqual(code, REFUSED)
        self.assertEqual([(fix["flag"], fix["verified"]) for fix in json.loads(out)["errors"][0]["fixes"]],
                         [(None, False), ("--inputs x --outputs c,c2", True)])

    def test_offered_for_a_feature(self):
        """A node that would need values known at compile time is cut off, in front of it or behind it."""
        nodes = [helper.make_node("MatMul", ["x", "V"], ["a"], name="first"), helper.make_node("ReduceMin", ["x"], ["least"], keepdims=0),
                 helper.make_node("Clip", ["a", "least"], ["y"], name="clip")]
        proto = models.model(nodes, [models.tensor("x", 1, 8)], [models.tensor("y", 1, 8)], [models.constant("V", V)])
        self.compile_refused(REFUSED, """
            error[E0205]: Clip: input 'min' must be known at compile time (a constant, or computed from constants and shapes); found a run-time tensor float []
              --> m.onnx: node 2 "clip" (Clip)
             help: compile with --inputs x --outputs a,least: 100 % of the multiply-accumulates stay on the accelerator (verified)
            """, proto)
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--inputs", "x", "--outputs", "a,least", "--rest", "rest.onnx")
        rest = onnx.load(self.dir / "rest.behind.onnx")
        self.assertEqual([node.name for node in rest.graph.node], ["clip"])

    def test_not_offered(self):
        """Not where the work of a part is not known, where there is none, or where the part has no layout."""
        problem = """
            error[E0201]: operator 'Frobnicate' is not supported: ONNX has no operator of this name up to opset 26
              --> m.onnx: node {} (Frobnicate)
             help: use operators that `sluice ops` lists, or cut the model before this node
            """
        self.compile_refused(REFUSED, problem.format('1 "middle"'), chain())
        self.compile_refused(REFUSED, problem.format('1 "bad"'), models.model(
            [helper.make_node("Relu", ["x"], ["h"], name="act"), helper.make_node("Frobnicate", ["h"], ["y"], name="bad")],
            [models.tensor("x", 1, 8)], [models.tensor("y", 1, 8)]))
        self.compile_refused(REFUSED, problem.format('1 "bad"'), models.model(
            [helper.make_node("MatMul", ["A", "x"], ["h"], name="fc"), helper.make_node("Softmax", ["h"], ["s"], axis=0),
             helper.make_node("Frobnicate", ["h"], ["y"], name="bad")][::2],
            [models.tensor("A", 4, 8), models.tensor("x", 8, 4)], [models.tensor("y", 4, 4)]))

    def test_textual_ir(self):
        self.save("m.mlir", b"func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> { return %x : tensor<1x8xf32> }")
        for flag in ("--inputs", "--outputs"):
            for command in ("check", "compile"):
                self.refused(USAGE, "error[E0121]: --inputs and --outputs need an ONNX model; textual IR is compiled as a "
                                    "whole\n  --> m.mlir\n", command, "m.mlir", flag, "x")

    def test_what_is_left_is_checked(self):
        """A node of the part that is not supported is reported as in a whole model."""
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'Frobnicate' is not supported: ONNX has no operator of this name up to opset 26
              --> m.onnx: node 1 "middle" (Frobnicate)
             help: use operators that `sluice ops` lists, or cut the model before this node
            """, chain(), flags=("--outputs", "c"))


if __name__ == "__main__":
    main()
