"""How quantised operators are drawn: alone between two formats, or in chains that stay in integers.

Scales are random, so that few quotients lie near a tie, where float32 and exact numbers round to different integers.
"""
import numpy as np
from onnx import TensorProto

from generate import Skip
from graph import MICROSOFT
from operators import drawn, for_each


class Codes:
    """A value of integers with its scale and zero point, all names."""

    def __init__(self, b, name, scale, zero):
        self.name, self.scale, self.zero = name, scale, zero
        self.kind = b.value(zero).dtype.type
        self.step = float(b.value(scale))
        #: how large the values are: the mean of |x|
        self.size = size_of_codes(b.value(name), b.value(scale), b.value(zero)) or self.step

    def operands(self):
        return [self.name, self.scale, self.zero]


def scale(b, about):
    return b.constant(np.float32(about * b.number(0.8, 1.25)))


def zero_point(b, kind):
    return b.constant(kind(b.integer(0, 160) if kind == np.uint8 else b.integer(-40, 40) if b.chance(0.7) else 0))


def format_of(b, step, kind):
    """Scale and zero point of a result, near a step."""
    return [scale(b, step), zero_point(b, kind)]


def step_of(b, size):
    """A step as quantisers choose it: 127 of them are two to three times the mean of |x|."""
    return min(max(size, 1e-3), 1e3) / b.one_of((42, 52, 60))


def size_of(b, x):
    return float(np.nanmean(np.abs(np.nan_to_num(b.value(x), posinf=0, neginf=0)))) or 1.0


def size_of_codes(values, scale, zero):
    """The mean of |x| of integers with their scale and zero point."""
    return float(np.sum(np.abs(values.astype(float) - np.mean(zero.astype(float)))) / max(values.size, 1) * np.mean(scale))


def quantised(b, x, kind=None):
    """x as integers of its range; what lies far from the rest saturates."""
    own, zero = format_of(b, step_of(b, size_of(b, x)), kind or b.one_of((np.uint8, np.int8)))
    return Codes(b, b.emit("QuantizeLinear", [x, own, zero], keep=False), own, zero)


def restored(b, codes):
    if b.chance(0.1):  # the integers are the result
        b.pool.append(codes.name)
    else:
        b.emit("DequantizeLinear", codes.operands())


def emit_codes(b, op, operands, out, domain="", **attributes):
    name = b.emit(op, [*operands, *out], domain=domain, keep=False, **attributes)
    return Codes(b, name, *out)


def weight_codes(b, shape, features, axis, by=np.uint8):
    """Weights of random integers; for each output feature, or for all, a scale and a zero point. Products of int8 (`by`) with
    uint8 overflow in onnxruntime."""
    kind = b.one_of((np.int8, np.uint8)) if by == np.uint8 else np.int8
    each = b.chance(0.4)
    count = features if each else 1
    zeros = b.random.integers(*((-3, 4) if kind == np.int8 else (110, 140)), count).astype(kind)
    wide = [count if i == axis else 1 for i in range(len(shape))]
    values = b.random.integers(-60, 60, shape) + zeros.reshape(wide).astype(int)
    scales = np.float32(0.01 * (0.5 + b.random.random(count)))
    return [b.constant(values.astype(kind)), b.constant(scales if each else scales[0]), b.constant(zeros if each else zeros[0])]


def size_of_products(b, codes, weights, count):
    """How large sums of so many products with weights are."""
    return codes.size * size_of_codes(*(b.value(name) for name in weights)) * max(count, 1) ** 0.5


# Layers that take integers and give integers.
def rescaled(b, codes):
    """Adds or multiplies another value of the same shape, or a constant."""
    op = b.one_of(("QLinearAdd", "QLinearMul"))
    other, size = codes.operands(), codes.size
    if b.chance(0.6):
        constant = b.constant(b.random.integers(*((0, 256) if codes.kind == np.uint8 else (-128, 128)),
                                                b.shape(codes.name)[-1:]).astype(codes.kind))
        other = [constant, *format_of(b, codes.step if op == "QLinearAdd" else 0.02, codes.kind)]
        size = size_of_codes(*(b.value(name) for name in other))
    size = codes.size + size if op == "QLinearAdd" else codes.size * size
    return emit_codes(b, op, [*codes.operands(), *other], format_of(b, step_of(b, size), codes.kind), MICROSOFT)


def by_table(b, codes):
    if b.chance(0.5):
        return emit_codes(b, "QLinearSigmoid", codes.operands(), format_of(b, 1 / 200, codes.kind), MICROSOFT)
    return emit_codes(b, "QLinearLeakyRelu", codes.operands(), format_of(b, step_of(b, 0.6 * codes.size), codes.kind), MICROSOFT,
                      alpha=b.one_of((0.01, 0.1, 0.25)))


