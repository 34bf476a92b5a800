"""Choices by index and order, resizing, and quantised tensors, on run-time values."""
import numpy as np

from cases.common import node, normal


def choices(cases):
    x = normal(3, 21)
    few = x[:2, :9]
    order = np.argsort(-few, axis=1, kind="stable")
    cases.add("topk_along", node("TopK", "x k", "v", axis=1), {"x": few},
              {"v": np.take_along_axis(few, order[:, :5], 1)}, {"k": np.int64([5])})
    ties = np.float32([[1, 3, 3, -2, 3, 0, 1, -5]])
    order = np.argsort(ties, axis=1, kind="stable")
    cases.add("topk_smallest_ties", [node("TopK", "x k", "v p", axis=1, largest=0),
                                     node("Cast", "p", "i", to=1)], {"x": ties},
              {"v": np.take_along_axis(ties, order, 1), "i": order}, {"k": np.int64([8])})
    inf = np.float32(np.inf)
    for name, x0 in (("one", [[1, inf, -3, 2, -0.5]]), ("both", [[1, inf, -inf, 2, -3]]), ("some", [[inf, -inf, inf, 4, -inf]])):
        for largest in (0, 1):
            for axis in (0, 1):
                rows = np.float32(x0) if axis else np.float32(x0).T.copy()
                order = np.argsort(-rows if largest else rows, axis=axis, kind="stable")
                cases.add(f"topk_infinity_{name}_{largest}_{axis}", node("TopK", "x k", "v", axis=axis, largest=largest),
                          {"x": rows}, {"v": np.take_along_axis(rows, order, axis)}, {"k": np.int64([5])})
    many = np.round(normal(2, 300) * 8) / 8
    many[0, 7:] = -inf  # so that elements that were taken are equal to others
    order = np.argsort(-many, axis=1, kind="stable")[:, :3]
    for largest, x0 in ((0, -many), (1, many)):
        cases.add(f"topk_codes_{largest}", [node("TopK", "x k", "v p", axis=1, largest=largest), node("Cast", "p", "i", to=1)],
                  {"x": x0}, {"v": np.take_along_axis(x0, order, 1), "i": order}, {"k": np.int64([3])})
    cases.add("hardmax_many", node("Hardmax", "x", axis=1), {"x": many}, {"y": np.eye(300)[many.argmax(1)]})
    cases.add("hardmax_rows", node("Hardmax", "x", axis=1), {"x": x},
              {"y": np.eye(21)[x.argmax(1)]})
    cases.add("onehot_runtime", [node("ArgMax", "x", "i", axis=1, keepdims=0),
                                 node("OneHot", "i d v")], {"x": x},
              {"y": np.where(np.eye(21)[x.argmax(1)] == 1, 3.0, -1.0)},
              {"d": np.int64(21), "v": np.float32([-1, 3])})
    pick = np.random.default_rng(5).integers(-21, 21, (3, 4))
    cases.add("gather_elements_wrapped", node("GatherElements", "x i", axis=1), {"x": x},
              {"y": np.take_along_axis(x, pick % 21, 1)}, {"i": pick})
    updates = normal(3, 4)
    summed = x.copy()
    for row, (places, values) in enumerate(zip(pick, updates)):
        np.add.at(summed[row], places % 21, values)
    cases.add("scatter_elements_add", node("ScatterElements", "x i u", axis=1, reduction="add"),
              {"x": x, "u": updates}, {"y": summed}, {"i": pick}, opset=16)
    powers = np.float32([1, 2, 3] * 7)
    cases.add("pow_exponents", node("Pow", "x p"), {"x": x}, {"y": x.astype(float) ** powers}, {"p": powers})
    cases.add("mod_runtime", node("Mod", "x d", fmod=1), {"x": 4 * np.round(x)},
              {"y": np.fmod(4 * np.round(x), 3)}, {"d": np.float32(3)})


def quantised(cases):
    rng = np.random.default_rng(7)
    x, weights = normal(2, 12), rng.integers(-127, 128, (12, 9)).astype(np.int8)
    scale, zero = np.float32(0.03125), np.uint8(120)
    bytes_ = np.clip(np.round(x / scale) + zero, 0, 255)
    cases.add("quantize_restore", [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z")],
              {"x": x}, {"y": (bytes_ - zero) * scale}, {"s": scale, "z": zero})
    channels = np.float32(rng.uniform(0.001, 0.02, 9))
    cases.add("dequantized_weights", [node("DequantizeLinear", "w s", "d", axis=1), node("MatMul", "x d")],
              {"x": x}, {"y": x @ (weights * channels)}, {"w": weights, "s": channels})
    sums = (bytes_ - zero) @ weights
    cases.add("matmul_integer", [node("QuantizeLinear", "x s z", "q"), node("MatMulInteger", "q w z", "p"),
                                 node("Cast", "p", to=1)],
              {"x": x}, {"y": sums}, {"s": scale, "z": zero, "w": weights})
    out, shift = np.float32(np.abs(sums * (scale * channels)).max() / 120), np.int8(3)
    result = np.clip(np.round(sums * (scale * channels / out)) + shift, -128, 127)
    cases.add("qlinear_matmul", [node("QuantizeLinear", "x s z", "q"),
                                 node("QLinearMatMul", "q s z w c n o h", "r"),
                                 node("DequantizeLinear", "r o h")],
              {"x": x}, {"y": (result - shift) * out},
              {"s": scale, "z": zero, "w": weights, "c": channels, "n": np.zeros(9, np.int8), "o": out, "h": shift})


def convolved(x, weights, stride, pad):
    """The convolution of x [1, channels, height, width], by its definition."""
    x = np.pad(x.astype(float), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    size = weights.shape[2]
    seen = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))[:, :, ::stride, ::stride]
    return np.einsum("bchwkl,fckl->bfhw", seen, weights.astype(float))


