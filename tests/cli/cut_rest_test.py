#!/usr/bin/env python3
"""sluice compile --rest: the nodes before and behind the compiled part as models. onnxruntime runs them around the program;
each output is that of onnxruntime on the whole model, within 2 % of its range.

usage: cut_rest_test.py SLUICE [unittest arguments]
"""
import json
import os

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import bad_models as models
from folder import main
from refusal import REFUSED, USAGE, Refusal

BOUND = 0.02
W, V = models.values(8, 8), models.values(8, 6)
EMPTY = helper.make_empty_tensor_value_info


def node(op, reads, write, **attributes):
    return helper.make_node(op, reads, [write], name=f"make_{write}", **attributes)


def choice(name, read, write, shape):
    """Nodes: 2 `read` if its sum is positive, else -`read`. The branches read a tensor of the graph around them."""
    def branch(of, op, reads):
        return helper.make_graph([node(op, reads, f"{name}_{of}")], of, [], [models.tensor(f"{name}_{of}", *shape)])
    return [node("ReduceSum", [read], f"{name}_sum", keepdims=0), node("Greater", [f"{name}_sum", "zero"], f"{name}_positive"),
            node("If", [f"{name}_positive"], write, then_branch=branch("then", "Add", [read, read]),
                 else_branch=branch("else", "Neg", [read]))]


def whole(nodes, outputs, inputs=None, known=(), constants=(), functions=()):
    """A model whose tensors `known`, by name, have a declared shape."""
    proto = models.model(nodes, inputs or [models.tensor("x", 1, 8)], outputs,
                         [models.constant("W", W), models.constant("V", V), models.constant("zero", np.float32(0)), *constants])
    proto.ir_version = 8
    proto.graph.value_info.extend(models.tensor(name, *shape) for name, shape in dict(known).items())
    proto.opset_import.append(helper.make_opsetid("test", 1))
    proto.functions.extend(functions)
    helper.set_model_props(proto, {"made": "by hand"})
    return proto


def middle():
    """x W -> a, If -> b, b V -> c, Relu -> y."""
    return whole([node("MatMul", ["x", "W"], "a"), *choice("turn", "a", "b", (1, 8)), node("MatMul", ["b", "V"], "c"),
                  node("Relu", ["c"], "y")], [models.tensor("y", 1, 6)], known={"b": (1, 8)})