def shares(b, codes):
    """Up to opset 12, the axes from 'axis' on are one; without an axis it is the last."""
    axis = b.integer(-1, len(b.shape(codes.name)) - 1)
    named = {"axis": axis} if b.chance(0.8) else {}
    opset = b.one_of((12, 13, 13))
    shape = b.shape(codes.name)
    count = int(np.prod(shape[axis:] if "axis" in named and opset < 13 and axis >= 0 else shape[axis if named else -1]))
    return emit_codes(b, "QLinearSoftmax", codes.operands(), format_of(b, step_of(b, 2 / max(count, 2)), codes.kind), MICROSOFT,
                      opset=opset, **named)


def dense(b, codes):
    shape = b.shape(codes.name)
    features = b.integer(1, 9)
    if len(shape) == 2 and b.chance(0.5):
        turned = b.integer(0, 1)
        w = weight_codes(b, (features, shape[-1]) if turned else (shape[-1], features), features, 1 - turned, codes.kind)
        bias = b.constant(b.random.integers(-900, 900, features).astype(np.int32)) if b.chance(0.6) else ""
        out = format_of(b, step_of(b, size_of_products(b, codes, w, shape[-1])), codes.kind)
        return emit_codes(b, "QGemm", [*codes.operands(), *w, bias], out, MICROSOFT, transB=turned)
    w = weight_codes(b, (shape[-1], features), features, 1, codes.kind)
    return emit_codes(b, "QLinearMatMul", [*codes.operands(), *w], format_of(b, step_of(b, size_of_products(b, codes, w, shape[-1])), codes.kind))


