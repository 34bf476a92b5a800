"""Small convolution networks with the nodes that PyTorch's exporter writes for them."""
import numpy as np

from cases.common import normal
from cases.exports import Network, linear, relu, sigmoid, weights
from cases.windows import average, conv, conv_transpose, pool


def kernel(features, channels, *sizes):
    """As nn.Conv holds them: weights and bias."""
    return normal(features, channels, *sizes) / np.float32(np.sqrt(channels * np.prod(sizes))), normal(features) / 10


def convolution(net, x, layer, stride=1, pad=0, dilation=1, group=1):
    """nn.Conv1d or nn.Conv2d with equal numbers for every axis."""
    count = layer[0].ndim - 2
    return net("Conv", x, *layer, dilations=[dilation] * count, group=group,
               kernel_shape=list(layer[0].shape[2:]), pads=[pad] * 2 * count, strides=[stride] * count)


def convolved(x, layer, stride=1, pad=0, dilation=1, group=1):
    count = layer[0].ndim - 2
    return conv(x, *layer, group, [stride] * count, [dilation] * count, [(pad, pad)] * count)


class Norm:
    """nn.BatchNorm of a trained network."""

    def __init__(self, channels):
        self.values = [normal(channels) / 4 + 1, normal(channels) / 4, normal(channels) / 4,
                       np.abs(normal(channels)) / 2 + np.float32(0.5)]

    def node(self, net, x):
        return net("BatchNormalization", x, *self.values, epsilon=1e-5, momentum=0.9)

    def __call__(self, x):
        scale, shift, mean, variance = (v.reshape((-1,) + (1,) * (x.ndim - 2)) for v in self.values)
        return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift


def residual_block(cases):
    """With a stride, and a 1 x 1 convolution beside it."""
    x = normal(1, 6, 8, 8)
    first, second, beside = kernel(10, 6, 3, 3), kernel(10, 10, 3, 3), kernel(10, 6, 1, 1)
    norms = [Norm(10) for _ in range(3)]
    net = Network(x=x)
    h = net("Relu", norms[0].node(net, convolution(net, "x", first, 2, 1)))
    h = norms[1].node(net, convolution(net, h, second, 1, 1))
    y = net("Relu", net("Add", h, norms[2].node(net, convolution(net, "x", beside, 2))))
    v = norms[1](convolved(relu(norms[0](convolved(x, first, 2, 1))), second, 1, 1))
    net.add_to(cases, "residual_block", {y: relu(v + norms[2](convolved(x, beside, 2)))})


def mobile_block(cases):
    """Inverted bottleneck with squeeze and excite."""
    x = normal(1, 4, 6, 6)
    widen, deep, narrow = kernel(12, 4, 1, 1), kernel(12, 1, 3, 3), kernel(4, 12, 1, 1)
    squeeze, excite = kernel(3, 12, 1, 1), kernel(12, 3, 1, 1)
    net = Network(x=x)
    h = net("Clip", convolution(net, "x", widen), np.float32(0), np.float32(6))
    h = net("Clip", convolution(net, h, deep, 1, 1, group=12), np.float32(0), np.float32(6))
    mean = net("GlobalAveragePool", h)
    gate = net("HardSigmoid", convolution(net, net("Relu", convolution(net, mean, squeeze)), excite),
               alpha=1 / 6)
    y = net("Add", "x", convolution(net, net("Mul", gate, h), narrow))
    v = np.clip(convolved(x, widen), 0, 6)
    v = np.clip(convolved(v, deep, 1, 1, group=12), 0, 6)
    g = convolved(relu(convolved(v.mean((2, 3), keepdims=True), squeeze)), excite)
    g = np.clip(g / 6 + 0.5, 0, 1)
    net.add_to(cases, "mobile_block", {y: x + convolved(g * v, narrow)})


def u_net(cases):
    """Down by a pooling, up by a transposed convolution, joined by Concat."""
    x = normal(1, 2, 24)
    down, bottom, joined, last = (kernel(6, 2, 3), kernel(10, 6, 3), kernel(6, 12, 3), kernel(1, 6, 1))
    up = normal(10, 6, 2) / 4, normal(6) / 10
    net = Network(x=x)
    a = net("Relu", convolution(net, "x", down, 1, 1))
    b = net("MaxPool", a, ceil_mode=0, kernel_shape=[2], pads=[0, 0], strides=[2])
    b = net("Relu", convolution(net, b, bottom, 1, 1))
    c = net("ConvTranspose", b, *up, dilations=[1], group=1, kernel_shape=[2], pads=[0, 0], strides=[2])
    h = net("Relu", convolution(net, net("Concat", a, c, axis=1), joined, 1, 1))
    v = relu(convolved(x, down, 1, 1))
    w = relu(convolved(pool(v, np.max, 0, [2], [2]), bottom, 1, 1))
    w = np.concatenate([v, conv_transpose(w, *up, strides=[2])], 1)
    net.add_to(cases, "u_net", {convolution(net, h, last): convolved(relu(convolved(w, joined, 1, 1)), last)})


