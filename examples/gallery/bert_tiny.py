#!/usr/bin/env python3
"""BERT-tiny (Turc and others 2019): two layers of 128 numbers, two heads, 30,522 words; 16 token ids with a mask and
segment ids.

usage: bert_tiny.py MODEL.onnx
"""
import numpy as np
from onnx import TensorProto

from net import Net, main

TITLE = "BERT-tiny, with ids"
FLAGS = ["--allow-dynamic-weights"]
NOTE = "The host looks up the words in a table of the program file. The chip has the weights of the two layers."


def build(tokens=16, words=30522, width=128, heads=2, hidden=512, layers=2, activation="gelu"):
    net = Net("bert_tiny")
    ids, mask, segments = (net.input(name, 1, tokens, kind=TensorProto.INT64) for name in ("ids", "mask", "segments"))
    x = net("Add", net("Gather", net.normal(words, width), ids), net("Gather", net.normal(2, width), segments))
    x = net.norm(net("Add", x, net.normal(1, tokens, width)), width)
    seen = net("Cast", net("Unsqueeze", mask, net.integers(1, 2)), to=TensorProto.FLOAT)
    hidden_scores = net("Mul", net("Sub", net.constant(np.float32(1)), seen), net.constant(np.float32(-10000)))
    for _ in range(layers):
        x = net.norm(net("Add", x, net.attention(x, tokens, width, heads, hidden_scores)), width)
        y = gelu(net, net.dense(x, width, hidden)) if activation == "gelu" else net.dense(x, width, hidden, activation)
        x = net.norm(net("Add", x, net.dense(y, hidden, width)), width)
    return net.model(states=x)


def gelu(net, x):
    """As exporters write it."""
    error = net("Erf", net("Div", x, net.constant(np.float32(np.sqrt(2)))))
    return net("Mul", net("Mul", x, net("Add", error, net.constant(np.float32(1)))), net.constant(np.float32(0.5)))


def feeds(random, samples):
    """The last tokens of a sample are padding; the second sentence begins in the middle."""
    mask = np.arange(16) < random.integers(8, 17, (samples, 1, 1))
    return {"ids": random.integers(0, 30522, (samples, 1, 16)), "mask": mask.astype(np.int64),
            "segments": np.tile(np.int64([0] * 8 + [1] * 8), (samples, 1, 1))}


if __name__ == "__main__":
    main(build, __doc__)
