"""Networks over many positions, each computed like the others: loops of the program."""
import numpy as np

from cases.common import node, normal
from cases.exports import Network, layer_norm, linear, relu, softmax, weights


def positions(cases):
    def case(name, net, outputs, **options):
        cases.add(f"positions_{name}", net.nodes, net.inputs, outputs, net.constants, **options)

    # Lengths that divide by cores and groups and that do not; the last needs a ring.
    for length in (64, 65, 127, 600):
        x = normal(length, 16)
        layers = weights(16, 24), weights(24, 8)
        net = Network(x=x)
        h = net("Relu", net.linear("x", layers[0]))
        case(f"dense_{length}", net,
             {net.linear(h, layers[1]): linear(relu(linear(x, layers[0])), layers[1])})

    x = normal(1100, 8)
    cases.add("positions_relu", node("Relu", "x"), {"x": x}, {"y": relu(x)})
    cases.add("positions_transpose", node("Transpose", "x", perm=[1, 0]), {"x": x}, {"y": x.T},
              flags=["--data-dim x=1"])
    layers = weights(8, 8), weights(8, 8)
    x = normal(300, 8)
    net = Network(x=x)
    h = net("Slice", net("Relu", net.linear("x", layers[0])), np.int64([-1]), np.int64([-1000]), np.int64([0]),
            np.int64([-1]))
    case("reversed", net, {net.linear(h, layers[1]): linear(relu(linear(x, layers[0]))[::-1], layers[1])})
    x = normal(150, 20)
    cases.add("positions_softmax", node("Softmax", "x", axis=-1), {"x": x}, {"y": softmax(x)},
              flags=["--data-dim x=1"])
    scale, shift = normal(20), normal(20)
    cases.add("positions_norm", node("LayerNormalization", "x s b"), {"x": x},
              {"y": layer_norm(x, scale, shift)}, {"s": scale, "b": shift},
              flags=["--data-dim x=1"])

    # What differs by position: constants, and a second input.
    layer, table = weights(20, 20), normal(150, 20)
    net = Network(x=x)
    placed = net("Add", "x", table)
    y = net("Add", placed, net("Relu", net.linear(placed, layer)))
    v = np.float64(x) + table
    case("embedded", net, {y: v + relu(linear(v, layer))})
    z = normal(150, 20)
    net = Network(x=x, z=z)
    y = net("Mul", net.linear("x", layer), net("Sigmoid", "z"))
    case("two_inputs", net, {y: linear(x, layer) / (1 + np.exp(-np.float64(z)))})
    bias = normal(1, 20)
    net = Network(x=x, z=bias)
    case("one_for_all", net, {net("Add", net.linear("x", layer), "z"): linear(x, layer) + bias})

    # Heads, a batch in front, several outputs.
    batch = normal(1, 90, 16)
    first, second = weights(16, 16), weights(8, 12)
    net = Network(x=batch)
    h = net("Reshape", net.matmul_add("x", first), np.int64([90, 2, 8]))
    y = net("Relu", net.matmul_add(h, second))
    v = linear(batch, first)
    case("heads", net, {h: v.reshape(90, 2, 8), y: relu(linear(v.reshape(90, 2, 8), second))})

    # A second loop that reads all positions of the first.
    x = normal(40, 16)
    q, k, u = weights(16, 8), weights(16, 8), weights(16, 8)
    net = Network(x=x)
    scores = net("MatMul", net.linear("x", q), net("Transpose", net.linear("x", k), perm=[1, 0]))
    y = net("MatMul", net("Softmax", scores, axis=-1), net.linear("x", u))
    expected = softmax(linear(x, q) @ linear(x, k).T) @ linear(x, u)
    cases.add("dynamic_positions_attention", net.nodes, net.inputs, {y: expected}, net.constants)

    # The same in heads whose rows do not fill the lanes: what is beyond them adds nothing.
    for length, width in ((40, 12), (20, 10)):
        x, shape = normal(length, width), (length, 2, width // 2)
        q, k, u, last = (weights(width, width) for _ in range(4))
        net = Network(x=x)
        by_head = [net("Transpose", net("Reshape", net.linear("x", layer), np.int64(shape)), perm=perm)
                   for layer, perm in ((q, [1, 0, 2]), (k, [1, 2, 0]), (u, [1, 0, 2]))]
        mixed = net("MatMul", net("Softmax", net("MatMul", *by_head[:2]), axis=-1), by_head[2])
        y = net.linear(net("Reshape", net("Transpose", mixed, perm=[1, 0, 2]), np.int64([length, width])), last)
        a, b, c = (linear(x, layer).reshape(shape).transpose(1, 0, 2) for layer in (q, k, u))
        v = softmax(a @ b.transpose(0, 2, 1)) @ c
        cases.add(f"dynamic_positions_heads_{length}", net.nodes, net.inputs,
                  {y: linear(v.transpose(1, 0, 2).reshape(length, width), last)}, net.constants)


def folds(cases):
    """Reductions over the positions: what a loop carries, and what is merged behind it."""
    random = np.random.default_rng(21)

    def draw(*shape):
        return random.standard_normal(shape).astype(np.float32)

    def case(name, net, outputs):
        cases.add(f"positions_fold_{name}", net.nodes, net.inputs, outputs, net.constants)

    norm = lambda x, **of: np.sqrt(np.sum(x * x, **of))
    for op, function, shape in (
            ("ReduceMean", np.mean, (4096, 32)), ("ReduceMean", np.mean, (300, 200)),
            ("ReduceMax", np.max, (900, 32)), ("ReduceMax", np.max, (300, 200)),
            ("ReduceMin", np.min, (901, 20)), ("ReduceL2", norm, (300, 200))):
        x = draw(*shape) + np.linspace(-1, 1, shape[1], dtype=np.float32)
        cases.add(f"positions_fold_{op}_{shape[1]}", node(op, "x", axes=[0], keepdims=0), {"x": x},
                  {"y": function(np.float64(x), axis=0)})
    x = draw(700, 24)
    cases.add("positions_fold_sum", node("ReduceSum", "x a"), {"x": x},
              {"y": np.sum(np.float64(x), axis=0, keepdims=True)}, {"a": np.int64([0])})
    # Factors that are rounded at every position; their products stay near one.
    x = np.exp(draw(40, 16) / 8)
    cases.add("positions_fold_product", node("ReduceProd", "x", axes=[0]), {"x": x},
              {"y": np.prod(np.float64(x), axis=0, keepdims=True)})

    # Pooling between layers; beside it what every position has.
    for length in (61, 150, 700):
        x, layers = draw(length, 24), (weights(24, 40), weights(40, 12))
        net = Network(x=x)
        h = net("Relu", net.linear("x", layers[0]))
        v = relu(linear(x, layers[0]))
        pooled = net("ReduceMean", h, axes=[0], keepdims=1)
        case(f"pooled_{length}", net,
             {net.linear(pooled, layers[1]): linear(v.mean(0, keepdims=True), layers[1])})
        most = net("ReduceMax", h, axes=[0], keepdims=1)
        case(f"mixed_{length}", net,
             {net.linear(h, layers[1]): linear(v, layers[1]), pooled: v.mean(0, keepdims=True),
              most: v.max(0, keepdims=True)})

    # Positions read what all of them became: another loop.
    x = draw(150, 12)
    net = Network(x=x)
    centred = net("Sub", "x", net("ReduceMean", "x", axes=[0], keepdims=1))
    scale = net("Sqrt", net("ReduceMean", net("Mul", centred, centred), axes=[0], keepdims=1))
    v = np.float64(x) - np.mean(np.float64(x), axis=0, keepdims=True)
    case("normalised", net, {net("Div", centred, scale): v / np.sqrt(np.mean(v * v, axis=0, keepdims=True))})
    # Logarithms of what lies beyond the elements of a row must not reach the product.
    x, layer = draw(300, 12), weights(12, 8)
    net = Network(x=x)
    logs = net("Log", net("Mul", "x", "x"))
    v = np.log(np.float64(x) ** 2)
    case("padding", net, {net.linear(net("ReduceMax", logs, axes=[0], keepdims=1), layer):
                          linear(v.max(0, keepdims=True), layer)})
    # Two axes at once.
    x = draw(300, 4, 12)
    cases.add("positions_fold_two_axes", node("ReduceMean", "x", axes=[0, 1], keepdims=0), {"x": x},
              {"y": np.mean(np.float64(x), axis=(0, 1))})
    # All elements at once: one reduction takes longer than anything else in the machine.
    for op, function in (("ReduceMax", np.max), ("ReduceMin", np.min)):
        x = draw(900, 40)
        cases.add(f"positions_fold_{op}_all", node(op, "x", axes=[0, 1]), {"x": x},
                  {"y": function(np.float64(x), keepdims=True)})