def quantised_windows(cases):
    rng = np.random.default_rng(11)
    x = normal(1, 4, 7, 7)
    scale, zero = np.float32(0.03125), np.uint8(120)
    centred = np.clip(np.round(x / scale) + zero, 0, 255) - zero
    weights, own = rng.integers(-20, 21, (5, 4, 3, 3)).astype(np.int8), np.int8([1, 0, -2, 0, 3])
    sums = convolved(centred, weights - own[:, None, None, None].astype(int), 2, 1)
    quantise = node("QuantizeLinear", "x s z", "q")
    cases.add("conv_integer", [quantise, node("ConvInteger", "q w z n", "p", pads=[1] * 4, strides=[2, 2]),
                               node("Cast", "p", to=1)],
              {"x": x}, {"y": sums}, {"s": scale, "z": zero, "w": weights, "n": own})
    channels, bias = np.float32(rng.uniform(0.001, 0.02, 5)), rng.integers(-800, 800, 5).astype(np.int32)
    factor = (scale * channels)[:, None, None]
    exact = (sums + bias[:, None, None]) * factor
    out, shift = np.float32(np.abs(exact).max() / 120), np.uint8(128)
    result = np.clip(np.round(exact / out) + shift, 0, 255)
    cases.add("qlinear_conv", [quantise, node("QLinearConv", "q s z w c n o h b", "r", pads=[1] * 4, strides=[2, 2]),
                               node("DequantizeLinear", "r o h")],
              {"x": x}, {"y": (result - shift) * out},
              {"s": scale, "z": zero, "w": weights, "c": channels, "n": own, "o": out, "h": shift, "b": bias})
    apart = rng.integers(-20, 21, (4, 1, 3, 3)).astype(np.int8)
    each = np.concatenate([convolved(centred[:, c:c + 1], apart[c:c + 1], 1, 0) for c in range(4)], 1)
    cases.add("conv_integer_depthwise", [quantise, node("ConvInteger", "q w z", "p", group=4), node("Cast", "p", to=1)],
              {"x": x}, {"y": each}, {"s": scale, "z": zero, "w": apart})


def powers(cases):
    x = np.abs(normal(3, 20)) + np.float32(0.1)
    for exponent in (0.25, 0.75, 2.5, -0.75, -3, 5, 6, 0.3, -2.2):
        cases.add(f"pow_apart_{exponent}", node("Pow", "x e"), {"x": x}, {"y": x.astype(float) ** exponent},
                  {"e": np.float32(exponent)})


def computed_powers(cases):
    """Exponents that are inputs, or more than are taken apart."""
    x, e = np.abs(normal(3, 20)) + np.float32(0.1), normal(3, 20) * 2
    def case(name, x, e, before=(), after=(), known=False):
        nodes = [*before, node("Pow", "x e" if not before else "t e", "p" if after else "y"), *after]
        base = np.tanh(np.float64(x)) if before else np.float64(x)
        with np.errstate(all="ignore"):
            y = base ** np.float64(e)
        cases.add(f"pow_computed_{name}", nodes, {"x": x} | ({} if known else {"e": e}),
                  {"y": np.tanh(y) if after else y}, {"e": e} if known else None)

    case("exponents", x, e)
    case("exponent_of_each", x, e[0])
    case("exponent_of_all", x, e[0, :1])
    case("many", x, e, known=True)
    # Functions around it need tables of their own.
    case("among_functions", x, e, [node("Tanh", "x", "t")], [node("Tanh", "p")])
    whole = np.float32(np.arange(-7, 8))
    case("negative", np.float32([[-2.5], [-1], [-0.5], [1.5], [3]]), whole)
    case("fractions", np.float32([[-2], [2]]), whole / 2)
    special = np.float32([0, 1, -1, 2, -3, 0.5, np.inf, np.nan])
    case("special", special[:, None], np.float32([0, 1, -1, 3, -2, 0.5, np.inf, -np.inf, np.nan]))
    for base in (2, 0.5, 10, 1, -2):
        cases.add(f"pow_computed_base_{base}", node("Pow", "c e"), {"e": whole / (1 if base < 0 else 2)},
                  {"y": np.float64(base) ** (whole / (1 if base < 0 else 2))}, {"c": np.float32(base)})


def pooled_indices(cases):
    x = np.random.default_rng(13).permutation(72).reshape(1, 2, 6, 6).astype(np.float32)
    tiles = x.reshape(2, 3, 2, 3, 2).swapaxes(2, 3).reshape(2, 3, 3, 4)
    flat = np.arange(72).reshape(2, 3, 2, 3, 2).swapaxes(2, 3).reshape(2, 3, 3, 4)
    where = np.take_along_axis(flat, tiles.argmax(3)[..., None], 3)[None, ..., 0]
    cases.add("maxpool_indices", [node("MaxPool", "x", "v p", kernel_shape=[2, 2], strides=[2, 2]),
                                  node("Cast", "p", "i", to=1)], {"x": x}, {"v": tiles.max(3)[None], "i": where})
    small = normal(1, 2, 3, 3)
    back = np.zeros(72)
    back[where.ravel()] = small.ravel()
    cases.add("maxunpool", node("MaxUnpool", "x i", kernel_shape=[2, 2], strides=[2, 2]), {"x": small},
              {"y": back.reshape(x.shape)}, {"i": where})
