#!/usr/bin/env python3
"""Writes the benchmark models as ONNX, with seeded weights.

usage: make_models.py OUT_DIR [NAME...]

Each is defined by its published description; sizes are in the name. Weights
are drawn from a fixed seed and scaled so that activations keep their size.
"""
import pathlib
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "state"))
import networks  # noqa: E402


class Builder:
    """A graph under construction over one activation: a row [1, n], or [1, channels, ...]."""

    def __init__(self, name):
        self.name = name
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes, self.initializers, self.count = [], [], 0

    def op(self, kind, *inputs, **attributes):
        self.count += 1
        output = f"{kind.lower()}_{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=f"/{output}", **attributes))
        return output

    def constant(self, array):
        self.count += 1
        name = f"weight_{self.count}"
        self.initializers.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    def shape(self, *extents):
        self.count += 1
        name = f"shape_{self.count}"
        self.initializers.append(numpy_helper.from_array(np.asarray(extents, np.int64), name))
        return name

    def linear(self, value, inputs, outputs, bias=True):
        weight = self.random.standard_normal((outputs, inputs)) * np.sqrt(2 / inputs)
        operands = [value, self.constant(weight)]
        if bias:
            operands.append(self.constant(self.random.standard_normal(outputs) * 0.1))
        return self.op("Gemm", *operands, transB=1)

    def convolution(self, value, inputs, outputs, size, stride, axes, group=1, border=None):
        """A border of half a window, if no other is given."""
        fan = inputs // group * size**axes
        weight = self.random.standard_normal((outputs, inputs // group, *[size] * axes)) * np.sqrt(2 / fan)
        operands = [value, self.constant(weight), self.constant(self.random.standard_normal(outputs) * 0.1)]
        return self.op("Conv", *operands, kernel_shape=[size] * axes, strides=[stride] * axes, group=group,
                       pads=[size // 2 if border is None else border] * (2 * axes))

    def rms_norm(self, value, size):
        square = self.op("Mul", value, value)
        mean = self.op("ReduceMean", square, axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.constant(1e-5)))
        scaled = self.op("Div", value, root)
        return self.op("Mul", scaled, self.constant(1 + 0.1 * self.random.standard_normal(size)))

    def layer_norm(self, value, size):
        scale, bias = 1 + 0.1 * self.random.standard_normal(size), 0.1 * self.random.standard_normal(size)
        return self.op("LayerNormalization", value, self.constant(scale), self.constant(bias), axis=-1)

    def silu(self, value):
        return self.op("Mul", value, self.op("Sigmoid", value))

    def model(self, value, inputs, outputs):
        self.nodes.append(helper.make_node("Identity", [value], ["y"], name="/output"))
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *np.atleast_1d(inputs).tolist()])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, *np.atleast_1d(outputs).tolist()])],
            self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def dense(name, sizes):
    builder, value = Builder(name), "x"
    for inputs, outputs in zip(sizes, sizes[1:]):
        value = builder.op("Relu", builder.linear(value, inputs, outputs))
    return builder.model(value, sizes[0], sizes[-1])


def residual(name, dim, hidden, activation):
    builder, value = Builder(name), "x"
    for _ in range(2):
        inner = builder.linear(builder.rms_norm(value, dim), dim, hidden)
        if activation == "silu":
            inner = builder.silu(inner)
        else:
            inner = builder.op({"relu": "Relu", "elu": "Elu"}[activation], inner)
        value = builder.op("Add", value, builder.linear(inner, hidden, dim))
    return builder.model(value, dim, dim)


def swiglu(name, dim, hidden):
    builder = Builder(name)
    norm = builder.rms_norm("x", dim)
    gate = builder.silu(builder.linear(norm, dim, hidden, bias=False))
    up = builder.linear(norm, dim, hidden, bias=False)
    down = builder.linear(builder.op("Mul", gate, up), hidden, dim, bias=False)
    return builder.model(builder.op("Add", "x", down), dim, dim)


def normalised(name, sizes):
    """Fully connected layers with a LayerNormalization and a relu behind each."""
    builder, value = Builder(name), "x"
    for inputs, outputs in zip(sizes, sizes[1:]):
        value = builder.op("Relu", builder.layer_norm(builder.linear(value, inputs, outputs), outputs))
    return builder.model(value, sizes[0], sizes[-1])


def of_line(name, size, kind):
    """One softmax, or one LayerNormalization, of a line."""
    builder = Builder(name)
    value = builder.op("Softmax", "x", axis=-1) if kind == "softmax" else builder.layer_norm("x", size)
    return builder.model(value, size, size)


