"""Lanes beyond the extent, and lanes that a view does not read, never reach a result, whatever they hold."""
import numpy as np

from cases.common import node, normal

AXIS = {"a": np.int64([1])}


def softmax(x, axis=1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def beyond(cases):
    """Rows of 5 elements, beyond which a quotient, a logarithm or a root is NaN or infinite."""
    x, z = normal(2, 5), np.float32(0.5 + np.abs(normal(2, 5))) * np.where(normal(2, 5) < 0, -1, 1).astype(np.float32)
    length, scale = np.sqrt((x ** 2 + 1) @ np.full((5, 5), 0.25)), np.full((5, 5), 0.25, np.float32)
    rows = {"quotient": ([node("Div", "x z", "t")], x / z, {}),
            "x_log_x": ([node("Abs", "x", "m"), node("Log", "m", "l"), node("Mul", "x l", "t")],
                        x * np.log(np.abs(x)), {}),
            "by_a_root": ([node("Mul", "x x", "q"), node("Add", "q one", "p"), node("MatMul", "p w", "s"),
                           node("Sqrt", "s", "r"), node("Div", "x r", "t")], x / length,
                          {"w": scale, "one": np.float32(1)})}
    readers = {"max": (node("ReduceMax", "t", axes=[1]), lambda t: t.max(1, keepdims=True), {}),
               "min": (node("ReduceMin", "t", axes=[1]), lambda t: t.min(1, keepdims=True), {}),
               "argmax": (node("ArgMax", "t", "i", axis=1), lambda t: t.argmax(1)[:, None], {}),
               "logsumexp": (node("ReduceLogSumExp", "t", axes=[1]),
                             lambda t: np.log(np.exp(t).sum(1, keepdims=True)), {}),
               "softmax": (node("Softmax", "t", axis=1), softmax, {})}
    for name, (nodes, t, constants) in rows.items():
        inputs = {"x": x, "z": z} if name == "quotient" else {"x": x}
        for reader, (last, function, more) in readers.items():
            if reader == "argmax":
                last = [last, node("Cast", "i", to=1)]
            cases.add(f"unread_beyond_{name}_{reader}", nodes + (last if isinstance(last, list) else [last]), inputs,
                      {"y": function(t)}, {**constants, **more})
    p = softmax(x, 0) * x
    cases.add("unread_beyond_shares_of_columns", [node("Softmax", "x", "s", axis=0), node("Mul", "s x", "t"),
                                                  node("LogSoftmax", "t", axis=1)], {"x": x}, {"y": np.log(softmax(p))})
    block = normal(6, 3)
    distance = block - block.mean(1, keepdims=True)
    normed = distance / np.sqrt((distance ** 2).mean(1, keepdims=True) + 1e-5)
    for reader, last, y in (("max", node("ReduceMax", "v", axes=[0]), normed.max(0, keepdims=True)),
                            ("softmax", node("Softmax", "v", axis=0), softmax(normed, 0))):
        cases.add(f"unread_beyond_norm_{reader}_of_positions", [node("LayerNormalization", "x g", "v", axis=1), last],
                  {"x": block}, {"y": y}, {"g": np.ones(3, np.float32)})


def slices(cases):
    """The first lanes of rows whose others are infinite, and every second one."""
    x = np.float32([[0.5, -1, 2, 0.25, 4]])
    for name, head, t in (("log", [node("Abs", "x", "q"), node("Log", "q", "t")], np.log(np.abs(x))),
                          ("reciprocal", [node("Reciprocal", "x", "t")], 1 / x)):
        u = -t[:, :2]
        part = [*head, node("Slice", "t i j a", "u"), node("Neg", "u", "v")]
        bounds = {"i": np.int64([0]), "j": np.int64([2]), **AXIS}
        cases.add(f"unread_slice_of_{name}_sum", [*part, node("ReduceSum", "v a", "s"), node("Add", "s t")], {"x": x},
                  {"y": u.sum(1, keepdims=True) + t}, bounds)
        w = normal(2, 3)
        cases.add(f"unread_slice_of_{name}_product", [*part, node("MatMul", "v w"), ], {"x": x}, {"y": u @ w},
                  {**bounds, "w": w})
        cases.add(f"unread_slice_of_{name}_scattered", [*part, node("ScatterElements", "t k v", axis=1)], {"x": x},
                  {"y": np.concatenate([u[:, ::-1], t[:, 2:]], 1)}, {**bounds, "k": np.int64([[1, 0]])})
    whole = np.float32(normal(4, 16))
    whole[:, ::2] = np.inf
    whole[1, ::4], whole[2, ::4] = np.nan, -np.inf
    every = {"i": np.int64([1]), "j": np.int64([16]), "s": np.int64([2]), **AXIS}
    odd = whole[:, 1::2]
    pick = node("Slice", "x i j a s", "v")
    for name, last, y in (("tanh", node("Tanh", "v"), np.tanh(odd)),
                          ("sum", node("ReduceSum", "v a"), odd.sum(1, keepdims=True)),
                          ("max", node("ReduceMax", "v", axes=[1]), odd.max(1, keepdims=True)),
                          ("softmax", node("Softmax", "v", axis=1), softmax(odd))):
        cases.add(f"unread_every_second_{name}", [pick, last], {"x": whole}, {"y": y}, every)
    rows = np.float32(normal(4, 16))
    rows[2] = -np.inf
    kept = np.full((4, 1), -np.inf)
    finite = [0, 1, 3]
    kept[finite] = np.log(np.exp(rows[finite].astype(float)).sum(1, keepdims=True))
    cases.add("unread_logsumexp_of_minus_infinity", node("ReduceLogSumExp", "x", axes=[1]), {"x": rows}, {"y": kept},
              flags=["--data-dim", "x=0"])


def constants(cases):
    """Results that are constants, element by element, and constants that bf16 would round to infinity."""
    x, c = normal(1, 3), normal(1, 3)
    cases.add("constant_where_all", node("Where", "m c x"), {"x": x}, {"y": c}, {"m": np.ones((1, 3), bool), "c": c})
    cases.add("constant_where_none", [node("Where", "m x c", "t"), node("Tanh", "t")], {"x": x}, {"y": np.tanh(c)},
              {"m": np.zeros((1, 3), bool), "c": c})
    cases.add("constant_scattered_everywhere", node("ScatterND", "x i c"), {"x": x}, {"y": c},
              {"i": np.int64([[0]]), "c": c})
    lowest = np.finfo(np.float32).min
    scores = normal(3, 5)
    mask = np.zeros((3, 5), np.float32)
    mask[0], mask[1, 2:] = lowest, lowest
    masked = np.where(mask == 0, scores.astype(float), lowest)
    shares = softmax(masked)
    cases.add("lowest_added", [node("Add", "x m", "t"), node("Softmax", "t", axis=1)], {"x": scores}, {"y": shares},
              {"m": mask})
    cases.add("lowest_selected", [node("Where", "m x l", "t"), node("Softmax", "t", axis=1)], {"x": scores},
              {"y": shares}, {"m": mask == 0, "l": np.float32(lowest)})
    cases.add("lowest_padded", [node("Pad", "x p l", "t"), node("Softmax", "t", axis=1)], {"x": scores},
              {"y": softmax(np.pad(scores.astype(float), ((0, 1), (0, 2)), constant_values=lowest))},
              {"p": np.int64([0, 0, 1, 2]), "l": np.float32(lowest)})
    seen = (mask == 0).astype(np.float32)
    cases.add("lowest_times_the_mask",
              [node("Sub", "one m", "u"), node("Mul", "u l", "v"), node("Add", "x v", "t"), node("Softmax", "t", axis=1)],
              {"x": scores, "m": seen}, {"y": shares}, {"one": np.float32(1), "l": np.float32(lowest)})
    cases.add("lowest_through_a_product", [node("MatMul", "x w", "s"), node("Add", "s m", "t"),
                                           node("Softmax", "t", axis=1)], {"x": scores},
              {"y": softmax(np.where(mask == 0, scores.astype(float) @ np.eye(5), lowest))},
              {"w": np.eye(5, dtype=np.float32), "m": mask})


def offsets(cases):
    """Distances from means that are many deviations away, in values that bf16 has."""
    for features in (6, 8, 16, 20, 48):
        x = np.float32(64 + np.round(4 * normal(4, features)) / 2)
        distance = x - x.mean(1, keepdims=True, dtype=float)
        squares = (distance ** 2).mean(1, keepdims=True)
        cases.add(f"offset_layer_norm_{features}", node("LayerNormalization", "x g"), {"x": x},
                  {"y": distance / np.sqrt(squares + 1e-5)}, {"g": np.ones(features, np.float32)})
        cases.add(f"offset_variance_{features}",
                  [node("Mul", "x x", "q"), node("ReduceMean", "q", "e", axes=[1]), node("ReduceMean", "x", "m", axes=[1]),
                   node("Mul", "m m", "s"), node("Sub", "e s")], {"x": x}, {"y": squares})
        cases.add(f"offset_distance_{features}", [node("ReduceMean", "x", "m", axes=[1]), node("Sub", "x m")], {"x": x},
                  {"y": distance})


def typical(cases):
    """A layer whose typical values are large, and which is 0 for the input."""
    x, w = np.float32(1 + np.abs(normal(1, 8))), np.full((8, 64), -1000, np.float32)
    v, b = np.float32(0.005 + 0.01 * np.abs(normal(64, 1))), np.float32(300 * np.ones(64))
    cases.add("typical_layer_of_zero", [node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("Gemm", "r v c")],
              {"x": x}, {"y": np.full((1, 1), 0.5)}, {"w": w, "b": b, "v": v, "c": np.float32([0.5])})
    # The typical value of a sign is 0; of a positive x, less 1, nothing is left of the layer.
    own = np.random.default_rng(17)
    w = own.standard_normal((8, 8)).astype(np.float32)
    cases.add("typical_offset_of_zero", [node("Sign", "x", "s"), node("Sub", "s o", "d"), node("MatMul", "d w")],
              {"x": np.abs(own.standard_normal((2, 8))).astype(np.float32)}, {"y": np.zeros((2, 8))}, {"w": w, "o": np.float32(1)})
    finite = own.standard_normal((2, 8)).astype(np.float32)
    cases.add("difference_of_infinities", [node("Sub", "x x", "d"), node("MatMul", "d w")],
              {"x": np.where(np.arange(16).reshape(2, 8) == 11, np.inf, finite)},
              {"y": np.where(np.arange(2)[:, None] == 1, np.nan, np.zeros((2, 8)))}, {"w": w})
