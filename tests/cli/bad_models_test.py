#!/usr/bin/env python3
"""Models, flags and inputs that are refused: for each the exit code, every word
said, nothing on standard output and no output file.

usage: bad_models_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import helper, numpy_helper

import bad_models as models
from folder import main
from refusal import MALFORMED, REFUSED, TOO_BIG, USAGE, Refusal


class Graphs(Refusal):
    def test_cycle(self):
        self.compile_refused(MALFORMED, """
            error[E0109]: 3 nodes form a cycle, each needs the result of the one before
              --> m.onnx: node 0 "first" (Add)
             note: node 0 'first' (Add)
             note: node 1 'second' (Relu)
             note: node 2 'third' (Tanh)
            """, models.cycle())

    def test_name_that_is_no_text(self):
        data = models.dense().SerializeToString()
        self.save("m.onnx", data.replace(b"act", b"a\xfft"))
        self.compile_refused(MALFORMED, """
            error[E0102]: the name of node 1 is 'a\ufffdt', which is not UTF-8 text: the file is damaged
              --> m.onnx
            """)

    def test_undefined_input(self):
        self.compile_refused(MALFORMED, """
            error[E0108]: input 2 is 'b', which no graph input, initializer or node defines
              --> m.onnx: node 0 "fc" (Gemm)
            """, models.undefined_input())

    def test_all_unsupported_operators(self):
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'MaxRoiPool' is not supported
              --> m.onnx: node 1 "determinant" (MaxRoiPool)
             help: express it with operators that `sluice ops` lists, or cut the model before it
            error[E0201]: operator 'StringNormalizer' is not supported: it works on strings, the accelerator on numbers
              --> m.onnx: node 3 "positions" (StringNormalizer)
             help: express it with operators that `sluice ops` lists, or cut the model before it
            """, models.unsupported())

    def test_what_many_nodes_share(self):
        """One message for each operator, with the first nodes; --verbose and JSON have them all."""
        nodes = [helper.make_node("MaxRoiPool", ["x"], [f"d{i}"], name=f"det{i}") for i in range(7)]
        nodes += [helper.make_node("StringNormalizer", ["x"], [f"n{i}"], name=f"at{i}") for i in range(2)]
        outputs = [node.output[0] for node in nodes]
        proto = models.model(nodes, [models.tensor("x", 8, 8)], [models.tensor(y, 1) for y in outputs])
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'MaxRoiPool' is not supported, at 7 nodes
              --> m.onnx: node 0 "det0" (MaxRoiPool)
             also: node 1 "det1" (MaxRoiPool), node 2 "det2" (MaxRoiPool), node 3 "det3" (MaxRoiPool), node 4 "det4" (MaxRoiPool), and 2 more, \
--verbose lists them
             help: express it with operators that `sluice ops` lists, or cut the model before it
            error[E0201]: operator 'StringNormalizer' is not supported: it works on strings, the accelerator on numbers, at 2 nodes
              --> m.onnx: node 7 "at0" (StringNormalizer)
             also: node 8 "at1" (StringNormalizer)
             help: express it with operators that `sluice ops` lists, or cut the model before it
            """, proto)
        strings = {"StringNormalizer": ": it works on strings, the accelerator on numbers"}
        self.refused(REFUSED, "".join(
            f"error[E0201]: operator '{node.op_type}' is not supported{strings.get(node.op_type, '')}\n  --> m.onnx: node {i} \"{node.name}\" "
            f"({node.op_type})\n help: express it with operators that `sluice ops` lists, or cut the model before it\n"
            for i, node in enumerate(nodes)), "check", "m.onnx", "--verbose")
        for form in ("json", "sarif"):
            _, out, _ = self.sluice("check", "m.onnx", "--format", form)
            found = json.loads(out)
            errors = (found["errors"] if form == "json" else found["runs"][0]["results"])
            names = [e["node"]["name"] if form == "json" else e["locations"][0]["logicalLocations"][0]["name"]
                     for e in errors]
            self.assertEqual(names, [node.name for node in nodes])

    def test_refused_layouts_that_many_nodes_share(self):
        """The chain is that of the first."""
        nodes = [helper.make_node("MatMul", ["x", "z"], [f"y{i}"], name=f"product{i}") for i in range(2)]
        self.layout_refused("""
            error[E0306]: both sides of the product are activations, at 2 nodes
              --> m.onnx: node 0 "product0" (MatMul)
               |  operand 0 'x': activation [4 8]
               |  operand 1 'z': activation [8 4]
             rule DD-MM-DYN: one side of a product is a constant, unless dynamic weights are allowed
             chain:
               node 0 "product0" (MatMul): 'y0' [4 4], refused whatever the data dimensions
             also: node 1 "product1" (MatMul)
             help: compile with --allow-dynamic-weights (DD-MM-DYN-4): contracted along both data \
