"""Products of activations, and what --rewrite-layout makes fit."""
import math

import numpy as np

from cases.common import node, normal
from cases.windows import conv, conv_transpose


def dynamic_weights(cases):
    """Products of activations. Without --allow-dynamic-weights they are refused
    (refused.txt); with it they run, several inferences in a row."""
    def product(name, x, z, pins, swap=False):
        inputs = {"z": z, "x": x} if swap else {"x": x, "z": z}
        flags = [f"--data-dim {k}={v}" for k, v in zip("xz", pins)]
        cases.add(f"dynamic_{name}", node("MatMul", "x z"), inputs, {"y": np.matmul(x, z)},
                  flags=flags)

    # Form, extents (below the lanes, several tiles), data dimensions of both sides.
    for size, (i, j, k) in (("small", (3, 5, 4)), ("exact", (8, 8, 8)), ("tiles", (11, 19, 21))):
        x, z = normal(i, j), normal(j, k)
        product(f"both_contracted_{size}", x, z, (1, 0))
        product(f"left_kept_{size}", x, z, (0, 0))
        product(f"right_kept_{size}", x, z, (1, 1))
        for name, a, b, pins in (("matrix_vector_rows", x, z[:, 0], (0, 0)),
                                 ("matrix_vector_columns", x, z[:, 0], (1, 0)),
                                 ("vector_matrix_rows", x[0], z, (0, 0)),
                                 ("vector_matrix_columns", x[0], z, (0, 1))):
            product(f"{name}_{size}", a, b, pins)
        cases.add(f"dynamic_constant_left_{size}", node("MatMul", "c z"), {"z": z}, {"y": x @ z},
                  {"c": x}, flags=["--data-dim z=1"])
        cases.add(f"dynamic_constant_right_{size}", node("MatMul", "x c"), {"x": x}, {"y": x @ z},
                  {"c": z}, flags=["--data-dim x=0"])
    product("dot", normal(19), normal(19), (0, 0))
    x, z = normal(3, 5, 9), normal(3, 9, 10)
    for name, pins in (("both_contracted", (2, 1)), ("left_kept", (1, 1)), ("right_kept", (2, 2))):
        product(f"batch_{name}", x, z, pins)
        product(f"batch_right_only_{name}", x[0], z, (pins[0] - 1, pins[1]))
        product(f"batch_left_only_{name}", x, z[0], (pins[0], pins[1] - 1))
    four = normal(2, 1, 4, 9)
    product("batch_broadcast", four, z[None], (3, 2))
    product("operands_swapped", x[0], z[0], (1, 0), swap=True)
    square = normal(9, 9)
    # Heads that share a row: beyond the lanes of one are those of the other.
    q, k = normal(5, 8), normal(6, 8)
    heads = [node("Reshape", "q s", "r"), node("Transpose", "r", "t", perm=[1, 0, 2]),
             node("Reshape", "k s", "u"), node("Transpose", "u", "v", perm=[1, 2, 0]),
             node("MatMul", "t v")]
    cases.add("dynamic_heads", heads, {"q": q, "k": k},
              {"y": np.einsum("ihd,jhd->hij", q.reshape(5, 2, 4), k.reshape(6, 2, 4))},
              {"s": np.int64([-1, 2, 4])})
    cases.add("dynamic_square", node("MatMul", "x x"), {"x": square}, {"y": square @ square})
    cases.add("dynamic_gram", [node("Transpose", "x", "t"), node("MatMul", "x t")],
              {"x": x[0]}, {"y": x[0] @ x[0].T})
    cases.add("dynamic_gemm", node("Gemm", "x z b", transB=1, alpha=0.5), {"x": x[0], "z": x[1]},
              {"y": 0.5 * (x[0] @ x[1].T) + 1.25}, {"b": np.float32([1.25])})
    w = normal(9, 9)
    hidden = np.maximum(x[0] @ w, 0)
    cases.add("dynamic_computed_weights", [node("MatMul", "x w", "h"), node("Relu", "h", "r"),
                                           node("Transpose", "r", "t"), node("MatMul", "x t")],
              {"x": x[0]}, {"y": x[0] @ hidden.T}, {"w": w})
    cases.add("dynamic_weights_padding",
              [node("Exp", "x", "e"), node("Transpose", "e", "t"), node("Exp", "z", "f"),
               node("MatMul", "f t")],
              {"x": x[0], "z": x[1]}, {"y": np.exp(x[1]) @ np.exp(x[0]).T})
    left, top, bottom = normal(3, 11), normal(5, 4), normal(6, 4)
    cases.add("dynamic_partly_constant", [node("Concat", "z c", "t", axis=0),
                                          node("MatMul", "x t")],
              {"x": left, "z": top}, {"y": left @ np.concatenate([top, bottom])}, {"c": bottom})

    def attention(name, heads, queries, keys, depth, pins=()):
        q, k, v = normal(heads, queries, depth), normal(heads, keys, depth), normal(heads, keys, depth)
        s = q @ k.transpose(0, 2, 1) / math.sqrt(depth)
        p = np.exp(s - s.max(-1, keepdims=True))
        cases.add(name,
                  [node("Transpose", "k", "t", perm=[0, 2, 1]), node("MatMul", "q t", "s"),
                   node("Mul", "s f", "m"), node("Softmax", "m", "p", axis=-1), node("MatMul", "p v")],
                  {"q": q, "k": k, "v": v}, {"y": p / p.sum(-1, keepdims=True) @ v},
                  {"f": np.float32(1 / math.sqrt(depth))},
                  flags=[f"--data-dim {k}={v}" for k, v in zip("qkv", pins)])

    attention("dynamic_attention", 2, 6, 6, 5)
    # Whole rows, more keys than lanes; the softmax across lanes or across rows.
    for layout, pins in (("lanes", (2, 1, 2)), ("rows", (1, 2, 1)), ("depth", (2, 2, 2))):
        attention(f"dynamic_attention_{layout}", 3, 8, 16, 8, pins)


