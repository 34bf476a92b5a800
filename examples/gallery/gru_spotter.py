#!/usr/bin/env python3
"""A keyword spotter with a GRU over 49 frames of 40 bands; 12 words.

usage: gru_spotter.py MODEL.onnx
"""
from net import Net, main

TITLE = "GRU spotter"
FLAGS = ["--stream", "frames=1"]
NOTE = ("The state stays on the chip. The candidate waits for the reset gate, which makes "
        "the path longer.")
STEPS = 49


def build(units=154):
    net = Net("gru_spotter")
    states = net.recurrence("GRU", net.input("frames", 1, STEPS, 40), 40, units)
    return net.model(words=net("Softmax", net.dense(states, units, 12), axis=-1))


if __name__ == "__main__":
    main(build, __doc__)
