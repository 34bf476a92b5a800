#!/usr/bin/env python3
"""Models, shapes and flags that are refused: for each the exit code, every word
said, nothing on standard output and no output file.

usage: bad_models_test.py SLUICE [unittest arguments]
"""
import json

import numpy as np
import onnx
from onnx import helper, numpy_helper

import bad_models as models
from folder import main
from refusal import LONG, MALFORMED, REFUSED, TOO_BIG, USAGE, Refusal


class Graphs(Refusal):
    def test_cycle(self):
        self.compile_refused(MALFORMED, """
            error[E0109]: 3 nodes form a cycle; each depends on the one before
              --> m.onnx: node 0 "first" (Add)
             note: node 0 'first' (Add)
             note: node 1 'second' (Relu)
             note: node 2 'third' (Tanh)
            """, models.cycle())

    def test_name_that_is_no_text(self):
        data = models.dense().SerializeToString()
        self.save("m.onnx", data.replace(b"act", b"a\xfft"))
        self.compile_refused(MALFORMED, """
            error[E0102]: the name of node 1 is 'a\ufffdt', which is not UTF-8 text; the file is damaged
              --> m.onnx
            """)

    def test_undefined_input(self):
        self.compile_refused(MALFORMED, """
            error[E0108]: input 2 is 'b', but no graph input, initializer or node defines it
              --> m.onnx: node 0 "fc" (Gemm)
            """, models.undefined_input())

    def test_all_unsupported_operators(self):
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'Frobnicate' is not supported: ONNX has no operator of this name up to opset 26
              --> m.onnx: node 1 "determinant" (Frobnicate)
             help: use operators that `sluice ops` lists, or cut the model before this node
             help: compile with --inputs x --outputs h: 100 % of the multiply-accumulates stay on the accelerator (verified)
            error[E0201]: operator 'StringNormalizer' is not supported: it works on strings; the accelerator computes numbers only
              --> m.onnx: node 3 "positions" (StringNormalizer)
             help: use operators that `sluice ops` lists, or cut the model before this node
            """, models.unsupported())

    def test_what_many_nodes_share(self):
        """One message for each operator, with the first nodes; --verbose and JSON have them all."""
        nodes = [helper.make_node("Frobnicate", ["x"], [f"d{i}"], name=f"det{i}") for i in range(7)]
        nodes += [helper.make_node("StringNormalizer", ["x"], [f"n{i}"], name=f"at{i}") for i in range(2)]
        outputs = [node.output[0] for node in nodes]
        proto = models.model(nodes, [models.tensor("x", 8, 8)], [models.tensor(y, 1) for y in outputs])
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'Frobnicate' is not supported: ONNX has no operator of this name up to opset 26, \
at 7 nodes
              --> m.onnx: node 0 "det0" (Frobnicate)
             also: node 1 "det1" (Frobnicate), node 2 "det2" (Frobnicate), node 3 "det3" (Frobnicate), node 4 "det4" \
(Frobnicate), and 2 more (--verbose lists them)
             help: use operators that `sluice ops` lists, or cut the model before this node
            error[E0201]: operator 'StringNormalizer' is not supported: it works on strings; the accelerator computes \
numbers only, at 2 nodes
              --> m.onnx: node 7 "at0" (StringNormalizer)
             also: node 8 "at1" (StringNormalizer)
             help: use operators that `sluice ops` lists, or cut the model before this node
            """, proto)
        why = {"StringNormalizer": "it works on strings; the accelerator computes numbers only",
               "Frobnicate": "ONNX has no operator of this name up to opset 26"}
        self.refused(REFUSED, "".join(
            f"error[E0201]: operator '{node.op_type}' is not supported: {why[node.op_type]}\n  --> m.onnx: node {i} "
             f"\"{node.name}\" "
            f"({node.op_type})\n help: use operators that `sluice ops` lists, or cut the model before this node\n"
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
            error[E0306]: both operands of the product are activations, at 2 nodes
              --> m.onnx: node 0 "product0" (MatMul)
               |  operand 0 'x': activation [4 8]
               |  operand 1 'z': activation [8 4]
             rule DD-MM-DYN: one operand of a product is a constant, unless --allow-dynamic-weights is given
             chain:
               node 0 "product0" (MatMul): 'y0' [4 4], rejected for every data dimension
             also: node 1 "product1" (MatMul)
             help: compile with --allow-dynamic-weights (DD-MM-DYN-4): both data dimensions are contracted: the result \
takes its rightmost axis (verified, 44 cycles)
             help: make input 'z' a constant, if its value is the same in every inference
            compiles with --apply-fixes: 2 fixes, 44 cycles
            """, models.model(nodes, [models.tensor("x", 4, 8), models.tensor("z", 8, 4)],
                              [models.tensor("y0", 4, 4), models.tensor("y1", 4, 4)]))

    def test_branches(self):
        """An If is replaced by the branch that the condition selects, if that is known."""
        def chosen(nodes, output, condition="yes"):
            branch = helper.make_graph(nodes, "branch", [], [models.tensor(output, 1, 8)])
            node = helper.make_node("If", [condition], ["y"], name="choose", then_branch=branch, else_branch=branch)
            return models.model([helper.make_node("Relu", ["x"], ["h"], name="act"),
                                 helper.make_node("Greater", ["h", "zero"], ["open"], name="test"), node],
                                [models.tensor("x", 1, 8)], [models.tensor("y", 1, 8)],
                                [models.constant("yes", np.bool_(True)), models.constant("zero", np.float32(0))])
        self.compile_refused(REFUSED, """
            error[E0205]: If: input 'cond' must be one bool known at compile time (a constant, or from constants \
and shapes); found a run-time tensor bool [1 8]
              --> m.onnx: node 2 "choose" (If)
             help: fold it with onnxsim (give the input shapes), or bind the input that it depends on (--bind)
            """, chosen([helper.make_node("Neg", ["h"], ["n"])], "n", "open"))
        self.compile_refused(MALFORMED, """
            error[E0108]: 'ghost' is used in graph 'else_branch' before it is defined
              --> m.onnx: node 2 "choose/Neg" (Neg)
            error[E0108]: 'ghost' is used in graph 'then_branch' before it is defined
              --> m.onnx: node 2 "choose/Neg" (Neg)
            """, chosen([helper.make_node("Neg", ["ghost"], ["n"])], "n"))
        self.compile_refused(MALFORMED, """
            error[E0108]: 'ghost' is used in graph 'else_branch' before it is defined
              --> m.onnx: node 2 "choose" (If)
            error[E0108]: 'ghost' is used in graph 'then_branch' before it is defined
              --> m.onnx: node 2 "choose" (If)
            """, chosen([helper.make_node("Neg", ["h"], ["n"])], "ghost"))
        self.compile_refused(MALFORMED, """
            error[E0108]: output 0 of graph 'else_branch' has no name, so nothing defines it
              --> m.onnx: node 2 "choose" (If)
            error[E0108]: output 0 of graph 'then_branch' has no name, so nothing defines it
              --> m.onnx: node 2 "choose" (If)
            """, chosen([helper.make_node("Neg", ["h"], ["n"])], ""))
        self.compile_refused(MALFORMED, """
            error[E0107]: 'h' in graph 'else_branch' is already defined outside the graph
              --> m.onnx: node 2 "choose/Neg" (Neg)
            error[E0107]: 'h' in graph 'then_branch' is already defined outside the graph
              --> m.onnx: node 2 "choose" (If)
            """, chosen([helper.make_node("Neg", ["h"], ["h"])], "h"))
        self.compile_refused(REFUSED, """
            error[E0201]: operator 'Frobnicate' is not supported: ONNX has no operator of this name up to opset 26, \
at 2 nodes
              --> m.onnx: node 2 "choose/Frobnicate" (Frobnicate)
             also: node 2 "choose/Frobnicate" (Frobnicate)
             help: use operators that `sluice ops` lists, or cut the model before this node
            """, chosen([helper.make_node("Frobnicate", ["h"], ["n"])], "n"))
        none = chosen([helper.make_node("Neg", ["h"], ["n"])], "n")
        none.graph.node[2].output.append("z")
        self.compile_refused(REFUSED, """
            error[E0206]: If: 'then_branch' and 'else_branch' must have as many outputs as the node; \
found 1 and 1 outputs for 2
              --> m.onnx: node 2 "choose" (If)
            """, none)

    def test_long_loop(self):
        """A loop that can only be written out trip by trip says how long it is, whoever made it."""
        rnn = models.model([helper.make_node("RNN", ["x", "W", "R"], ["y"], name="rnn", direction="reverse", hidden_size=4)],
                           [models.tensor("x", 8192, 1, 8)], [models.tensor("y", 8192, 1, 1, 4)],
                           [models.constant("W", models.values(1, 4, 8)), models.constant("R", models.values(1, 4, 4))])
        self.compile_refused(TOO_BIG, """
            error[E0415]: the loop has 8192 iterations of 2 operations; at most 10000 operations can be unrolled
              --> m.onnx: node 0 "rnn" (RNN)
             help: shorten the sequence, make the states inputs and outputs, and run the model part by part
            """, rnn)
        body = helper.make_graph([helper.make_node("Cast", ["i"], ["number"], to=1),
                                  helper.make_node("Add", ["v", "number"], ["w"])], "body",
                                 [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("c", 9, []),
                                  models.tensor("v", 8)], [helper.make_tensor_value_info("c", 9, []), models.tensor("w", 8)])
        loop = models.model([helper.make_node("Loop", ["M", "", "x"], ["y"], name="count", body=body)],
                            [models.tensor("x", 8)], [models.tensor("y", 8)], [models.constant("M", np.int64(10**12))])
        self.compile_refused(TOO_BIG, """
            error[E0415]: Loop: the loop has 1000000000000 iterations of 2 operations; at most 10000 operations can \
be unrolled
              --> m.onnx: node 0 "count" (Loop)
             help: shorten the sequence, make the states inputs and outputs, and run the model part by part
            """, loop)

    def test_attributes(self):
        self.compile_refused(REFUSED, """
            error[E0203]: Gemm: attribute 'transB' must be 0 or 1 (default 0); found 2
              --> m.onnx: node 0 "fc" (Gemm)
            error[E0203]: attribute 'slope' of Relu is not supported in opset 13; Relu has none
              --> m.onnx: node 1 "act" (Relu)
            """, models.refused_attribute())

    def test_shapes(self):
        self.compile_refused(REFUSED, """
            error[E0206]: MatMul: inputs must have rank 1 or more, equal contracted extents, and leading axes that \
broadcast; found [1 8] and [9 6]
              --> m.onnx: node 0 "fc" (MatMul)
            """, models.shapes_differ())

    def test_versions(self):
        for version in (0, 27):
            proto = models.dense()
            proto.opset_import[0].version = version
            self.compile_refused(REFUSED, f"""
                error[E0104]: the model uses opset {version}; sluice supports 1 to 26
                  --> m.onnx
                 help: export the model with opset 1 to 26, or convert it with onnx.version_converter
                """, proto)

    def test_bias_overflows(self):
        """Constants that are added behind a product become its bias."""
        for numbers in ((3e38, 3e37, 3e37), (-3e38, -3e38)):
            self.compile_refused(REFUSED, """
                error[E0408]: a bias is not finite; its magnitude must be below 3.4e38
                  --> m.onnx: node 0 "fc" (MatMul)
                """, models.biased(*numbers))

    def test_too_big(self):
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit c2b8: core 0 needs 2176 weight blocks, 128 more than its 2048
              --> m.onnx
             note: node 0 'wide' (MatMul) uses 2048 weight blocks on core 0
             note: node 1 'narrow' (MatMul) uses 128 weight blocks on core 0
             help: compiles for target 'c6b32' in 97 cycles (--target c6b32, verified)
             help: compiles with "weight_blocks": 4096 instead of 2048 in a target file in 2148 cycles (verified, 2051 more)
             help: use a target with more weight blocks or more cores
            """, models.too_big(), flags=LONG)


    def test_more_weights_than_memory(self):
        """Counted before anything is planned."""
        self.compile_refused(TOO_BIG, """
            error[E0401]: the model does not fit c6b32: its weights need at least 3800 weight blocks, 728 more than the 3072 of all cores
              --> m.onnx
             note: node 1 'fc1' (MatMul) needs at least 2500 weight blocks
             note: node 2 'fc2' (MatMul) needs at least 1250 weight blocks
             note: node 0 'fc0' (MatMul) needs at least 50 weight blocks
             help: compiles for target 'c3b64' in 376 cycles (--target c3b64, verified)
             help: compiles with "weight_blocks": 1024 instead of 512 in a target file in 674 cycles (verified, 298 more)
             help: use a target with more weight blocks or more cores
            """, models.more_weights_than_memory(), target="c6b32", flags=LONG)


class InputShapes(Refusal):
    def given(self, *shapes):
        return [word for shape in shapes for word in ("--input-shape", shape)]

    def test_free_dimension(self):
        self.compile_refused(USAGE, """
            error[E0111]: input 'x' has dynamic dimensions in its shape [batch 8]
              --> m.onnx
             help: give every extent, for example with --input-shape x=1,8
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
            error[E0112]: the model has no input or dimension 'Bach'; its inputs are 'x', its dimensions 'batch'
              --> m.onnx
             help: did you mean 'batch'
            error[E0111]: input 'x' has dynamic dimensions in its shape [batch 8]
              --> m.onnx
             help: give every extent, for example with --input-shape x=1,8
            """, models.free_dimension(), flags=self.given("Bach=3"))

    def test_another_batch(self):
        """Of a model that fixes it, where nothing in the model depends on it."""
        onnx.save(models.dense(4), self.dir / "m.onnx")
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *self.given("x=1,8"))
        note = "axis 0 of input 'x' is 4 in the model, but given as 1"
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
            error[E0112]: the model does not allow the given extents: axis 0 of input 'x' is 4 in the model, but given as 1
              --> m.onnx
             note: node 0 'view' (Reshape): Reshape: input 'shape' must have as many elements as 'data', with at \
