"""How nodes are written otherwise: each rule gives the names of the results in the new graph, or raises Unfit.

`x` has the names of the operands there; the node and its names are the original's."""
import numpy as np
from onnx import TensorProto

from oracle import attribute, is_float
from speller import Unfit, spells


# Reductions.
REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
              "ReduceSum", "ReduceSumSquare")


@spells(*REDUCTIONS)
def other_keepdims(s, node, x):
    """With the axes kept and removed, or removed and put back."""
    axes, keeps = s.axes(node), attribute(node, "keepdims", 1)
    found = s.reduce(node.op_type, x[0], axes, 1 - keeps)
    if not keeps:
        return s.squeeze(found, axes)
    return s.unsqueeze(found, axes) if s.chance(0.6) else s.reshape(found, s.shape(node.output[0]))


@spells("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceMean")
def reduction_of_map(s, node, x):
    axes, keeps = s.axes(node), attribute(node, "keepdims", 1)
    op = node.op_type
    if op == "ReduceMean":
        count = np.prod([s.shape(node.input[0])[a] for a in axes])
        return s.emit("Div", s.reduce("ReduceSum", x[0], axes, keeps), s.scalar(count))
    inner = s.emit("Abs", x[0]) if op == "ReduceL1" else x[0] if op == "ReduceLogSum" else s.emit("Mul", x[0], x[0])
    total = s.reduce("ReduceSum", inner, axes, keeps)
    return s.emit("Sqrt", total) if op == "ReduceL2" else s.emit("Log", total) if op == "ReduceLogSum" else total


@spells("ArgMax", "ArgMin")
def other_keepdims_of_index(s, node, x):
    axis = attribute(node, "axis", 0) % len(s.shape(node.input[0]))
    keeps = attribute(node, "keepdims", 1)
    found = s.emit(node.op_type, x[0], axis=axis, keepdims=1 - keeps)
    return s.unsqueeze(found, [axis]) if keeps else s.squeeze(found, [axis])


@spells("GlobalAveragePool", "GlobalMaxPool")
def pool_by_reduction(s, node, x):
    axes = range(2, len(s.shape(node.input[0])))
    return s.reduce("ReduceMean" if "Average" in node.op_type else "ReduceMax", x[0], list(axes))


@spells("Softmax", "LogSoftmax")
def softmax(s, node, x):
    if s.opset < 13:
        raise Unfit("it flattens")
    axis = attribute(node, "axis", -1) % len(s.shape(node.input[0]))
    apart = s.emit("Sub", x[0], s.reduce("ReduceMax", x[0], [axis]))
    powers = s.emit("Exp", apart)
    total = s.reduce("ReduceSum", powers, [axis])
    return s.emit("Div", powers, total) if node.op_type == "Softmax" else s.emit("Sub", apart, s.emit("Log", total))


# Norms.
def normal(s, x, axes, epsilon):
    apart = s.emit("Sub", x, s.reduce("ReduceMean", x, axes))
    squares = s.emit("Mul", apart, apart) if s.chance(0.5) else s.emit("Pow", apart, s.scalar(2))
    return s.emit("Div", apart, s.emit("Sqrt", s.emit("Add", s.reduce("ReduceMean", squares, axes), s.scalar(epsilon))))


@spells("LayerNormalization", "RMSNormalization")
def layer_norm(s, node, x):
    rank = len(s.shape(node.input[0]))
    axes = list(range(attribute(node, "axis", -1) % rank, rank))
    epsilon = attribute(node, "epsilon", 1e-5)
    if node.op_type == "LayerNormalization":
        found = normal(s, x[0], axes, epsilon)
    else:
        mean = s.reduce("ReduceMean", s.emit("Mul", x[0], x[0]), axes)
        found = s.emit("Div", x[0], s.emit("Sqrt", s.emit("Add", mean, s.scalar(epsilon))))
    found = s.emit("Mul", found, x[1])
    return s.emit("Add", found, x[2]) if len(x) > 2 and x[2] else found


@spells("InstanceNormalization")
def instance_norm(s, node, x):
    shape = s.shape(node.input[0])
    along = [shape[1]] + [1] * (len(shape) - 2)
    found = normal(s, x[0], list(range(2, len(shape))), attribute(node, "epsilon", 1e-5))
    scale, shift = (s.constant(s.known(name).reshape(along)) for name in node.input[1:3])
    return s.emit("Add", s.emit("Mul", found, scale), shift)


