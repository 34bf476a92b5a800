"""Reductions, ArgMax and ArgMin, normalisations and their factors around products."""
import numpy as np
from onnx import TensorProto

from cases.common import RANDOM, node, normal


def reductions(cases):
    x = normal(2, 3, 11)
    wide = normal(1, 70)
    functions = {
        "ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min,
        "ReduceSumSquare": lambda v, **k: np.sum(v * v, **k),
        "ReduceL1": lambda v, **k: np.sum(abs(v), **k),
        "ReduceL2": lambda v, **k: np.sqrt(np.sum(v * v, **k)),
        "ReduceProd": np.prod,
        "ReduceLogSumExp": lambda v, **k: np.log(np.sum(np.exp(v), **k))}
    for op, f in functions.items():
        low = op[6:].lower()
        cut = {"b": np.int64([0]), "e": np.int64([5]), "i": np.int64([2])}
        part = [node("Slice", "x b e i", "p"), node(op, "p i" if op == "ReduceSum" else "p",
                                                    **({} if op == "ReduceSum" else {"axes": [2]}))]
        cases.add(f"{low}_of_part", part, {"x": x},
                  {"y": f(np.float64(x[:, :, :5]), axis=2, keepdims=True)}, cut)
        for name, axes in (("last", [-1]), ("middle", [1]), ("two", [0, 2]), ("all", [0, 1, 2])):
            for keep in (0, 1):
                if op == "ReduceSum":
                    nodes, constants = node(op, "x a", keepdims=keep), {"a": np.int64(axes)}
                else:
                    nodes, constants = node(op, "x", axes=axes, keepdims=keep), None
                cases.add(f"reduce_{low}_{name}_{keep}", nodes, {"x": x},
                          {"y": f(np.float64(x), axis=tuple(axes), keepdims=bool(keep))},
                          constants)
        cases.add(f"reduce_{low}_wide", node(op, "x"), {"x": wide},
                  {"y": f(np.float64(wide), axis=(0, 1), keepdims=True)})
        cases.add(f"reduce_{low}_opset18", node(op, "x a"), {"x": wide},
                  {"y": f(np.float64(wide), axis=1, keepdims=True)}, {"a": np.int64([1])},
                  opset=18)
    tied = np.round(normal(2, 3, 13) * 2)
    for op, f, most in (("ArgMax", np.argmax, 256), ("ArgMin", np.argmin, 100)):
        distinct = RANDOM.permutation(most)[None].astype(np.float32)
        for axis in range(3):
            for keep in (0, 1):
                first = f(tied, axis=axis, keepdims=bool(keep))
                last = tied.shape[axis] - 1 - f(np.flip(tied, axis), axis=axis, keepdims=bool(keep))
                for i, (name, index) in enumerate((("first", first), ("last", last))):
                    cases.add(f"{op.lower()}_{name}_{axis}_{keep}",
                              node(op, "x", axis=axis, keepdims=keep, select_last_index=i),
                              {"x": tied}, {"y": index}, result=TensorProto.INT64)
        lanes = np.round(normal(3, 7) * 2) - 9
        cases.add(f"{op.lower()}_lanes", node(op, "x", axis=1), {"x": lanes},
                  {"y": f(lanes, axis=1, keepdims=True)}, result=TensorProto.INT64)
        cases.add(f"{op.lower()}_opset11", node(op, "x", axis=-1), {"x": tied},
                  {"y": f(tied, axis=-1, keepdims=True)}, opset=11, result=TensorProto.INT64)
        cases.add(f"{op.lower()}_wide", node(op, "x", axis=1), {"x": distinct},
                  {"y": f(distinct, axis=1, keepdims=True)}, result=TensorProto.INT64)
        # Indices above 256 leave the accelerator as codes.
        many = np.round(normal(2, 300))
        for i, index in enumerate((f(many, axis=1), 299 - f(np.flip(many, 1), axis=1))):
            cases.add(f"{op.lower()}_codes_{i}", node(op, "x", axis=1, keepdims=0, select_last_index=i),
                      {"x": many}, {"y": index}, result=TensorProto.INT64)
        cases.add(f"{op.lower()}_codes_float", [node(op, "x", "i", axis=0), node("Cast", "i", to=1)],
                  {"x": many.T.copy()}, {"y": f(many.T, axis=0, keepdims=True)})
    cases.add("reduce_logsum", node("ReduceLogSum", "x", axes=[1]), {"x": np.abs(wide) + 1},
              {"y": np.log(np.sum(np.abs(np.float64(wide)) + 1, 1, keepdims=True))})
    cases.add("reduce_logsumexp_large", node("ReduceLogSumExp", "x", axes=[1]), {"x": wide + 300},
              {"y": np.log(np.sum(np.exp(np.float64(wide)), 1, keepdims=True)) + 300})
    # A long line is a maximum and a sum of each of its parts; in parts of minus infinity, too.
    long = normal(1, 1024) * 4
    for name, line in (("long", long), ("long_peak", np.where(np.arange(1024) == 700, 90, long)),
                       ("long_minus_infinity", np.where(np.arange(1024) < 600, -np.inf, long)),
                       ("long_all_minus_infinity", np.full((1, 1024), -np.inf))):
        line = line.astype(np.float32)
        cases.add(f"reduce_logsumexp_{name}", node("ReduceLogSumExp", "x", axes=[1]), {"x": line},
                  {"y": np.logaddexp.reduce(np.float64(line), 1, keepdims=True)})
    cases.add("reduce_nothing", node("ReduceSum", "x a", noop_with_empty_axes=1), {"x": wide},
              {"y": wide}, {"a": np.zeros(0, np.int64)})