class Rest(Refusal):
    def divide(self, proto, *flags, name="m.onnx"):
        """Compiles a part and returns the rest: a model or None each."""
        onnx.save(proto, self.dir / name)
        for old in self.dir.glob("rest.*"):
            old.unlink()
        report = json.loads(self.ok("compile", name, "--target", "c2b8", "-o", "m.sluice", "--rest", "rest.onnx", "--json", *flags))
        rest = {}
        for where in ("before", "behind"):
            file = self.dir / f"rest.{where}.onnx"
            self.assertEqual(report["rest"][where], file.name if file.exists() else None)
            rest[where] = onnx.load(file, load_external_data=False) if file.exists() else None
            if file.exists():
                onnx.checker.check_model(rest[where], full_check=True)
                self.assertEqual({p.key: p.value for p in rest[where].metadata_props}, {"made": "by hand"})
        return rest["before"], rest["behind"]

    @staticmethod
    def ort(proto, values):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        found = session.run(None, {one.name: values[one.name] for one in session.get_inputs()})
        return dict(zip([one.name for one in session.get_outputs()], found))

    def program(self, values):
        ports = json.loads(self.ok("inspect", "m.sluice", "--io", "--json"))["models"][0]
        flags = []
        for one in ports["inputs"]:
            np.save(self.dir / f"in_{one['name']}.npy", values[one["name"]])
            flags += ["--input", f"{one['name']}=@in_{one['name']}.npy"]
        for one in ports["outputs"]:
            flags += ["--output", f"{one['name']}=@out_{one['name']}.npy"]
        has = "c2b8" in json.loads(self.ok("version", "--json"))["engines"]["rtl"]
        self.ok("run", "m.sluice", "--engine", "both" if has else "vm", *flags)
        return {one["name"]: np.load(self.dir / f"out_{one['name']}.npy") for one in ports["outputs"]}

    def same(self, proto, *flags, reference=None, **given):
        """The three parts compute the model."""
        before, behind = self.divide(proto, *flags)
        inputs = {one.name: models.values(*[dim.dim_value for dim in one.type.tensor_type.shape.dim])
                  for one in proto.graph.input}
        inputs.update(given)
        values = dict(inputs)
        if before:
            values.update(self.ort(before, values))
        values.update(self.program(values))
        if behind:
            values.update(self.ort(behind, values))
        for name, expected in self.ort(reference or proto, inputs).items():
            self.assertEqual((values[name].shape, values[name].dtype), (expected.shape, expected.dtype))
            spread = max(float(np.ptp(expected)), float(np.abs(expected).max()), 1e-6)
            self.assertLessEqual(float(np.abs(values[name].astype(float) - expected).max()) / spread, BOUND, name)
        return before, behind

    def names(self, proto):
        return [one.name for one in proto.graph.input], [one.name for one in proto.graph.output]

    def test_middle(self):
        before, behind = self.same(middle(), "--inputs", "b")
        self.assertEqual((self.names(before), behind), ((["x"], ["b"]), None))
        before, behind = self.same(middle(), "--outputs", "a")
        self.assertEqual((before, self.names(behind)), (None, (["a"], ["y"])))
        self.assertEqual([one.name for one in behind.graph.initializer], ["V", "zero"])
        before, behind = self.same(middle(), "--inputs", "b", "--outputs", "c")
        self.assertEqual((self.names(before), self.names(behind)), ((["x"], ["b"]), (["c"], ["y"])))

    def test_end_with_a_function(self):
        """A function of the model is kept; the If in it reads an input of the function."""
        twist = helper.make_function("test", "Twist", ["p"], ["q"], [node("Constant", [], "zero", value_float=0.0),
                                                                     *choice("inner", "p", "q", (1, 6))],
                                     [helper.make_opsetid("", 13)])
        proto = whole([node("MatMul", ["x", "W"], "a"), node("MatMul", ["a", "V"], "c"),
                       node("Twist", ["c"], "y", domain="test")], [models.tensor("y", 1, 6)], functions=[twist])
        _, behind = self.same(proto, "--outputs", "c")
        self.assertEqual((self.names(behind), [one.name for one in behind.functions]), ((["c"], ["y"]), ["Twist"]))

    def test_skip(self):
        """What the nodes behind need of the front goes around the program; so do inputs of the model."""
        proto = whole([*choice("turn", "x", "b", (1, 8)), node("MatMul", ["b", "W"], "c"), node("Tanh", ["x"], "t"),
                       node("Add", ["turn_sum", "c"], "d"), node("Add", ["d", "x"], "e"), node("Add", ["e", "t"], "y")],
                      [models.tensor("y", 1, 8), models.tensor("turn_sum"), models.tensor("t", 1, 8)], known={"b": (1, 8)})
        before, behind = self.same(proto, "--inputs", "b", "--outputs", "c")
        self.assertEqual(self.names(before), (["x"], ["b", "turn_sum"]))
        self.assertEqual(self.names(behind), (["c", "turn_sum", "x"], ["y", "t"]))

    def test_several(self):
        """Several inputs and outputs, one of which is an output of the model too."""
        proto = whole([node("Tanh", ["x"], "p"), node("Sigmoid", ["z"], "q"), node("MatMul", ["p", "W"], "r"),
                       node("Add", ["r", "q"], "s"), node("MatMul", ["s", "V"], "u"), *choice("turn", "u", "y", (1, 6))],
                      [models.tensor("y", 1, 6), models.tensor("s", 1, 8)],
                      inputs=[models.tensor("x", 1, 8), models.tensor("z", 1, 8)])
        before, behind = self.same(proto, "--inputs", "q,p", "--outputs", "u,s")
        self.assertEqual(self.names(before), (["x", "z"], ["q", "p"]))
        self.assertEqual(self.names(behind), (["u"], ["y"]))

    def test_shared_constants(self):
        """Each part has the initializers and constant nodes that it reads, be they inputs with a default or not."""
        nodes = [node("MatMul", ["x", "W"], "a"), node("Constant", [], "k", value=models.constant("", np.float32([3]))),
                 node("Mul", ["zero", "k"], "nothing"), node("Add", ["a", "nothing"], "b"), node("MatMul", ["b", "W"], "c"),
                 node("Add", ["c", "nothing"], "y")]
        proto = whole(nodes, [models.tensor("y", 1, 8)], known={"a": (1, 8)})
        for flags in (("--inputs", "a", "--outputs", "b"), ("--inputs", "b", "--outputs", "c"), ("--outputs", "c")):
            before, behind = self.same(proto, *flags)
            self.assertIn("nothing", [name for one in behind.graph.node for name in one.output])
        proto.graph.input.append(models.tensor("W", 8, 8))
        before, behind = self.divide(proto, "--inputs", "b", "--outputs", "c")
        self.assertEqual(self.names(before)[0], ["x", "W"])
        proto.ir_version = 3 # every initializer is an input
        proto.graph.input.extend([models.tensor("zero"), models.tensor("V", 8, 6)])
        before, behind = self.divide(proto, "--inputs", "b", "--outputs", "c")
        self.assertEqual((self.names(before)[0], self.names(behind)[0]), (["x", "W", "zero"], ["c", "zero"]))

    def test_external_data(self):
        """The rest has the weights inside."""
        proto = middle()
        for one in proto.graph.initializer:
            onnx.external_data_helper.set_external_data(one, f"{one.name}.bin")
            (self.dir / f"{one.name}.bin").write_bytes(one.raw_data)
            one.ClearField("raw_data")
        inside = middle()
        for flags in (("--inputs", "b"), ("--outputs", "a")):
            self.same(proto, *flags, reference=inside)

    def test_too_large(self):
        """The size is judged before a byte is read."""
        proto = whole([node("MatMul", ["x", "W"], "a"), node("MatMul", ["a", "large"], "y")], [models.tensor("y", 1, 75000000)],
                      constants=[TensorProto(name="large", data_type=TensorProto.FLOAT, dims=[8, 75000000])])
        large = proto.graph.initializer[-1]
        large.data_location = TensorProto.EXTERNAL
        large.external_data.add(key="location", value="large.bin")
        with open(self.dir / "large.bin", "wb") as file:
            file.truncate(8 * 75000000 * 4)
        onnx.save(proto, self.dir / "m.onnx")
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--outputs", "a", "--rest", "r.onnx")
        self.assertEqual((code, err), (REFUSED, "error[E0103]: the nodes behind the compiled part have 2400000000 bytes with "
                                                "their weights; an ONNX file can have at most 2147483647\n  --> m.onnx\n"))
        self.assertEqual(sorted(os.listdir(self.dir)), ["large.bin", "m.onnx"])

    def compile_rest(self, code, text, *flags, output="new.sluice"):
        self.refused(code, text, "compile", "m.onnx", "--target", "c2b8", "-o", output, *flags)

    def test_refused(self):
        """Nothing is written, neither program nor rest."""
        onnx.save(middle(), self.dir / "m.onnx")
        rest = ("--rest", "r.onnx")
        self.compile_rest(USAGE, "error[E0601]: --rest needs --inputs or --outputs\n", *rest)
        self.compile_rest(USAGE, "error[E0601]: --rest is '-', allowed: a file name that ends in .onnx\n", "--outputs", "a",
                          "--rest", "-")
        self.compile_rest(USAGE, "error[E0601]: --rest cannot be used with --emit\n", "--outputs", "a", *rest, "--emit", "graph")
        self.compile_rest(USAGE, "error[E0601]: --rest cannot be used with --stream, which changes the shapes of the tensors\n",
                          "--outputs", "a", *rest, "--stream", "x=0")
        self.compile_rest(USAGE, "error[E0516]: cannot write 'no/r.before.onnx': No such file or directory\n", "--outputs", "a",
                          "--rest", "no/r.onnx")
        self.compile_rest(USAGE, "error[E0601]: --output and --rest both write 'r.before.onnx'; give one another file name\n",
                          "--outputs", "a", *rest, output="r.before.onnx")
        os.rename(self.dir / "m.onnx", self.dir / "r.behind.onnx")
        self.refused(USAGE, "error[E0601]: --rest 'r.behind.onnx' would overwrite the model\n", "compile", "r.behind.onnx", *rest,
                     "--outputs", "a")

    def test_needed_inside(self):
        proto = whole([node("MatMul", ["x", "W"], "a"), node("Relu", ["a"], "b"), node("Sigmoid", ["b"], "s"),
                       node("Add", ["s", "a"], "y")], [models.tensor("y", 1, 8), models.tensor("b", 1, 8)])
        onnx.save(proto, self.dir / "m.onnx")
        self.compile_rest(USAGE, """
            error[E0121]: the rest of the model needs 'a', which the compiled part computes
              --> m.onnx
             help: list it as an output (--outputs s,a,b)
            error[E0121]: the rest of the model needs 'b', which the compiled part computes
              --> m.onnx
             help: list it as an output (--outputs s,a,b)
            """, "--outputs", "s", "--rest", "r.onnx")
        self.same(proto, "--outputs", "s,a,b")

    def test_one_of_two_outputs_of_a_node(self):
        proto = whole([node("MatMul", ["x", "W"], "a"), helper.make_node("Split", ["a"], ["left", "right"], axis=1),
                       node("Add", ["left", "right"], "y")], [models.tensor("y", 1, 4)])
        onnx.save(proto, self.dir / "m.onnx")
        self.compile_rest(USAGE, """
            error[E0121]: the rest of the model needs 'right', which the compiled part computes
              --> m.onnx
             help: list it as an output (--outputs left,right)
            """, "--outputs", "left", "--rest", "r.onnx")
        self.same(proto, "--outputs", "right,left")

    def test_unknown_skip(self):
        """A tensor between the rest's two models needs a declared shape too."""
        proto = whole([*choice("turn", "x", "p", (1, 8)), node("Tanh", ["p"], "b"), node("MatMul", ["b", "W"], "c"),
                       node("Add", ["c", "p"], "y")], [models.tensor("y", 1, 8)], known={"b": (1, 8)})
        onnx.save(proto, self.dir / "m.onnx")
        flags = ("--inputs", "b", "--outputs", "c", "--rest", "r.onnx")
        self.compile_rest(USAGE, """
            error[E0121]: the model does not say the type and shape of 'p'
              --> m.onnx
             note: a node in front of it is not supported, so the compiler cannot infer them
             help: write the shapes into the model (onnx.shape_inference.infer_shapes)
            """, *flags)
        self.same(onnx.shape_inference.infer_shapes(proto), *flags[:4])

    def test_summary(self):
        onnx.save(middle(), self.dir / "m.onnx")
        out = self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--inputs", "b", "--outputs", "c", "--rest",
                      "r.onnx")
        written = [line.split()[1].rstrip(",") for line in out.splitlines() if line.startswith("written ")]
        self.assertEqual(written, ["m.sluice", "r.before.onnx", "r.behind.onnx"])
        for name in written[1:]:
            self.assertIn(f"{name}, {(self.dir / name).stat().st_size} bytes\n", out)
        piped = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "-", "--outputs", "a", "--rest", "p.onnx")
        self.assertEqual((piped[0], (self.dir / "p.behind.onnx").exists()), (0, True))


if __name__ == "__main__":
    main()