dimensions: the rightmost axis by convention, checked, about 16 more cycles
             help: make the input 'z' a constant of the model, if it is the same in every inference
            """, models.model(nodes, [models.tensor("x", 4, 8), models.tensor("z", 8, 4)],
                              [models.tensor("y0", 4, 4), models.tensor("y1", 4, 4)]))

    def test_branches(self):
        """An If is replaced by the branch that its condition chooses, if that is known."""
        def chosen(nodes, output, condition="yes", **graph):
            branch = helper.make_graph(nodes, "branch", [], [models.tensor(output, 1, 8)])
            node = helper.make_node("If", [condition], ["y"], name="choose", then_branch=branch, **graph)
            return models.model([helper.make_node("Relu", ["x"], ["h"], name="act"),
                                 helper.make_node("Greater", ["h", "zero"], ["open"], name="test"), node],
                                [models.tensor("x", 1, 8)], [models.tensor("y", 1, 8)],
                                [models.constant("yes", np.bool_(True)), models.constant("zero", np.float32(0))])
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'If' is not supported: its condition is not known at import
              --> m.onnx: node 2 "choose" (If)
             help: fold it with onnxsim, given the input shapes, or unroll it when exporting
            """, chosen([helper.make_node("Neg", ["h"], ["n"])], "n", "open"))
        self.compile_refused(MALFORMED, """
            error[E0108]: 'ghost' is used in the graph 'then_branch' before anything defines it
              --> m.onnx: node 2 "choose/Neg" (Neg)
            """, chosen([helper.make_node("Neg", ["ghost"], ["n"])], "n"))
        self.compile_refused(MALFORMED, """
            error[E0108]: 'ghost' is used in the graph 'then_branch' before anything defines it
              --> m.onnx: node 2 "choose" (If)
            """, chosen([helper.make_node("Neg", ["h"], ["n"])], "ghost"))
        self.compile_refused(MALFORMED, """
            error[E0108]: output 0 of the graph 'then_branch' has no name, so nothing defines it
              --> m.onnx: node 2 "choose" (If)
            """, chosen([helper.make_node("Neg", ["h"], ["n"])], ""))
        self.compile_refused(MALFORMED, """
            error[E0107]: 'h' of the graph 'then_branch' is already defined outside
              --> m.onnx: node 2 "choose" (If)
            """, chosen([helper.make_node("Neg", ["h"], ["h"])], "h"))
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'MaxRoiPool' is not supported
              --> m.onnx: node 2 "choose/MaxRoiPool" (MaxRoiPool)
             help: express it with operators that `sluice ops` lists, or cut the model before it
            """, chosen([helper.make_node("MaxRoiPool", ["h"], ["n"])], "n"))
        none = chosen([helper.make_node("Neg", ["h"], ["n"])], "n")
        none.graph.node[2].attribute[0].name = "branch"
        self.compile_refused(REFUSED, """
            error[E0206]: If requires: attribute 'then_branch' is a graph with as many outputs as the node
              --> m.onnx: node 2 "choose" (If)
            """, none)

    def test_long_loop(self):
        """A loop that can only be written out trip by trip says how long it is, whoever made it."""
        rnn = models.model([helper.make_node("RNN", ["x", "W", "R"], ["y"], name="rnn", direction="reverse", hidden_size=4)],
                           [models.tensor("x", 8192, 1, 8)], [models.tensor("y", 8192, 1, 1, 4)],
                           [models.constant("W", models.values(1, 4, 8)), models.constant("R", models.values(1, 4, 4))])
        self.compile_refused(TOO_BIG, """
            error[E0415]: the loop makes 8192 trips of 2 operations, and is written out trip by trip, which is done \
for at most 10000 operations
              --> m.onnx: node 0 "rnn" (RNN)
             help: give the model a shorter sequence, and what it carries as inputs and outputs: it then runs part by part
            """, rnn)
        body = helper.make_graph([helper.make_node("Cast", ["i"], ["number"], to=1),
                                  helper.make_node("Add", ["v", "number"], ["w"])], "body",
                                 [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("c", 9, []),
                                  models.tensor("v", 8)], [helper.make_tensor_value_info("c", 9, []), models.tensor("w", 8)])
        loop = models.model([helper.make_node("Loop", ["M", "", "x"], ["y"], name="count", body=body)],
                            [models.tensor("x", 8)], [models.tensor("y", 8)], [models.constant("M", np.int64(10**12))])
        self.compile_refused(TOO_BIG, """
            error[E0415]: Loop: the loop makes 1000000000000 trips of 2 operations, and is written out trip by trip, \
which is done for at most 10000 operations
              --> m.onnx: node 0 "count" (Loop)
             help: give the model a shorter sequence, and what it carries as inputs and outputs: it then runs part by part
            """, loop)

    def test_attributes(self):
        self.compile_refused(REFUSED, """
            error[E0203]: Gemm requires: attribute 'transB' is 0 or 1, 0 by default; found 2
              --> m.onnx: node 0 "fc" (Gemm)
            error[E0203]: attribute 'slope' of Relu is not supported in opset 13, Relu has none
              --> m.onnx: node 1 "act" (Relu)
            """, models.refused_attribute())

    def test_shapes(self):
        self.compile_refused(REFUSED, """
            error[E0206]: MatMul requires: the contracted extents of the inputs are equal, the axes before the last \
