#!/usr/bin/env python3
"""Models that read token ids, on both engines, compared with onnxruntime: an encoder with ids, mask and segment ids, a
recurrent network whose ids are streamed, a bag of embeddings, and lookups behind views, masks and other functions of ids.

usage: token_models_test.py SLUICE [unittest arguments]      (python of tools/test_environment.sh)
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SLUICE = os.path.abspath(sys.argv[1])
TOLERANCE = 0.02  # of the range of the output: some ten roundings to bf16 on the way


class Net:
    """A graph in the making; constants get names of their own."""

    def __init__(self, seed=1):
        self.random, self.nodes, self.known = np.random.default_rng(seed), [], []

    def constant(self, value):
        name = f"c{len(self.known)}"
        self.known.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weights(self, *shape, scale=1.0):
        return self.constant((self.random.normal(size=shape) * scale / np.sqrt(shape[0] if len(shape) > 1 else 1)).astype(np.float32))

    def __call__(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=f"n{len(self.nodes)}", **attributes))
        return name

    def dense(self, x, inner, outer, activation=None):
        y = self("Add", self("MatMul", x, self.weights(inner, outer)), self.weights(outer, scale=0.1))
        return self(activation, y) if activation else y

    def model(self, inputs, **outputs):
        for name, of in outputs.items():
            self.nodes.append(helper.make_node("Identity", [of], [name], name=f"give_{name}"))
        values = [helper.make_tensor_value_info(n, kind, shape) for n, kind, shape in inputs]
        graph = helper.make_graph(self.nodes, "tokens", values, [onnx.ValueInfoProto(name=n) for n in outputs], self.known)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def encoder(tokens=8, words=500, width=32, heads=2, layers=2):
    """BERT: word, position and segment embeddings; attention with a mask of 0 and 1; two layers."""
    net = Net()
    word = net("Gather", net.weights(words, width, scale=np.sqrt(words)), "ids")
    segment = net("Gather", net.weights(2, width, scale=1.0), "segments")
    x = net("Add", net("Add", word, segment), net.constant(net.random.normal(size=(1, tokens, width)).astype(np.float32)))
    norm = lambda x: net("LayerNormalization", x, net.constant(np.ones(width, np.float32)), net.constant(np.zeros(width, np.float32)))
    x = norm(x)
    hidden = net("Sub", net.constant(np.float32(1)), net("Cast", net("Unsqueeze", "mask", net.constant(np.int64([1, 2]))), to=TensorProto.FLOAT))
    mask = net("Mul", hidden, net.constant(np.float32(-10000)))
    per = width // heads
    shape = net.constant(np.int64([1, tokens, heads, per]))
    for _ in range(layers):
        q, k, v = (net("Transpose", net("Reshape", net.dense(x, width, width), shape), perm=perm)
                   for perm in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
        scores = net("Add", net("Div", net("MatMul", q, k), net.constant(np.float32(np.sqrt(per)))), mask)
        mixed = net("Transpose", net("MatMul", net("Softmax", scores, axis=-1), v), perm=(0, 2, 1, 3))
        x = norm(net("Add", x, net.dense(net("Reshape", mixed, net.constant(np.int64([1, tokens, width]))), width, width)))
        x = norm(net("Add", x, net.dense(net.dense(x, width, 64, "Relu"), 64, width)))
    return net.model([(n, TensorProto.INT64, [1, tokens]) for n in ("ids", "mask", "segments")], y=x)


def recurrent(tokens=6, words=300, width=16, hidden=16):
    """An LSTM over the rows of a table."""
    net = Net()
    x = net("Gather", net.weights(words, width, scale=np.sqrt(words)), "ids")
    net.nodes.append(helper.make_node(
        "LSTM", [x, net.constant(net.random.normal(size=(1, 4 * hidden, width)).astype(np.float32) * 0.3),
                 net.constant(net.random.normal(size=(1, 4 * hidden, hidden)).astype(np.float32) * 0.3)],
        ["all"], name="lstm", hidden_size=hidden))
    return net.model([("ids", TensorProto.INT32, [tokens, 1])], y=net("Squeeze", "all", net.constant(np.int64([1]))))


def bag(tokens=5, words=1000, width=24):
    """EmbeddingBag: the mean of rows, then a classifier."""
    net = Net()
    mean = net("ReduceMean", net("Gather", net.weights(words, width, scale=np.sqrt(words)), "ids"), net.constant(np.int64([1])), keepdims=0)
    return net.model([("ids", TensorProto.INT64, [2, tokens])], y=net.dense(mean, width, 4))


def masked(tokens=6, words=400, width=16, pad=399):
    """The mask is computed from the ids, which are transposed first: rows of `pad` do not count."""
    net = Net()
    ids = net("Transpose", "ids", perm=(1, 0))  # [tokens, 2]
    rows = net("Gather", net.weights(words, width, scale=np.sqrt(words)), ids)  # [tokens, 2, width]
    kept = net("Cast", net("Not", net("Equal", ids, net.constant(np.int64(pad)))), to=TensorProto.FLOAT)
    rows = net("Mul", rows, net("Unsqueeze", kept, net.constant(np.int64([2]))))
    return net.model([("ids", TensorProto.INT64, [2, tokens])], y=net.dense(rows, width, 8, "Tanh"))


def shifted(tokens=4, words=300, width=8):
    """Two tables of other heights, one of them along its second axis, by ids + 2 and by a slice of the ids."""
    net = Net()
    moved = net("Add", "ids", net.constant(np.int64(2)))
    first = net("Gather", net.weights(words, width, scale=np.sqrt(words)), moved)  # [1, tokens, width]
    tail = net("Slice", "ids", net.constant(np.int64([2])), net.constant(np.int64([4])), net.constant(np.int64([1])))
    second = net("Gather", net.weights(width, 280, scale=np.sqrt(width)), tail, axis=1)  # [width, 1, 2]
    return net.model([("ids", TensorProto.INT64, [1, tokens])], y=first, z=second)


class Tokens(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def sluice(self, *words, code=0):
        done = subprocess.run([SLUICE, *map(str, words)], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def expected(self, model, inputs):
        import onnxruntime  # pylint: disable=import-outside-toplevel
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))

    def compare(self, model, inputs, *flags):
        onnx.save(model, str(self.dir / "m.onnx"))
        self.sluice("compile", "m.onnx", "--target", "c6b32", "-o", "m.sluice", *flags)
        words = []
        for name, value in inputs.items():
            np.save(self.dir / f"{name}.npy", value)
            words += ["--input", f"{name}=@{name}.npy"]
        wanted = self.expected(model, inputs)
        for name in wanted:
            words += ["--output", f"{name}=@{name}.npy"]
        out = self.sluice("run", "m.sluice", "--engine", "both", *words)
        self.assertIn("engines agree: equal bits, equal cycles\n", out)
        for name, value in wanted.items():
            found = np.load(self.dir / f"{name}.npy")
            self.assertLessEqual(np.abs(found - value).max(), TOLERANCE * np.ptp(value), name)

    def test_encoder(self):
        random = np.random.default_rng(5)
        inputs = {"ids": random.integers(0, 500, (1, 8)), "mask": np.int64([[1, 1, 1, 1, 1, 1, 0, 0]]),
                  "segments": np.int64([[0, 0, 0, 0, 1, 1, 1, 1]])}
        self.compare(encoder(), inputs, "--allow-dynamic-weights")
        self.assertIn("input  ids int64 [1, 8], integers from -500 to 499\n", self.sluice("inspect", "m.sluice", "--io"))

    def test_bag(self):
        self.compare(bag(), {"ids": np.int64([[0, 999, 5, -1, 77], [300, 300, -1000, 2, 1]])})

    def test_recurrent_streamed(self):
        model, ids = recurrent(), np.int32([[5], [299], [-1], [0], [150], [42]])
        self.compare(model, {"ids": ids})
        wanted = self.expected(model, {"ids": ids})["y"]
        self.sluice("compile", "m.onnx", "--target", "c6b32", "--stream", "ids=0", "-o", "s.sluice")
        np.save(self.dir / "steps.npy", ids.reshape(6, 1, 1))
        self.sluice("run", "s.sluice", "--engine", "both", "--steps", "6", "--input", "ids=@steps.npy", "--output", "y=@y.npy")
        found = np.load(self.dir / "y.npy").reshape(wanted.shape)
        self.assertLessEqual(np.abs(found - wanted).max(), TOLERANCE * np.ptp(wanted))

    def test_masked(self):
        self.compare(masked(), {"ids": np.int64([[1, 399, 3, 4, -1, 6], [399, 399, 0, 9, 10, 398]])}, "--rewrite-layout")

    def test_shifted(self):
        """The ids that all lookups accept: -280 to 279 of the second table, -302 to 297 of the first."""
        self.compare(shifted(), {"ids": np.int64([[0, 279, -2, 100]])})
        np.save(self.dir / "ids.npy", np.int64([[0, 280, 1, 2]]))
        message = self.sluice("run", "m.sluice", "--engine", "vm", "--input", "ids=@ids.npy", code=2)
        self.assertIn("error[E0618]: input 'ids' has 280 at [0, 1], allowed: integers from -280 to 279 (int64 in the model)", message)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