@spells("BatchNormalization")
def batch_norm(s, node, x):
    """As Sub, Mul, Add; as Mul, Add; or with a Div."""
    scale, shift, mean, variance = (s.known(name).astype(np.float64) for name in node.input[1:5])
    along = [-1] + [1] * (len(s.shape(node.input[0])) - 2)
    spread = np.sqrt(variance + attribute(node, "epsilon", 1e-5))
    column = lambda value: s.constant(value.reshape(along).astype(np.float32))  # noqa: E731
    way = s.one_of(("sub", "mul", "div"))
    if way == "mul":
        return s.emit("Add", s.emit("Mul", x[0], column(scale / spread)), column(shift - mean * scale / spread))
    apart = s.emit("Sub", x[0], column(mean))
    found = s.emit("Mul", apart, column(scale / spread)) if way == "sub" else \
        s.emit("Mul", s.emit("Div", apart, column(spread)), column(scale))
    return s.emit("Add", found, column(shift))


# Maps.
@spells("Relu")
def relu(s, _, x):
    return s.emit("Max", x[0], s.scalar(0)) if s.chance(0.5) else s.emit("Clip", x[0], s.scalar(0))


@spells("LeakyRelu")
def leaky_relu(s, node, x):
    slope = s.scalar(attribute(node, "alpha", 0.01))
    return s.emit("Where", s.emit("Greater", x[0], s.scalar(0)), x[0], s.emit("Mul", x[0], slope))


@spells("Sigmoid")
def sigmoid(s, _, x):
    return s.emit("Div", s.scalar(1), s.emit("Add", s.scalar(1), s.emit("Exp", s.emit("Neg", x[0]))))


@spells("HardSigmoid")
def hard_sigmoid(s, node, x):
    inner = s.emit("Mul", x[0], s.scalar(attribute(node, "alpha", 0.2)))
    return s.clip(s.emit("Add", inner, s.scalar(attribute(node, "beta", 0.5))), 0, 1)


@spells("HardSwish")
def hard_swish(s, _, x):
    return s.emit("Mul", x[0], s.clip(s.emit("Add", s.emit("Div", x[0], s.scalar(6)), s.scalar(0.5)), 0, 1))


@spells("Softplus")
def softplus(s, _, x):
    return s.emit("Log", s.emit("Add", s.emit("Exp", x[0]), s.scalar(1)))


@spells("Softsign")
def softsign(s, _, x):
    return s.emit("Div", x[0], s.emit("Add", s.emit("Abs", x[0]), s.scalar(1)))


@spells("Mish")
def mish(s, _, x):
    return s.emit("Mul", x[0], s.emit("Tanh", s.emit("Softplus", x[0])))


@spells("Gelu")
def gelu(s, node, x):
    if attribute(node, "approximate", b"none") == b"tanh":
        cube = s.emit("Mul", s.emit("Pow", x[0], s.scalar(3)), s.scalar(0.044715))
        inner = s.emit("Tanh", s.emit("Mul", s.emit("Add", x[0], cube), s.scalar(np.sqrt(2 / np.pi))))
    else:
        inner = s.emit("Erf", s.emit("Div", x[0], s.scalar(np.sqrt(2))))
    return s.emit("Mul", s.emit("Mul", x[0], s.emit("Add", inner, s.scalar(1))), s.scalar(0.5))


@spells("Clip")
def clip(s, _, x):
    found = s.emit("Max", x[0], x[1]) if x[1] else x[0]
    return s.emit("Min", found, x[2]) if len(x) > 2 and x[2] else found


@spells("Neg")
def neg(s, _, x):
    return s.emit("Mul", x[0], s.scalar(-1)) if s.chance(0.5) else s.emit("Sub", s.scalar(0), x[0])


@spells("Abs")
def absolute(s, _, x):
    return s.emit("Max", x[0], s.emit("Neg", x[0]))


@spells("Reciprocal")
def reciprocal(s, _, x):
    return s.emit("Div", s.scalar(1), x[0])


@spells("Sqrt")
def sqrt(s, _, x):
    return s.emit("Pow", x[0], s.scalar(0.5))


@spells("Sub")
def sub(s, node, x):
    if not is_float(s.env[node.input[0]]):
        raise Unfit("integers")
    return s.emit("Add", x[0], s.emit("Neg", x[1]))


@spells("Div")
def div(s, node, x):
    value = s.env[node.input[1]]
    if node.input[1] in s.old.constants and is_float(value):
        return s.emit("Mul", x[0], s.constant(np.float32(1) / value))
    return s.emit("Mul", x[0], s.emit("Reciprocal", x[1]))


