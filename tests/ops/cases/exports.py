"""Small networks with the nodes that exporters write for them."""
import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from cases.common import node, normal

ERF = np.vectorize(math.erf)


def weights(inputs, outputs):
    """As nn.Linear holds them: [outputs inputs] and [outputs]."""
    return normal(outputs, inputs) / np.float32(math.sqrt(inputs)), normal(outputs) / 10


def linear(x, layer):
    return np.float64(x) @ layer[0].T + layer[1]


def relu(v):
    return np.maximum(v, 0)


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def softmax(v):
    e = np.exp(v - v.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Network:
    """Nodes and constants under names in the order in which they are added."""

    def __init__(self, **inputs):
        self.nodes, self.constants, self.inputs = [], {}, inputs

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def __call__(self, op, *operands, outputs=1, **attributes):
        """A node; operands that are no names are constants."""
        names = [o if isinstance(o, str) else self.constant(o) for o in operands]
        results = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, names, results, name=f"/{op}_{len(self.nodes)}", **attributes))
        return results[0] if outputs == 1 else results

    def linear(self, x, layer):
        return self("Gemm", x, *layer, transB=1)

    def matmul_add(self, x, layer):
        """Of an input with more than two axes: the bias comes first."""
        return self("Add", layer[1], self("MatMul", x, layer[0].T.copy()))

    def add_to(self, cases, name, outputs, **options):
        """`outputs` are the expected values by the names of their tensors."""
        cases.add(f"export_{name}", self.nodes, self.inputs, outputs, self.constants, **options)


def decomposed_norm(net, x, scale, shift):
    """LayerNorm as PyTorch exports it below opset 17."""
    distance = net("Sub", x, net("ReduceMean", x, axes=[-1]))
    variance = net("ReduceMean", net("Pow", distance, np.float32(2)), axes=[-1])
    root = net("Sqrt", net("Add", variance, np.float32(1e-5)))
    return net("Add", net("Mul", net("Div", distance, root), scale), shift)