def convolution(b, codes):
    shape = b.shape(codes.name)
    if len(shape) != 4:
        raise Skip("no image")
    group = shape[1] if b.chance(0.2) else 1
    features = group * b.integer(1, 4 if group == 1 else 2)
    size = [min(b.integer(1, 3), extent) for extent in shape[2:]]
    w = weight_codes(b, (features, shape[1] // group, *size), features, 0, codes.kind)
    if b.value(w[2]).size > 1:  # onnxruntime takes one zero point for all features
        w[2] = b.constant(b.value(w[2])[:1].reshape(()))
    products = shape[1] // group * size[0] * size[1]
    out = format_of(b, step_of(b, size_of_products(b, codes, w, products)), codes.kind)
    bias = [b.constant(b.random.integers(-900, 900, features).astype(np.int32))] if b.chance(0.5) else []
    name = b.emit("QLinearConv", [*codes.operands(), *w, *out, *bias], keep=False, group=group,
                  pads=[b.integer(0, s - 1) for s in size * 2], strides=[b.integer(1, 2), b.integer(1, 2)])
    return Codes(b, name, *out)


def pooled(b, codes):
    shape = b.shape(codes.name)
    if len(shape) < 3:
        raise Skip("no image")
    if b.chance(0.5):
        last = b.integer(0, 1)
        count = int(np.prod(shape[1:-1] if last else shape[2:]))
        return emit_codes(b, "QLinearGlobalAveragePool", codes.operands(), format_of(b, step_of(b, codes.size / count ** 0.3), codes.kind),
                          MICROSOFT, channels_last=last)
    window = [min(b.integer(1, 3), extent) for extent in shape[2:]]
    return emit_codes(b, "QLinearAveragePool", codes.operands(),
                      format_of(b, step_of(b, codes.size / float(np.prod(window)) ** 0.3), codes.kind), MICROSOFT,
                      kernel_shape=window, strides=[b.integer(1, w) for w in window])


def joined(b, codes):
    out = format_of(b, codes.step, codes.kind)
    axis = b.integer(0, len(b.shape(codes.name)) - 1)
    other = b.constant(b.random.integers(0, 100, b.shape(codes.name)).astype(codes.kind))
    parts = [codes.operands(), b.one_of((codes.operands(), [other, *format_of(b, codes.step, codes.kind)]))]
    name = b.emit("QLinearConcat", [*out, *(k for i in b.random.permutation(2) for k in parts[i])], domain=MICROSOFT,
                  keep=False, axis=axis)
    return Codes(b, name, *out)


LAYERS = (rescaled, by_table, shares, dense, dense, convolution, convolution, pooled, joined)


@drawn("quantise", weight=4)
def chain(b):
    """One to three layers of integers."""
    codes, done = quantised(b, b.x(2) if b.chance(0.6) else b.x(4, 4)), 0
    wanted = b.integer(1, 3)
    for _ in range(6):
        try:
            codes = b.one_of(LAYERS)(b, codes)
            done += 1
        except Skip:
            continue
        if done == wanted:
            break
    if not done:
        raise Skip("no layer of integers")
    restored(b, codes)


# Operators between float and integers.
@drawn("quantise", weight=3)
def quantise(b):
    x = b.x()
    kinds = (np.int8, np.uint8)
    if b.opset >= 21 and b.chance(0.2):  # rejected
        kinds = (np.int16, np.uint16)
    kind = b.one_of(kinds)
    each = len(b.shape(x)) > 0 and b.opset >= 13 and b.chance(0.25)
    axis = b.integer(0, len(b.shape(x)) - 1) if each else None
    shape = (b.shape(x)[axis],) if each else ()
    zero = b.constant(np.asarray(b.random.integers(0, 21, shape), kind))
    own = b.constant(np.asarray(step_of(b, size_of(b, x)) * b.random.choice((0.8, 1.0, 1.25), shape), np.float32))
    b.emit("DequantizeLinear", [b.emit("QuantizeLinear", [x, own, zero], axis=axis), own, zero], axis=axis)


@drawn("quantise")
def dynamic_quantise(b):
    x = b.x(2)
    q, own, zero = b.emit("DynamicQuantizeLinear", [x], outputs=3, keep=False)
    if b.chance(0.5):
        b.emit("DequantizeLinear", [q, own, zero])
    else:
        w = b.constant(b.random.integers(-20, 20, (b.shape(x)[-1], b.integer(1, 6))).astype(np.int8))
        sums = b.emit("Cast", [b.emit("MatMulInteger", [q, w, zero], keep=False)], to=TensorProto.FLOAT, keep=False)
        b.emit("Mul", [sums, b.emit("Mul", [own, b.constant(np.float32(0.01))], keep=False)])


@for_each("quantise", ("MatMulInteger", "ConvInteger"))
def of_integers(b, op):
    codes = quantised(b, b.x(2) if op == "MatMulInteger" else b.x(4, 4))
    features, shape = b.integer(1, 6), b.shape(codes.name)
    wide = (shape[-1], features) if op == "MatMulInteger" else (features, shape[1], *(min(2, e) for e in shape[2:]))
    w = b.constant(b.random.integers(0, 20, wide).astype(codes.kind))
    sums = b.emit(op, [codes.name, w, codes.zero], keep=False)
    b.emit("Mul", [b.emit("Cast", [sums], to=TensorProto.FLOAT, keep=False), b.constant(np.float32(0.001))])


@drawn("quantise")
def matmul_integer_to_float(b):
    codes = quantised(b, b.x(2))
    features = b.integer(1, 9)
    w, own, zero = weight_codes(b, (b.shape(codes.name)[-1], features), features, 1, codes.kind)
    bias = [b.weights((features,))] if b.chance(0.5) else []
    b.emit("MatMulIntegerToFloat", [codes.name, w, codes.scale, own, codes.zero, zero, *bias], domain=MICROSOFT)


@drawn("quantise")
def dynamic_quantize_matmul(b):
    x, features = b.x(2), b.integer(1, 9)
    w, own, zero = weight_codes(b, (b.shape(x)[-1], features), features, 1)
    bias = [b.weights((features,))] if b.chance(0.5) else []
    b.emit("DynamicQuantizeMatMul", [x, w, own, zero, *bias], domain=MICROSOFT)


@drawn("quantise")
def quantised_attention(b):
    codes = quantised(b, b.x(3, 3))
    width, heads = b.shape(codes.name)[-1], b.integer(1, 2)
    columns = 3 * heads * b.integer(1, 4)
    w = b.constant(b.random.integers(-60, 60, (width, columns)).astype(np.int8))
    b.emit("QAttention", [codes.name, w, b.weights((columns,), 0.3), codes.scale,
                          b.constant(np.float32(0.02 * width ** -0.5)), "", codes.zero],
           domain=MICROSOFT, num_heads=heads, unidirectional=b.integer(0, 1))


@drawn("quantise")
def dynamic_quantize_lstm(b):
    x, hidden = b.x(3, 3), b.integer(1, 5)
    width, columns = b.shape(x)[-1], 4 * hidden
    # With larger weights, onnxruntime saturates sums of two products on machines without VNNI.
    w, r = (b.constant(b.random.integers(-60, 60, (1, n, columns)).astype(np.int8)) for n in (width, hidden))
    own = [b.constant(np.float32(0.008 * (0.5 + b.random.random((1, columns))))) for _ in range(2)]
    zeros = b.constant(np.zeros((1, columns), np.int8))
    b.emit("DynamicQuantizeLSTM", [x, w, r, b.weights((1, 8 * hidden), 0.2) if b.chance(0.7) else "", "", "", "", "",
                                   own[0], zeros, own[1], zeros], outputs=[True, b.chance(0.3), False],
           domain=MICROSOFT, hidden_size=hidden)