two broadcast, and both ranks are at least 1; found [1 8] and [9 6]
              --> m.onnx: node 0 "fc" (MatMul)
            """, models.shapes_differ())

    def test_versions(self):
        for version in (0, 27):
            proto = models.dense()
            proto.opset_import[0].version = version
            self.compile_refused(REFUSED, f"""
                error[E0104]: the model uses opset {version}, allowed are 1 to 26
                  --> m.onnx
                 help: export the model with opset 1 to 26, or convert it with onnx.version_converter
                """, proto)

    def test_bias_overflows(self):
        """Constants that are added behind a product become its bias."""
        for numbers in ((3e38, 3e37, 3e37), (-3e38, -3e38)):
            self.compile_refused(REFUSED, """
                error[E0408]: a bias is not finite, biases must be below 3.4e38
                  --> m.onnx: node 0 "fc" (MatMul)
                """, models.biased(*numbers))

    def test_too_big(self):
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit c2b8: core 0 needs 2176 weight blocks, 128 more than its 2048
              --> m.onnx
             note: node 0 'wide' (MatMul) takes 2048 weight blocks of core 0
             note: node 1 'narrow' (MatMul) takes 128 weight blocks of core 0
             help: use a target with more weight blocks or more cores
            """, models.too_big())


class Layouts(Refusal):
    def test_sum_of_two_layouts(self):
        self.layout_refused("""
            error[E0301]: operands of a pointwise operation have different data dimensions
              --> m.onnx: node 2 "sum" (Add)
               |  operand 0 'left': activation [4! 5]
               |  operand 1 'right': activation [4 5!]
             rule DD-PW: [a b! c] (*) [a b! c] -> [a b! c]
             chain:
               node 0 "left_weights" (MatMul): 'left' [4! 5], weights on the left: the contracted axis carries the \
data dimension
               node 1 "right_weights" (MatMul): 'right' [4 5!], weights on the right: the contracted axis carries \
the data dimension
               node 2 "sum" (Add): 'right' [4 5!], needs [4! 5]
             help: compile with --allow-dynamic-weights, checked, about 8 more cycles
             help: compile with --rewrite-layout: relayout of the result 'left' from [4! 5] to [4 5!] at node 0, \
checked, about 26 more cycles
            """, models.two_layouts())

    def test_two_products_of_one_input(self):
        """What the last step needs is said of the chain, whatever else depends on the result."""
        self.layout_refused("""
            error[E0302]: the product contracts an axis that is not the data dimension
              --> m.onnx: node 1 "right" (MatMul)
               |  operand 0 'x': activation [4! 4]
               |  operand 1 'W': constant [4 4]
             rule DD-MM-CONST: [* i j] @ [* j! k] -> [* i! k] and [* k j!] @ [* j i] -> [* k i!]
             chain:
               node 0 "left" (MatMul): 'x' [4! 4], weights on the left: the contracted axis carries the data dimension
               node 1 "right" (MatMul): 'x' [4! 4], needs [4 4!]
             help: compile with --allow-dynamic-weights, checked, about 8 more cycles
             help: compile with --rewrite-layout: relayout of operand 1 'x' from [4 4!] to [4! 4], relayout of the \
result 'l' from [4! 4] to [4 4!] at node 0, checked, about 48 more cycles
            """, models.model([helper.make_node("MatMul", ["W", "x"], ["l"], name="left"),
                               helper.make_node("MatMul", ["x", "W"], ["r"], name="right"),
                               helper.make_node("Concat", ["l", "r"], ["y"], name="join", axis=0)],
                              [models.tensor("x", 4, 4)], [models.tensor("y", 8, 4)],
                              [models.constant("W", models.values(4, 4))]))

    def test_transposed_before_a_reshape(self):
        """Fixes exchange axes of more than one element where they can."""
        self.layout_refused("""
            error[E0303]: no axis after the reshape has the stride of the data dimension
              --> m.onnx: node 1 "flat" (Flatten)
               |  operand 0 'h': activation [1 5! 16]
             rule DD-RESHAPE: the stride of the data dimension is kept: [a (n*b)! c] -> [a n b! c]
             chain:
               node 0 "mix" (MatMul): 'h' [1 5! 16], weights on the left: the contracted axis carries the data dimension
               node 1 "flat" (Flatten): 'h' [1 5! 16], needs [1! 5 16] or [1 5 16!]
             help: compile with --allow-dynamic-weights, checked, about 10 more cycles
             help: transpose axes 1 and 2 before the reshape, if the model's order of elements may change, checked
             help: compile with --rewrite-layout: relayout of operand 0 'h' from [1 5! 16] to [1! 5 16] at node 1, \
checked, about 56 more cycles
            """, models.model([helper.make_node("MatMul", ["W", "x"], ["h"], name="mix"),
                               helper.make_node("Flatten", ["h"], ["y"], name="flat", axis=1)],
                              [models.tensor("x", 1, 3, 16)], [models.tensor("y", 1, 80)],
                              [models.constant("W", models.values(5, 3))]))

    def test_wrong_pin(self):
        self.layout_refused("""
            error[E0302]: the product contracts an axis that is not the data dimension
              --> m.onnx: node 0 "fc" (Gemm)
               |  operand 0 'x': activation [1! 8]
               |  operand 1 'W': constant [8 6]
             rule DD-MM-CONST: [* i j] @ [* j! k] -> [* i! k] and [* k j!] @ [* j i] -> [* k i!]
             chain:
               'x' [1! 8], --data-dim x=0
               node 0 "fc" (Gemm): 'x' [1! 8], needs [1 8!]
             help: replace --data-dim x=0 by --data-dim x=1, or drop it, checked
             help: compile with --allow-dynamic-weights (DD-MM-DYN-1): the axis that is not contracted is kept, \
checked, about 12 more cycles
             help: compile with --rewrite-layout: relayout of operand 0 'x' from [1! 8] to [1 8!] at node 0, \
checked, about 20 more cycles
            """, models.dense(), flags=("--data-dim", "x=0"))

    def test_reshape(self):
        self.layout_refused("""
            error[E0303]: no axis after the reshape has the stride of the data dimension
              --> m.onnx: node 1 "flat" (Flatten)
               |  operand 0 'h': activation [4! 5]
             rule DD-RESHAPE: the stride of the data dimension is kept: [a (n*b)! c] -> [a n b! c]
             chain:
               node 0 "proj" (MatMul): 'h' [4! 5], weights on the left: the contracted axis carries the data dimension
               node 1 "flat" (Flatten): 'h' [4! 5], needs [4 5!]
             help: compile with --allow-dynamic-weights, checked, about 8 more cycles
             help: transpose axes 0 and 1 before the reshape, if the model's order of elements may change, checked
             help: compile with --rewrite-layout: relayout of the result 'h' from [4! 5] to [4 5!] at node 0, \
checked, about 26 more cycles
            """, models.lost_by_reshape())

    def test_two_activations(self):
        self.layout_refused("""
            error[E0306]: both sides of the product are activations
              --> m.onnx: node 0 "attention" (MatMul)
               |  operand 0 'x': activation [4 8]
               |  operand 1 'z': activation [8 4]
             rule DD-MM-DYN: one side of a product is a constant, unless dynamic weights are allowed
             chain:
               node 0 "attention" (MatMul): 'y' [4 4], refused whatever the data dimensions
             help: compile with --allow-dynamic-weights (DD-MM-DYN-4): contracted along both data \
dimensions: the rightmost axis by convention, checked, about 8 more cycles
             help: make the input 'z' a constant of the model, if it is the same in every inference, checked
            """, models.two_activations())

    def test_contracted_on_neither_side(self):
        pins = ("--data-dim", "x=0", "--data-dim", "z=1")
        self.layout_refused("""
            error[E0307]: the contracted axis is the data dimension of neither side
              --> m.onnx: node 0 "attention" (MatMul)
               |  operand 0 'x': activation [4! 8]
               |  operand 1 'z': activation [8 4!]
             rule DD-MM-DYN-X: [* i! j] @ [* j! k] -> [* i! k], [* i j!] @ [* j k!] -> [* i k!] and [* i j!] @ \
[* j! k] -> [* i k!]
             chain:
               'x' [4! 8], --data-dim x=0
               'z' [8 4!], --data-dim z=1
               node 0 "attention" (MatMul): 'z' [8 4!], needs [8! 4]
             help: replace --data-dim z=1 by --data-dim z=0, or drop it, checked
             help: replace --data-dim x=0 by --data-dim x=1, or drop it, checked
             help: compile with --rewrite-layout: relayout of operand 0 'x' from [4! 8] to [4 8!] at node 0, \
checked, about 28 more cycles
            """, models.two_activations(), flags=("--allow-dynamic-weights", *pins))
        # Without the first flag the message names both.
        self.layout_refused("""
            error[E0306]: both sides of the product are activations
              --> m.onnx: node 0 "attention" (MatMul)
               |  operand 0 'x': activation [4! 8]
               |  operand 1 'z': activation [8 4!]
             rule DD-MM-DYN: one side of a product is a constant, unless dynamic weights are allowed
             chain:
               node 0 "attention" (MatMul): 'y' [4 4], refused whatever the data dimensions
             help: compile with --allow-dynamic-weights --rewrite-layout: relayout of operand 0 'x' from [4! 8] to \
[4 8!] at node 0, checked, about 40 more cycles
            """, models.two_activations(), flags=pins)
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "--allow-dynamic-weights",
                                   "--rewrite-layout", *pins)
        self.assertEqual((code, err), (0, ""))

    def test_only_both_flags(self):
        """What one flag does for one error is not offered where the model needs both; what resolves one error of
        two is not checked."""
        flags = "--allow-dynamic-weights --rewrite-layout"
        both = f"help: compile with {flags}: relayout of the result 'u' from [8! 8] to [8 8!] at node 1, checked, " \
               "about 44 more cycles"
        self.layout_refused(f"""
            error[E0306]: both sides of the product are activations
              --> m.onnx: node 0 "product" (MatMul)
               |  operand 0 'x': activation [8 8]
               |  operand 1 'z': activation [8 8]
             rule DD-MM-DYN: one side of a product is a constant, unless dynamic weights are allowed
             chain:
               node 0 "product" (MatMul): 'y' [8 8], refused whatever the data dimensions
             help: make the input 'z' a constant of the model, if it is the same in every inference
             help: make the input 'x' a constant of the model, if it is the same in every inference
             {both}
            error[E0301]: operands of a pointwise operation have different data dimensions
              --> m.onnx: node 2 "add" (Add)
               |  operand 0 'y': activation [8 8!]
               |  operand 1 'u': activation [8! 8]
             rule DD-PW: [a b! c] (*) [a b! c] -> [a b! c]
             chain:
               'y' [8 8!], assumed: [8! 8] does not fit either
               node 1 "turn" (Transpose): 'u' [8! 8], from [8 8!], the data dimension moves with its axis
               node 2 "add" (Add): 'u' [8! 8], needs [8 8!]
             help: make operand 0 'y' a graph input of its own
             help: make operand 1 'u' a graph input of its own
             {both}
            """, models.model([helper.make_node("MatMul", ["x", "z"], ["y"], name="product"),
                               helper.make_node("Transpose", ["y"], ["u"], name="turn"),
                               helper.make_node("Add", ["y", "u"], ["s"], name="add")],
                              [models.tensor("x", 8, 8), models.tensor("z", 8, 8)], [models.tensor("s", 8, 8)]))
        code, out, err = self.sluice("check", "m.onnx", "--target", "c2b8", *flags.split())
        self.assertEqual((code, err), (0, ""))

    def test_no_choice_fits(self):
        """One is shown, with the others; what helps is not what is so already."""
        self.layout_refused("""
            error[E0301]: operands of a pointwise operation have different data dimensions
              --> m.onnx: node 1 "add" (Add)
               |  operand 0 'x': activation [16 16!]
               |  operand 1 't': activation [16! 16]
             rule DD-PW: [a b! c] (*) [a b! c] -> [a b! c]
             chain:
               'x' [16 16!], assumed: [16! 16] does not fit either
               node 0 "turn" (Transpose): 't' [16! 16], from [16 16!], the data dimension moves with its axis
               node 1 "add" (Add): 't' [16! 16], needs [16 16!]
             help: read operand 0 'x' from a second graph input, given the same values, checked
             help: make operand 1 't' a graph input of its own, checked
             help: compile with --rewrite-layout: relayout of the result 't' from [16! 16] to [16 16!] at node 0, \
checked, about 144 more cycles
            """, models.model([helper.make_node("Transpose", ["x"], ["t"], name="turn"),
                               helper.make_node("Add", ["x", "t"], ["y"], name="add")],
                              [models.tensor("x", 16, 16)], [models.tensor("y", 16, 16)]))

    def test_a_tensor_times_its_own_view(self):
        """What a node makes on the way to its result is named after what it is made from. No side can be a constant."""
        self.layout_refused("""
            error[E0306]: both sides of the product are activations
              --> m.onnx: node 0 "gram" (Einsum)
               |  operand 0, transpose of 'x': activation [8 8]
               |  operand 1, transpose of 'x': activation [8 8]
             rule DD-MM-DYN: one side of a product is a constant, unless dynamic weights are allowed
             chain:
               node 0 "gram" (Einsum): 'y' [8 8], refused whatever the data dimensions
             help: compile with --allow-dynamic-weights (DD-MM-DYN-3): the side that is not contracted along its \
data dimension keeps it, checked, about 12 more cycles
            """, models.model([helper.make_node("Einsum", ["x", "x"], ["y"], name="gram", equation="ij,ki->jk")],
                              [models.tensor("x", 8, 8)], [models.tensor("y", 8, 8)]))

    def test_a_node_of_several_steps(self):
        """Those of a softmax say the same: once is enough."""
        self.layout_refused("""
            error[E0303]: no axis after the reshape has the stride of the data dimension
              --> m.onnx: node 2 "flat" (Flatten)
               |  operand 0 'm': activation [4! 5]
             rule DD-RESHAPE: the stride of the data dimension is kept: [a (n*b)! c] -> [a n b! c]
             chain:
               node 0 "mix" (MatMul): 'h' [4! 5], weights on the left: the contracted axis carries the data dimension
               node 1 "act" (Softmax): 'm' [4! 5], from [4! 5], pointwise operands agree
               node 2 "flat" (Flatten): 'm' [4! 5], needs [4 5!]
             help: compile with --allow-dynamic-weights, checked, about 8 more cycles
             help: transpose axes 0 and 1 before the reshape, if the model's order of elements may change, checked
             help: compile with --rewrite-layout: relayout of the result 'm' from [4! 5] to [4 5!] at node 1, \
checked, about 26 more cycles
            """, models.model([helper.make_node("MatMul", ["A", "x"], ["h"], name="mix"),
                               helper.make_node("Softmax", ["h"], ["m"], name="act", axis=1),
                               helper.make_node("Flatten", ["m"], ["f"], name="flat", axis=0)],
                              [models.tensor("x", 4, 5)], [models.tensor("f", 1, 20)],
                              [models.constant("A", models.values(4, 4))]))

    def test_behind_the_layout(self):
        """Nothing is checked of a model that does not fit, whatever its layout."""
        self.layout_refused("""
            error[E0306]: both sides of the product are activations
              --> m.onnx: node 0 "product" (MatMul)
               |  operand 0 'x': activation [4 8]
               |  operand 1 'z': activation [8 4]
             rule DD-MM-DYN: one side of a product is a constant, unless dynamic weights are allowed
             chain:
               node 0 "product" (MatMul): 'y' [4 4], refused whatever the data dimensions
             help: compile with --allow-dynamic-weights (DD-MM-DYN-4): contracted along both data \
dimensions: the rightmost axis by convention, about 8 more cycles
             help: make the input 'z' a constant of the model, if it is the same in every inference
            """, models.model([helper.make_node("MatMul", ["x", "z"], ["y"], name="product"),
                               helper.make_node("MatMul", ["u", "W"], ["v"], name="wide"),
                               helper.make_node("MatMul", ["v", "V"], ["w"], name="narrow")],
                              [models.tensor("x", 4, 8), models.tensor("z", 8, 4), models.tensor("u", 1, 256)],
                              [models.tensor("y", 4, 4), models.tensor("w", 1, 8)],
                              [models.constant("W", models.values(256, 1024)),
                               models.constant("V", models.values(1024, 8))]))

    def test_pins(self):
        for pin, message in (("x=7", "tensor 'x' has no axis 7, its shape is [1 8]"),
                             ("q=0", "no tensor is called 'q' (--data-dim q=0)")):
            self.compile_refused(USAGE, f"error[E0311]: {message}\n  --> m.onnx\n", models.dense(),
                                 flags=("--data-dim", pin))


