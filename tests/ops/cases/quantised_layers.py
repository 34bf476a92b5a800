"""Quantised operators of com.microsoft, by their definitions: restored, computed and quantised in double."""
import numpy as np
from onnx import TensorProto

from .attention import DYNAMIC, attend, merge, sigmoid, split
from .common import node

MICROSOFT = "com.microsoft"
RESULT = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}


def quantised(x, scale, zero):
    limits = np.iinfo(zero.dtype)
    return np.clip(np.round(np.asarray(x, float) / scale) + zero, limits.min, limits.max)


def layers(cases):
    rng = np.random.default_rng(31)
    s, z, t, v = np.float32(0.03125), np.uint8(120), np.float32(0.0625), np.uint8(100)
    out, shift = np.float32(0.046875), np.uint8(130)
    given = {"s": s, "z": z, "t": t, "v": v, "o": out, "h": shift}

    def real(x, scale, zero):
        return (quantised(x, scale, zero) - zero) * float(scale)

    def add(name, op, inputs, y, nodes, constants=None, x=None, **attributes):
        used = {k: one for k, one in {**given, **(constants or {})}.items()
                if any(k in other.input for other in nodes) or k in inputs.split()}
        cases.add(f"microsoft_{name}", [*nodes, node(op, inputs, domain=MICROSOFT, **attributes)], x,
                  {"y": quantised(y, out, shift)}, used, result=RESULT[np.uint8])

    x, other = rng.normal(size=(3, 12)).astype(np.float32), rng.normal(size=(12,)).astype(np.float32)
    both = [node("QuantizeLinear", "x s z", "q"), node("QuantizeLinear", "u t v", "r")]
    a, b = real(x, s, z), real(other, t, v)
    add("qlinear_add", "QLinearAdd", "q s z r t v o h", a + b, both, x={"x": x, "u": other})
    add("qlinear_mul", "QLinearMul", "q s z r t v o h", a * b, both, x={"x": x, "u": other})
    one = both[:1]
    add("qlinear_sigmoid", "QLinearSigmoid", "q s z o h", 1 / (1 + np.exp(-a)), one, x={"x": x})
    add("qlinear_leaky_relu", "QLinearLeakyRelu", "q s z o h", np.where(a < 0, 0.25 * a, a), one, x={"x": x}, alpha=0.25)
    shares = np.exp(a) / np.exp(a).sum(1, keepdims=True)
    add("qlinear_softmax", "QLinearSoftmax", "q s z o h", shares * 12, one, {"o": np.float32(0.046875 / 12)}, x={"x": x}, opset=13)
    more = rng.normal(size=(3, 5)).astype(np.float32)
    add("qlinear_concat", "QLinearConcat", "o h q s z r t v q s z", np.concatenate([a, real(more, t, v), a], 1), both,
        x={"x": x, "u": more}, axis=1)

    image = rng.normal(size=(1, 3, 6, 6)).astype(np.float32)
    values = real(image, s, z)
    tiles = values.reshape(1, 3, 3, 2, 3, 2).mean((3, 5))
    add("qlinear_average_pool", "QLinearAveragePool", "q s z o h", tiles, one, x={"x": image}, kernel_shape=[2, 2], strides=[2, 2])
    add("qlinear_average_pool_last", "QLinearAveragePool", "q s z o h", np.moveaxis(tiles, 1, 3), one,
        x={"x": np.moveaxis(image, 1, 3).copy()}, kernel_shape=[2, 2], strides=[2, 2], channels_last=1)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(values, [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3), (2, 3)).sum((4, 5))
    counts = np.ones((6, 1)) * 3
    counts[[0, -1]] = 2
    add("qlinear_average_pool_border", "QLinearAveragePool", "q s z o h", around / (counts * counts.T), one, x={"x": image},
        kernel_shape=[3, 3], pads=[1] * 4)
    add("qlinear_global_average_pool", "QLinearGlobalAveragePool", "q s z o h", values.mean((2, 3), keepdims=True) * 4, one,
        {"o": np.float32(0.046875 / 4)}, x={"x": image})

    weights, each = rng.integers(-60, 61, (7, 12)).astype(np.int8), np.float32(rng.uniform(0.005, 0.02, 7))
    own, bias = rng.integers(-3, 4, 7).astype(np.int8), rng.integers(-900, 900, 7).astype(np.int32)
    exact = ((quantised(x, s, z) - z) @ (weights.T - own.astype(int)) + bias) * (float(s) * each * 0.5)
    constants = {"w": weights, "e": each, "n": own, "c": bias}
    add("qgemm", "QGemm", "q s z w e n c o h", exact, one, constants, x={"x": x}, transB=1, alpha=0.5)

    def restored(name, op, inputs, y, nodes, constants, **attributes):
        cases.add(f"microsoft_{name}", [*nodes, node(op, inputs, domain=MICROSOFT, **attributes)], {"x": x}, {"y": y}, constants)

    scales = {"s": s, "z": z}
    restored("qgemm_float", "QGemm", "q s z w e n c", exact, one, {**scales, **constants}, transB=1, alpha=0.5)
    offset = rng.normal(size=7).astype(np.float32)
    product = {"w": np.ascontiguousarray(weights.T), "e": each, "n": own, "b": offset}
    sums = (weights.T - own.astype(int)) * each
    restored("matmul_integer_to_float", "MatMulIntegerToFloat", "q w s e z n b", a @ sums + offset, one, {**scales, **product})
    restored("dynamic_quantize_matmul", "DynamicQuantizeMatMul", "x w e n b", dynamic(x) @ sums + offset, [], product)