def normalisations(cases):
    x = normal(3, 13) * 3 + 1
    scale, bias, mean, variance = normal(13), normal(13), normal(13), np.abs(normal(13)) + 0.5
    constants = {"s": scale, "b": bias, "m": mean, "v": variance}
    expected = (x - mean) / np.sqrt(variance + 1e-5) * scale + bias
    cases.add("batch_norm", node("BatchNormalization", "x s b m v"), {"x": x}, {"y": expected},
              constants)
    cases.add("batch_norm_opset9", node("BatchNormalization", "x s b m v", momentum=0.5),
              {"x": x}, {"y": expected}, constants, opset=9)
    w = normal(7, 13)
    cases.add("gemm_batch_norm", [node("Gemm", "z w", "g", transB=0),
                                  node("BatchNormalization", "g s b m v", epsilon=0.25)],
              {"z": x[:, :7]},
              {"y": (x[:, :7] @ w - mean) / np.sqrt(variance + 0.25) * scale + bias},
              {"w": w, **constants})
    deep = normal(2, 13, 3)
    side = (slice(None), None)
    cases.add("batch_norm_channels", node("BatchNormalization", "x s b m v"), {"x": deep},
              {"y": (deep - mean[side]) / np.sqrt(variance[side] + 1e-5) * scale[side] +
               bias[side]}, constants)

    def layer(v, axes, s, b):
        d = v - v.mean(axis=axes, keepdims=True)
        return d / np.sqrt((d * d).mean(axis=axes, keepdims=True) + 1e-5) * s + b

    for width in (1, 8, 13, 64):
        v, s, b = normal(2, width) * 2, normal(width), normal(width)
        cases.add(f"layer_norm_{width}", node("LayerNormalization", "x s b"), {"x": v},
                  {"y": layer(np.float64(v), 1, s, b)}, {"s": s, "b": b})
    s = normal(13, 3)
    cases.add("layer_norm_axis", node("LayerNormalization", "x s", axis=1), {"x": deep},
              {"y": layer(np.float64(deep), (1, 2), s, 0)}, {"s": s})
    for name, axes in (("lanes", [1]), ("rows", [0]), ("all", [0, 1])):
        cases.add(f"mean_variance_{name}", node("MeanVarianceNormalization", "x", axes=axes),
                  {"x": x}, {"y": layer(np.float64(x), tuple(axes), 1, 0)})
    for name, axis in (("lanes", -1), ("rows", 0)):
        for order, size in ((1, np.abs(x).sum(axis, keepdims=True)),
                            (2, np.sqrt((x * x).sum(axis, keepdims=True)))):
            cases.add(f"lp_norm_{order}_{name}", node("LpNormalization", "x", axis=axis, p=order),
                      {"x": x}, {"y": x / size})
    zeros = np.zeros_like(x)
    zeros[0, -1] = 3
    for order in (1, 2):
        cases.add(f"lp_norm_{order}_zeros", node("LpNormalization", "x", p=order),
                  {"x": zeros}, {"y": zeros / 3})
    wide = normal(2, 6, 11)
    s6, b6, s3, b3 = normal(6), normal(6), normal(3), normal(3)
    cases.add("instance_norm", node("InstanceNormalization", "x s b"), {"x": wide},
              {"y": layer(np.float64(wide), 2, s6[:, None], b6[:, None])}, {"s": s6, "b": b6})
    grouped = layer(np.float64(wide).reshape(2, 3, 2, 11), (2, 3), 1, 0)
    cases.add("group_norm_18", node("GroupNormalization", "x s b", num_groups=3), {"x": wide},
              {"y": (grouped * s3[:, None, None] + b3[:, None, None]).reshape(wide.shape)},
              {"s": s3, "b": b3}, opset=18)
    cases.add("group_norm_21", node("GroupNormalization", "x s b", num_groups=3), {"x": wide},
              {"y": grouped.reshape(wide.shape) * s6[:, None] + b6[:, None]},
              {"s": s6, "b": b6}, opset=21)
    root = np.sqrt((np.float64(x) ** 2).mean(-1, keepdims=True) + 1e-5)
    cases.add("rms_norm_operator", node("RMSNormalization", "x s"), {"x": x},
              {"y": x / root * scale}, {"s": scale}, opset=23)
    both = np.sqrt((np.float64(deep) ** 2).mean((1, 2), keepdims=True) + 1e-5)
    cases.add("rms_norm_axes", node("RMSNormalization", "x s", axis=1), {"x": deep},
              {"y": deep / both * s}, {"s": s}, opset=23)
    rms = [node("Mul", "x x", "q"), node("ReduceMean", "q", "a", axes=[-1]),
           node("Add", "a e", "f"), node("Sqrt", "f", "r"), node("Div", "x r", "d"),
           node("Mul", "d s")]
    cases.add("rms_norm", rms, {"x": x}, {"y": x / root * scale},
              {"e": np.float32(1e-5), "s": scale})
    rms[0] = node("Pow", "x two", "q")
    cases.add("rms_norm_pow", rms, {"x": x}, {"y": x / root * scale},
              {"e": np.float32(1e-5), "s": scale, "two": np.float32(2)})


def factors(cases):
    """Norms in front of layers: the compiler may multiply by the root behind them."""
    x, w, v = normal(1, 19), normal(19, 40) / 4, normal(19, 40) / 4
    g, b = 1 + normal(19) / 8, normal(40)
    root = np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    norm = [node("Mul", "x x", "q"), node("ReduceMean", "q", "m", axes=[-1]), node("Add", "m e", "a"),
            node("Sqrt", "a", "r"), node("Div", "x r", "d"), node("Mul", "d g", "n")]
    constants = {"e": np.float32(1e-5), "g": g, "w": w}
    y = x / root * g
    cases.add("norm_relu", norm + [node("Gemm", "n w b", "l"), node("Relu", "l")], {"x": x},
              {"y": np.maximum(y @ w + b, 0)}, {**constants, "b": b})
    cases.add("norm_gate", norm + [node("MatMul", "n w", "u"), node("MatMul", "n v", "l"),
                                   node("Sigmoid", "l", "s"), node("Mul", "u s")], {"x": x},
              {"y": (y @ w) / (1 + np.exp(-(y @ v)))}, {**constants, "v": v})