def temporal_network(cases):
    """Causal convolutions with growing dilations: what is padded behind is cut off again."""
    x = normal(1, 3, 20)
    net, h, v = Network(x=x), "x", np.float64(x)
    for dilation, channels in ((1, 3), (2, 6), (4, 6)):
        layer, beside = kernel(6, channels, 3), kernel(6, channels, 1)
        t = convolution(net, h, layer, pad=2 * dilation, dilation=dilation)
        t = net("Relu", net("Slice", t, np.int64([0]), np.int64([-2 * dilation]), np.int64([2]), np.int64([1])))
        h = net("Relu", net("Add", t, convolution(net, h, beside) if channels != 6 else h))
        u = relu(convolved(v, layer, pad=2 * dilation, dilation=dilation)[:, :, :-2 * dilation])
        v = relu(u + (convolved(v, beside) if channels != 6 else v))
    net.add_to(cases, "temporal_network", {h: v})


def wave_net(cases):
    """Gated layers whose skips are summed; the borders are explicit."""
    x = normal(1, 1, 16)
    first = kernel(5, 1, 1)
    net, skips, sums = Network(x=x), None, 0
    h, v = convolution(net, "x", first), convolved(x, first)
    for dilation in (1, 2, 4):
        both, out, skip = kernel(10, 5, 2), kernel(5, 5, 1), kernel(8, 5, 1)
        t = convolution(net, net("Pad", h, np.int64([0, 0, dilation, 0, 0, 0]), np.float32(0), mode="constant"),
                        both, dilation=dilation)
        left, right = net("Split", t, axis=1, outputs=2)
        t = net("Mul", net("Tanh", left), net("Sigmoid", right))
        s = convolution(net, t, skip)
        skips = s if skips is None else net("Add", skips, s)
        h = net("Add", h, convolution(net, t, out))
        u = convolved(np.pad(v, [(0, 0), (0, 0), (dilation, 0)]), both, dilation=dilation)
        u = np.tanh(u[:, :5]) * sigmoid(u[:, 5:])
        sums = sums + convolved(u, skip)
        v = v + convolved(u, out)
    last = kernel(2, 8, 1)
    y = convolution(net, net("Relu", skips), last)
    net.add_to(cases, "wave_net", {y: convolved(relu(sums), last)}, opset=13)


def keyword_spotting(cases):
    """Of 10 coefficients in 12 frames: depthwise separable convolutions, mean, classes."""
    x = normal(1, 1, 12, 10)
    first, norm = kernel(8, 1, 4, 3), Norm(8)
    net = Network(x=x)
    h = net("Conv", "x", *first, dilations=[1, 1], group=1, kernel_shape=[4, 3], pads=[1, 1, 2, 1], strides=[2, 2])
    h = net("Relu", norm.node(net, h))
    v = relu(norm(conv(x, *first, strides=[2, 2], pads=[(1, 2), (1, 1)])))
    for _ in range(2):
        deep, wide, norms = kernel(8, 1, 3, 3), kernel(8, 8, 1, 1), (Norm(8), Norm(8))
        h = net("Relu", norms[0].node(net, convolution(net, h, deep, 1, 1, group=8)))
        h = net("Relu", norms[1].node(net, convolution(net, h, wide)))
        v = relu(norms[0](convolved(v, deep, 1, 1, group=8)))
        v = relu(norms[1](convolved(v, wide)))
    h = net("AveragePool", h, ceil_mode=0, count_include_pad=1, kernel_shape=[6, 5], pads=[0] * 4, strides=[6, 5])
    layer = weights(8, 4)
    y = net.linear(net("Flatten", h, axis=1), layer)
    net.add_to(cases, "keyword_spotting", {y: linear(average(v, [6, 5], strides=[6, 5]).reshape(1, 8), layer)})


def window_exports(cases):
    for network in (residual_block, mobile_block, u_net, temporal_network, wave_net, keyword_spotting):
        network(cases)