most one -1; found [8 4] for [1 8], 32 elements for 8
             help: use the extents that the model declares, or export it with a dynamic batch axis
            """, view, flags=self.given("x=1,8"))

    def test_scalars(self):
        """[1] and [] are taken for each other; the program has what is computed."""
        for given, declared, text in ((["x"], [1], "[1]; the program uses the computed shape []"),
                                      (["x", "one"], [], "[]; the program uses the computed shape [1]")):
            nodes = [helper.make_node("ReduceSum", ["x"], ["s"], name="sum", keepdims=0),
                     helper.make_node("Reshape", ["s", "one"], ["r"], name="view") if len(given) > 1 else
                     helper.make_node("Identity", ["s"], ["r"], name="same"),
                     helper.make_node("Relu", ["r"], ["y"], name="act")]
            onnx.save(models.model(nodes, [models.tensor("x", 1, 8)], [models.tensor("y", *declared)],
                                   [models.constant("one", np.int64([1]))]), self.dir / "m.onnx")
            note = f"note: output 'y' is declared with shape {text}\n"
            code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
            self.assertEqual((code, err), (0, note))
            np.save(self.dir / "x.npy", np.ones((1, 8), np.float32))
            np.save(self.dir / "y.npy", np.full([1] * (len(given) - 1), 8, np.float32))
            self.right("m.sluice")

    def test_extents_below_one(self):
        proto = models.dense(0)
        self.compile_refused(REFUSED, """
            error[E0205]: Gemm: the operand [0 8] has no elements; the accelerator needs at least 1
              --> m.onnx: node 0 "fc" (Gemm)
             help: give input 'x' elements (--input-shape x=...,8)
            """, proto)
        proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -5
        self.compile_refused(MALFORMED, """
            error[E0110]: axis 0 of input 'x' is -5 in the model; it must not be negative
              --> m.onnx
             help: give the intended extent (--input-shape x=...,8)
            """, proto)

    def test_wrong_shapes(self):
        for shapes, code, message in (
                (["q=2,8"], "E0112", "the model has no input or dimension 'q'; its inputs are 'x', its dimensions "
                              "'batch'"),
                (["batch=2,8"], "E0112", "dimension 'batch' is given 2 extents; it needs 1"),
                (["batch=-2"], "E0112", "dimension 'batch' is given as -2; it must not be negative"),
                (["batch=2", "x=3,8"], "E0112", "dimension 'batch' has two extents, 3 in input 'x' and 2 by its name"),
                (["x=2,9"], "E0112", "axis 1 of input 'x' is 8 in the model, but given as 9"),
                (["x=2"], "E0112", "input 'x' has shape [batch 8] of rank 2, but the given shape [2] has rank 1"),
                (["x=-1,8"], "E0112", "axis 0 of input 'x' is given as -1; it must not be negative"),
                (["x=2,8", "x=3,8"], "E0601", "--input-shape sets 'x' more than once"),
                (["x"], "E0601", "--input-shape 'x' is not of the form NAME=N,N,..."),
                (["x=a"], "E0601", "--input-shape 'x=a' is not of the form NAME=N,N,..."),
                (["x=99999999999999999999,8"], "E0601",
                 "--input-shape 'x=99999999999999999999,8' is not of the form NAME=N,N,...")):
            with self.subTest(shapes=shapes):
                text = f"error[{code}]: {message}\n"
                if code == "E0112":
                    text += "  --> m.onnx\n"
                if shapes[0] in ("q=2,8", "batch=2,8", "batch=-2"):
                    text += ("error[E0111]: input 'x' has dynamic dimensions in its shape [batch 8]\n  --> m.onnx\n"
                             " help: give every extent, for example with --input-shape x=1,8\n")
                self.compile_refused(USAGE, text, models.free_dimension(), flags=self.given(*shapes))


class Flags(Refusal):
    def test_target(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        self.save("t.json", b"{}")
        unknown = "error[E0515]: unknown target 'c9b9', allowed: c2b8, c3b64, c6b32, c6b32-deep, ecp5-85f or a .json file\n"
        for command in (("compile", "m.onnx", "-o", "new.sluice", "--target"), ("check", "m.onnx", "--target"),
                        ("targets", "--show")):
            self.refused(USAGE, unknown, *command, "c9b9")
            self.refused(MALFORMED, "error[E0514]: target 't.json': 'name' must be a string\n", *command, "t.json")

    def test_target_that_is_meant(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        for command in (("compile", "m.onnx", "-o", "new.sluice", "--target"), ("check", "m.onnx", "--target"),
                        ("targets", "--show")):
            self.refused(USAGE, "error[E0515]: unknown target 'C6B23', allowed: c2b8, c3b64, c6b32, c6b32-deep, ecp5-85f "
                         "or a .json file\n help: did you mean 'c6b32'\n", *command, "C6B23")

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
                ("the following arguments were not expected: bf16 --precision; see 'sluice compile --help'",
                 ["compile", "m.onnx", "--precision", "bf16"]), # '--version' is too far
                ("there is no command or flag '--jsn'; see 'sluice --help'\n help: did you mean '--json'", ["--jsn"]),
                ("the following argument was not expected: more; see 'sluice compile --help'",
                 ["compile", "m.onnx", "more"]),
                ("--target: 1 required TARGET missing; see 'sluice compile --help'", ["compile", "m.onnx", "--target"]),
                ("--effort: max not in {fast,default,high}; see 'sluice compile --help'",
                 ["compile", "m.onnx", "--effort", "max"]),
                ("--format: xml not in {text,json,sarif}; see 'sluice check --help'",
                 ["check", "m.onnx", "--format", "xml"]),
                ("--engine: gpu not in {vm,rtl,both}; see 'sluice run --help'", ["run", "p.sluice", "--engine", "gpu"]),
                ("--steps: Value 0 not in range 1 to 1048576; see 'sluice run --help'",
                 ["run", "p.sluice", "--steps", "0"]),
                ("--atol: -1 is not a number of 0 or more; see 'sluice run --help'",
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


if __name__ == "__main__":
    main()
