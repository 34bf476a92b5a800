#!/usr/bin/env python3
"""A convolutional autoencoder that removes noise from 256 samples of two signals: three layers down to 32 samples, and
three transposed ones back.

usage: autoencoder.py MODEL.onnx
"""
import numpy as np

from net import Net, main

TITLE = "autoencoder"
NOTE = "The transposed convolutions are products with the elements that are there; no zeros are inserted."


def build(samples=256):
    net = Net("autoencoder")
    x, inner = net.input("noisy", 1, 2, samples), 2
    for outer in (16, 32, 32):
        x, inner = net.convolution(x, inner, outer, (5,), strides=[2], pads=[2, 2]), outer
    for outer in (32, 16, 2):
        x = net("ConvTranspose", x, net.normal(inner, outer, 4, scale=np.sqrt(1 / inner)), net.normal(outer, scale=0.1),
                kernel_shape=[4], strides=[2], pads=[1, 1])
        x, inner = net("Relu", x) if outer > 2 else x, outer
    return net.model(clean=x)


if __name__ == "__main__":
    main(build, __doc__)