def dynamic(x):
    """x as integers of its own range stand for it."""
    low, high = min(x.min(), 0), max(x.max(), 0)
    if low == high:
        return np.zeros_like(x, float)
    scale = (high - low) / 255
    zero = np.uint8(np.clip(np.round(-low / scale), 0, 255))
    return (quantised(x, scale, zero) - zero) * scale


def networks(cases):
    rng = np.random.default_rng(32)
    x, s, z = rng.normal(size=(1, 4, 8)).astype(np.float32), np.float32(0.03125), np.uint8(120)
    weights, each = rng.integers(-60, 61, (8, 24)).astype(np.int8), np.float32(rng.uniform(0.005, 0.02, 24))
    bias = rng.normal(size=24).astype(np.float32)
    columns = (quantised(x, s, z) - z) * float(s) @ (weights * each.astype(float)) + bias
    cases.add("microsoft_qattention", [node("QuantizeLinear", "x s z", "q"),
                                       node("QAttention", "q w b s e m z", domain=MICROSOFT, num_heads=2)],
              {"x": x}, {"y": merge(attend(*(split(columns[..., i:i + 8], 2) for i in (0, 8, 16))))},
              {"s": s, "z": z, "w": weights, "e": each, "b": bias, "m": np.int32([4])}, flags=DYNAMIC)

    steps, batch, width, hidden = 3, 2, 6, 5
    x = rng.normal(size=(steps, batch, width)).astype(np.float32)
    w, r = (rng.integers(-127, 128, (1, n, 4 * hidden)).astype(np.int8) for n in (width, hidden))
    ws, rs = (np.float32(rng.uniform(0.002, 0.006, (1, 4 * hidden))) for _ in range(2))
    b = (rng.normal(size=(1, 8 * hidden)) * 0.2).astype(np.float32)
    products = dynamic(x) @ (w[0] * ws.astype(float)) + b[0, :4 * hidden] + b[0, 4 * hidden:]
    h = c = np.zeros((batch, hidden))
    states = []
    for row in products:
        i, o, f, g = np.split(row + dynamic(h) @ (r[0] * rs.astype(float)), 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    zeros = np.zeros((1, 4 * hidden), np.int8)
    lstm = node("DynamicQuantizeLSTM", "x w r b n h c p ws z rs z", "y", domain=MICROSOFT, hidden_size=hidden)
    for i in (4, 5, 6, 7):
        lstm.input[i] = ""
    cases.add("microsoft_dynamic_quantize_lstm", lstm, {"x": x}, {"y": np.stack(states)[:, None]},
              {"w": w, "r": r, "b": b, "ws": ws, "rs": rs, "z": zeros})
