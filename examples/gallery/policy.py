#!/usr/bin/env python3
"""The policy of a walking robot: 48 observations, hidden layers of 512, 256 and 128 units, 12 joint targets.

usage: policy.py MODEL.onnx
"""
from net import Net, main

TITLE = "policy network"
NOTE = "The layers are small: most of the latency is the path of the rows through four layers."


def build():
    net = Net("policy")
    x, inner = net.input("observations", 1, 48), 48
    for outer in (512, 256, 128):
        x, inner = net.dense(x, inner, outer, "Elu", gain=1.4), outer
    return net.model(targets=net.dense(x, inner, 12))


if __name__ == "__main__":
    main(build, __doc__)
