#!/usr/bin/env python3
"""The keyword spotter of MLPerf Tiny: depthwise separable convolutions over 49 frames of 10 bands; 12 words.

usage: ds_cnn.py MODEL.onnx
"""
from net import Net, main

TITLE = "keyword spotting, DS-CNN"
NOTE = ("A window of its own for each channel fills 32 of the 1,024 products of a weight block. These layers take "
        "most of the beats.")


def build(channels=64):
    net = Net("ds_cnn")
    x = net.convolution(net.input("spectrogram", 1, 1, 49, 10), 1, channels, (10, 4), strides=[2, 2], pads=[4, 1, 5, 1])
    for _ in range(4):
        x = net.convolution(x, channels, channels, (3, 3), group=channels, pads=[1, 1, 1, 1])
        x = net.convolution(x, channels, channels, (1, 1))
    x = net("Flatten", net("GlobalAveragePool", x))
    return net.model(words=net("Softmax", net.dense(x, channels, 12), axis=-1))


if __name__ == "__main__":
    main(build, __doc__)
