"""How each operator is drawn: operands, attributes and constants, by class of operators.

A function of a class adds one node to a Builder, with helper nodes in front of it where the operand needs them. Several
operators that are drawn alike share one function.
"""
import pathlib
import sys
from fractions import Fraction

import numpy as np
from onnx import TensorProto, helper

from generate import Skip
from graph import MICROSOFT
from oracle import is_float

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "ops"))
from cases.recurrences import ACTIVATIONS, DEFAULTS, GATES  # noqa: E402 pylint: disable=wrong-import-position

CLASSES = {}  # name of a class: functions


def drawn(name, weight=1):
    def register(function):
        CLASSES.setdefault(name, []).extend([function] * weight)
        return function
    return register


def for_each(name, operators, weight=1):
    """Registers function(builder, operator) once for each operator."""
    def register(function):
        for op in operators:
            CLASSES.setdefault(name, []).extend([lambda b, op=op: function(b, op)] * weight)
        return function
    return register


# Maps of one operand.
NEEDS = {"Acos": "Tanh", "Asin": "Tanh", "Atanh": "Tanh", "Log": "Positive", "Sqrt": "Abs", "Acosh": "Above1",
         "Reciprocal": "Positive"}
SINCE = {"Mish": 18, "HardSwish": 14, "Gelu": 20, "Swish": 24, "Celu": 12, "Round": 11}


def within(b, x, need):
    """The operand, or a value of it within the domain of a function; now and then as it is."""
    if b.chance(0.2 if b.kind == "special" else 0.05):
        return x
    if need == "Tanh":
        return b.emit("Mul", [b.emit("Tanh", [x]), b.constant(np.float32(0.9))])
    if need == "Abs":
        return b.emit("Abs", [x])
    return b.emit("Add", [b.emit("Abs", [x]), b.constant(np.float32(1.1 if need == "Above1" else b.one_of((0.5, 1.0))))])