def convolutions(name, shape, layers):
    """`layers` of (channels, size, stride), over [channels, ...]: a border of half a window, and relu behind."""
    builder, value, shape = Builder(name), "x", list(shape)
    start = list(shape)
    for channels, size, stride in layers:
        value = builder.op("Relu", builder.convolution(value, shape[0], channels, size, stride, len(shape) - 1))
        shape = [channels, *[(extent - 1) // stride + 1 for extent in shape[1:]]]
    return builder.model(value, start, shape)


def separable(name, channels, side):
    """A window of its own for every channel, then channels to channels, with a relu behind each."""
    builder, shape = Builder(name), [channels, side, side]
    value = builder.op("Relu", builder.convolution("x", channels, channels, 3, 1, 2, group=channels))
    value = builder.op("Relu", builder.convolution(value, channels, channels, 1, 1, 2))
    return builder.model(value, shape, shape)


def frames(name, samples, channels, size, stride):
    """The first layer of a network on sound: windows over samples to channels."""
    builder = Builder(name)
    value = builder.op("Relu", builder.convolution("x", 1, channels, size, stride, 1, border=0))
    return builder.model(value, [1, samples], [channels, (samples - size) // stride + 1])


def long_short_term(name, steps, inputs, hidden, layers):
    """LSTMs over a window [steps, inputs] and a dense unit for every position; one bias a gate."""
    builder, value, size = Builder(name), "x", inputs
    for _ in range(layers):
        weights = [builder.random.standard_normal((1, 4 * hidden, n)) / np.sqrt(n) for n in (size, hidden)]
        bias = np.append(0.1 * builder.random.standard_normal(4 * hidden), np.zeros(4 * hidden))
        value = builder.op("LSTM", value, *map(builder.constant, [*weights, bias[None]]), hidden_size=hidden, layout=1)
        value, size = builder.op("Reshape", value, builder.shape(1, steps, hidden)), hidden
    weight = builder.constant(builder.random.standard_normal((hidden, 1)) / np.sqrt(hidden))
    y = builder.op("Add", builder.op("MatMul", value, weight), builder.constant([0.1]))
    return builder.model(y, [steps, inputs], [steps, 1])


# Windows that are streamed: what one step of them takes. The networks of the STAC-ML benchmark.
SEQUENCES = {
    "stac-lstm-a": lambda n: long_short_term(n, 50, 100, 100, 2),
    "stac-lstm-b": lambda n: long_short_term(n, 100, 250, 200, 3),
    "stac-lstm-c": lambda n: long_short_term(n, 100, 500, 1000, 4),
}
LARGEST = "stac-lstm-c"  # fits no preset

# The same as whole windows, too long to be written out.
WHOLE = {"stac-lstm-a-whole": SEQUENCES["stac-lstm-a"]}

# Rows that nobody has published.
WINDOWS = {
    "conv1d-4x64-256": lambda n: convolutions(n, [64, 256], [(64, 3, 1)] * 4),
    "conv2d-4x32-32x32": lambda n: convolutions(n, [32, 32, 32], [(32, 3, 1)] * 4),
    "conv2d-3x32-64x64": lambda n: convolutions(n, [32, 64, 64], [(32, 3, 1)] * 3),
    "conv2d-3x64-32x32": lambda n: convolutions(n, [64, 32, 32], [(64, 3, 1)] * 3),
    "conv2d-64-128-16x16": lambda n: convolutions(n, [64, 16, 16], [(64, 3, 2), (128, 1, 1)]),
    "separable-64-16x16": lambda n: separable(n, 64, 16),
    "conv1d-1-32-k64-4096": lambda n: frames(n, 4096, 32, 64, 16),
}

# Statistics of long lines.
LINES = {
    "layernorm-1024": lambda n: of_line(n, 1024, "norm"),
    "layernorm-2048": lambda n: of_line(n, 2048, "norm"),
    "softmax-2048": lambda n: of_line(n, 2048, "softmax"),
    "softmax-4096": lambda n: of_line(n, 4096, "softmax"),
    "mlp-3x512-layernorm": lambda n: normalised(n, [512] * 4),
}

# One network over few positions, and over many.
LENGTHS = {f"conv1d-4x64-{n}": (lambda n: lambda name: convolutions(name, [64, n], [(64, 3, 1)] * 4))(n)
           for n in (64, 4096)}

# One step of networks whose memory stays on the chip.
STREAMS = {name: lambda n: networks.PUBLISHED[n]().model() for name in networks.PUBLISHED}

ROWS = {
    "slp-128-128": lambda n: dense(n, [128, 128]),
    "slp-256-1024": lambda n: dense(n, [256, 1024]),
    "slp-1024-1024": lambda n: dense(n, [1024, 1024]),
    "mlp-2x512": lambda n: dense(n, [512] * 3),
    "mlp-7x384": lambda n: dense(n, [384] * 8),
    "mlp-4x512": lambda n: dense(n, [512] * 5),
    "mlp-3x1024": lambda n: dense(n, [1024] * 4),
    "mlp-res-rms-320-768-relu": lambda n: residual(n, 320, 768, "relu"),
    "mlp-res-rms-320-768-silu": lambda n: residual(n, 320, 768, "silu"),
    "mlp-res-rms-320-768-elu": lambda n: residual(n, 320, 768, "elu"),
    "mlp-res-rms-512-1024-relu": lambda n: residual(n, 512, 1024, "relu"),
    "swiglu-192-768": lambda n: swiglu(n, 192, 768),
    "swiglu-288-1152": lambda n: swiglu(n, 288, 1152),
    "swiglu-384-1536": lambda n: swiglu(n, 384, 1536),
}


# Every model there is a function for, by name.
MODELS = ROWS | WINDOWS | LINES | LENGTHS | STREAMS | SEQUENCES | WHOLE


def flags_of(model):
    """The flags that keep on the chip what a model has as inputs and outputs, and those of attention; a window is
    streamed."""
    if model.graph.name in SEQUENCES:
        return ["--stream", "x=1"]
    outputs = {output.name for output in model.graph.output}
    states = [i.name.removesuffix("_in") for i in model.graph.input if i.name.endswith("_in")]
    flags = [word for name in states if f"{name}_out" in outputs for word in ("--state", f"{name}_in={name}_out")]
    constants = {constant.name for constant in model.graph.initializer}
    attends = any(node.op_type == "MatMul" and not constants.intersection(node.input) for node in model.graph.node)
    return flags + ["--allow-dynamic-weights"] * attends


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        if name not in MODELS:
            raise SystemExit(f"unknown model {name}; known: {', '.join(MODELS)}")
        onnx.save(MODELS[name](name), folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
