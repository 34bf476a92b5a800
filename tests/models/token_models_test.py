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
from onnx import TensorProto

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/gallery"))
import bert_tiny  # noqa: E402 pylint: disable=wrong-import-position
from net import Net  # noqa: E402 pylint: disable=wrong-import-position

SLUICE = os.path.abspath(sys.argv[1])
TOLERANCE = 0.02  # of the range of the output: some ten roundings to bf16 on the way


def recurrent(tokens=6, words=300, width=16, hidden=16):
    """An LSTM over the rows of a table."""
    net = Net("recurrent")
    x = net("Gather", net.normal(words, width), net.input("ids", tokens, 1, kind=TensorProto.INT32))
    states = net("LSTM", x, net.normal(1, 4 * hidden, width, scale=0.3), net.normal(1, 4 * hidden, hidden, scale=0.3),
                 hidden_size=hidden)
    return net.model(y=net("Squeeze", states, net.integers(1)))


def bag(tokens=5, words=1000, width=24):
    """EmbeddingBag: the mean of rows, then a classifier."""
    net = Net("bag")
    rows = net("Gather", net.normal(words, width), net.input("ids", 2, tokens, kind=TensorProto.INT64))
    return net.model(y=net.dense(net("ReduceMean", rows, axes=[1], keepdims=0), width, 4))


def masked(tokens=6, words=400, width=16, pad=399):
    """The mask is computed from the ids, which are transposed first: rows of `pad` do not count."""
    net = Net("masked")
    ids = net("Transpose", net.input("ids", 2, tokens, kind=TensorProto.INT64), perm=(1, 0))  # [tokens, 2]
    rows = net("Gather", net.normal(words, width), ids)  # [tokens, 2, width]
    kept = net("Cast", net("Not", net("Equal", ids, net.constant(np.int64(pad)))), to=TensorProto.FLOAT)
    rows = net("Mul", rows, net("Unsqueeze", kept, net.integers(2)))
    return net.model(y=net.dense(rows, width, 8, "Tanh"))


def shifted(tokens=4, words=300, width=8):
    """Two tables of other heights, one of them along its second axis, by ids + 2 and by a slice of the ids."""
    net = Net("shifted")
    ids = net.input("ids", 1, tokens, kind=TensorProto.INT64)
    first = net("Gather", net.normal(words, width), net("Add", ids, net.constant(np.int64(2))))  # [1, tokens, width]
    tail = net("Slice", ids, net.integers(2), net.integers(4), net.integers(1))
    second = net("Gather", net.normal(width, 280), tail, axis=1)  # [width, 1, 2]
    return net.model(y=first, z=second)


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
        self.compare(bert_tiny.build(tokens=8, words=500, width=32, hidden=64, activation="Relu"), inputs, "--allow-dynamic-weights")
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
