"""One step of networks with a memory, the memory as inputs and outputs, as exporters write streamed models; and what
they compute, in numpy.

A network is a list of nodes whose meaning is told once, by `evaluate`, in float64.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper


def bf16(values):
    """Rounded to nearest even, so that the engines see the same weights as the reference."""
    bits = np.atleast_1d(np.asarray(values, np.float32)).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
            .reshape(np.shape(values)))


class Network:
    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs, self.states = [], {}, [], [], []
        self.attends = False  # multiplies values that are computed

    def name(self, kind):
        return f"{kind}_{len(self.nodes) + len(self.constants)}"

    def constant(self, values):
        name = self.name("c")
        self.constants[name] = np.asarray(values) if np.asarray(values).dtype == np.int64 else bf16(values)
        return name

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def uniform(self, shape, most):
        return self.constant(self.random.uniform(-most, most, shape))

    def op(self, kind, *operands, **attributes):
        name = self.name(kind)
        self.nodes.append(helper.make_node(kind, operands, [name], name=name, **attributes))
        return name

    def input(self, name, *shape):
        self.inputs.append((name, shape))
        return name

    def state(self, name, *shape):
        self.states.append(name)
        return self.input(f"{name}_in", *shape)

    def give(self, name, value, *shape):
        self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self.outputs.append((name, shape))

    def keep(self, name, value, *shape):
        self.give(f"{name}_out", value, *shape)

    def model(self):
        tensor = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "network", [tensor(*one) for one in self.inputs],
                                  [tensor(*one) for one in self.outputs],
                                  [numpy_helper.from_array(value, name) for name, value in self.constants.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def flags(self):
        states = [word for name in self.states for word in ("--state", f"{name}_in={name}_out")]
        return states + ["--allow-dynamic-weights"] * self.attends

    # ---- layers
    def linear(self, x, inputs, outputs, bias=True):
        y = self.op("MatMul", x, self.uniform((inputs, outputs), inputs ** -0.5))
        return self.op("Add", y, self.uniform(outputs, 0.1)) if bias else y

    def lstm(self, x, inputs, units, name):
        h, c = self.state(f"{name}h", 1, units), self.state(f"{name}c", 1, units)
        gate = lambda: self.op("Add", self.linear(x, inputs, units), self.linear(h, units, units))
        forget, update, candidate, output = gate(), gate(), gate(), gate()
        cell = self.op("Add", self.op("Mul", self.op("Sigmoid", forget), c),
                       self.op("Mul", self.op("Sigmoid", update), self.op("Tanh", candidate)))
        hidden = self.op("Mul", self.op("Sigmoid", output), self.op("Tanh", cell))
        self.keep(f"{name}c", cell, 1, units)
        self.keep(f"{name}h", hidden, 1, units)
        return hidden

    def gru(self, x, inputs, units, name):
        h = self.state(f"{name}h", 1, units)
        gate = lambda: self.op("Add", self.linear(x, inputs, units), self.linear(h, units, units))
        reset, update = self.op("Sigmoid", gate()), self.op("Sigmoid", gate())
        candidate = self.op("Tanh", self.op("Add", self.linear(x, inputs, units),
                                            self.op("Mul", reset, self.linear(h, units, units))))
        hidden = self.op("Add", candidate, self.op("Mul", update, self.op("Sub", h, candidate)))
        self.keep(f"{name}h", hidden, 1, units)
        return hidden

    def causal(self, x, inputs, outputs, taps, dilation, name, group=1, bias=True):
        """A causal convolution whose past is a buffer, as Concat and Slice."""
        past, each = (taps - 1) * dilation, inputs // group
        window = self.op("Concat", self.state(name, 1, inputs, past), self.op("Unsqueeze", x, self.integers(2)), axis=2)
        biases = [self.uniform(outputs, 0.1)] if bias else []
        y = self.op("Conv", window, self.uniform((outputs, each, taps), (each * taps) ** -0.5), *biases,
                    dilations=[dilation], group=group)
        self.keep(name, self.op("Slice", window, self.integers(1), self.integers(past + 1), self.integers(2)), 1, inputs,
                  past)
        return self.op("Squeeze", y, self.integers(2))


    def rms_norm(self, x, size):
        mean = self.op("ReduceMean", self.op("Mul", x, x), axes=[1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.constant([1e-5])))
        return self.op("Mul", self.op("Div", x, root), self.constant(1 + 0.1 * self.random.standard_normal(size)))


def stacked(layer, inputs, units, layers):
    """Recurrences, one behind the other."""
    network = Network(units)
    x = network.input("x", 1, inputs)
    for i in range(layers):
        x = getattr(network, layer)(x, inputs if i == 0 else units, units, f"{i}")
    network.give("y", x, 1, units)
    return network


def state_space(size, units):
    network = Network(units)
    x, h = network.input("x", 1, size), network.state("h", 1, units)
    old = network.op("MatMul", h, network.uniform((units, units), units ** -0.5))
    now = network.op("Add", old, network.linear(x, size, units, bias=False))
    network.keep("h", now, 1, units)
    network.give("y", network.op("Add", network.linear(now, units, size, bias=False),
                                 network.linear(x, size, size, bias=False)), 1, size)
    return network


def residual_convolutions(channels, taps):
    network = Network(channels + taps)
    x = network.input("x", 1, channels)
    for i in range(4):
        y = network.causal(network.rms_norm(x, channels), channels, channels, taps, 1, f"s{i}")
        x = network.op("Add", x, network.op("Relu", y))
    network.give("y", x, 1, channels)
    return network


def temporal_convolutions(channels):
    network = Network(channels)
    x, size = network.input("x", 1, 1), 1
    for i in range(3):
        y = network.op("Relu", network.causal(x, size, channels, 3, 2 ** i, f"a{i}"))
        y = network.op("Relu", network.causal(y, channels, channels, 3, 2 ** i, f"b{i}"))
        beside = x if size == channels else network.linear(x, size, channels)
        x, size = network.op("Relu", network.op("Add", y, beside)), channels
    network.give("y", x, 1, channels)
    return network


def mobilenet(width):
    """Blocks of a convolution for every channel and a dense layer, each normalised."""
    network = Network(13)
    sizes = [int(width * size) for size in (32, 64, 128, 128, 256, 256, *[512] * 6, 1024, 1024)]
    normalised = lambda value, size: network.op("Relu", network.rms_norm(value, size))
    x = network.causal(network.input("x", 1, 3), 3, sizes[0], 3, 1, "first", bias=False)
    x = normalised(x, sizes[0])
    for i, (size, following) in enumerate(zip(sizes, sizes[1:])):
        x = normalised(network.causal(x, size, size, 3, 1, f"s{i}", group=size, bias=False), size)
        x = normalised(network.linear(x, size, following, bias=False), following)
    network.give("y", network.linear(x, sizes[-1], 1000), 1, 1000)
    return network


def wavenet(layers, size):
    network = Network(size)
    h = network.linear(network.input("x", 1, 1), 1, size)
    skips = None
    for i in range(layers):
        past = 2 ** i
        window = network.op("Concat", network.state(f"s{i}", 1, size, past),
                            network.op("Unsqueeze", h, network.integers(2)), axis=2)
        network.keep(f"s{i}", network.op("Slice", window, network.integers(1), network.integers(past + 1),
                                         network.integers(2)), 1, size, past)
        gates = []
        for function in ("Tanh", "Sigmoid"):
            y = network.op("Conv", window, network.uniform((size, size, 2), (2 * size) ** -0.5),
                           network.uniform(size, 0.1), dilations=[past])
            gates.append(network.op(function, network.op("Squeeze", y, network.integers(2))))
        z = network.op("Mul", *gates)
        skip = network.linear(z, size, size)
        skips = skip if skips is None else network.op("Add", skips, skip)
        h = network.op("Add", h, network.linear(z, size, size))
    y = network.linear(network.op("Relu", skips), size, size)
    network.give("y", network.linear(network.op("Relu", y), size, 3), 1, 3)
    return network


def windowed_attention(dim, heads, window, hidden):
    """A transformer block whose keys and values are those of the last `window` steps. A mark for each says whether it has
    been: what has not is out of the softmax."""
    network = Network(dim)
    network.attends = True
    size = dim // heads
    x = network.input("x", 1, dim)
    h = network.rms_norm(x, dim)

    def by_head(value, positions):
        split = network.op("Reshape", value, network.integers(positions, heads, size))
        return network.op("Transpose", split, perm=[1, 0, 2])

    def shifted(name, value, width):
        """The newest positions of a buffer, `value` the last of them."""
        all_ = network.op("Concat", network.state(name, window, width), value, axis=0)
        kept = network.op("Slice", all_, network.integers(1), network.integers(window + 1), network.integers(0))
        network.keep(name, kept, window, width)
        return kept

    q = by_head(network.linear(h, dim, dim), 1)
    k = by_head(shifted("k", network.linear(h, dim, dim), dim), window)
    v = by_head(shifted("v", network.linear(h, dim, dim), dim), window)
    scores = network.op("MatMul", q, network.op("Transpose", k, perm=[0, 2, 1]))
    been = shifted("m", network.constant(np.ones((1, 1))), 1)
    bias = network.op("Mul", network.op("Sub", been, network.constant([1.0])), network.constant([256.0]))
    scores = network.op("Add", network.op("Mul", scores, network.constant([size ** -0.5])),
                        network.op("Reshape", bias, network.integers(1, 1, window)))
    mixed = network.op("MatMul", network.op("Softmax", scores, axis=2), v)
    joined = network.op("Reshape", network.op("Transpose", mixed, perm=[1, 0, 2]), network.integers(1, dim))
    x = network.op("Add", x, network.linear(joined, dim, dim))
    h = network.rms_norm(x, dim)
    gate = network.linear(h, dim, hidden)
    inner = network.op("Mul", network.op("Mul", gate, network.op("Sigmoid", gate)), network.linear(h, dim, hidden))
    network.give("y", network.op("Add", x, network.linear(inner, hidden, dim)), 1, dim)
    return network


# By their published definitions, one step.
PUBLISHED = {
    "lstm-1x128": lambda: stacked("lstm", 128, 128, 1),
    "lstm-1x354": lambda: stacked("lstm", 354, 354, 1),
    "lstm-2x250": lambda: stacked("lstm", 250, 250, 2),
    "lstm-4x177": lambda: stacked("lstm", 177, 177, 4),
    "lstm-3x768": lambda: stacked("lstm", 768, 768, 3),
    "gru-512-384": lambda: stacked("gru", 512, 384, 1),
    "gru-512-512": lambda: stacked("gru", 512, 512, 1),
    "gru-3x512": lambda: stacked("gru", 512, 512, 3),
    "ssm-384-384": lambda: state_space(384, 384),
    "ssm-576-448": lambda: state_space(576, 448),
    "ssm-768-1536": lambda: state_space(768, 1536),
    "cnn-4x64-k8": lambda: residual_convolutions(64, 8),
    "cnn-4x64-k32": lambda: residual_convolutions(64, 32),
    "cnn-4x256-k32": lambda: residual_convolutions(256, 32),
    "tcn-3x128": lambda: temporal_convolutions(128),
    "tcn-3x256": lambda: temporal_convolutions(256),
    "tcn-3x512": lambda: temporal_convolutions(512),
    "wavenet-4x198": lambda: wavenet(4, 198),
    "mobilenet1d-0.42": lambda: mobilenet(0.42),
    "swa-192": lambda: windowed_attention(192, 6, 32, 384),
}


def attributes(node):
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}


def convolution(x, w, bias=None, dilations=(1,), group=1):
    dilation, = dilations
    outputs, each, taps = w.shape
    positions = x.shape[2] - (taps - 1) * dilation
    parts = x.reshape(x.shape[0], group, each, x.shape[2])
    weights = w.reshape(group, outputs // group, each, taps)
    y = sum(np.einsum("ngcl,goc->ngol", parts[..., k * dilation:k * dilation + positions], weights[..., k])
            for k in range(taps)).reshape(x.shape[0], outputs, positions)
    return y if bias is None else y + bias[None, :, None]


def softmax(x, axis):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def sliced(x, start, stop, axis):
    return x[tuple(slice(start[0], stop[0]) if i == axis[0] else slice(None) for i in range(x.ndim))]


MEANING = {
    "Div": np.divide, "Sqrt": np.sqrt, "ReduceMean": lambda x, axes, keepdims: x.mean(tuple(axes), keepdims=bool(keepdims)),
    "MatMul": np.matmul, "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Max": np.maximum, "Tanh": np.tanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Relu": lambda x: np.maximum(x, 0), "Identity": lambda x: x,
    "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes)), "Squeeze": lambda x, axes: np.squeeze(x, tuple(axes)),
    "Slice": sliced, "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Conv": convolution,
    "Reshape": lambda x, shape: x.reshape(shape), "Transpose": lambda x, perm: x.transpose(perm),
    "Softmax": lambda x, axis: softmax(x, axis),
}


def evaluate(network, steps, initial=None):
    """Outputs that are no states, by name, one step after the other; `steps` has the inputs of each."""
    state = {f"{name}_in": np.zeros(shape) for (full, shape) in network.inputs
             for name in [full.removesuffix("_in")] if name in network.states}
    state.update(initial or {})
    results = []
    for inputs in steps:
        values = {name: value.astype(np.int64 if value.dtype == np.int64 else np.float64)
                  for name, value in network.constants.items()}
        values.update({name: np.asarray(value, np.float64) for name, value in inputs.items()}, **state)
        for node in network.nodes:
            values[node.output[0]] = MEANING[node.op_type](*(values[name] for name in node.input), **attributes(node))
        state = {f"{name}_in": values[f"{name}_out"] for name in network.states}
        results.append({name: values[name] for name, _ in network.outputs if name.removesuffix("_out") not in
                        network.states})
    return results


def random_network(seed):
    """Rows of a few sizes, wired at random: states that become anything of their size, inputs, each other and
    themselves included; read by products, steps and outputs."""
    network = Network(seed)
    random = network.random
    sizes = [int(size) for size in random.choice([3, 8, 11, 20], 2, replace=False)]
    values = {size: [] for size in sizes}
    for i, size in enumerate(sizes):
        values[size].append(network.input(f"x{i}", 1, size))
    states = []
    for i in range(int(random.integers(1, 6))):
        size = int(random.choice(sizes))
        states.append((f"s{i}", size))
        values[size].append(network.state(f"s{i}", 1, size))
    pick = lambda size: values[size][int(random.integers(len(values[size])))]
    for _ in range(int(random.integers(3, 12))):
        size = int(random.choice(sizes))
        kind = random.choice(["linear", "linear", "sum", "Mul", "Add", "Sub", "Max", "Tanh", "Sigmoid", "Relu"])
        if kind == "linear":
            source = int(random.choice(sizes))
            value = network.linear(pick(source), source, size, bias=bool(random.integers(2)))
        elif kind == "sum":
            value = network.op("Add", *(network.linear(pick(source), source, size, bias=False)
                                        for source in (int(random.choice(sizes)) for _ in range(2))))
        elif kind in ("Mul", "Add", "Sub", "Max"):
            value = network.op(kind, pick(size), pick(size))
        else:
            value = network.op(kind, pick(size))
        # Bounded, so that what passes through many steps stays comparable.
        values[size].append(network.op("Tanh", value))
    for name, size in states:
        network.keep(name, pick(size), 1, size)
    for i, size in enumerate(sizes):
        network.give(f"y{i}", network.op("Add", values[size][-1], values[size][0]), 1, size)
    return network
