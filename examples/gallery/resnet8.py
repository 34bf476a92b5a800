#!/usr/bin/env python3
"""The image classifier of MLPerf Tiny over images of 32 x 32: three residual blocks; 10 classes.

usage: resnet8.py MODEL.onnx
"""
from net import Net, main

TITLE = "ResNet-8"
TARGET = "c6b32-images.json"
NOTE = "The images need more inbox rows than `c6b32` has. The target file is `c6b32` with larger memories."


def build():
    net = Net("resnet8")
    x = net.convolution(net.input("image", 1, 3, 32, 32), 3, 16, (3, 3), pads=[1, 1, 1, 1])
    inner = 16
    for outer, stride in ((16, 1), (32, 2), (64, 2)):
        first = [1, 1, 1, 1] if stride == 1 else [0, 0, 1, 1] # TensorFlow's border of an even extent
        y = net.convolution(x, inner, outer, (3, 3), strides=[stride] * 2, pads=first)
        y = net.convolution(y, outer, outer, (3, 3), activation=None, pads=[1, 1, 1, 1])
        if stride > 1:
            x = net.convolution(x, inner, outer, (1, 1), activation=None, strides=[stride] * 2)
        x, inner = net("Relu", net("Add", x, y)), outer
    x = net("Flatten", net("GlobalAveragePool", x))
    return net.model(classes=net("Softmax", net.dense(x, inner, 10), axis=-1))


if __name__ == "__main__":
    main(build, __doc__)