def computed_convolutions(cases):
    """Convolutions whose weights are computed. Depthwise they are products of elements, which need
    no flag; others are refused without --allow-dynamic-weights."""
    def case(name, x, w, y, op="Conv", b=None, pins=(), **attributes):
        inputs = {"x": x, "w": w} | ({} if b is None else {"b": b})
        cases.add(name, node(op, " ".join(inputs), **attributes), inputs, {"y": y},
                  flags=[f"--data-dim {k}={v}" for k, v in zip("xw", pins)])

    x, w, b = normal(1, 9, 11), normal(10, 9, 3), normal(10)
    case("dynamic_conv", x, w, conv(x, w, b), b=b)
    case("dynamic_conv_strides", x, w, conv(x, w, strides=[2], dilations=[2], pads=[(2, 1)]), strides=[2],
         dilations=[2], pads=[2, 1])
    case("dynamic_conv_features_kept", x, w, conv(x, w), pins=(1, 0))
    case("dynamic_conv_positions_kept", x, w, conv(x, w), pins=(2, 1))
    case("dynamic_conv_point", x, w[:, :, :1], conv(x, w[:, :, :1]))
    flat, kernel = normal(2, 3, 6, 5), normal(4, 3, 3, 2)
    case("dynamic_conv_2d", flat, kernel, conv(flat, kernel, pads=[(1, 1), (0, 1)]), pads=[1, 0, 1, 1])
    hidden = np.tanh(kernel)
    cases.add("dynamic_conv_hidden", [node("Tanh", "w", "t"), node("Conv", "x t", "c"), node("Relu", "c")],
              {"x": flat, "w": kernel}, {"y": np.maximum(conv(flat, hidden), 0)})
    cases.add("computed_conv_of_constant", node("Conv", "c w"), {"w": kernel}, {"y": conv(flat, kernel)}, {"c": flat})
    groups = normal(6, 3, 2)
    case("dynamic_conv_groups", x, groups, conv(x, groups, group=3), group=3)
    wide = normal(4, 8, 2)
    several = normal(2, 16, 5)
    case("dynamic_conv_groups_wide", several, wide, conv(several, wide, b[:4], group=2), b=b[:4], group=2)
    turned = w.transpose(1, 0, 2)
    case("dynamic_conv_transpose", x, turned, conv_transpose(x, turned, strides=[2]), "ConvTranspose", strides=[2])

    each = normal(9, 1, 3)
    for name, pins in (("channels", (1, 0)), ("positions", (2, 0))):
        case(f"computed_depthwise_{name}", x, each, conv(x, each, group=9, pads=[(1, 1)]), group=9, pads=[1, 1],
             pins=pins[:1])
    twice = normal(18, 1, 3)
    case("computed_depthwise_twice", x, twice, conv(x, twice, group=9), group=9)
    case("computed_depthwise_point", x, each[:, :, :1], conv(x, each[:, :, :1], group=9), group=9)
    image = normal(3, 1, 3, 3)
    case("computed_depthwise_2d", flat, image, conv(flat, image, b[:3], group=3, strides=[2, 1]), b=b[:3], group=3,
         strides=[2, 1])
    case("computed_depthwise_transpose", x, each, conv_transpose(x, each, group=9), "ConvTranspose", group=9)


