#!/usr/bin/env python3
"""The person detector of MLPerf Tiny: MobileNet-v1 of width 0.25 over images of 96 x 96; 2 classes.

usage: mobilenet.py MODEL.onnx
"""
from net import Net, main

TITLE = "MobileNet-v1-0.25"
TARGET = "c6b32-images.json"
NOTE = ("The images need more inbox rows and weight blocks than `c6b32` has. The target file is `c6b32` with "
        "larger memories.")
BLOCKS = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)] # channels, stride


def build(side=96):
    net = Net("mobilenet")
    border = lambda stride: [1, 1, 1, 1] if stride == 1 else [0, 0, 1, 1] # TensorFlow's, of an even extent
    x = net.convolution(net.input("image", 1, 3, side, side), 3, 8, (3, 3), strides=[2, 2], pads=border(2))
    inner = 8
    for outer, stride in BLOCKS:
        x = net.convolution(x, inner, inner, (3, 3), group=inner, strides=[stride] * 2, pads=border(stride))
        x = net.convolution(x, inner, outer, (1, 1))
        inner = outer
    x = net("Flatten", net("GlobalAveragePool", x))
    return net.model(classes=net("Softmax", net.dense(x, inner, 2, gain=4), axis=-1))


if __name__ == "__main__":
    main(build, __doc__)