class InputShapes(Refusal):
    def given(self, *shapes):
        return [word for shape in shapes for word in ("--input-shape", shape)]

    def test_free_dimension(self):
        self.compile_refused(USAGE, """
            error[E0111]: input 'x' has free dimensions in its shape [batch 8]
              --> m.onnx
             help: give every extent, for example like this (--input-shape x=1,8)
            """, models.free_dimension())
        code, out, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--json",
                                     *self.given("x=3,8"))
        self.assertEqual((code, err, json.loads(out)["ok"]), (0, "", True))
        np.save(self.dir / "x.npy", np.eye(3, 8, dtype=np.float32))
        code, _, err = self.sluice("run", "m.sluice", "--engine", "vm", "--input", "x=@x.npy", "--output", "y=@y.npy")
        self.assertEqual((code, err), (0, ""))
        weights, bias = (numpy_helper.to_array(i) for i in models.free_dimension().graph.initializer)
        np.testing.assert_allclose(np.load(self.dir / "y.npy"), np.maximum(weights[:3] + bias, 0), atol=0.03)

    def test_dimension_by_its_name(self):
        onnx.save(models.free_dimension(), self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *self.given("batch=3"))
        self.assertIn("input x float32 [3, 8]", " ".join(self.ok("inspect", "m.sluice", "--io").split()))
        self.compile_refused(USAGE, """
            error[E0112]: the model has no input or dimension 'Bach', its inputs are 'x', its dimensions 'batch'
              --> m.onnx
             help: did you mean 'batch'
            error[E0111]: input 'x' has free dimensions in its shape [batch 8]
              --> m.onnx
             help: give every extent, for example like this (--input-shape x=1,8)
            """, models.free_dimension(), flags=self.given("Bach=3"))

    def test_another_batch(self):
        """Of a model that fixes it, where nothing in the model depends on it."""
        onnx.save(models.dense(4), self.dir / "m.onnx")
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *self.given("x=1,8"))
        note = "axis 0 of input 'x' is 4 in the model and given as 1"
        self.assertEqual((code, err), (0, f"note: {note}\n"))
        code, out, err = self.sluice("check", "m.onnx", "--target", "c2b8", "--json", *self.given("x=1,8"))
        self.assertEqual((code, err, json.loads(out)["notes"]), (0, f"note: {note}\n", [note]))
        code, _, err = self.sluice("explain", "--plan", "m.onnx", "--target", "c2b8", *self.given("x=1,8"))
        self.assertEqual((code, err), (0, f"note: {note}\n"))
        x = np.float32([[1, -2, 3, 0.5, -1, 2, 0, 1]])
        np.save(self.dir / "x.npy", x)
        weights, bias = (numpy_helper.to_array(i) for i in models.dense(4).graph.initializer)
        np.save(self.dir / "y.npy", np.maximum(x @ weights + bias, 0))
        self.right("m.sluice")
        view = models.model([helper.make_node("Reshape", ["x", "s"], ["y"], name="view")], [models.tensor("x", 4, 8)],
                            [models.tensor("y", 8, 4)], [models.constant("s", np.int64([8, 4]))])
        self.compile_refused(USAGE, """
            error[E0112]: axis 0 of input 'x' is 4 in the model and given as 1, which the model does not allow
              --> m.onnx
             note: node 0 'view' (Reshape): Reshape requires: input 'shape' names as many elements as 'data' has, with \
at most one -1; found [8 4] for [1 8], 32 elements for 8
             help: give the extents of the model, or export it with a free batch
            """, view, flags=self.given("x=1,8"))

    def test_scalars(self):
        """[1] and [] are taken for each other; the program has what is computed."""
        for given, declared, text in ((["x"], [1], "[1], the program gives it the shape []"),
                                      (["x", "one"], [], "[], the program gives it the shape [1]")):
            nodes = [helper.make_node("ReduceSum", ["x"], ["s"], name="sum", keepdims=0),
                     helper.make_node("Reshape", ["s", "one"], ["r"], name="view") if len(given) > 1 else
                     helper.make_node("Identity", ["s"], ["r"], name="same"),
                     helper.make_node("Relu", ["r"], ["y"], name="act")]
            onnx.save(models.model(nodes, [models.tensor("x", 1, 8)], [models.tensor("y", *declared)],
                                   [models.constant("one", np.int64([1]))]), self.dir / "m.onnx")
            note = f"note: output 'y' is declared with the shape {text} that is computed\n"
            code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
            self.assertEqual((code, err), (0, note))
            np.save(self.dir / "x.npy", np.ones((1, 8), np.float32))
            np.save(self.dir / "y.npy", np.full([1] * (len(given) - 1), 8, np.float32))
            self.right("m.sluice")

    def test_extents_below_one(self):
        proto = models.dense(0)
        self.compile_refused(REFUSED, """
            error[E0114]: axis 0 of input 'x' is 0 in the model, at least 1 is needed
              --> m.onnx
             help: give the extent that is meant (--input-shape x=...,8)
            """, proto)
        proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -5
        self.compile_refused(MALFORMED, """
            error[E0110]: axis 0 of input 'x' is -5 in the model, at least 1 is needed
              --> m.onnx
             help: give the extent that is meant (--input-shape x=...,8)
            """, proto)

    def test_wrong_shapes(self):
        for shapes, code, message in (
                (["q=2,8"], "E0112", "the model has no input or dimension 'q', its inputs are 'x', its dimensions "
                              "'batch'"),
                (["batch=2,8"], "E0112", "dimension 'batch' is given 2 extents, 1 is needed"),
                (["batch=0"], "E0112", "dimension 'batch' is given as 0, at least 1 is needed"),
                (["batch=2", "x=3,8"], "E0112", "dimension 'batch' is given as 3 in input 'x' and as 2 by its name"),
                (["x=2,9"], "E0112", "axis 1 of input 'x' is 8 in the model and given as 9"),
                (["x=2"], "E0112", "input 'x' has the shape [batch 8] of rank 2, the given [2] has rank 1"),
                (["x=0,8"], "E0112", "axis 0 of input 'x' is given as 0, at least 1 is needed"),
                (["x=-1,8"], "E0112", "axis 0 of input 'x' is given as -1, at least 1 is needed"),
                (["x=2,8", "x=3,8"], "E0601", "--input-shape gives 'x' more than once"),
                (["x"], "E0601", "--input-shape 'x' is not of the form NAME=N,N,..."),
                (["x=a"], "E0601", "--input-shape 'x=a' is not of the form NAME=N,N,..."),
                (["x=99999999999999999999,8"], "E0601",
                 "--input-shape 'x=99999999999999999999,8' is not of the form NAME=N,N,...")):
            with self.subTest(shapes=shapes):
                text = f"error[{code}]: {message}\n"
                if code == "E0112":
                    text += "  --> m.onnx\n"
                if shapes[0] in ("q=2,8", "batch=2,8", "batch=0"):
                    text += ("error[E0111]: input 'x' has free dimensions in its shape [batch 8]\n  --> m.onnx\n"
                             " help: give every extent, for example like this (--input-shape x=1,8)\n")
                self.compile_refused(USAGE, text, models.free_dimension(), flags=self.given(*shapes))