def layer_norm(v, scale, shift):
    distance = v - v.mean(-1, keepdims=True)
    return distance / np.sqrt((distance ** 2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def statistics(cases):
    """torch.var and torch.std over axes, as its exporters write them: the mean of the squared
    distances from the mean, times N, divided by N less the correction."""
    x = normal(2, 3, 20) * 2 + 1
    for name, axes, correction in (("last", [2], 1), ("positions", [0, 1], 1), ("all", [0, 1, 2], 1),
                                   ("population", [1, 2], 0)):
        for function in (np.var, np.std):
            net = Network(x=x)
            distance = net("Sub", "x", net("ReduceMean", "x", axes=axes, keepdims=1))
            h = net("ReduceMean", net("Mul", distance, distance), axes=axes, keepdims=0)
            if correction:
                shape = net("Gather", net("Shape", "x"), np.int64(axes), axis=0)
                n = net("Cast", net("ReduceProd", shape, keepdims=0), to=TensorProto.FLOAT)
                h = net("Div", net("Mul", h, n), net("Sub", n, np.float32(correction)))
            if function is np.std:
                h = net("Sqrt", h)
            net.add_to(cases, f"{function.__name__}_{name}",
                       {h: function(np.float64(x), axis=tuple(axes), ddof=correction)})


def blocks(cases):
    x = normal(1, 20)
    first, second, scale, shift = weights(20, 40), weights(40, 20), normal(40) + 1, normal(40)
    net = Network(x=x)
    h = decomposed_norm(net, net.matmul_add("x", first), scale, shift)
    y = layer_norm(linear(x, first), scale, shift)
    net.add_to(cases, "layer_norm", {net.linear(h, second): linear(y, second)}, opset=16)

    net = Network(x=x)
    h = net.matmul_add("x", first)
    gelu = net("Mul", h, net("Add", net("Erf", net("Div", h, np.float32(math.sqrt(2)))), np.float32(1)))
    y = net("Add", "x", net.matmul_add(net("Mul", gelu, np.float32(0.5)), second))
    v = linear(x, first)
    net.add_to(cases, "gelu_residual", {y: x + linear(v / 2 * (1 + ERF(v / math.sqrt(2))), second)})

    for name, tail in (("div", "Div"), ("reciprocal", "Mul")):
        net = Network(x=x)
        mean = net("ReduceMean", net("Pow", "x", np.float32(2)), np.int64([-1]))
        root = net("Sqrt", net("Add", mean, np.float32(1e-6)))
        h = net(tail, "x", root if tail == "Div" else net("Reciprocal", root))
        y = np.float64(x) / np.sqrt((np.float64(x) ** 2).mean() + 1e-6)
        net.add_to(cases, f"rms_norm_{name}", {net.linear(h, first): linear(y, first)}, opset=18)

    net, h, v = Network(x=x), "x", np.float64(x)
    for _ in range(3):
        layer = weights(20, 20)
        h, v = net("Add", h, net("Relu", net.linear(h, layer))), v + relu(linear(v, layer))
    net.add_to(cases, "residual", {h: v})

    wide = weights(20, 48)
    net = Network(x=x)
    value, gate = net("Split", net.linear("x", wide), axis=-1, outputs=2)
    v = linear(x, wide)
    net.add_to(cases, "glu", {net("Mul", value, net("Sigmoid", gate)): v[:, :24] * sigmoid(v[:, 24:])}, opset=13)

    net, h, v, crosses = Network(x=x), "x", np.float64(x), [(normal(20, 1) / 4, normal(20)) for _ in range(3)]
    for w, b in crosses:
        h = net("Add", net("Add", net("Mul", "x", net("MatMul", h, w)), b), h)
        v = x * (v @ w) + b + v
    net.add_to(cases, "deep_cross", {h: v})


def heads(cases):
    x = normal(1, 16)
    trunk, mean, spread, value = weights(16, 24), weights(24, 4), weights(24, 4), weights(24, 1)
    net = Network(x=x)
    h, v = net("Elu", net.linear("x", trunk)), linear(x, trunk)
    v = np.where(v < 0, np.expm1(np.minimum(v, 0)), v)
    net.add_to(cases, "mixture", {
        net.linear(h, mean): linear(v, mean),
        net("Exp", net("Clip", net.linear(h, spread), np.float32(-5), np.float32(2))):
            np.exp(np.clip(linear(v, spread), -5, 2)),
        net("Softmax", net.linear(h, mean), axis=1): softmax(linear(v, mean))})

    net = Network(x=x)
    h, v = net("Relu", net.linear("x", trunk)), relu(linear(x, trunk))
    advantage, a = net.linear(h, mean), linear(v, mean)
    centred = net("Sub", advantage, net("ReduceMean", advantage, axes=[1], keepdims=1))
    net.add_to(cases, "dueling", {net("Add", net.linear(h, value), centred):
                                  linear(v, value) + a - a.mean(1, keepdims=True)})

    mean = weights(16, 11)
    mean[1][5] += 8  # a class that rounding cannot change
    net, logits = Network(x=x), linear(x, mean)
    label = net("ArgMax", net.linear("x", mean), axis=1, keepdims=0)
    net.add_to(cases, "label", {net("Cast", label, to=TensorProto.INT32): logits.argmax(1)},
               result=TensorProto.INT32)
    net = Network(x=x)
    h = net.linear("x", mean)
    above = net("Cast", net("Greater", h, np.float32(0.4)), to=TensorProto.INT64)
    net.add_to(cases, "flags", {above: logits > 0.4}, result=TensorProto.INT64)
    steps = np.float32([[-2.5, -2, -0.5, 0, 0.5, 1.75, 130.5, 2]])
    net = Network(x=steps)
    net.add_to(cases, "cast_to_int", {net("Cast", "x", to=TensorProto.INT64): np.trunc(steps)},
               result=TensorProto.INT64)

    quantiles = weights(16, 9)
    net, v = Network(x=x), linear(x, quantiles)
    low, middle, high = net("Split", net.linear("x", quantiles), np.int64([3, 3, 3]), axis=1, outputs=3)
    y = net("Concat", net("Sub", middle, net("Softplus", low)), middle,
            net("Add", middle, net("Softplus", high)), axis=1)
    soft = np.log1p(np.exp(v))
    net.add_to(cases, "quantiles", {y: np.concatenate(
        [v[:, 3:6] - soft[:, :3], v[:, 3:6], v[:, 3:6] + soft[:, 6:]], 1)})

    for name, axis, flags in (("last", 1, {}), ("first", 0, {}), ("reverse", -1, {"reverse": 1}),
                              ("exclusive", 1, {"exclusive": 1}),
                              ("both", 0, {"exclusive": 1, "reverse": 1})):
        rows = normal(5, 19)
        v = np.flip(rows, axis) if "reverse" in flags else rows
        y = np.cumsum(v, axis, dtype=np.float64) - (v if "exclusive" in flags else 0)
        net = Network(x=rows)
        net.add_to(cases, f"cum_sum_{name}", {net("CumSum", "x", np.int64(axis), **flags):
                                              np.flip(y, axis) if "reverse" in flags else y})

    gate, experts = weights(16, 4), [weights(16, 8) for _ in range(4)]
    net = Network(x=x)
    shares = net("Split", net("Softmax", net.linear("x", gate), axis=-1), axis=1, outputs=4)
    parts = [net("Mul", net("Relu", net.linear("x", e)), s) for e, s in zip(experts, shares)]
    p = softmax(linear(x, gate))
    net.add_to(cases, "experts", {net("Sum", *parts): sum(
        relu(linear(x, e)) * p[:, [k]] for k, e in enumerate(experts))}, opset=13)


def features(cases):
    a, b, c = normal(1, 7), normal(1, 9), normal(1, 1)
    trunk, head = weights(16, 20), weights(20, 1)
    net = Network(a=a, b=b, c=c)
    chance = net("Sigmoid", net.linear(net("Relu", net.linear(net("Concat", "a", "b", axis=1), trunk)), head))
    p = sigmoid(linear(relu(linear(np.concatenate([a, b], 1), trunk)), head))
    net.add_to(cases, "inputs", {chance: p, net("Mul", chance, "c"): p * c})

    table, layer = normal(10, 8), weights(8, 4)
    one = np.eye(10, dtype=np.float32)[[3]]
    net = Network(x=one)
    net.add_to(cases, "one_hot", {net.linear(net("MatMul", "x", table), layer): linear(table[[3]], layer)})
    x, picks = normal(1, 12), np.int64([0, 3, 5, 7, 8, 2, -1, 1])
    net = Network(x=x)
    net.add_to(cases, "picked", {net.linear(net("Gather", "x", picks, axis=1), layer):
                                 linear(x[:, picks], layer)})

    book, layer = np.abs(normal(1, 2, 10)) + np.float32(0.5), weights(10, 3)
    net = Network(x=book)
    bid, ask = net("Split", "x", axis=1, outputs=2)
    ratio = net("Squeeze", net("Div", net("Sub", bid, ask), net("Add", bid, ask)), np.int64([1]))
    v = np.float64((book[:, 0] - book[:, 1]) / (book[:, 0] + book[:, 1]))
    net.add_to(cases, "imbalance", {net("Softmax", net.linear(ratio, layer), axis=-1):
                                    softmax(linear(v, layer))}, opset=13)

    x, centres, layer = normal(1, 8), normal(12, 8), weights(12, 2)
    net = Network(x=x)
    distance = net("Sub", net("Unsqueeze", "x", np.int64([1])), centres)
    near = net("Exp", net("Mul", net("ReduceSum", net("Mul", distance, distance), np.int64([-1]),
                                     keepdims=0), np.float32(-0.1)))
    net.add_to(cases, "radial", {net.linear(near, layer): linear(
        np.exp(-0.1 * ((np.float64(x)[:, None] - centres) ** 2).sum(-1)), layer)})

    x, pairs, first = normal(1, 20), normal(20, 6) / 4, normal(20, 1) / 4
    net = Network(x=x)
    inner = net("Pow", net("MatMul", "x", pairs), np.float32(2))
    squares = net("MatMul", net("Pow", "x", np.float32(2)), net("Pow", pairs, np.float32(2)))
    half = net("Mul", net("ReduceSum", net("Sub", inner, squares), np.int64([1]), keepdims=1), np.float32(0.5))
    v = np.float64(x)
    net.add_to(cases, "factorisation", {
        net("Sigmoid", net("Add", net("MatMul", "x", first), half)):
            sigmoid(v @ first + ((v @ pairs) ** 2 - v ** 2 @ pairs ** 2).sum() / 2)})


def structure(cases):
    """What is around the operators: shapes computed, constants as nodes, names reused."""
    x, w, layer = normal(1, 2, 4), normal(8, 4), weights(8, 4)
    net = Network(x=x)
    batch = net("Unsqueeze", net("Gather", net("Shape", "x"), np.int64(0), axis=0), np.int64([0]))
    h = net("MatMul", net("Reshape", "x", net("Concat", batch, np.int64([-1]), axis=0)), w)
    quarter = net("ConstantOfShape", net("Shape", h), value=numpy_helper.from_array(np.float32([0.25])))
    net.add_to(cases, "shapes", {net("Add", h, quarter): np.float64(x).reshape(1, 8) @ w + 0.25})

    x = normal(1, 8)
    net = Network(x=x)
    bias = net("Constant", value_floats=[float(v) for v in layer[1]])
    h = net("Mul", net("Gemm", "x", layer[0], bias, transB=1), net("Constant", value_float=0.5))
    y = net("Reshape", h, net("Constant", value_ints=[-1, 4]))
    net.add_to(cases, "constant_nodes", {y: linear(x, layer) / 2}, opset=13)

    for name, kind in (("float16", np.float16), ("double", np.float64)):
        net, cast = Network(x=x), {np.float16: TensorProto.FLOAT16, np.float64: TensorProto.DOUBLE}[kind]
        h = net("MatMul", net("Cast", "x", to=cast), w.astype(kind))
        net.add_to(cases, name, {net("Cast", h, to=TensorProto.FLOAT): np.float64(x) @ w.astype(kind)})
    codes = np.clip(np.round(w / 0.03), -127, 127).astype(np.int8)
    net = Network(x=x)
    scaled = net("Mul", net("Cast", codes, to=TensorProto.FLOAT), np.float32(0.03))
    net.add_to(cases, "int8_weights", {net("MatMul", "x", scaled): np.float64(x) @ (codes * 0.03)})

    net = Network(x=x)
    h = net.linear("x", layer)
    kept, _ = net("Dropout", net("Identity", net("Relu", h)), np.float32(0.5), np.bool_(False), outputs=2)
    net("Tanh", h)  # of no use
    for one in net.nodes:
        one.name = "same"
    net.add_to(cases, "inert", {net("Identity", kept): relu(linear(x, layer)), h: linear(x, layer)})
    cases.add("export_left_out", helper.make_node("Gemm", ["x", "w", ""], ["y"], transB=1), {"x": x},
              {"y": np.float64(x) @ layer[0].T}, {"w": layer[0]})
    cases.add("export_passed_on", [node("Relu", "x", "y"), node("Identity", "w", "z")], {"x": x},
              {"y": relu(x), "x": x, "z": w}, {"w": w})


def branches(cases):
    """An If whose condition follows from a shape, as PyTorch exports squeeze; a nested one."""
    def graph(nodes, output, constants=None):
        return helper.make_graph(nodes, "branch", [], [helper.make_tensor_value_info(output, 1, None)],
                                 [numpy_helper.from_array(v, k) for k, v in (constants or {}).items()])

    x = normal(3, 1, 9)
    squeezed = graph([node("Squeeze", "h axes", "s")], "s", {"axes": np.int64([1])})
    kept = graph([node("Identity", "h", "k")], "k")
    scaled = graph([node("Mul", "h two", "d"), node("Neg", "d", "n")], "n", {"two": np.float32(2)})
    chosen = graph([node("If", "is_one", "i", then_branch=scaled, else_branch=kept)], "i")
    shape = [node("Relu", "x", "h"), node("Shape", "x", "shape"), node("Gather", "shape one", "extent"),
             node("Equal", "extent one", "is_one")]
    for name, then, otherwise, y in (("then", squeezed, kept, relu(x)[:, 0]),
                                     ("nested", chosen, kept, -2 * relu(x)),
                                     ("captured", graph([], "h"), kept, relu(x))):
        choice = node("If", "is_one", then_branch=then, else_branch=otherwise)
        cases.add(f"export_if_{name}", [*shape, choice], {"x": x}, {"y": y}, {"one": np.int64(1)})
    nodes = [node("Relu", "x", "h"), node("If", "no", then_branch=kept, else_branch=scaled)]
    cases.add("export_if_else", nodes, {"x": x}, {"y": -2 * relu(x)}, {"no": np.bool_(False)})


def unrolled(cases):
    """A GRU cell, four steps."""
    steps, inputs, hidden = 4, 6, 10
    x, given, kept = normal(1, steps, inputs), weights(inputs, 3 * hidden), weights(hidden, 3 * hidden)
    net, h, v = Network(x=x), np.zeros((1, hidden), np.float32), np.zeros((1, hidden))
    for t in range(steps):
        ri, zi, ni = net("Split", net.linear(net("Gather", "x", np.int64(t), axis=1), given), axis=1, outputs=3)
        rh, zh, nh = net("Split", net.linear(h, kept), axis=1, outputs=3)
        z = net("Sigmoid", net("Add", zi, zh))
        new = net("Tanh", net("Add", ni, net("Mul", net("Sigmoid", net("Add", ri, rh)), nh)))
        h = net("Add", net("Mul", net("Sub", np.float32(1), z), new), net("Mul", z, h))
        gi, gh = np.split(linear(x[:, t], given), 3, 1), np.split(linear(v, kept), 3, 1)
        share = sigmoid(gi[1] + gh[1])
        v = (1 - share) * np.tanh(gi[2] + sigmoid(gi[0] + gh[0]) * gh[2]) + share * v
    net.add_to(cases, "gru", {h: v}, opset=13)


def exports(cases):
    for family in (blocks, heads, features, structure, branches, unrolled):
        family(cases)
