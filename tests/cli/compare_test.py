#!/usr/bin/env python3
"""sluice compare: models whose layers are right, and program files with planted faults, the layer of which is named.

usage: compare_test.py SLUICE PLANT_FAULT [unittest arguments]
"""
import json
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

import bad_models as models
from folder import main
from refusal import MALFORMED, USAGE, Refusal

PLANT = os.path.abspath(sys.argv.pop(2))
DIFFERENT = 1


def random(*shape, scale=1.0):
    return (scale * models.values(*shape)).astype(np.float32)


def network(nodes, inputs, outputs, constants):
    return models.model([helper.make_node(op, reads, [made], name=name, **attributes) for op, reads, made, name, attributes in nodes],
                        [models.tensor(name, *shape) for name, shape in inputs.items()],
                        [models.tensor(name, *shape) for name, shape in outputs.items()],
                        [models.constant(name, value) for name, value in constants.items()], opset=17)


def cnn():
    return network(
        [("Conv", ["x", "w1", "b1"], "c1", "conv1", {"pads": [1, 1, 1, 1]}), ("Relu", ["c1"], "r1", "relu1", {}),
         ("MaxPool", ["r1"], "p", "pool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
         ("Conv", ["p", "w2", "b2"], "c2", "conv2", {}), ("Relu", ["c2"], "r2", "relu2", {}),
         ("Flatten", ["r2"], "f", "flat", {}), ("Gemm", ["f", "w3", "b3"], "y", "fc", {})],
        {"x": (1, 2, 8, 8)}, {"y": (1, 5)},
        {"w1": random(4, 2, 3, 3, scale=0.3), "b1": random(4), "w2": random(6, 4, 3, 3, scale=0.2), "b2": random(6),
         "w3": random(24, 5, scale=0.2), "b3": random(5)})


def lstm():
    nodes = [helper.make_node("LSTM", ["x", "W", "R", "B", "", "h", "c"], ["Y", "Yh", "Yc"], name="cell", hidden_size=8),
             helper.make_node("Squeeze", ["Yh", "first"], ["s"], name="squeeze"),
             helper.make_node("Gemm", ["s", "wo", "bo"], ["y"], name="head")]
    state = (1, 1, 8)
    return models.model(nodes, [models.tensor("x", 1, 1, 6), models.tensor("h", *state), models.tensor("c", *state)],
                        [models.tensor("y", 1, 4), models.tensor("Yh", *state), models.tensor("Yc", *state)],
                        [models.constant("W", random(1, 32, 6, scale=0.4)), models.constant("R", random(1, 32, 8, scale=0.4)),
                         models.constant("B", random(1, 64, scale=0.2)), models.constant("wo", random(8, 4)),
                         models.constant("bo", random(4)), models.constant("first", np.array([0]))], opset=17)


def encoder():
    return network(
        [("MatMul", ["x", "wq"], "q", "query", {}), ("MatMul", ["x", "wk"], "k", "key", {}),
         ("MatMul", ["x", "wv"], "v", "value", {}), ("Transpose", ["k"], "kt", "turn", {"perm": [1, 0]}),
         ("MatMul", ["q", "kt"], "s", "scores", {}), ("Mul", ["s", "quarter"], "ss", "scale", {}),
         ("Softmax", ["ss"], "p", "softmax", {"axis": -1}), ("MatMul", ["p", "v"], "o", "mix", {}),
         ("Add", ["o", "x"], "a", "residual1", {}), ("LayerNormalization", ["a", "g", "be"], "ln", "norm", {"axis": -1}),
         ("MatMul", ["ln", "w1"], "h1", "ff1", {}), ("Add", ["h1", "b1"], "h1b", "bias1", {}),
         ("Relu", ["h1b"], "h1r", "relu", {}), ("MatMul", ["h1r", "w2"], "h2", "ff2", {}), ("Add", ["h2", "ln"], "y", "residual2", {})],
        {"x": (6, 16)}, {"y": (6, 16)},
        {"wq": random(16, 16, scale=0.25), "wk": random(16, 16, scale=0.2), "wv": random(16, 16, scale=0.3),
         "quarter": np.float32(0.25), "g": random(16), "be": random(16, scale=0.5), "w1": random(16, 24, scale=0.25), "b1": random(24),
         "w2": random(24, 16, scale=0.25)})


def integers():
    """Two layers of small integers, which every number format represents."""
    weights = (np.arange(64).reshape(8, 8) % 5 - 2).astype(np.float32)
    return network([("MatMul", ["x", "w"], "h", "one", {}), ("Relu", ["h"], "r", "relu", {}), ("MatMul", ["r", "v"], "y", "two", {})],
                   {"x": (1, 8)}, {"y": (1, 8)}, {"w": weights, "v": weights.T.copy()})


def recurrent():
    """h = relu(x W + before R), where `before` begins with 0: R has no effect in step 0. The output is 2 h."""
    return network([("MatMul", ["x", "w"], "now", "new", {}), ("MatMul", ["before", "r"], "past", "old", {}),
                    ("Add", ["now", "past"], "sum", "sum", {}), ("Relu", ["sum"], "h", "relu", {}), ("Mul", ["h", "two"], "y", "twice", {})],
                   {"x": (1, 8), "before": (1, 8)}, {"y": (1, 8), "h": (1, 8)},
                   {"two": np.float32(2), "w": np.eye(8, dtype=np.float32), "r": 0.5 * np.eye(8, dtype=np.float32)})


STATE = ("--state", "h=Yh", "--state", "c=Yc")
MODELS = {"cnn": (cnn, (), ()), "lstm": (lstm, STATE, ("--steps", "6")), "encoder": (encoder, ("--allow-dynamic-weights",), ()),
          "integers": (integers, (), ()), "recurrent": (recurrent, ("--state", "before=h"), ("--steps", "3"))}


class Compare(Refusal):
    def make(self, name):
        build, flags, self.steps = MODELS[name]
        onnx.save(build(), self.dir / "m.onnx")
        self.flags = ("m.onnx", "--target", "c2b8", *flags)
        self.ok("compile", *self.flags, "-o", "m.sluice")

    def compare(self, *more, code=0):
        """The JSON, and what it complains of."""
        found, out, err = self.sluice("compare", *self.flags, *self.steps, *more, "--json")
        self.assertEqual(found, code, err)
        return json.loads(out), err

    def plant(self, fault, node, into="bad.sluice"):
        subprocess.run([PLANT, self.dir / "m.sluice", self.dir / into, fault, str(node)], check=True)

    def test_right_models(self):
        layers = {"cnn": ["r1", "p", "r2", "y"], "lstm": ["Yc", "s", "y"], "encoder": ["q", "ss", "a", "ln", "h1r", "y"],
                  "integers": ["r", "y"], "recurrent": ["y"]}
        for name, tensors in layers.items():
            with self.subTest(name):
                self.make(name)
                found, err = self.compare("--data", "random:7")
                self.assertEqual((found["ok"], found["first_wrong"], found["samples"], err), (True, None, 7, ""))
                self.assertEqual(set(tensors) - {layer["tensor"] for layer in found["layers"]}, set())
                for layer in found["layers"]:
                    self.assertEqual((layer["ok"], layer["beyond"]), (True, 0))
                    self.assertLessEqual(layer["max_abs_error"], layer["bound"])
                    self.assertLessEqual(layer["share_of_bound"], 1)
                    self.assertGreater(layer["elements"], layer["unchecked"])
                # The same with the program file.
                self.assertEqual(self.compare("--data", "random:7", "--program", "m.sluice")[0], found)

    def test_planted_faults(self):
        """Each fault is named by the first tensor that the program stores behind it."""
        faults = [("cnn", "weight", 0, "r1"), ("cnn", "row", 0, "r1"), ("cnn", "row", 2, "p"), ("cnn", "weight", 3, "r2"),
                  ("cnn", "row", 3, "r2"), ("cnn", "weight", 6, "y"), ("cnn", "row", 6, "y"),
                  ("lstm", "weight", 0, "Yc"), ("lstm", "row", 0, "Yc"), ("lstm", "table", 0, "Yc"), ("lstm", "weight", 2, "y"),
                  ("lstm", "row", 2, "y"),
                  ("encoder", "weight", 0, "q"), ("encoder", "row", 0, "q"), ("encoder", "table", 6, "a"), ("encoder", "row", 7, "a"),
                  ("encoder", "weight", 10, "h1r"), ("encoder", "row", 10, "h1r"), ("encoder", "weight", 13, "y")]
        made = None
        for name, fault, node, tensor in faults:
            with self.subTest(name=name, fault=fault, node=node):
                if made != name:
                    self.make(name)
                    made = name
                self.plant(fault, node)
                found, err = self.compare("--program", "bad.sluice", code=DIFFERENT)
                wrong = [layer for layer in found["layers"] if not layer["ok"]]
                self.assertFalse(found["ok"])
                self.assertEqual(wrong[0]["tensor"], tensor)
                self.assertEqual(found["first_wrong"], wrong[0]["node"])
                self.assertGreaterEqual(found["first_wrong"]["index"], node)
                self.assertGreater(float(wrong[0]["share_of_bound"]), 1)
                at = found["first_wrong"]
                self.assertRegex(err, rf"^error\[E0619\]: '{tensor}' is \S+ at \[[\d, ]+\], the model gives \S+, allowed error \S+\n"
                                 rf"  --> m\.onnx: node {at['index']} \"{at['name']}\" \({at['op']}\)\n note: ")

    def test_text(self):
        self.make("integers")
        np.savez(self.dir / "x.npz", x=np.arange(8, dtype=np.float32).reshape(1, 8))
        self.steps = ("--data", "x.npz")
        self.assertEqual(self.ok("compare", *self.flags, *self.steps).splitlines(), [
            "model m on c2b8, 1 sample",
            "node                   tensor  max error  of range  of bound  range  to overflow",
            'node 1 "relu" (Relu)   r       0          0 %       0 %       8      2^124',
            'node 2 "two" (MatMul)  y       0          0 %       0 %       48     2^123',
            "output y [1, 8]: max error 0, 0 % of the range 48; mean 0",
            "1 tensor not compared: the program does not store it",
            "all 2 layers are within their bound"])
        self.plant("weight", 0)
        code, out, err = self.sluice("compare", *self.flags, *self.steps, "--program", "bad.sluice")
        self.assertEqual((code, out.decode().splitlines()[0]), (DIFFERENT, "model m on c2b8, 1 sample"))
        self.assertRegex(err, r"(?s)^error\[E0619\]: 'r' is \d+ at \[0, \d\], the model gives \d+, allowed error 4\.17e-07\n"
                         r'  --> m\.onnx: node 1 "relu" \(Relu\)\n'
                         r" note: \d of 8 elements are beyond their bounds, the first in sample 0\n"
                         r" note: the values above are of sample 0\n"
                         r' note: the fault may also be in a node fused with it: node 0 "one" \(MatMul\)\n$')

    def test_first_wrong_step(self):
        self.make("recurrent")
        other = onnx.load(self.dir / "m.onnx")
        for tensor in other.graph.initializer:
            if tensor.name == "r":
                tensor.CopyFrom(models.constant("r", 0.75 * np.eye(8, dtype=np.float32)))
        onnx.save(other, self.dir / "other.onnx")
        self.ok("compile", "other.onnx", *self.flags[1:], "-o", "bad.sluice")
        found, err = self.compare("--program", "bad.sluice", code=DIFFERENT)
        self.assertIn("are beyond their bounds, the first in sample 0, step 1\n", err)
        self.assertEqual((found["steps"], found["first_wrong"]["name"]), (3, "relu"))
        self.assertGreater(found["layers"][0]["worst"]["step"], 0)
        # Nothing is remembered in a single step.
        self.steps = ()
        self.assertTrue(self.compare("--program", "bad.sluice")[0]["ok"])

    def test_data(self):
        self.make("recurrent")
        samples = random(6, 1, 8)
        np.savez(self.dir / "six.npz", x=samples)
        for i in range(6):
            folder = self.dir / f"sets/test_data_set_{i}"
            folder.mkdir(parents=True)
            (folder / "input_0.pb").write_bytes(numpy_helper.from_array(samples[i], "x").SerializeToString())
        found = self.compare("--data", "six.npz")[0]
        self.assertEqual((found["samples"], found["steps"]), (2, 3))
        self.assertEqual(self.compare("--data", "sets")[0], found)
        self.steps = ()
        self.assertEqual(self.compare("--data", "six.npz")[0]["samples"], 6)
        self.refused(USAGE, """
            error[E0601]: --data has 6 samples, allowed with --steps 4: a multiple of 4
              --> m.onnx
            """, "compare", *self.flags, "--data", "six.npz", "--steps", "4")
        self.refused(MALFORMED, """
            error[E0615]: 'missing' is not a folder
              --> m.onnx
             note: read from --data 'missing'
            """, "compare", *self.flags, "--data", "missing")
        self.refused(MALFORMED, """
            error[E0615]: 'm.onnx' is neither an .npz file nor a folder
              --> m.onnx
             note: read from --data 'm.onnx'
            """, "compare", *self.flags, "--data", "m.onnx")
        for text in "random:0", "random:10001", "random:x":
            self.refused(USAGE, f"""
                error[E0601]: --data is '{text}', allowed: random:1 to random:10000, a folder or an .npz file
                  --> m.onnx
                """, "compare", *self.flags, "--data", text)

    def test_against(self):
        self.make("integers")
        x = np.arange(16, dtype=np.float32).reshape(2, 1, 8)
        weights = (np.arange(64).reshape(8, 8) % 5 - 2).astype(np.float32)
        r = np.maximum(x @ weights, 0)
        np.savez(self.dir / "x.npz", x=x)
        np.savez(self.dir / "right.npz", x=x, h=x @ weights, r=r, y=r @ weights.T)
        data = ("--data", "x.npz", "--against")
        self.assertTrue(self.compare(*data, "right.npz")[0]["ok"])
        self.assertIn("model m on c2b8, 2 samples, against right.npz\n", self.ok("compare", *self.flags, *data, "right.npz"))
        r[1, 0, 3] += 1
        np.savez(self.dir / "wrong.npz", r=r)
        found, err = self.compare(*data, "wrong.npz", code=DIFFERENT)
        self.assertEqual(found["first_wrong"]["name"], "relu")
        self.assertRegex(err, r"^error\[E0619\]: 'r' is (\d+) at \[0, 3\], the reference gives \d+, allowed error ")
        np.savez(self.dir / "name.npz", r=r, yy=r)
        np.savez(self.dir / "shape.npz", r=r[0])
        np.save(self.dir / "one.npy", r)
        self.refused(USAGE, """
            error[E0602]: the model has no tensor 'yy'
              --> m.onnx
             note: read from --against 'name.npz'
             help: did you mean 'y'
            """, "compare", *self.flags, *data, "name.npz")
        self.refused(USAGE, """
            error[E0604]: tensor 'r' has shape [1, 8], allowed: [2, 1, 8]
              --> m.onnx
             note: read from --against 'shape.npz'
            """, "compare", *self.flags, *data, "shape.npz")
        self.refused(USAGE, """
            error[E0602]: the tensor in 'one.npy' has no name; --against reads .npz files, with a member for each tensor
              --> m.onnx
            """, "compare", *self.flags, *data, "one.npy")
        self.refused(USAGE, """
            error[E0601]: --against 'onnxruntime' is for Python: sluice.compare(model, data=..., against='onnxruntime')
              --> m.onnx
            """, "compare", *self.flags, *data, "onnxruntime")
        self.refused(USAGE, """
            error[E0601]: --against needs --data with the inputs that the other runtime had
              --> m.onnx
            """, "compare", *self.flags, "--against", "right.npz")

    def test_labels(self):
        self.make("integers")
        np.savez(self.dir / "x.npz", x=random(10, 1, 8))
        np.save(self.dir / "labels.npy", np.arange(10) % 8)
        labels = ("--data", "x.npz", "--labels", "labels.npy")
        found = self.compare(*labels)[0]["accuracy"]
        self.assertEqual((found["labels"], found["program"]), (10, found["reference"]))
        self.assertLessEqual(found["program"]["top1_percent"], found["program"]["top5_percent"])
        weights = (np.arange(64).reshape(8, 8) % 5 - 2).astype(np.float32)
        y = np.maximum(random(10, 1, 8) @ weights, 0) @ weights.T
        order = np.argsort(-y[:, 0], axis=1, kind="stable")
        self.assertEqual(found["reference"]["top1_percent"], 10 * sum(order[i, 0] == i % 8 for i in range(10)))
        self.assertEqual(found["reference"]["top5_percent"], 10 * sum(i % 8 in order[i, :5] for i in range(10)))
        self.assertRegex(self.ok("compare", *self.flags, *labels),
                         r"(?m)^accuracy of the program: top 1 \d+ %, top 5 \d+ %; of the reference: top 1 \d+ %, top 5 \d+ %$")
        self.assertIsNone(self.compare()[0]["accuracy"])
        np.save(self.dir / "few.npy", np.arange(9) % 8)
        np.save(self.dir / "large.npy", np.arange(10))
        for file, text in (("few.npy", "--labels has 9 labels, allowed: 10, one for each sample"),
                           ("large.npy", "--labels has the label 8, allowed: integers from 0 to 7")):
            self.refused(USAGE, f"""
                error[E0604]: {text}
                  --> m.onnx
                """, "compare", *self.flags, "--data", "x.npz", "--labels", file)
        self.refused(USAGE, """
            error[E0601]: --labels needs --data with the samples that they belong to
              --> m.onnx
            """, "compare", *self.flags, "--labels", "labels.npy")

    def test_usage(self):
        self.make("integers")
        onnx.save(models.dense(), self.dir / "other.onnx")
        self.refused(USAGE, """
            error[E0601]: --program has outputs 'y' [1, 8], the model has 'y' [1, 6]; give the flags that it was compiled with
              --> other.onnx
            """, "compare", "other.onnx", "--target", "c2b8", "--program", "m.sluice")
        self.refused(USAGE, """
            error[E0601]: --stream cannot be used with compare, whose tensors are whole; compare the model without --stream
              --> m.onnx
            """, "compare", *self.flags, "--stream", "x=1")
        (self.dir / "bytes.sluice").write_bytes(b"not a program")
        code, _, err = self.sluice("compare", *self.flags, "--program", "bytes.sluice")
        self.assertEqual(code, MALFORMED)
        self.assertRegex(err, r"^error\[E0502\]: ")

    def test_an_inference_of_several_steps(self):
        """Only the outputs are compared where a program has a part of each tensor."""
        nodes = [helper.make_node("LSTM", ["x", "W", "R"], ["Y", "Yh"], name="cell", hidden_size=4)]
        onnx.save(models.model(nodes, [models.tensor("x", 2000, 1, 4)], [models.tensor("Yh", 1, 1, 4)],
                               [models.constant("W", random(1, 16, 4)), models.constant("R", random(1, 16, 4))], opset=17),
                  self.dir / "m.onnx")
        code, out, err = self.sluice("compare", "m.onnx", "--target", "c2b8", "--data", "random:1", "--json")
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"(?m)^note: the program runs \d+ times for each inference: only its outputs are compared$")
        self.assertEqual([layer["tensor"] for layer in json.loads(out)["layers"]], ["Yh"])


if __name__ == "__main__":
    main()
