#!/usr/bin/env python3
"""A temporal convolutional network (Bai, Kolter, Koltun 2018) over 16 signals: four residual blocks of two causal
convolutions, 3 wide, dilated by 1, 2, 4 and 8.

usage: tcn.py MODEL.onnx
"""
from net import Net, main

TITLE = "TCN"
FLAGS = ["--stream", "signals=2"]
NOTE = ("The past of each convolution stays on the chip, and its sums are computed before the next sample "
        "arrives.")
STEPS = 64


def build(inputs=16, channels=64):
    net = Net("tcn")
    x, inner = net.input("signals", 1, inputs, STEPS), inputs
    for dilation in (1, 2, 4, 8):
        causal = {"dilations": [dilation], "pads": [2 * dilation, 0]}
        y = net.convolution(x, inner, channels, (3,), **causal)
        y = net.convolution(y, channels, channels, (3,), **causal)
        past = x if inner == channels else net.convolution(x, inner, channels, (1,), activation=None)
        x, inner = net("Relu", net("Add", past, y)), channels
    return net.model(forecast=net.convolution(x, channels, 4, (1,), activation=None))


if __name__ == "__main__":
    main(build, __doc__)
