#!/usr/bin/env python3
"""The anomaly detector of MLPerf Tiny: a dense autoencoder over 640 numbers of a machine's sound; the score is the
mean square of what it cannot rebuild.

usage: anomaly.py MODEL.onnx
"""
from net import Net, main

TITLE = "anomaly detector"
NOTE = "The score is one number, so its error is a share of its magnitude."


def build(inputs=640):
    net = Net("anomaly")
    sizes = [inputs, *[128] * 4, 8, *[128] * 4]
    frame = x = net.input("frame", 1, inputs)
    for inner, outer in zip(sizes, sizes[1:]):
        x = net.dense(x, inner, outer, "Relu", gain=1.4)
    rest = net("Sub", frame, net.dense(x, sizes[-1], inputs))
    return net.model(score=net("ReduceMean", net("Mul", rest, rest), axes=[1], keepdims=1))


if __name__ == "__main__":
    main(build, __doc__)
