#!/usr/bin/env python3
"""A keyword spotter with an LSTM over 49 frames of 40 bands; 12 words.

usage: lstm_spotter.py MODEL.onnx
"""
from net import Net, main

TITLE = "LSTM spotter"
FLAGS = ["--stream", "frames=1"]
NOTE = "The state stays on the chip: an inference takes one frame and scores the words."
STEPS = 49


def build(units=118):
    net = Net("lstm_spotter")
    states = net.recurrence("LSTM", net.input("frames", 1, STEPS, 40), 40, units)
    return net.model(words=net("Softmax", net.dense(states, units, 12), axis=-1))


if __name__ == "__main__":
    main(build, __doc__)