@spells("Pow")
def power(s, node, x):
    value = s.known(node.input[1])
    if value.size != 1 or value.reshape(-1)[0] != 2 or s.shape(node.input[0]) != s.shape(node.output[0]):
        raise Unfit("no square")
    return s.emit("Mul", x[0], x[0])


@spells("Sum", "Max", "Min", "Mean")
def chain(s, node, x):
    found, op = x[0], {"Sum": "Add", "Mean": "Add"}.get(node.op_type, node.op_type)
    for other in x[1:]:
        found = s.emit(op, found, other)
    return s.emit("Mul", found, s.scalar(1 / len(x))) if node.op_type == "Mean" else found


@spells("Cast")
def cast_of_bool(s, node, x):
    if np.asarray(s.env[node.input[0]]).dtype != bool or attribute(node, "to") != TensorProto.FLOAT:
        raise Unfit("no condition")
    return s.emit("Where", x[0], s.scalar(1), s.scalar(0))


@spells("OneHot")
def one_hot(s, node, x):
    depth, values = int(s.known(node.input[1])), s.known(node.input[2])
    if values.tolist() != [0, 1]:
        raise Unfit("no Cast gives these values")
    rank = len(s.shape(node.output[0]))
    axis = attribute(node, "axis", -1) % rank
    along = [depth if a == axis else 1 for a in range(rank)]
    places = s.constant(np.arange(depth).reshape(along).astype(s.env[node.input[0]].dtype))
    return s.emit("Cast", s.emit("Equal", s.unsqueeze(x[0], [axis]), places), to=TensorProto.FLOAT)


# Products.
@spells("Gemm")
def gemm(s, node, x):
    left, right = (s.emit("Transpose", name, perm=[1, 0]) if attribute(node, turned, 0) else name
                   for name, turned in zip(x, ("transA", "transB")))
    found, alpha, beta = s.emit("MatMul", left, right), attribute(node, "alpha", 1.0), attribute(node, "beta", 1.0)
    found = s.emit("Mul", found, s.scalar(alpha)) if alpha != 1 else found
    if len(x) < 3 or not x[2] or beta == 0:
        return found
    return s.emit("Add", found, s.emit("Mul", x[2], s.scalar(beta)) if beta != 1 else x[2])


@spells("MatMul")
def matmul(s, node, x):
    left, right = (s.shape(name) for name in node.input)
    if len(left) == len(right) == 2 and s.chance(0.5):
        return s.emit("Gemm", *x)
    if s.opset < 12 or len(left) < 2 or len(right) < 2 or max(len(left), len(right)) > 4:
        raise Unfit("no letters")
    if len(right) > 2 and left[:-2] != right[:-2]:
        raise Unfit("it broadcasts")
    batch = "abcd"[:len(left) - 2]
    return s.emit("Einsum", *x, equation=f"{batch}ij,{batch if len(right) > 2 else ''}jk->{batch}ik")


# Views.
@spells("Flatten", "Squeeze", "Unsqueeze")
def by_reshape(s, node, x):
    return s.reshape(x[0], s.shape(node.output[0]))