class Flags(Refusal):
    def test_target(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        self.save("t.json", b"{}")
        unknown = "error[E0515]: unknown target 'c9b9', allowed: c2b8, c3b64, c6b32, c6b32-deep or a .json file\n"
        for command in (("compile", "m.onnx", "-o", "new.sluice", "--target"), ("check", "m.onnx", "--target"),
                        ("targets", "--show")):
            self.refused(USAGE, unknown, *command, "c9b9")
            self.refused(MALFORMED, "error[E0514]: target 't.json': 'name' must be a string\n", *command, "t.json")

    def test_target_that_is_meant(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        for command in (("compile", "m.onnx", "-o", "new.sluice", "--target"), ("check", "m.onnx", "--target"),
                        ("targets", "--show")):
            self.refused(USAGE, "error[E0515]: unknown target 'C6B23', allowed: c2b8, c3b64, c6b32, c6b32-deep or a "
                         ".json file\n help: did you mean 'c6b32'\n", *command, "C6B23")

    def test_unknown_words(self):
        for message, args in (
                ("there is no command or flag 'frobnicate'; see 'sluice --help'", ["frobnicate"]),
                ("a subcommand is required; see 'sluice --help'", []),
                ("model is required; see 'sluice compile --help'", ["compile"]),
                ("the following argument was not expected: --frob; see 'sluice compile --help'",
                 ["compile", "m.onnx", "--frob"]),
                ("the following argument was not expected: --taget=c2b8; see 'sluice compile --help'\n"
                 " help: did you mean '--target'", ["compile", "m.onnx", "--taget=c2b8"]),
                ("there is no command or flag 'complie'; see 'sluice --help'\n help: did you mean 'compile'",
                 ["complie", "m.onnx", "-o", "m.sluice"]),
                ("there is no command or flag '--jsn'; see 'sluice --help'\n help: did you mean '--json'", ["--jsn"]),
                ("the following argument was not expected: more; see 'sluice compile --help'",
                 ["compile", "m.onnx", "more"]),
                ("--target: 1 required TEXT missing; see 'sluice compile --help'", ["compile", "m.onnx", "--target"]),
                ("--effort: max not in {fast,default,high}; see 'sluice compile --help'",
                 ["compile", "m.onnx", "--effort", "max"]),
                ("--format: xml not in {text,json,sarif}; see 'sluice check --help'",
                 ["check", "m.onnx", "--format", "xml"]),
                ("--engine: gpu not in {vm,rtl,both}; see 'sluice run --help'", ["run", "p.sluice", "--engine", "gpu"]),
                ("--steps: Value 0 not in range 1 to 1048576; see 'sluice run --help'",
                 ["run", "p.sluice", "--steps", "0"]),
                ("--atol: -1 is not a number of at least 0; see 'sluice run --help'",
                 ["run", "p.sluice", "--atol", "-1"])):
            with self.subTest(args=args):
                self.refused(USAGE, f"error: {message}\n", *args)

    def test_output_that_cannot_be_written(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        (self.dir / "sub").mkdir()
        for path, reason in (("no/p.sluice", "No such file or directory"), ("sub", "Is a directory")):
            self.refused(USAGE, f"error[E0516]: cannot write '{path}': {reason}\n", "compile", "m.onnx", "--target",
                         "c2b8", "-o", path)
            # Neither is the program written where the result cannot be.
            for command in (("compile", "m.onnx", "-o", "p.sluice", "--target", "c2b8"), ("check", "m.onnx"),
                            ("compile", "missing.onnx"), ("targets",)):
                self.refused(USAGE, f"error[E0516]: cannot write '{path}': {reason}\n", *command, f"--json={path}")


class Inputs(Refusal):
    def setUp(self):
        super().setUp()
        self.compiled()
        self.save("y.npy", self.old_output)

    def run_refused(self, code, text, *args):
        self.refused(code, text, "run", "good.sluice", "--engine", "vm", "--output", "y=@y.npy", *args)

    def test_names(self):
        self.run_refused(USAGE, """
            error[E0602]: the model has no input 'X', allowed: 'x'
              --> good.sluice
             help: did you mean 'x'
            error[E0603]: input 'x' [1, 8] is not given
              --> good.sluice
            """, "--input", "X=zeros")
        self.run_refused(USAGE, """
            error[E0601]: '@x.npy' does not say for which input, allowed: NAME=@FILE, or @FILE.npz whose members \
have the inputs' names
              --> good.sluice
            error[E0603]: input 'x' [1, 8] is not given
              --> good.sluice
            """, "--input", "@x.npy")
        for args, code, message in (
                ([], "E0603", "input 'x' [1, 8] is not given"),
                (["--input", "x=zeros", "--input", "x=zeros"], "E0603", "input 'x' is given twice"),
                (["--input", "x=zeros", "--output", "z=@z.npy"], "E0602", "the model has no output 'z', allowed: 'y'"),
                (["--input", "x=zeros", "--expect", "z=@y.npy"], "E0602", "the model has no output 'z', allowed: 'y'"),
                (["--input", "x=ones"], "E0601", "input 'x' is 'ones', allowed: @FILE, zeros, random:SEED"),
                (["--input", "x=zeros", "--model", "other"], "E0602", "the file has no model 'other', allowed: good")):
            with self.subTest(args=args):
                self.run_refused(USAGE, f"error[{code}]: {message}\n  --> good.sluice\n", *args)

    onnx_types = ("float (1), uint8 (2), int8 (3), uint16 (4), int16 (5), int32 (6), int64 (7), bool (9), float16 (10), "
                  "double (11), uint32 (12), uint64 (13), bfloat16 (16)")

    def test_shape_and_type(self):
        ones = np.ones((1, 8), dtype=np.float32)
        np.save(self.dir / "flat.npy", ones.reshape(8))
        np.save(self.dir / "seven.npy", ones[:, :7])
        np.save(self.dir / "complex.npy", ones.astype(np.complex64))
        self.save("complex.pb", numpy_helper.from_array(ones.astype(np.complex64), "x").SerializeToString())
        numbers = "b1, i1 to i8, u1 to u8, f2, f4, f8, bfloat16 (V2)"
        for file, message in (
                ("flat.npy", "input 'x' has shape [8], the model has [1, 8]"),
                ("seven.npy", "input 'x' has shape [1, 7], the model has [1, 8]"),
                ("complex.npy", f"'complex.npy': elements of type '<c8', allowed: {numbers}"),
                ("complex.pb", f"'complex.pb': elements of ONNX type 14, allowed: {self.onnx_types}"),
                ("good.onnx", "'good.onnx' has an unknown ending, allowed: .npy, .npz, .pb")):
            with self.subTest(file=file):
                self.run_refused(USAGE, f"error[E0604]: {message}\n  --> good.sluice\n", "--input", f"x=@{file}")
        self.run_refused(USAGE, """
            error[E0604]: reference of output 'y' has shape [1, 7], the model has [1, 6]
              --> good.sluice
            """, "--input", "x=zeros", "--expect", "y=@seven.npy")

    def test_files(self):
        self.save("cut.pb", numpy_helper.from_array(np.ones((1, 8), np.float32), "x").SerializeToString()[:-3])
        self.run_refused(MALFORMED, """
            error[E0605]: 'cut.pb': not a valid .pb tensor: it is not a TensorProto
              --> good.sluice
            """, "--input", "x=@cut.pb")
        self.run_refused(MALFORMED, "error[E0501]: cannot read 'no.npy': No such file or directory\n", "--input",
                         "x=@no.npy")

    def test_data_set(self):
        self.run_refused(MALFORMED, "error[E0615]: 'no' is not a folder\n  --> good.sluice\n", "--data-set", "no")
        (self.dir / "set").mkdir()
        self.run_refused(MALFORMED, "error[E0615]: 'set' has neither input_0.pb nor test_data_set_0\n"
                         "  --> good.sluice\n", "--data-set", "set")
        self.save("set/input_0.pb", numpy_helper.from_array(np.ones((1, 8), np.complex64), "x").SerializeToString())
        self.run_refused(USAGE, f"""
            error[E0604]: 'set/input_0.pb': elements of ONNX type 14, allowed: {self.onnx_types}
              --> good.sluice
            """, "--data-set", "set")


if __name__ == "__main__":
    main()