def rewrites(cases):
    """Models that do not lay out. They are refused, with the code in refused.txt,
    and run with --rewrite-layout."""
    def case(name, nodes, inputs, y, pins, constants=None, flags=()):
        cases.add(f"rewrite_{name}", nodes, inputs, {"y": y}, constants,
                  flags=[f"--data-dim {k}={v}" for k, v in pins.items()] + list(flags))

    dynamic = ["--allow-dynamic-weights"]
    x, z = normal(5, 11), normal(5, 11)
    for name, flags in (("selected", ()), ("written", dynamic)):
        case(f"pointwise_{name}", node("Add", "x z"), {"x": x, "z": z}, x + z, {"x": 0, "z": 1},
             flags=flags)
        case(f"concat_{name}", node("Concat", "x z", axis=0), {"x": x, "z": z},
             np.concatenate([x, z]), {"x": 0, "z": 1}, flags=flags)
        case(f"reduce_{name}", node("ReduceMax", "x", axes=[0], keepdims=0), {"x": x}, x.max(0),
             {"x": 0}, flags=flags)
    deep, w = normal(2, 9, 10), normal(10, 3)
    case("product", node("MatMul", "x w"), {"x": deep}, deep @ w, {"x": 1}, {"w": w})
    case("batch", node("MatMul", "x w"), {"x": deep}, deep @ w, {"x": 0}, {"w": w}, flags=dynamic)
    case("contracted_on_neither_side", node("MatMul", "x z"), {"x": x, "z": z.T.copy()}, x @ z.T,
         {"x": 0, "z": 1}, flags=dynamic)


def free(cases):
    """What costs nothing is not asked for: a reshape before products with constants lies
    along any axis, products change their order."""
    def case(name, nodes, inputs, y, constants=None, flags=()):
        cases.add(f"free_{name}", nodes, inputs, {"y": y}, constants, flags=list(flags))

    x, a, b = normal(4, 5), normal(4, 4), normal(20, 3)
    mixed = (a @ x).reshape(1, 20)
    flatten = [node("MatMul", "a x", "h"), node("Flatten", "h", "f", axis=0)]
    case("flattened", [*flatten, node("MatMul", "f b")], {"x": x}, mixed @ b, {"a": a, "b": b})
    case("flattened_twice", [*flatten, node("MatMul", "f b", "u"), node("MatMul", "f c", "v"), node("Max", "u v")],
         {"x": x}, np.maximum(mixed @ b, mixed @ b[::-1]), {"a": a, "b": b, "c": b[::-1].copy()})
    case("flattened_bias", [*flatten, node("Gemm", "f b d", transB=1)], {"x": x}, mixed @ b + b[0],
         {"a": a, "b": b.T.copy(), "d": b[0]})
    # One of three axes that merge, more of it than lanes, other axes in front.
    deep, w = normal(2, 11, 3, 2), normal(66, 9)
    for axis in (1, 2, 3):
        case(f"flattened_axis_{axis}", [node("Flatten", "x", "f", axis=1), node("MatMul", "f w")], {"x": deep},
             deep.reshape(2, 66) @ w, {"w": w}, [f"--data-dim x={axis}"])
    case("flattened_left", [node("Reshape", "x s", "f"), node("MatMul", "w f")], {"x": deep},
         w.T @ deep.reshape(66, 2), {"w": w.T.copy(), "s": np.int64([66, 2])}, ["--data-dim x=0"])
    v, batch = normal(9), normal(3, 9, 10)
    case("vector", node("MatMul", "v x"), {"x": batch[0]}, v @ batch[0], {"v": v})
    case("vector_batch", node("MatMul", "v x"), {"x": batch}, v @ batch, {"v": v})
    case("swapped", node("MatMul", "x z"), {"x": batch[0].T.copy(), "z": batch[1]}, batch[0].T @ batch[1],
         flags=["--allow-dynamic-weights", "--data-dim x=1", "--data-dim z=0", "--data-dim y=0"])
