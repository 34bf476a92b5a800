#!/usr/bin/env python3
"""DeepLOB (Zhang, Zohren, Roberts 2019): convolutions, an inception block and an LSTM over 100 states of a limit order
book with 40 numbers each; whether the price will fall, stay or rise.

usage: deeplob.py MODEL.onnx
"""
from net import Net, main

TITLE = "DeepLOB"
NOTE = ("The window does not fit unrolled: the program runs 21 iterations of 5 steps. "
        "`--stream book=1 --stream-delay 2` takes one new state in each inference instead.")


def leaky(net, x):
    return net("LeakyRelu", x, alpha=0.01)


def build(steps=100):
    net = Net("deeplob")
    x = net("Unsqueeze", net.input("book", 1, steps, 40), net.integers(1))
    for inner, size, stride in ((1, (1, 2), [1, 2]), (32, (1, 2), [1, 2]), (32, (1, 10), [1, 1])):
        x = leaky(net, net.convolution(x, inner, 32, size, activation=None, strides=stride))
        for _ in range(2):
            x = leaky(net, net.convolution(x, 32, 32, (4, 1), activation=None))
    branches = []
    for size in (3, 5):
        y = leaky(net, net.convolution(x, 32, 64, (1, 1), activation=None))
        branches.append(leaky(net, net.convolution(y, 64, 64, (size, 1), activation=None,
                                                        pads=[size // 2, 0, size // 2, 0])))
    most = net("MaxPool", x, kernel_shape=[3, 1], strides=[1, 1], pads=[1, 0, 1, 0])
    branches.append(leaky(net, net.convolution(most, 32, 64, (1, 1), activation=None)))
    x = net("Transpose", net("Squeeze", net("Concat", *branches, axis=1), net.integers(3)), perm=[0, 2, 1])
    states = net.recurrence("LSTM", x, 192, 64)
    # Six windows of 4 without a border: 18 steps fewer.
    last = net("Gather", states, net.constant(steps - 19), axis=1)
    return net.model(moves=net("Softmax", net.dense(last, 64, 3, gain=4), axis=-1))


if __name__ == "__main__":
    main(build, __doc__)