@for_each("map", ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor",
                  "HardSwish", "Identity", "Log", "Mish", "Neg", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin",
                  "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "Selu"))
def plain_map(b, op):
    if SINCE.get(op, 0) > b.opset:
        raise Skip(op)
    x = b.x()
    if op in NEEDS:
        x = within(b, x, NEEDS[op])
    b.emit(op, [x])


@for_each("map", ("Elu", "LeakyRelu", "Celu", "ThresholdedRelu"))
def map_with_alpha(b, op):
    if SINCE.get(op, 0) > b.opset:
        raise Skip(op)
    b.emit(op, [b.x()], alpha=b.one_of((None, 0.5, 0.25, b.number(0.05, 2))))


@drawn("map")
def hard_sigmoid(b):
    b.emit("HardSigmoid", [b.x()], alpha=b.one_of((None, 0.5)), beta=b.one_of((None, 0.25)))


@drawn("map")
def shrink(b):
    b.emit("Shrink", [b.x()], lambd=b.one_of((0.5, 0.25, 1.0)), bias=b.one_of((0.0, 0.5, 0.1)))


@drawn("map")
def gelu(b):
    if b.opset >= 20 and b.chance(0.6):
        b.emit("Gelu", [b.x()], approximate=b.one_of((None, "tanh")))
    else:
        op = b.one_of(("Gelu", "QuickGelu", "FastGelu", "BiasGelu"))
        x = b.x(1)
        bias = [b.weights(b.shape(x)[-1:])] if op == "BiasGelu" or (op == "FastGelu" and b.chance(0.5)) else []
        b.emit(op, [x, *bias], domain=MICROSOFT, alpha=1.5 if op == "QuickGelu" and b.chance(0.5) else None)


@drawn("map")
def clip(b):
    low, high = b.one_of(((-1.0, 1.0), (0.0, 6.0), (-0.5, None), (None, 0.5), (-0.25, 0.5)))
    limits = [b.constant(np.float32(low)) if low is not None else "", b.constant(np.float32(high)) if high is not None else ""]
    b.emit("Clip", [b.x(), *limits] if limits[1] else [b.x(), limits[0]])


@drawn("map")
def dropout(b):
    b.emit("Dropout", [b.x()] if b.opset < 12 or b.chance(0.5) else [b.x(), b.constant(np.float32(0.5))])


@drawn("map")
def swish(b):
    x = b.x()
    b.emit("Mul", b.shuffled([x, b.emit("Sigmoid", [x])]))


# Maps of several operands.
@for_each("pair", ("Add", "Sub", "Mul", "Max", "Min"), weight=3)
def pair(b, op):
    x = b.x()
    b.emit(op, b.shuffled([x, b.other(x)]))


@for_each("pair", ("Sum", "Mean", "Max", "Min"))
def variadic(b, op):
    x = b.x()
    b.emit(op, b.shuffled([x] + [b.other(x) for _ in range(b.integer(0, 3))]))


@drawn("pair", weight=2)
def div(b):
    x = b.x()
    draw = b.integer(0, 3)
    if draw == 0:
        b.emit("Div", [b.companion(b.shape(x)), within(b, x, "Positive")])
    elif draw == 1:
        other = b.one_of([n for n in b.floats() if n != x])
        b.emit("Div", [x, within(b, other, "Positive")])
    else:
        b.emit("Div", [x, b.companion(b.shape(x), positive=True)])


@drawn("pair", weight=2)
def power(b):
    x = b.x()
    draw = b.integer(0, 3)
    exponent = b.constant(np.float32(b.one_of((2, 3, 0.5, -1, 1, 0, -2, 1.5))))
    if draw == 0:
        exponent = b.companion(b.shape(x))
    elif draw == 1:
        return b.emit("Pow", [b.companion(b.shape(x), positive=True), x])
    whole = float(b.value(exponent).reshape(-1)[0]).is_integer() and b.value(exponent).size == 1
    return b.emit("Pow", [x if whole else within(b, x, "Positive"), exponent])


@drawn("pair")
def prelu(b):
    x = b.x(1)
    b.emit("PRelu", [x, b.companion(b.shape(x))])


@drawn("pair")
def mod(b):
    x = b.x()
    b.emit("Mod", [x, b.companion(b.shape(x), positive=True)], fmod=1)


@drawn("pair", weight=4)
def residual(b):
    """Two values of one shape, whatever made them."""
    x = b.one_of(b.floats())
    other = b.partner(x, same=True)
    b.emit(b.one_of(("Add", "Add", "Sub", "Mul", "Max")), b.shuffled([x, other]))


@drawn("pair", weight=2)
def bias_residual(b):
    """A value with a bias, and the same value without."""
    x = b.x(1)
    biased = b.emit("Add", b.shuffled([x, b.companion(b.shape(x))]))
    function = b.emit(b.one_of(("Tanh", "Relu", "Sigmoid", "Erf")), [biased]) if b.chance(0.7) else biased
    b.emit(b.one_of(("Add", "Mul", "Sub")), b.shuffled([function, x]))


# Conditions.
def condition(b, shape):
    """A bool value that broadcasts to a shape: computed, or a constant; all true or false now and then."""
    draw = b.random.random()
    kept = [e if b.chance(0.8) else 1 for e in shape]
    if draw < 0.35:
        return b.constant(b.random.random(kept) < b.one_of((0.0, 0.3, 0.5, 0.7, 1.0)))
    bools = [n for n in b.pool if isinstance(b.value(n), np.ndarray) and b.value(n).dtype == bool and broadcasts(b.shape(n), shape)]
    if bools and b.chance(0.7):
        return bools[-1]
    x = b.one_of([n for n in b.floats() if broadcasts(b.shape(n), shape)])
    return b.emit(b.one_of(("Greater", "Less")), [x, b.companion(b.shape(x))])


def broadcasts(inner, outer):
    try:
        return tuple(np.broadcast_shapes(inner, outer)) == tuple(outer)
    except ValueError:
        return False


@drawn("condition", weight=8)
def where(b):
    x = b.x()
    c = condition(b, b.shape(x))
    draw = b.random.random()
    other = b.constant(np.float32(b.one_of((0.0, 1.0, -1.0, -100.0, -3.4e38, -1e9, -np.inf)))) if draw < 0.3 else b.other(x)
    if is_float(b.value(other)) and b.value(other).size == 1 and abs(b.value(other)).max() > 1e3:
        mask_softmax(b, c, x, other)
    else:
        b.emit("Where", [c, *b.shuffled([x, other])])


def mask_softmax(b, c, x, other):
    kind, b.kind = b.kind, "special"
    try:
        masked = b.emit("Where", [c, *b.shuffled([x, other])], keep=False)
    finally:
        b.kind = kind
    b.emit(b.one_of(("Softmax", "Softmax", "Sigmoid", "Relu")), [masked])


@drawn("condition")
def added_mask(b):
    """A mask of zeros and of lowest numbers, added ahead of a softmax."""
    x = b.x(1)
    lowest = np.float32(b.one_of((-3.4028235e38, -1e9, -10000.0, -np.inf)))
    mask = np.where(b.random.random(b.shape(x)) < b.one_of((0.3, 0.6, 0.9)), lowest, np.float32(0))
    if not np.isfinite(lowest):
        mask[..., 0] = 0
    kind, b.kind = b.kind, "special"
    try:
        masked = b.emit("Add", [x, b.constant(mask.astype(np.float32))], keep=False)
    finally:
        b.kind = kind
    b.emit("Softmax", [masked], axis=len(b.shape(x)) - 1)


@for_each("condition", ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"))
def compare(b, op):
    if op.endswith("OrEqual") and b.opset < 12:
        raise Skip(op)
    x = b.x()
    b.emit(op, b.shuffled([x, b.other(x)]))


@for_each("condition", ("And", "Or", "Xor", "Not"))
def logic(b, op):
    x = b.x()
    c = condition(b, b.shape(x))
    b.emit(op, [c] if op == "Not" else [c, condition(b, b.shape(x))])


@for_each("condition", ("IsNaN", "IsInf"))
def is_special(b, op):
    b.emit(op, [b.x()])


# Casts and integers.
@drawn("cast", weight=2)
def cast_bool(b):
    bools = [n for n in b.pool if isinstance(b.value(n), np.ndarray) and b.value(n).dtype == bool]
    c = bools[-1] if bools else b.emit("Greater", [b.x(), b.constant(np.float32(0.1))])
    b.emit("Cast", [c], to=TensorProto.FLOAT)


@drawn("cast")
def cast_and_back(b):
    kind = b.one_of((TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL))
    b.emit("Cast", [b.emit("Cast", [b.x()], to=kind)], to=TensorProto.FLOAT)


@drawn("cast")
def cast_like(b):
    if b.opset < 15:
        raise Skip("CastLike")
    kind = b.one_of((np.float16, np.float64, np.int32))
    b.emit("CastLike", [b.emit("CastLike", [b.x(), b.constant(np.zeros(1, kind))]), b.constant(np.zeros(1, np.float32))])


@drawn("cast")
def integers(b):
    """Integers between: selected, compared and cast."""
    kind = b.one_of((TensorProto.INT32, TensorProto.INT64))
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    x = b.emit("Cast", [b.emit("Clip", [b.x(), b.constant(np.float32(-9)), b.constant(np.float32(9))])], to=kind)
    draw = b.integer(0, 4)
    if draw == 0 and b.opset >= 12:
        x = b.emit(b.one_of(("Max", "Min")), [x, b.constant(b.random.integers(-3, 4, b.shape(x)).astype(dtype))])
    elif draw == 1:
        x = b.emit("Neg", [x])
    elif draw == 2:
        x = b.emit("Add", [x, b.constant(b.random.integers(-3, 4, b.shape(x)).astype(dtype))])
    elif draw == 3 and b.shape(x):
        x = b.emit("ReduceMax", [x], keepdims=1)
    if b.chance(0.8):
        b.emit("Cast", [x], to=TensorProto.FLOAT)


# Products.
@drawn("product", weight=4)
def matmul(b):
    x = b.x(1)
    k = b.shape(x)[-1]
    w = b.weights((k, b.integer(1, 12)) if b.chance(0.8) or len(b.shape(x)) < 3 else
                  (b.shape(x)[-3], k, b.integer(1, 8)), k ** -0.5)
    product = b.emit("MatMul", [x, w])
    if b.chance(0.5):
        b.emit("Add", b.shuffled([product, b.weights(b.shape(product)[-1:])]))


@drawn("product", weight=2)
def matmul_left(b):
    x = b.x(2)
    k = b.shape(x)[-2]
    b.emit("MatMul", [b.weights((b.integer(1, 12), k), k ** -0.5), x])


@drawn("product", weight=3)
def matmul_of_two(b):
    x = b.x(2)
    for other in b.shuffled(b.floats(2)):
        if b.shape(x)[-1] != b.shape(other)[-2] and b.shape(x)[-1] == b.shape(other)[-1]:
            count = len(b.shape(other))
            other = b.emit("Transpose", [other], perm=[*range(count - 2), count - 1, count - 2])
        if b.shape(x)[-1] == b.shape(other)[-2]:
            return b.emit("MatMul", [x, other])
    raise Skip("no partner")


@drawn("product", weight=2)
def gemm(b):
    x = b.x(2, 2)
    first = b.chance(0.75)
    turn = [b.integer(0, 1), b.integer(0, 1)]
    k = b.shape(x)[0 if turn[0 if first else 1] == (1 if first else 0) else 1]
    own = b.integer(1, 12)
    shape = ((own, k) if turn[1] else (k, own)) if first else ((k, own) if turn[0] else (own, k))
    w = b.weights(shape, k ** -0.5)
    rows = b.shape(x)[1 if turn[0] else 0] if first else own
    columns = own if first else b.shape(x)[0 if turn[1] else 1]
    operands = [x, w] if first else [w, x]
    if b.chance(0.7) or b.opset < 11:
        shape = b.one_of(((columns,), (1, columns), (rows, 1), (rows, columns), (1,), ()))
        fits = [n for n in b.floats(2, 2) if b.shape(n) == (rows, columns)]
        operands.append(b.one_of(fits) if fits and b.chance(0.3) else b.weights(shape))
    op, more = ("FusedGemm", {"domain": MICROSOFT, "activation": b.one_of(("Relu", "Tanh", "Sigmoid"))}) if b.chance(0.15) else ("Gemm", {})
    b.emit(op, operands, transA=turn[0], transB=turn[1], alpha=b.one_of((None, None, 0.5, 2.0)),
           beta=b.one_of((None, None, 0.5, 0.0)), **more)


@drawn("product")
def fused_matmul(b):
    x = b.x(2)
    turn = b.integer(0, 1)
    k = b.shape(x)[-1]
    own = b.integer(1, 8)
    b.emit("FusedMatMul", [x, b.weights((own, k) if turn else (k, own), k ** -0.5)], domain=MICROSOFT, transB=turn,
           alpha=b.one_of((None, 0.5)))


@drawn("product", weight=2)
def einsum(b):
    if b.opset < 12:
        raise Skip("Einsum")
    x = b.x(1, 4)
    letters = "abcd"[:len(b.shape(x))]
    extents = dict(zip(letters, b.shape(x)))
    draw = b.integer(0, 3)
    if draw == 0:  # one operand
        kept = [c for c in letters if b.chance(0.7)]
        return b.emit("Einsum", [x], equation=f"{letters}->{''.join(b.shuffled(kept))}")
    shared = [c for c in letters if b.chance(0.6)]
    extents["k"] = b.integer(1, 6)
    second = b.shuffled(shared + (["k"] if b.chance(0.7) else []))
    if not second:
        raise Skip("nothing to multiply by")
    out = b.shuffled([c for c in sorted(set(letters) | set(second)) if c not in shared or b.chance(0.4)])
    summed = np.prod([extents[c] for c in set(letters) | set(second) if c not in out], initial=1)
    w = b.weights([extents[c] for c in second], summed ** -0.5)
    if b.chance(0.5):
        return b.emit("Einsum", [x, w], equation=f"{letters},{''.join(second)}->{''.join(out)}")
    return b.emit("Einsum", [w, x], equation=f"{''.join(second)},{letters}->{''.join(out)}")


# Windows.
def window(b, x, pooling):
    """Attributes of a window over the axes of x after the first two."""
    extents = b.shape(x)[2:]
    count = len(extents)
    sizes = [b.one_of((1, 2, 3, 3, 5)) for _ in range(count)]
    given = {"kernel_shape": sizes, "strides": [b.one_of((1, 1, 2, 3)) for _ in range(count)]}
    dilations = [b.one_of((1, 1, 1, 2)) for _ in range(count)]
    mode = b.one_of((None, None, None, "SAME_UPPER", "SAME_LOWER", "VALID"))
    if mode:
        given["auto_pad"] = mode
        if pooling and mode.startswith("SAME"):  # onnxruntime takes no dilation into account
            dilations = [1] * count
    else:
        most = [min(k - 1, 3) if pooling else 3 for k in sizes]
        given["pads"] = [b.integer(0, m) for m in most + most]
    return sizes, given, dilations


def groups_of(b, channels):
    return b.one_of([g for g in range(1, channels + 1) if channels % g == 0 and (g < 3 or g == channels)])


@drawn("window", weight=4)
def conv(b):
    x = b.x(3, 5)
    sizes, given, dilations = window(b, x, False)
    channels = b.shape(x)[1]
    group = groups_of(b, channels)
    features = group * b.integer(1, max(12 // group, 1))
    w = b.weights((features, channels // group, *sizes), (channels // group * np.prod(sizes)) ** -0.5)
    operands = [x, w] + ([b.weights((features,))] if b.chance(0.5) else [])
    op, more = ("FusedConv", {"domain": MICROSOFT, "activation": b.one_of(("Relu", "Tanh"))}) if b.chance(0.1) else ("Conv", {})
    b.emit(op, operands, group=group, dilations=dilations, **given, **more)


@drawn("window")
def conv_transpose(b):
    x = b.x(3, 4)
    count, channels = len(b.shape(x)) - 2, b.shape(x)[1]
    sizes = [b.one_of((1, 2, 3)) for _ in range(count)]
    strides = [b.one_of((1, 2, 2, 3)) for _ in range(count)]
    group = groups_of(b, channels)
    features = b.integer(1, max(8 // group, 1))
    w = b.weights((channels, features, *sizes), (channels // group * np.prod(sizes)) ** -0.5)
    bias = [b.weights((features * group,))] if b.chance(0.4) else []
    b.emit("ConvTranspose", [x, w, *bias], group=group, strides=strides, pads=[b.integer(0, 1) for _ in range(2 * count)],
           output_padding=[b.integer(0, s - 1) for s in strides])


@drawn("window", weight=2)
def max_pool(b):
    x = b.x(3, 5)
    _, given, dilations = window(b, x, True)
    if b.chance(0.25) and len(b.shape(x)) == 4:
        b.emit("MaxPool", [x], outputs=2, dilations=dilations, **given)
    else:
        b.emit("MaxPool", [x], dilations=dilations, ceil_mode=b.one_of((None, None, 1)), **given)


@drawn("window", weight=2)
def average_pool(b):
    x = b.x(3, 5)
    _, given, dilations = window(b, x, True)
    # With both, onnxruntime and the standard do not count alike.
    include, ceil = b.one_of(((None, None), (1, None), (None, 1)))
    if include and b.opset >= 19 and given.get("auto_pad", "").startswith("SAME") and max(given["strides"]) > 1:
        include = None  # of the padding, onnxruntime counts the first row and column alone
    b.emit("AveragePool", [x], count_include_pad=include, dilations=dilations if b.opset >= 19 else None, ceil_mode=ceil,
           **given)


@drawn("window")
def lp_pool(b):
    x = b.x(3, 4)
    _, given, _ = window(b, x, True)
    b.emit("LpPool", [x], p=b.one_of((1, 2)), **given)


@for_each("window", ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"))
def global_pool(b, op):
    b.emit(op, [b.x(3, 5)], p=b.one_of((1, 2)) if op == "GlobalLpPool" else None)


@drawn("window")
def lrn(b):
    b.emit("LRN", [b.x(3, 4)], size=b.one_of((1, 3, 5)), alpha=b.one_of((None, 0.1)), beta=b.one_of((None, 0.5)),
           bias=b.one_of((None, 2.0)))


@drawn("window")
def depth_and_space(b):
    x = b.x(4, 4)
    n, c, h, w = b.shape(x)
    if c % 4 == 0 and b.chance(0.5):
        b.emit("DepthToSpace", [x], blocksize=2, mode=b.one_of(("DCR", "CRD")))
    elif h % 2 == 0 and w % 2 == 0:
        b.emit("SpaceToDepth", [x], blocksize=2)
    else:
        raise Skip(f"{n}")


@drawn("window")
def col2im(b):
    if b.opset < 18:
        raise Skip("Col2Im")
    h, w, kh, kw = b.integer(2, 5), b.integer(2, 5), b.integer(1, 2), b.integer(1, 2)
    places = (h - kh + 1) * (w - kw + 1)
    x = b.x()
    channels = b.value(x).size // (kh * kw * places)
    if channels == 0 or channels > 8:
        raise Skip("too small")
    flat = b.emit("Reshape", [x, b.ints(-1)])
    part = b.emit("Slice", [flat, b.ints(0), b.ints(channels * kh * kw * places), b.ints(0)])
    b.emit("Col2Im", [b.emit("Reshape", [part, b.ints(1, channels * kh * kw, places)]), b.ints(h, w), b.ints(kh, kw)])


@drawn("window")
def max_unpool(b):
    x = b.x(4, 4)
    if any(e % 2 for e in b.shape(x)[2:]):
        raise Skip("a window beyond the border")
    y, indices = b.emit("MaxPool", [x], outputs=2, kernel_shape=[2, 2], strides=[2, 2], keep=False)
    if b.chance(0.9):  # computed indices are rejected
        indices = b.constant(b.value(indices))
    b.emit("MaxUnpool", [y, indices], kernel_shape=[2, 2], strides=[2, 2])


@drawn("window")
def deform_conv(b):
    if b.opset < 19:
        raise Skip("DeformConv")
    x = b.x(4, 4)
    n, c, h, w = b.shape(x)
    if h < 2 or w < 2 or c > 4:
        raise Skip("too small")
    offset = b.normal((n, 8, h - 1, w - 1), 0.5)
    b.emit("DeformConv", [x, b.weights((2, c, 2, 2), (4 * c) ** -0.5), b.constant(offset)], kernel_shape=[2, 2])


# Reductions.
REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
              "ReduceProd", "ReduceSum", "ReduceSumSquare")


def reduce(b, op, x, axes, keep):
    newer = b.opset >= (13 if op == "ReduceSum" else 18)
    if newer:
        return b.emit(op, [x, b.ints(*axes)], keepdims=keep)
    return b.emit(op, [x], axes=axes, keepdims=keep)


@for_each("reduce", REDUCTIONS)
def reduction(b, op):
    x = b.x(1)
    if op == "ReduceLogSum":
        x = within(b, x, "Positive")
    axes = b.axes_of(len(b.shape(x)))
    keep = b.integer(0, 1)
    if b.chance(0.3):
        axes = [a - len(b.shape(x)) for a in axes]
    found = reduce(b, op, x, axes, keep)
    if keep and b.chance(0.3):
        b.emit(b.one_of(("Sub", "Mul", "Div", "Add")), b.shuffled([x, found]))


@drawn("reduce", weight=2)
def cum_sum(b):
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    b.emit("CumSum", [x, b.constant(np.int64(axis))], exclusive=b.integer(0, 1), reverse=b.integer(0, 1))


@drawn("reduce", weight=2)
def merge_tree(b):
    """Reductions of the parts of an axis, merged in a tree of any shape."""
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    kind = b.one_of(("ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceSumSquare", "ReduceL1", "LogSumExp"))
    tree(b, kind, x, axis, b.shape(x)[axis])


def tree(b, kind, x, axis, extent):
    """The partial result of x: a value, or the maximum and the sum of exponentials."""
    if extent == 1 or b.chance(0.35):
        if kind != "LogSumExp":
            return reduce(b, kind, x, [axis], 1)
        most = reduce(b, "ReduceMax", x, [axis], 1)
        return most, reduce(b, "ReduceSum", b.emit("Exp", [b.emit("Sub", [x, most], keep=False)], keep=False), [axis], 1)
    first = b.integer(1, extent - 1)
    parts = [tree(b, kind, b.emit("Slice", [x, b.ints(begin), b.ints(end), b.ints(axis)], keep=False), axis, end - begin)
             for begin, end in ((0, first), (first, extent))]
    if kind == "LogSumExp":
        (high, total), (other, more) = parts
        most = b.emit("Max", [high, other], keep=False)
        sums = [b.emit("Mul", [b.emit("Exp", [b.emit("Sub", [h, most], keep=False)], keep=False), t], keep=False)
                for h, t in ((high, total), (other, more))]
        return most, b.emit("Add", sums)
    if kind == "ReduceMean":
        parts = [b.emit("Mul", [part, b.constant(np.float32(count / extent))], keep=False)
                 for part, count in zip(parts, (first, extent - first))]
    op = {"ReduceProd": "Mul", "ReduceMax": "Max", "ReduceMin": "Min"}.get(kind, "Add")
    return b.emit(op, b.shuffled(parts))


# Norms.
def affine(b, shape):
    scale = b.constant(np.float32(1) + b.normal(shape, 0.3)) if b.chance(0.7) else b.constant(np.ones(shape, np.float32))
    return scale, b.weights(shape, 0.3) if b.chance(0.7) else b.constant(np.zeros(shape, np.float32))


@drawn("norm", weight=3)
def layer_norm(b):
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    axis = len(b.shape(x)) - 1 if b.chance(0.6) else axis
    scale, shift = affine(b, b.shape(x)[axis:])
    operands = [x, scale] + ([shift] if b.chance(0.7) else [])
    if b.opset >= 17 and b.chance(0.8):
        b.emit("LayerNormalization", operands, axis=axis, epsilon=b.one_of((None, 1e-3)))
    else:
        b.emit("LayerNormalization", operands, axis=axis, domain=MICROSOFT)


@drawn("norm")
def rms_norm(b):
    x = b.x(1)
    axis = len(b.shape(x)) - 1
    scale, _ = affine(b, b.shape(x)[axis:])
    if b.opset >= 23:
        b.emit("RMSNormalization", [x, scale], axis=axis)
    else:
        b.emit("SimplifiedLayerNormalization", [x, scale], axis=axis, domain=b.one_of(("", MICROSOFT)))


@drawn("norm")
def skip_norm(b):
    x = b.x(3, 3)
    other = b.partner(x, same=True)
    scale, shift = affine(b, b.shape(x)[-1:])
    simple = b.chance(0.4)
    operands = [x, other, scale] + ([] if simple else [shift]) + ([b.weights(b.shape(x)[-1:])] if b.chance(0.4) else [])
    b.emit("SkipSimplifiedLayerNormalization" if simple else "SkipLayerNormalization", operands, domain=MICROSOFT,
           epsilon=1e-5)


@drawn("norm", weight=2)
def batch_norm(b):
    x = b.x(2, 4)
    features = b.shape(x)[1]
    scale, shift = affine(b, (features,))
    b.emit("BatchNormalization", [x, scale, shift, b.weights((features,), 0.5),
                                  b.constant(np.abs(b.normal((features,))) + np.float32(0.5))])


@drawn("norm")
def instance_norm(b):
    x = b.x(3, 4)
    b.emit("InstanceNormalization", [x, *affine(b, (b.shape(x)[1],))])


@drawn("norm")
def group_norm(b):
    x = b.x(3, 4)
    channels = b.shape(x)[1]
    groups = b.one_of([g for g in range(1, channels + 1) if channels % g == 0])
    if b.chance(0.3) and len(b.shape(x)) == 4:
        last = b.shape(x)[3]
        groups = b.one_of([g for g in range(1, last + 1) if last % g == 0])
        b.emit("GroupNorm", [x, *affine(b, (last,))], domain=MICROSOFT, groups=groups, activation=b.integer(0, 1),
               channels_last=1, epsilon=1e-5)
    elif b.opset >= 18:
        b.emit("GroupNormalization", [x, *affine(b, (channels if b.opset >= 21 else groups,))], num_groups=groups)
    else:
        raise Skip("GroupNormalization")


@drawn("norm")
def lp_norm(b):
    x = b.x(1)
    b.emit("LpNormalization", [x], axis=b.integer(0, len(b.shape(x)) - 1), p=b.one_of((1, 2)))


@drawn("norm")
def mean_variance(b):
    x = b.x(2)
    b.emit("MeanVarianceNormalization", [x], axes=b.axes_of(len(b.shape(x))))


# Softmax and its like.
@for_each("softmax", ("Softmax", "Softmax", "LogSoftmax", "Hardmax"))
def softmax(b, op):
    x = b.x(1)
    b.emit(op, [x], axis=b.integer(0, len(b.shape(x)) - 1) - (len(b.shape(x)) if b.chance(0.3) else 0))


@for_each("softmax", ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"))
def loss(b, op):
    if b.opset < 12:
        raise Skip(op)
    x = b.x(2, 4)
    shape = b.shape(x)
    labels = b.constant(b.random.integers(0, shape[1], (shape[0], *shape[2:])).astype(np.int64))
    weights = [b.constant(np.abs(b.normal(shape[1:2])) + np.float32(0.1))] if b.chance(0.4) else []
    b.emit(op, [x, labels, *weights], reduction=b.one_of(("mean", "sum", "none")),
           ignore_index=b.one_of((None, 0)))


# Views.
@drawn("view", weight=2)
def reshape(b):
    x = b.x()
    rest, shape = b.value(x).size, []
    while rest > 1 and len(shape) < 4:
        shape.append(b.one_of([f for f in range(1, rest + 1) if rest % f == 0]))
        rest //= shape[-1]
    if rest > 1 or not shape or b.chance(0.3):
        shape.append(rest)
    if b.chance(0.3):
        shape[b.integer(0, len(shape) - 1)] = -1
    b.emit("Reshape", [x, b.ints(*shape)])


@drawn("view", weight=2)
def transpose(b):
    x = b.x(2)
    b.emit("Transpose", [x], perm=[int(a) for a in b.random.permutation(len(b.shape(x)))])


@drawn("view")
def flatten(b):
    x = b.x()
    b.emit("Flatten", [x], axis=b.integer(0, len(b.shape(x))))


@drawn("view")
def squeeze(b):
    x = b.x()
    ones = [a for a, e in enumerate(b.shape(x)) if e == 1]
    if ones and b.chance(0.6):
        axes = [a for a in ones if b.chance(0.6)] or ones
        return b.emit("Squeeze", [x, b.ints(*axes)]) if b.opset >= 13 else b.emit("Squeeze", [x], axes=axes)
    axes = [b.integer(0, len(b.shape(x)))]
    return b.emit("Unsqueeze", [x, b.ints(*axes)]) if b.opset >= 13 else b.emit("Unsqueeze", [x], axes=axes)


@drawn("view")
def expand(b):
    x = b.x(1)
    shape = [e if e > 1 else b.integer(1, 5) for e in b.shape(x)]
    b.emit("Expand", [x, b.ints(*([b.integer(1, 3)] if b.chance(0.3) else []), *shape)])


@drawn("view")
def tile(b):
    x = b.x(1)
    b.emit("Tile", [x, b.ints(*(b.integer(1, 2) for _ in b.shape(x)))])


@drawn("view", weight=2)
def concat(b):
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    fits = [n for n in b.floats() if len(b.shape(n)) == len(b.shape(x)) and
            all(p == q for i, (p, q) in enumerate(zip(b.shape(n), b.shape(x))) if i != axis)]
    shape = list(b.shape(x))
    shape[axis] = b.integer(1, 4)
    parts = [x] + [b.one_of(fits) if b.chance(0.7) else b.weights(shape) for _ in range(b.integer(1, 2))]
    b.emit("Concat", b.shuffled(parts), axis=axis)


# Selections.
@drawn("select", weight=4)
def slices(b):
    x = b.x(1)
    axes = b.axes_of(len(b.shape(x)))[:2]
    begins, ends, steps = [], [], []
    for axis in axes:
        extent = b.shape(x)[axis]
        start, stop = sorted((b.integer(0, extent - 1), b.integer(1, extent)))
        stop += start == stop
        start = start if b.chance(0.7) else 0
        step = b.one_of((1, 1, 1, 2, -1, 3))
        begins.append(start if step > 0 else stop - 1)
        ends.append(stop if step > 0 else (start - 1 if start else -extent - 1))
        steps.append(step)
    b.emit("Slice", [x, b.ints(*begins), b.ints(*ends), b.ints(*axes), b.ints(*steps)])


@drawn("select", weight=2)
def split(b):
    x = b.x(1)
    axis = b.one_of([a for a, e in enumerate(b.shape(x)) if e > 1])
    first = b.integer(1, b.shape(x)[axis] - 1)
    sizes = [first, b.shape(x)[axis] - first]
    if b.opset >= 13:
        b.emit("Split", [x, b.ints(*sizes)], outputs=2, axis=axis)
    else:
        b.emit("Split", [x], outputs=2, axis=axis, split=sizes)


@drawn("select", weight=2)
def pad(b):
    x = b.x(1)
    mode = b.one_of(("constant", "constant", "reflect", "edge"))
    before = [b.integer(0, min(2, e - 1) if mode == "reflect" else 2) for e in b.shape(x)]
    after = [b.integer(0, min(2, e - 1) if mode == "reflect" else 2) for e in b.shape(x)]
    if mode == "constant" and b.chance(0.2):
        before = [-1 if e > 3 and b.chance(0.4) else p for p, e in zip(before, b.shape(x))]
    value = [b.constant(np.float32(b.one_of((0.0, 1.0, -2.0))))] if mode == "constant" and b.chance(0.6) else []
    b.emit("Pad", [x, b.ints(*before, *after), *value], mode=mode)


def places(b, extent, shape):
    low = -extent if b.chance(0.3) else 0
    return b.constant(b.random.integers(low, extent, shape).astype(b.one_of((np.int64, np.int32))))


@drawn("select", weight=2)
def gather(b):
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    b.emit("Gather", [x, places(b, b.shape(x)[axis], b.one_of(((), (1,), (3,), (2, 2))))], axis=axis)


@drawn("select")
def gather_nd(b):
    x = b.x(2)
    depth = b.integer(1, len(b.shape(x)))
    count = b.integer(1, 4)
    index = np.stack([b.random.integers(0, e, count) for e in b.shape(x)[:depth]], -1).astype(np.int64)
    b.emit("GatherND", [x, b.constant(index)])


@drawn("select")
def gather_elements(b):
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    shape = [b.integer(1, e) for e in b.shape(x)]
    b.emit("GatherElements", [x, b.constant(b.random.integers(0, b.shape(x)[axis], shape).astype(np.int64))], axis=axis)


@drawn("select")
def gather_computed(b):
    """Elements at an index that is computed, which is rejected."""
    if b.chance(0.8):
        raise Skip("enough of them")
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    index = b.emit("ArgMax", [x], axis=axis, keepdims=1)
    b.emit("GatherElements", [b.one_of([n for n in b.floats() if b.shape(n) == b.shape(x)]), index], axis=axis)


@drawn("select")
def trilu(b):
    if b.opset < 14:
        raise Skip("Trilu")
    b.emit("Trilu", [b.x(2), b.constant(np.int64(b.integer(-1, 2)))], upper=b.integer(0, 1))


@drawn("select")
def compress(b):
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    kept = b.random.random(b.shape(x)[axis]) < 0.6
    kept[b.integer(0, kept.size - 1)] = True
    b.emit("Compress", [x, b.constant(kept)], axis=axis)


@drawn("select")
def center_crop_pad(b):
    if b.opset < 18:
        raise Skip("CenterCropPad")
    x = b.x(1)
    b.emit("CenterCropPad", [x, b.ints(*(max(1, e + b.integer(-2, 2)) for e in b.shape(x)))])


@drawn("select")
def reverse_sequence(b):
    x = b.x(2)
    time = b.integer(0, 1)
    lengths = b.random.integers(1, b.shape(x)[time] + 1, b.shape(x)[1 - time]).astype(np.int64)
    b.emit("ReverseSequence", [x, b.constant(lengths)], time_axis=time, batch_axis=1 - time)


# Placing elements.
@for_each("place", ("ScatterElements", "ScatterElements", "Scatter"))
def scatter_elements(b, op):
    if op == "Scatter" and b.opset > 10:
        op = "ScatterElements"
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    shape = [b.integer(1, e) for e in b.shape(x)]
    index = np.zeros(shape, np.int64)
    how = b.one_of((None, "add", "mul")) if b.opset >= 16 else None
    how = b.one_of((how, "max", "min")) if b.opset >= 18 else how
    for lane in np.ndindex(*[1 if a == axis else e for a, e in enumerate(shape)]):
        key = tuple(slice(None) if a == axis else p for a, p in enumerate(lane))
        index[key] = b.random.integers(0, b.shape(x)[axis], shape[axis]) if how else \
            b.random.permutation(b.shape(x)[axis])[:shape[axis]]
    fits = [n for n in b.floats() if b.shape(n) == tuple(shape)]
    updates = b.one_of(fits) if fits and b.chance(0.6) else b.weights(shape)
    data = x if b.chance(0.8) else b.weights(b.shape(x))
    b.emit(op, [data, b.constant(index), updates], axis=axis, reduction=how)


@drawn("place", weight=2)
def scatter_nd(b):
    x = b.x(1)
    depth = b.integer(1, len(b.shape(x)))
    extents = b.shape(x)[:depth]
    total = int(np.prod(extents))
    count = b.integer(1, min(total, 6))
    index = np.stack(np.unravel_index(b.random.permutation(total)[:count], extents), -1).astype(np.int64)
    shape = (count, *b.shape(x)[depth:])
    fits = [n for n in b.floats() if b.shape(n) == shape]
    updates = b.one_of(fits) if fits else b.weights(shape)
    if not fits and b.chance(0.6):
        size = int(np.prod(shape))
        source = b.one_of(b.floats())
        if b.value(source).size >= size:
            flat = b.emit("Reshape", [source, b.ints(-1)])
            updates = b.emit("Reshape", [b.emit("Slice", [flat, b.ints(0), b.ints(size), b.ints(0)]), b.ints(*shape)])
    data = x if b.chance(0.7) else b.weights(b.shape(x))
    b.emit("ScatterND", [data, b.constant(index), updates],
           reduction=b.one_of((None, "add", "mul")) if b.opset >= 16 else None)


@drawn("place")
def one_hot(b):
    x = b.x(1)
    index = b.emit("ArgMax", [x], axis=b.integer(0, len(b.shape(x)) - 1), keepdims=0)
    depth = b.integer(2, 8)
    b.emit("OneHot", [index, b.constant(np.int64(depth)), b.constant(np.float32([0.0, b.one_of((1.0, 2.0))]))],
           axis=b.one_of((None, 0)))


@drawn("place")
def tensor_scatter(b):
    if b.opset < 24:
        raise Skip("TensorScatter")


# Indices.
@for_each("index", ("ArgMax", "ArgMin"), weight=2)
def arg(b, op):
    x = b.x(1)
    found = b.emit(op, [x], axis=b.integer(0, len(b.shape(x)) - 1), keepdims=b.integer(0, 1))
    if b.chance(0.4):
        b.emit("Cast", [found], to=TensorProto.FLOAT)


@drawn("index", weight=3)
def top_k(b):
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    b.emit("TopK", [x, b.ints(b.integer(1, b.shape(x)[axis]))], outputs=2, axis=axis, largest=b.integer(0, 1), sorted=1)


# Sampling.
@drawn("sample", weight=3)
def resize(b):
    x = b.x(3, 4)
    count = len(b.shape(x)) - 2
    mode = b.one_of(("nearest", "nearest", "linear", "cubic"))
    if mode == "cubic" and count != 2:
        mode = "linear"
    given = {"mode": mode, "coordinate_transformation_mode":
             b.one_of(("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))}
    if min(b.shape(x)[2:]) < 4 and given["coordinate_transformation_mode"] == "pytorch_half_pixel":
        # Of a result of one element, onnxruntime and the standard's code differ.
        given["coordinate_transformation_mode"] = "half_pixel"
    if mode == "nearest":
        given["nearest_mode"] = b.one_of(("floor", "ceil", "round_prefer_floor"))
    none = "" if b.opset >= 13 else b.constant(np.zeros(0, np.float32))
    # Aligned corners of a size that is no whole number are not where onnxruntime and the standard's code agree.
    if b.chance(0.5) and given["coordinate_transformation_mode"] != "align_corners":
        b.emit("Resize", [x, none, b.constant(np.float32([1, 1] + [b.one_of((0.5, 1.0, 1.5, 2.0)) for _ in range(count)]))], **given)
    else:
        sizes = [*b.shape(x)[:2], *(b.integer(2, 8) for _ in range(count))]
        if mode == "nearest" and any(reads_at_a_jump(e, s, given) for e, s in zip(b.shape(x)[2:], sizes[2:])):
            raise Skip("Resize at a jump")
        b.emit("Resize", [x, none, none if b.opset >= 13 else b.constant(np.zeros(0, np.float32)), b.ints(*sizes)], **given)


def reads_at_a_jump(extent, size, given):
    """Whether an element of a nearest Resize lies where its neighbour changes, and float32 rounds the scale."""
    scale = Fraction(size, extent)
    if float(np.float32(size / extent)) == scale and scale.numerator in (1, 2, 4, 8):
        return False
    jump = Fraction(1, 2) if given["nearest_mode"].startswith("round") else Fraction(0)
    if given["coordinate_transformation_mode"] == "align_corners":
        places = [Fraction(i * (extent - 1), max(size - 1, 1)) for i in range(size)]
    elif given["coordinate_transformation_mode"] == "asymmetric":
        places = [i / scale for i in range(size)]
    else:
        places = [(i + Fraction(1, 2)) / scale - Fraction(1, 2) for i in range(size)]
    return any((place - jump).denominator == 1 for place in places)


@drawn("sample")
def grid_sample(b):
    if b.opset < 16:
        raise Skip("GridSample")
    x = b.x(4, 4)
    h, w = b.integer(1, 4), b.integer(1, 4)
    grid = b.constant(np.clip(b.normal((b.shape(x)[0], h, w, 2), 0.6), -1.2, 1.2))
    names = ("linear", "nearest", "cubic") if b.opset >= 20 else ("bilinear", "nearest", "bicubic")
    mode = b.one_of(names)
    b.emit("GridSample", [x, grid], mode=mode, align_corners=b.integer(0, 1),
           padding_mode="zeros" if "cubic" in mode and b.chance(0.9) else b.one_of(("zeros", "border", "reflection")))


@drawn("sample")
def affine_grid(b):
    if b.opset < 20:
        raise Skip("AffineGrid")
    x = b.x()
    if b.value(x).size < 6:
        raise Skip("too small")
    flat = b.emit("Reshape", [x, b.ints(-1)])
    theta = b.emit("Reshape", [b.emit("Slice", [flat, b.ints(0), b.ints(6), b.ints(0)]), b.ints(1, 2, 3)])
    # Where the corner of an extent of 1 is, the standard does not say.
    b.emit("AffineGrid", [theta, b.ints(1, 1, b.integer(2, 4), b.integer(2, 4))], align_corners=b.integer(0, 1))


@for_each("sample", ("RoiAlign", "MaxRoiPool"))
def regions(b, op):
    x = b.x(4, 4)
    n, _, h, w = b.shape(x)
    count = b.integer(1, 3)
    corners = np.sort(b.random.integers(0, max(h, w), (count, 2, 2)), 1).reshape(count, 4).astype(np.float32)
    batch = b.random.integers(0, n, count)
    if op == "MaxRoiPool":
        rois = np.concatenate([batch[:, None].astype(np.float32), corners], 1)
        b.emit(op, [x, b.constant(rois)], pooled_shape=[b.integer(1, 3), b.integer(1, 3)], spatial_scale=1.0)
    else:
        corners += np.float32(0.13)  # no sample lies on the border, where float32 rounding decides
        b.emit(op, [x, b.constant(corners), b.constant(batch.astype(np.int64))], output_height=b.integer(1, 3),
               output_width=b.integer(1, 3), sampling_ratio=2,
               mode="max" if b.chance(0.1) else "avg")


@drawn("sample")
def dft(b):
    if b.opset < 17:
        raise Skip("DFT")
    x = b.x(2, 2)
    signal = b.emit("Unsqueeze", [x, b.ints(2)])
    given = {"onesided": b.integer(0, 1)}
    if b.opset < 20:
        b.emit("DFT", [signal], axis=1, **given)
    else:
        b.emit("DFT", [signal, "", b.constant(np.int64(1))], **given)


@drawn("sample")
def stft(b):
    if b.opset < 17:
        raise Skip("STFT")
    x = b.x(2, 2)
    if b.shape(x)[1] < 4:
        raise Skip("too short")
    size = b.one_of((2, 4))
    signal = b.emit("Unsqueeze", [x, b.ints(2)])
    b.emit("STFT", [signal, b.constant(np.int64(b.integer(1, 3))), b.constant(np.abs(b.normal((size,)))),
                    b.constant(np.int64(size))], onesided=1)


@drawn("sample")
def det(b):
    n = b.integer(2, 3)
    x = b.x()
    if b.value(x).size < n * n:
        raise Skip("too small")
    flat = b.emit("Reshape", [x, b.ints(-1)])
    b.emit("Det", [b.emit("Reshape", [b.emit("Slice", [flat, b.ints(0), b.ints(n * n), b.ints(0)]), b.ints(n, n)])])


@drawn("sample")
def upsample(b):
    raise Skip("Upsample ends with opset 9")


# Constants made by operators.
def with_made(b, made):
    """A value together with a constant that a node makes."""
    x = b.x()
    if not broadcasts(b.shape(made), b.shape(x)):
        count = b.value(made).size
        made = b.emit("Reshape", [made, b.ints(*([count] if count == 1 or (b.shape(x) and b.shape(x)[-1] == count) else [count, 1]))])
    b.emit(b.one_of(("Add", "Mul", "Sub")), b.shuffled([x, made]))


@for_each("constant", ("HannWindow", "HammingWindow", "BlackmanWindow"))
def window_function(b, op):
    if b.opset < 17:
        raise Skip(op)
    x = b.x(1)
    with_made(b, b.emit(op, [b.constant(np.int64(max(b.shape(x)[-1], 2)))], keep=False))


@drawn("constant")
def constant_of_shape(b):
    x = b.x(1)
    shape = b.emit("Shape", [x], keep=False)
    value = helper.make_tensor("value", TensorProto.FLOAT, [1], [b.one_of((0.0, 1.0, 0.5))])
    with_made(b, b.emit("ConstantOfShape", [shape], value=value, keep=False))


@drawn("constant")
def eye_like(b):
    x = b.x(2, 2)
    with_made(b, b.emit("EyeLike", [x], k=b.integer(-1, 1), dtype=TensorProto.FLOAT, keep=False))


@drawn("constant")
def ranges(b):
    x = b.x(1)
    with_made(b, b.emit("Range", [b.constant(np.float32(0)), b.constant(np.float32(b.shape(x)[-1])), b.constant(np.float32(1))], keep=False))


@drawn("constant")
def constant_node(b):
    x = b.x()
    value = b.normal(b.shape(x)[-1:])
    with_made(b, b.emit("Constant", [], value=helper.make_tensor("value", TensorProto.FLOAT, value.shape, value.reshape(-1)), keep=False))


@drawn("constant")
def size_of(b):
    x = b.x()
    with_made(b, b.emit("Cast", [b.emit("Size", [x], keep=False)], to=TensorProto.FLOAT, keep=False))


@drawn("constant")
def shape_reshape(b):
    """A reshape to the shape of another value, as exporters write it."""
    x = b.x(1)
    shape = b.emit("Shape", [x], keep=False)
    last = b.emit("Gather", [shape, b.ints(len(b.shape(x)) - 1)], axis=0, keep=False)
    b.emit("Reshape", [x, b.emit("Concat", [b.ints(-1), last], axis=0, keep=False)])


@for_each("constant", ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift"))
def bits(b, op):
    if b.opset < 18 and op != "BitShift":
        raise Skip(op)
    x = b.x(1)
    first, second = (b.constant(b.random.integers(0, 8, b.shape(x)[-1:]).astype(np.uint8)) for _ in range(2))
    made = b.emit(op, [first, second], direction="LEFT" if op == "BitShift" else None, keep=False)
    with_made(b, b.emit("Cast", [made], to=TensorProto.FLOAT, keep=False))


@drawn("constant")
def non_zero(b):
    x = b.x(1)
    found = b.emit("NonZero", [b.constant((np.arange(b.shape(x)[0]) % 2 == 0).astype(np.float32))], keep=False)
    flat = b.emit("Reshape", [found, b.ints(-1)], keep=False)
    b.emit("Gather", [x, flat], axis=0)


@drawn("constant")
def unique(b):
    x = b.x(1)
    found = b.emit("Unique", [b.constant(b.random.integers(0, b.shape(x)[0], 4).astype(np.int64))], keep=False)
    b.emit("Gather", [x, found], axis=0)


@drawn("constant")
def mel(b):
    if b.opset < 17:
        raise Skip("MelWeightMatrix")
    x = b.x(1)
    bins = b.shape(x)[-1]
    if bins < 3:
        raise Skip("too small")
    made = b.emit("MelWeightMatrix", [b.constant(np.int64(b.integer(1, 4))), b.constant(np.int64(2 * (bins - 1))),
                                      b.constant(np.int64(16000)), b.constant(np.float32(0)), b.constant(np.float32(8000))], keep=False)
    b.emit("MatMul", [x, made])


# Recurrences and inner graphs.
@for_each("recurrence", ("LSTM", "GRU", "RNN"))
def recurrence(b, op, forward=False):
    x = b.x(3, 3)
    layout = b.integer(0, 1) if b.opset >= 14 and b.chance(0.2) and not forward else 0
    first, second, inputs = b.shape(x)
    steps, batch = (second, first) if layout else (first, second)
    if steps * batch > 24:
        raise Skip("too long")
    direction = "forward" if forward else b.one_of(("forward", "forward", "reverse", "bidirectional"))
    count, gates, hidden = 2 if direction == "bidirectional" else 1, GATES[op], b.integer(1, 9)
    given = {"hidden_size": hidden, "direction": direction, "clip": b.one_of((None, None, 1.0)), "layout": layout or None}
    if b.chance(0.3):
        names = [b.one_of([a for a in ACTIVATIONS if a not in ("ThresholdedRelu", "Softplus", "Relu", "LeakyRelu")]) for _ in DEFAULTS[op] * count]
        if not {"Affine", "ScaledTanh"} & set(names):
            given["activations"] = names
    if op == "GRU":
        given["linear_before_reset"] = b.integer(0, 1)
    if op == "LSTM" and b.chance(0.2):
        given["input_forget"] = 1
    states = (batch, count, hidden) if layout else (count, batch, hidden)
    operands = [x, b.weights((count, gates * hidden, inputs), inputs ** -0.5),
                b.weights((count, gates * hidden, hidden), 0.7 * hidden ** -0.5)]
    operands.append(b.weights((count, 2 * gates * hidden), 0.3) if b.chance(0.7) else "")
    operands.append(b.constant(b.random.integers(1, steps + 1, batch).astype(np.int32)) if b.chance(0.2) and not forward else "")
    for _ in range(2 if op == "LSTM" else 1):
        fits = [n for n in b.floats() if b.shape(n) == states]
        operands.append("" if b.chance(0.4) or forward else b.one_of(fits) if fits else b.weights(states, 0.5))
    if op == "LSTM":
        operands.append(b.weights((count, 3 * hidden), 0.3) if b.chance(0.3) else "")
    while not operands[-1]:
        operands.pop()
    outputs = [True] + [b.chance(0.6) for _ in range(2 if op == "LSTM" else 1)]
    return b.emit(op, operands, outputs=[True, False] if forward else outputs, **given)


def body_nodes(b, prefix, names, shape):
    """A few maps and products over values of one shape, of constants of their own; the last name."""
    nodes, constants, last = [], [], names[0]
    for i in range(b.integer(1, 4)):
        out, other = f"{prefix}_{i}", b.one_of(names)
        draw = b.integer(0, 3)
        if draw == 0 and shape:
            w = f"c{prefix}_{i}"
            constants.append((w, b.normal((shape[-1], shape[-1]), 0.7 * shape[-1] ** -0.5)))
            nodes.append(helper.make_node("MatMul", [last, w], [out]))
        elif draw == 1:
            nodes.append(helper.make_node(b.one_of(("Add", "Mul", "Sub", "Max")), [last, other], [out]))
        elif draw == 2:
            w = f"c{prefix}_{i}"
            constants.append((w, b.normal(shape[-1:])))
            nodes.append(helper.make_node("Add", [last, w], [out]))
        else:
            nodes.append(helper.make_node(b.one_of(("Tanh", "Sigmoid", "Relu", "Neg")), [last], [out]))
        names = names + [out]
        last = out
    nodes.append(helper.make_node("Tanh", [last], [f"{prefix}_last"]))
    return nodes, constants, f"{prefix}_last"


def float_info(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def tensors(constants):
    from onnx import numpy_helper  # pylint: disable=import-outside-toplevel
    return [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in constants]


@drawn("loop")
def loop(b):
    x = b.x()
    shape, p = b.shape(x), f"l{b.count}"
    outer = [n for n in b.floats() if broadcasts(b.shape(n), shape)]
    names = [f"{p}_in"] + ([b.one_of(outer)] if b.chance(0.5) else [])
    nodes, constants, last = body_nodes(b, p, names, shape)
    nodes.append(helper.make_node("Identity", [f"{p}_goes"], [f"{p}_on"]))
    outputs = [helper.make_tensor_value_info(f"{p}_on", TensorProto.BOOL, []), float_info(last, shape)]
    scanned = b.chance(0.4)
    if scanned:
        nodes.append(helper.make_node("Neg", [last], [f"{p}_each"]))
        outputs.append(float_info(f"{p}_each", shape))
    body = helper.make_graph(nodes, "body", [helper.make_tensor_value_info(f"{p}_trip", TensorProto.INT64, []),
                                             helper.make_tensor_value_info(f"{p}_goes", TensorProto.BOOL, []),
                                             float_info(f"{p}_in", shape)], outputs, tensors(constants))
    b.emit("Loop", [b.constant(np.int64(b.integer(1, 5))), b.constant(np.bool_(True)), x], outputs=2 if scanned else 1, body=body)


@drawn("loop")
def scan(b):
    x = b.x(2)
    shape, p = b.shape(x)[1:], f"s{b.count}"
    state = b.one_of([n for n in b.floats() if b.shape(n) == shape] or [b.weights(shape)])
    nodes, constants, last = body_nodes(b, p, [f"{p}_state", f"{p}_x"], shape)
    nodes.insert(0, helper.make_node("Add", [f"{p}_state", f"{p}_x"], [f"{p}_sum"]))
    for node in nodes:
        for i, name in enumerate(node.input):
            if name == f"{p}_state" and node.output[0] != f"{p}_sum":
                node.input[i] = f"{p}_sum"
    nodes.append(helper.make_node("Neg", [last], [f"{p}_each"]))
    body = helper.make_graph(nodes, "body", [float_info(f"{p}_state", shape), float_info(f"{p}_x", shape)],
                             [float_info(last, shape), float_info(f"{p}_each", shape)], tensors(constants))
    b.emit("Scan", [state, x], outputs=2, body=body, num_scan_inputs=1, scan_input_directions=[b.integer(0, 1)])


@drawn("loop")
def branch(b):
    x = b.x()
    shape, p = b.shape(x), f"i{b.count}"
    bodies = []
    for which in ("then", "else"):
        nodes, constants, last = body_nodes(b, f"{p}{which}", [x], shape)
        bodies.append(helper.make_graph(nodes, which, [], [float_info(last, shape)], tensors(constants)))
    b.emit("If", [b.constant(np.bool_(b.chance(0.5)))], then_branch=bodies[0], else_branch=bodies[1])


# Sequences.
@drawn("sequence")
def sequence_at(b):
    x = b.x()
    other = b.one_of(b.floats())
    seq = b.emit("SequenceConstruct", [x, other], keep=False)
    if b.chance(0.3):
        seq = b.emit("SequenceInsert", [seq, b.one_of(b.floats()), b.constant(np.int64(1))], keep=False)
    if b.chance(0.3):
        seq = b.emit("SequenceErase", [seq, b.constant(np.int64(0))], keep=False)
    b.emit("SequenceAt", [seq, b.constant(np.int64(0))])


@drawn("sequence")
def split_to_sequence(b):
    x = b.x(1)
    axis = b.integer(0, len(b.shape(x)) - 1)
    seq = b.emit("SplitToSequence", [x, b.constant(np.int64(1))], axis=axis, keepdims=1, keep=False)
    if b.chance(0.5):
        b.emit("SequenceAt", [seq, b.constant(np.int64(b.integer(0, b.shape(x)[axis] - 1)))])
    else:
        b.emit("ConcatFromSequence", [seq], axis=b.integer(0, len(b.shape(x)) - 1), new_axis=0)


@drawn("sequence")
def sequence_empty(b):
    seq = b.emit("SequenceInsert", [b.emit("SequenceEmpty", [], keep=False, dtype=TensorProto.FLOAT), b.x()], keep=False)
    b.emit("SequenceAt", [seq, b.constant(np.int64(0))])


@drawn("sequence")
def sequence_length(b):
    x = b.x()
    seq = b.emit("SequenceConstruct", [x, x], keep=False)
    with_made(b, b.emit("Cast", [b.emit("SequenceLength", [seq], keep=False)], to=TensorProto.FLOAT, keep=False))


@drawn("sequence")
def sequence_map(b):
    if b.opset < 17:
        raise Skip("SequenceMap")
    x = b.x()
    p = f"m{b.count}"
    nodes, constants, last = body_nodes(b, p, [f"{p}_x"], b.shape(x))
    body = helper.make_graph(nodes, "body", [float_info(f"{p}_x", b.shape(x))], [float_info(last, b.shape(x))], tensors(constants))
    seq = b.emit("SequenceConstruct", [x, x], keep=False)
    b.emit("SequenceAt", [b.emit("SequenceMap", [seq], body=body, keep=False), b.constant(np.int64(0))])


@drawn("sequence")
def optional(b):
    if b.opset < 18:
        raise Skip("Optional")
    b.emit("OptionalGetElement", [b.x()])


# Attention.
@drawn("attention")
def attention_by_hand(b):
    x = b.x(2, 3)
    d = b.shape(x)[-1]
    own = b.integer(1, 8)
    q, k, v = (b.emit("MatMul", [x, b.weights((d, own), d ** -0.5)], keep=False) for _ in range(3))
    count = len(b.shape(x))
    turned = b.emit("Transpose", [k], perm=[*range(count - 2), count - 1, count - 2], keep=False)
    scores = b.emit("Mul", [b.emit("MatMul", [q, turned], keep=False), b.constant(np.float32(own ** -0.5))], keep=False)
    b.emit("MatMul", [b.emit("Softmax", [scores], axis=count - 1), v])


@drawn("attention")
def attention_microsoft(b):
    x = b.x(3, 3)
    d = b.shape(x)[-1]
    heads = b.integer(1, 2)
    own = heads * b.integer(1, 4)
    b.emit("Attention", [x, b.weights((d, 3 * own), d ** -0.5), b.weights((3 * own,), 0.3)], domain=MICROSOFT,
           num_heads=heads, unidirectional=b.integer(0, 1))


@drawn("attention")
def multi_head(b):
    x = b.x(3, 3)
    d = b.shape(x)[-1]
    heads = b.one_of([h for h in (1, 2, 4) if d % h == 0])
    same = [n for n in b.floats(3, 3) if b.shape(n) == b.shape(x)]
    b.emit("MultiHeadAttention", [x, b.one_of(same), b.one_of(same)], domain=MICROSOFT, num_heads=heads)


@drawn("attention")
def attention_onnx(b):
    if b.opset < 23:
        raise Skip("Attention")
    x = b.x(3, 3)
    d = b.shape(x)[-1]
    heads = b.one_of([h for h in (1, 2, 4) if d % h == 0])
    same = [n for n in b.floats(3, 3) if b.shape(n) == b.shape(x)]
    b.emit("Attention", [x, b.one_of(same), b.one_of(same)], q_num_heads=heads, kv_num_heads=heads,
           is_causal=b.integer(0, 1))


@drawn("attention")
def rotary(b):
    x = b.x(4, 4)
    batch, heads, steps, d = b.shape(x)
    if d % 2:
        raise Skip("odd")
    angle = b.normal((steps, d // 2))
    cos, sin = b.constant(np.cos(angle)), b.constant(np.sin(angle))
    if b.opset >= 23 and b.chance(0.6):
        index = b.constant(np.tile(np.arange(steps), (batch, 1)).astype(np.int64))
        b.emit("RotaryEmbedding", [x, cos, sin, index], interleaved=b.integer(0, 1))
    else:
        index = b.constant(np.tile(np.arange(steps), (batch, 1)).astype(np.int64))
        b.emit("RotaryEmbedding", [x, index, cos, sin], domain=MICROSOFT, interleaved=b.integer(0, 1))


@drawn("attention")
def embed(b):
    d = b.integer(2, 9)
    batch, steps = b.integer(1, 2), b.integer(1, 5)
    ids, segments = (b.constant(b.random.integers(0, 2, (batch, steps)).astype(np.int32)) for _ in range(2))
    found, _ = b.emit("EmbedLayerNormalization",
                      [ids, segments, b.weights((4, d)), b.weights((steps, d)), b.weights((2, d)), *affine(b, (d,))],
                      outputs=2, domain=MICROSOFT, keep=False)
    x = b.one_of(n for n in b.floats() if broadcasts(b.shape(n), b.shape(found)) or b.value(n).size == 1)
    b.emit("Add", [x, found])


# Graphs over time, for --stream: position t of every value depends on the input up to t only.
def causal(b):
    steps, channels = b.integer(6, 14), b.integer(1, 9)
    last = b.chance(0.5)  # channels last, or [1, channels, steps]
    x = b.input(b.normal((1, steps, channels) if last else (1, channels, steps)))
    b.graph.stream[x] = 1 if last else 2
    functions = [causal_map, causal_map, causal_pair, causal_past] + ([causal_dense, causal_norm, causal_lstm] if last else [causal_conv, causal_conv])
    wanted, tries = b.integer(1, 8), 0
    while len(b.graph.nodes) < wanted and tries < 40:
        tries += 1
        nodes, pool = len(b.graph.nodes), len(b.pool)
        try:
            b.one_of(functions)(b)
        except (Skip, ValueError, IndexError):
            del b.graph.nodes[nodes:]
            del b.pool[pool:]
    b.finish()


def time_axis(b):
    return next(iter(b.graph.stream.values()))


def causal_map(b):
    op = b.one_of(("Relu", "Tanh", "Sigmoid", "Abs", "Neg", "Softplus", "Erf"))
    b.emit(op, [b.x()])


def causal_pair(b):
    x = b.x()
    shape = [e if a != time_axis(b) and b.chance(0.8) else 1 for a, e in enumerate(b.shape(x))]
    fits = [n for n in b.floats() if b.shape(n) == b.shape(x) and n != x]
    other = b.one_of(fits) if fits and b.chance(0.6) else b.weights(shape)
    b.emit(b.one_of(("Add", "Mul", "Sub", "Max", "Min")), b.shuffled([x, other]))


def causal_past(b):
    """The value some steps ago; zeros before the first."""
    x, axis = b.x(), time_axis(b)
    delay = b.integer(1, 3)
    pads = [0] * 6
    pads[axis] = delay
    padded = b.emit("Pad", [x, b.ints(*pads)], keep=False)
    b.emit("Slice", [padded, b.ints(0), b.ints(b.shape(x)[axis]), b.ints(axis)])


def causal_dense(b):
    x = b.x()
    k = b.shape(x)[-1]
    product = b.emit("MatMul", [x, b.weights((k, b.integer(1, 10)), k ** -0.5)])
    if b.chance(0.6):
        b.emit("Add", [product, b.weights(b.shape(product)[-1:])])


def causal_norm(b):
    x = b.x()
    if b.opset < 17 or b.chance(0.4):
        b.emit("Softmax", [x], axis=2)
    else:
        b.emit("LayerNormalization", [x, *affine(b, b.shape(x)[-1:])], axis=2)


def causal_lstm(b):
    x = b.x()
    turned = b.emit("Transpose", [x], perm=[1, 0, 2], keep=False)
    kind = b.one_of(("LSTM", "GRU", "RNN"))
    names = list(b.pool)
    b.pool.append(turned)
    y = recurrence(b, kind, forward=True)[0]
    b.pool[:] = names
    merged = b.emit("Squeeze", [y, b.ints(1)], keep=False) if b.opset >= 13 else b.emit("Squeeze", [y], axes=[1], keep=False)
    b.emit("Transpose", [merged], perm=[1, 0, 2])


def causal_conv(b):
    x = b.x()
    channels = b.shape(x)[1]
    size, dilation = b.integer(1, 4), b.one_of((1, 1, 2))
    group = groups_of(b, channels)
    features = group * b.integer(1, max(8 // group, 1))
    w = b.weights((features, channels // group, size), (channels // group * size) ** -0.5)
    b.emit("Conv", [x, w] + ([b.weights((features,))] if b.chance(0.5) else []), group=group, kernel_shape=[size],
           dilations=[dilation], pads=[(size - 1) * dilation, 0])


# Graphs of many nodes or trips, of which each is small.
def deep(b):
    x = b.input(b.normal((1, b.integer(2, 8))))
    count, width = int(10 ** b.number(2, 3.7)), b.shape(x)[1]
    if b.chance(0.4):
        p = "deep"
        nodes, constants, last = body_nodes(b, p, [f"{p}_in"], b.shape(x))
        nodes.append(helper.make_node("Identity", [f"{p}_goes"], [f"{p}_on"]))
        body = helper.make_graph(nodes, "body", [helper.make_tensor_value_info(f"{p}_trip", TensorProto.INT64, []),
                                                 helper.make_tensor_value_info(f"{p}_goes", TensorProto.BOOL, []),
                                                 float_info(f"{p}_in", b.shape(x))],
                                 [helper.make_tensor_value_info(f"{p}_on", TensorProto.BOOL, []), float_info(last, b.shape(x))],
                                 tensors(constants))
        b.emit("Loop", [b.constant(np.int64(count)), b.constant(np.bool_(True)), x], body=body)
    else:
        weights = [b.weights((width, width), width ** -0.5) for _ in range(3)]
        function = b.one_of(("Relu", "Tanh", "Sigmoid"))
        for i in range(count):
            x = b.emit("MatMul", [x, weights[i % 3]])
            if i % 2:
                x = b.emit(function, [x])
    b.graph.outputs = [b.graph.nodes[-1].output[0]]