@spells("Expand")
def expand(s, node, x):
    shape = s.shape(node.output[0])
    inner = [1] * (len(shape) - len(s.shape(node.input[0]))) + list(s.shape(node.input[0]))
    found = s.reshape(x[0], inner) if len(inner) > len(s.shape(node.input[0])) else x[0]
    return s.emit("Tile", found, s.ints(*(e // i for e, i in zip(shape, inner))))


@spells("Gather")
def gather(s, node, x):
    index, shape = s.known(node.input[1]), s.shape(node.input[0])
    axis = attribute(node, "axis", 0) % len(shape)
    if index.size != 1 or index.ndim > 1:
        raise Unfit("several")
    at = int(index.reshape(-1)[0]) % shape[axis]
    part = s.slice(x[0], axis, at, at + 1)
    return part if index.ndim else s.squeeze(part, [axis])


@spells("Transpose")
def transpose(s, node, x):
    """In two steps."""
    perm = list(attribute(node, "perm", None) or range(len(s.shape(node.input[0])))[::-1])
    first = [int(a) for a in s.random.permutation(len(perm))]
    return s.emit("Transpose", s.emit("Transpose", x[0], perm=first), perm=[first.index(a) for a in perm])


@spells("Concat")
def concat(s, node, x):
    if len(x) < 3:
        raise Unfit("few operands")
    axis = attribute(node, "axis")
    return s.emit("Concat", s.emit("Concat", *x[:2], axis=axis), *x[2:], axis=axis)


@spells("DepthToSpace", "SpaceToDepth")
def depth_and_space(s, node, x):
    n, c, h, w = s.shape(node.input[0])
    b = attribute(node, "blocksize")
    if node.op_type == "SpaceToDepth":
        shape, perm = (n, c, h // b, b, w // b, b), [0, 3, 5, 1, 2, 4]
    elif attribute(node, "mode", b"DCR") == b"DCR":
        shape, perm = (n, b, b, c // b // b, h, w), [0, 3, 4, 1, 5, 2]
    else:
        shape, perm = (n, c // b // b, b, b, h, w), [0, 1, 4, 2, 5, 3]
    return s.reshape(s.emit("Transpose", s.reshape(x[0], shape), perm=perm), s.shape(node.output[0]))


# Recurrences, step by step.
def gates_of(s, value, count):
    """The parts of the last axis, by Split or by slices."""
    hidden = value[1] // count
    if s.chance(0.5):
        parts = [f"{value[0]}_{i}" for i in range(count)]
        if s.opset >= 13:
            return s.emit("Split", value[0], s.ints(*[hidden] * count), outputs=parts, axis=1)
        return s.emit("Split", value[0], outputs=parts, axis=1, split=[hidden] * count)
    return [s.slice(value[0], 1, i * hidden, (i + 1) * hidden) for i in range(count)]


def lstm_step(s, z, product, states):
    h, c = states
    size = s.width
    i, o, f, g = gates_of(s, (s.emit("Add", z, product(h)), size), 4)
    c = s.emit("Add", s.emit("Mul", s.emit("Sigmoid", f), c), s.emit("Mul", s.emit("Sigmoid", i), s.emit("Tanh", g)))
    return [s.emit("Mul", s.emit("Sigmoid", o), s.emit("Tanh", c)), c]


def gru_step(s, z, product, states):
    h, = states
    xz, xr, xh = gates_of(s, (z, s.width), 3)
    hz, hr, hh = gates_of(s, (product(h), s.width), 3)
    update, reset = (s.emit("Sigmoid", s.emit("Add", a, b)) for a, b in ((xz, hz), (xr, hr)))
    new = s.emit("Tanh", s.emit("Add", xh, s.emit("Mul", reset, hh)))
    if s.chance(0.5):
        return [s.emit("Add", new, s.emit("Mul", update, s.emit("Sub", h, new)))]
    return [s.emit("Add", s.emit("Mul", s.emit("Sub", s.scalar(1), update), new), s.emit("Mul", update, h))]


def rnn_step(s, z, product, states):
    return [s.emit("Tanh", s.emit("Add", z, product(states[0])))]


STEPS = {"LSTM": lstm_step, "GRU": gru_step, "RNN": rnn_step}


@spells("LSTM", "GRU", "RNN")
def step_by_step(s, node, x):
    """All gates in one product, of all steps at once or of each."""
    plain = not any(attribute(node, name) for name in ("activations", "clip", "input_forget", "layout"))
    x = [*x, *[""] * (8 - len(x))]
    resets = node.op_type != "GRU" or attribute(node, "linear_before_reset", 0)
    if not plain or attribute(node, "direction", b"forward") != b"forward" or x[4] or x[7] or not resets:
        raise Unfit("no plain cell")
    w, r = (s.known(name)[0] for name in node.input[1:3])
    width, (steps, batch, _) = len(w), s.shape(node.input[0])
    bias, recurrent_bias = np.split(s.known(node.input[3])[0], 2) if x[3] else (np.zeros(width, np.float32),) * 2
    s.width = width
    weights, recurrent, b, rb = s.constant(w.T), s.constant(r.T), s.constant(bias), s.constant(recurrent_bias)
    if node.op_type != "GRU":
        b = s.constant(bias + recurrent_bias)

    def product(h):
        found = s.emit("MatMul", h, recurrent)
        return s.emit("Add", found, rb) if node.op_type == "GRU" else found
    states = [s.squeeze(x[k], [0]) if x[k] else s.constant(np.zeros((batch, r.shape[1]), np.float32))
              for k in ((5, 6) if node.op_type == "LSTM" else (5,))]
    together = s.chance(0.5)
    whole = s.emit("Add", s.emit("MatMul", x[0], weights), b) if together else x[0]
    every = []
    for t in range(steps):
        z = s.emit("Gather", whole, s.constant(np.int64(t)), axis=0)
        z = z if together else s.emit("Add", s.emit("MatMul", z, weights), b)
        states = STEPS[node.op_type](s, z, product, states)
        every.append(s.unsqueeze(states[0], [0]))
    sequence = s.unsqueeze(s.emit("Concat", *every, axis=0), [1])
    return [sequence, *(s.unsqueeze(state, [0]) for state in states)]
