#!/usr/bin/env python3
"""A transformer encoder with norms in front: two layers over 32 tokens of 64 numbers, four heads, a hidden layer of 128.

usage: transformer.py MODEL.onnx
"""
from net import Net, main

TITLE = "transformer encoder"
FLAGS = ["--allow-dynamic-weights"]
NOTE = "Attention multiplies two activations, which needs the flag."


def build(tokens=32, width=64, heads=4, hidden=128, layers=2):
    net = Net("transformer")
    x = net("Add", net.input("tokens", 1, tokens, width), net.normal(1, tokens, width))
    for _ in range(layers):
        x = net("Add", x, net.attention(net.norm(x, width), tokens, width, heads))
        inner = net.dense(net.norm(x, width), width, hidden, "Relu", gain=1.4)
        x = net("Add", x, net.dense(inner, hidden, width))
    return net.model(encoded=net.norm(x, width))


if __name__ == "__main__":
    main(build, __doc__)
