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
