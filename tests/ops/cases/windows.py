"""Conv, ConvTranspose, pooling, Pad, DepthToSpace, SpaceToDepth; along the channels and along the positions."""
import itertools

import numpy as np

from cases.common import node, normal


def axis_pads(extent, size, stride, dilation, pads):
    """(before, after, positions) of one axis; `pads` is a pair, "SAME_UPPER" or "SAME_LOWER"."""
    reach = (size - 1) * dilation + 1
    if isinstance(pads, str):
        count = -(-extent // stride)
        total = max((count - 1) * stride + reach - extent, 0)
        low = total // 2 if pads == "SAME_UPPER" else total - total // 2
        return low, total - low, count
    return *pads, (extent + sum(pads) - reach) // stride + 1


def windows(x, sizes, strides, dilations, pads, outside, counts=None):
    """[batch, channels, positions..., elements...] of x [batch, channels, spatial...]; `counts`
    may ask for positions that leave the padded input."""
    count = len(sizes)
    placed = [axis_pads(*a) for a in zip(x.shape[2:], sizes, strides, dilations, pads)]
    counts = counts or [p[2] for p in placed]
    more = [max((n - 1) * s + (k - 1) * d + 1 - e - p[0] - p[1], 0) + p[1]
            for n, s, k, d, e, p in zip(counts, strides, sizes, dilations, x.shape[2:], placed)]
    v = np.pad(np.asarray(x, np.float64), [(0, 0), (0, 0)] + [(p[0], m) for p, m in zip(placed, more)],
               constant_values=outside)
    for axis in range(count):
        at = np.arange(counts[axis])[:, None] * strides[axis] + np.arange(sizes[axis]) * dilations[axis]
        v = np.moveaxis(np.take(v, at, axis=axis + 2), axis + 3, -1)
    return v


def conv(x, w, b=None, group=1, strides=None, dilations=None, pads=None):
    """ONNX's Conv; `pads` by axis as in axis_pads."""
    count = x.ndim - 2
    one = [1] * count
    v = windows(x, w.shape[2:], strides or one, dilations or one, pads or [(0, 0)] * count, 0)
    channels, features = w.shape[1], w.shape[0] // group
    axes = list(range(v.ndim - count, v.ndim))
    y = np.concatenate([
        np.moveaxis(np.tensordot(v[:, g * channels:(g + 1) * channels], w[g * features:(g + 1) * features],
                                 ([1, *axes], [1, *range(2, 2 + count)])), -1, 1)
        for g in range(group)], 1)
    return y if b is None else y + b.reshape(-1, *one)


def conv_transpose(x, w, b=None, group=1, strides=None, dilations=None, pads=None, more=None):
    """ONNX's ConvTranspose, by adding every product to its place."""
    count = x.ndim - 2
    one = [1] * count
    strides, dilations, more = strides or one, dilations or one, more or [0] * count
    pads = pads or [(0, 0)] * count
    full = [s * (e - 1) + m + (k - 1) * d + 1
            for s, e, m, k, d in zip(strides, x.shape[2:], more, w.shape[2:], dilations)]
    y = np.zeros((x.shape[0], w.shape[1] * group, *full))
    channels = x.shape[1] // group
    for g in range(group):
        own = slice(g * w.shape[1], (g + 1) * w.shape[1])
        part = slice(g * channels, (g + 1) * channels)
        for tap in itertools.product(*map(range, w.shape[2:])):
            at = tuple(slice(t * d, t * d + s * (e - 1) + 1, s)
                       for t, d, s, e in zip(tap, dilations, strides, x.shape[2:]))
            y[(slice(None), own, *at)] += np.moveaxis(
                np.tensordot(np.asarray(x[:, part], np.float64), w[(part, slice(None), *tap)], ([1], [0])), -1, 1)
    y = y[(slice(None), slice(None), *(slice(low, f - high) for (low, high), f in zip(pads, full)))]
    return y if b is None else y + b.reshape(-1, *one)


def pool(x, fold, outside, sizes, strides=None, dilations=None, pads=None, counts=None):
    count = len(sizes)
    one = [1] * count
    v = windows(x, sizes, strides or one, dilations or one, pads or [(0, 0)] * count, outside, counts)
    return fold(v, axis=tuple(range(x.ndim, x.ndim + count)))


def average(x, sizes, include=False, pads=None, counts=None, **places):
    """AveragePool: what is outside the input, or with `include` outside the pads, is not counted."""
    count = len(sizes)
    known = np.ones_like(x)
    if include:
        border = [(0, 0), (0, 0), *(pads or [(0, 0)] * count)]
        x, known, pads = np.pad(x, border), np.pad(known, border, constant_values=1), [(0, 0)] * count
    total = pool(x, np.sum, 0, sizes, pads=pads, counts=counts, **places)
    return total / pool(known, np.sum, 0, sizes, pads=pads, counts=counts, **places)


def flat(pads):
    """As the attribute has them: all that are before, then all that are behind."""
    return [p[0] for p in pads] + [p[1] for p in pads]


def both_ways(cases, name, nodes, inputs, outputs, constants=None, rank=4, ways=2, **options):
    """With the input's channels and with its last axis along the lanes; or only the first `ways`."""
    for way, axis in (("channels", 1), ("positions", rank - 1))[:ways]:
        cases.add(f"{name}_{way}", nodes, inputs, outputs, constants, flags=(f"--data-dim x={axis}",),
                  **options)


CONVOLUTIONS = {  # x, w, attributes as conv has them
    "1d": ((1, 5, 11), (4, 5, 3), {}),
    "1d_pads": ((1, 5, 11), (4, 5, 4), {"pads": [(3, 1)]}),
    "1d_one_channel": ((1, 1, 24), (6, 1, 8), {"strides": [4]}),
    "1d_dilated": ((1, 3, 17), (5, 3, 3), {"dilations": [4], "pads": [(8, 0)]}),
    "1d_batch": ((3, 4, 9), (4, 4, 3), {"pads": [(1, 1)]}),
    "2d": ((1, 3, 6, 9), (10, 3, 3, 3), {"pads": [(1, 1), (1, 1)]}),
    "2d_stride": ((1, 4, 9, 9), (5, 4, 3, 3), {"pads": [(1, 1), (1, 1)], "strides": [2, 2]}),
    "2d_uneven": ((1, 3, 7, 10), (4, 3, 2, 3), {"pads": [(0, 1), (2, 0)], "strides": [1, 3],
                                               "dilations": [3, 2]}),
    "2d_even_kernel": ((1, 2, 5, 6), (3, 2, 4, 2), {"pads": [(2, 1), (0, 1)]}),
    "2d_whole": ((1, 3, 4, 5), (7, 3, 4, 5), {}),
    "2d_one": ((1, 12, 3, 5), (9, 12, 1, 1), {}),
    "2d_one_stride": ((1, 6, 5, 7), (4, 6, 1, 1), {"strides": [2, 3], "pads": [(1, 0), (0, 2)]}),
    "2d_column": ((1, 3, 6, 5), (4, 3, 3, 1), {"pads": [(1, 1), (0, 0)], "strides": [1, 2]}),
    "2d_depthwise": ((1, 10, 5, 6), (10, 1, 3, 3), {"group": 10, "pads": [(1, 1), (1, 1)]}),
    "2d_depthwise_more": ((1, 4, 5, 5), (8, 1, 2, 2), {"group": 4}),
    "2d_groups": ((1, 6, 5, 5), (9, 2, 3, 3), {"group": 3, "strides": [2, 1]}),
    "2d_far_pads": ((1, 2, 3, 3), (2, 2, 2, 2), {"pads": [(3, 4), (0, 3)], "strides": [3, 1]}),
    "3d": ((1, 2, 3, 4, 5), (3, 2, 2, 2, 3), {"pads": [(0, 1), (1, 0), (1, 1)]}),
}


def convolutions(cases):
    for name, (shape, kernel, attributes) in CONVOLUTIONS.items():
        x, w, b = normal(*shape), normal(*kernel) / np.float32(4), normal(kernel[0])
        y = conv(x, w, b, **attributes)
        given = {**attributes, **({"pads": flat(attributes["pads"])} if "pads" in attributes else {})}
        both_ways(cases, f"conv_{name}", node("Conv", "x w b", **given), {"x": x}, {"y": y},
                  {"w": w, "b": b}, rank=x.ndim)
    x, w = normal(1, 3, 7, 8), normal(5, 3, 4, 3) / np.float32(4)
    for mode in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        pads = [(0, 0)] * 2 if mode == "VALID" else [mode] * 2
        both_ways(cases, f"conv_{mode.lower()}",
                  node("Conv", "x w", auto_pad=mode, strides=[2, 3], kernel_shape=[4, 3]), {"x": x},
                  {"y": conv(x, w, strides=[2, 3], pads=pads)}, {"w": w})


def chains(cases):
    """What follows a convolution is part of it."""
    x, w, b = normal(1, 4, 6, 8), normal(6, 4, 3, 3) / np.float32(4), normal(6)
    scale, shift, mean = normal(6), normal(6), normal(6)
    variance = np.abs(normal(6)) + 1
    y = conv(x, w, b, pads=[(1, 1), (1, 1)])
    column = (-1, 1, 1)
    y = (y - mean.reshape(column)) / np.sqrt(variance.reshape(column) + 1e-5) * scale.reshape(column)
    y = np.maximum(y + shift.reshape(column), 0)
    both_ways(cases, "conv_batch_normalised",
              [node("Conv", "x w b", "h", pads=[1] * 4),
               node("BatchNormalization", "h scale shift mean variance", "n"), node("Relu", "n")],
              {"x": x}, {"y": y}, {"w": w, "b": b, "scale": scale, "shift": shift, "mean": mean,
                                   "variance": variance})
    w1, w2 = normal(4, 4, 3, 3) / np.float32(6), normal(4, 4, 3, 3) / np.float32(6)
    h = np.maximum(conv(x, w1, pads=[(1, 1), (1, 1)]), 0)
    both_ways(cases, "conv_residual",
              [node("Conv", "x w1", "h", pads=[1] * 4), node("Relu", "h", "r"),
               node("Conv", "r w2", "s", pads=[1] * 4), node("Add", "s x")],
              {"x": x}, {"y": conv(h, w2, pads=[(1, 1), (1, 1)]) + x}, {"w1": w1, "w2": w2})
    dense = normal(6 * 3 * 4, 5) / np.float32(8)
    y = conv(x, w, pads=[(1, 1), (1, 1)])
    y = pool(y, np.max, 0, [2, 2], [2, 2]).reshape(1, -1) @ dense
    both_ways(cases, "conv_pool_dense",
              [node("Conv", "x w", "h", pads=[1] * 4),
               node("MaxPool", "h", "p", kernel_shape=[2, 2], strides=[2, 2]),
               node("Flatten", "p", "f"), node("MatMul", "f d")],
              {"x": x}, {"y": y}, {"w": w, "d": dense})


TRANSPOSED = {  # x, w, attributes as conv_transpose has them
    "1d": ((1, 4, 7), (4, 3, 4), {"strides": [2], "pads": [(1, 1)]}),
    "1d_gaps": ((1, 3, 5), (3, 4, 2), {"strides": [4]}),
    "1d_dilated": ((1, 3, 6), (3, 2, 3), {"strides": [2], "dilations": [3], "pads": [(2, 1)]}),
    "1d_common": ((1, 3, 6), (3, 2, 3), {"strides": [4], "dilations": [2]}),
    "2d": ((1, 3, 4, 5), (3, 4, 3, 3), {"strides": [2, 2], "pads": [(1, 1), (1, 1)], "more": [1, 1]}),
    "2d_stride_1": ((1, 3, 4, 5), (3, 4, 3, 2), {"dilations": [1, 2], "pads": [(2, 0), (0, 1)]}),
    "2d_groups": ((1, 6, 3, 4), (6, 2, 2, 3), {"group": 2, "strides": [2, 1]}),
    "2d_depthwise": ((1, 9, 3, 3), (9, 1, 2, 2), {"group": 9, "strides": [2, 2]}),
    "2d_far_pads": ((1, 2, 5, 4), (2, 3, 2, 3), {"strides": [3, 2], "pads": [(4, 3), (3, 0)]}),
    "3d": ((1, 2, 2, 3, 2), (2, 2, 2, 2, 3), {"strides": [2, 1, 2]}),
}


def transposed(cases):
    """Phases are not interleaved from lane to lane: a strided axis is kept off them, 1d_gaps is refused."""
    for name, (shape, kernel, attributes) in TRANSPOSED.items():
        features = kernel[1] * attributes.get("group", 1)
        x, w, b = normal(*shape), normal(*kernel) / np.float32(3), normal(features)
        given = {"output_padding" if k == "more" else k: flat(v) if k == "pads" else v
                 for k, v in attributes.items()}
        both_ways(cases, f"convtranspose_{name}", node("ConvTranspose", "x w b", **given), {"x": x},
                  {"y": conv_transpose(x, w, b, **attributes)}, {"w": w, "b": b}, rank=x.ndim,
                  ways=2 if attributes.get("strides", [1])[-1] == 1 or name == "1d_gaps" else 1)
    x, w = normal(1, 3, 4, 5), normal(3, 2, 3, 4) / np.float32(3)
    y = conv_transpose(x, w, strides=[2, 3])  # [9 16]
    for name, given, part in (
            ("same_upper", {"auto_pad": "SAME_UPPER"}, np.s_[:, :, 0:8, 0:15]),
            ("same_lower", {"auto_pad": "SAME_LOWER"}, np.s_[:, :, 1:9, 1:16]),
            ("shape", {"output_shape": [6, 13]}, np.s_[:, :, 2:8, 2:15]),
            ("shape_upper", {"output_shape": [6, 13], "auto_pad": "SAME_UPPER"}, np.s_[:, :, 1:7, 1:14])):
        both_ways(cases, f"convtranspose_{name}", node("ConvTranspose", "x w", strides=[2, 3], **given),
                  {"x": x}, {"y": y[part]}, {"w": w}, ways=1)
    both_ways(cases, "convtranspose_shape_beyond",
              node("ConvTranspose", "x w", strides=[2, 3], output_shape=[10, 18]), {"x": x},
              {"y": np.pad(y, [(0, 0), (0, 0), (0, 1), (0, 2)])}, {"w": w}, ways=1)


def pooling(cases):
    x = normal(1, 10, 7, 9)
    places = {
        "plain": {"sizes": [3, 2]},
        "stride": {"sizes": [2, 2], "strides": [2, 2]},
        "pads": {"sizes": [3, 3], "strides": [2, 3], "pads": [(1, 2), (2, 0)]},
        "one": {"sizes": [1, 1], "strides": [3, 2]},
        "row": {"sizes": [1, 9]},
    }
    for name, place in places.items():
        given = {"kernel_shape": place["sizes"], "strides": place.get("strides", [1, 1]),
                 "pads": flat(place.get("pads", [(0, 0)] * 2))}
        both_ways(cases, f"maxpool_{name}", node("MaxPool", "x", **given), {"x": x},
                  {"y": pool(x, np.max, -np.inf, **place)})
        both_ways(cases, f"averagepool_{name}", node("AveragePool", "x", **given), {"x": x},
                  {"y": average(x, **place)})
        both_ways(cases, f"lppool_{name}", node("LpPool", "x", **given), {"x": x},
                  {"y": np.sqrt(pool(np.asarray(x, np.float64) ** 2, np.sum, 0, **place))})
    pads = [(1, 2), (2, 0)]
    both_ways(cases, "averagepool_include",
              node("AveragePool", "x", kernel_shape=[3, 3], pads=flat(pads), count_include_pad=1),
              {"x": x}, {"y": average(x, [3, 3], include=True, pads=pads)})
    both_ways(cases, "maxpool_dilated",
              node("MaxPool", "x", kernel_shape=[3, 2], dilations=[2, 4], pads=flat(pads)), {"x": x},
              {"y": pool(x, np.max, -np.inf, [3, 2], dilations=[2, 4], pads=pads)})
    both_ways(cases, "averagepool_dilated",
              node("AveragePool", "x", kernel_shape=[3, 2], dilations=[2, 4], pads=flat(pads)), {"x": x},
              {"y": average(x, [3, 2], dilations=[2, 4], pads=pads)}, opset=19)
    both_ways(cases, "lppool_1", node("LpPool", "x", kernel_shape=[2, 2], p=1), {"x": x},
              {"y": pool(np.abs(x), np.sum, 0, [2, 2])})
    # 7 and 9 in steps of 3: a last position leaves the input; with pads it would start behind it.
    both_ways(cases, "maxpool_ceil",
              node("MaxPool", "x", kernel_shape=[2, 2], strides=[3, 2], ceil_mode=1), {"x": x},
              {"y": pool(x, np.max, -np.inf, [2, 2], [3, 2], counts=[3, 5])})
    both_ways(cases, "maxpool_ceil_behind",
              node("MaxPool", "x", kernel_shape=[2, 2], strides=[7, 3], pads=[0, 0, 1, 1], ceil_mode=1),
              {"x": x}, {"y": pool(x, np.max, -np.inf, [2, 2], [7, 3], counts=[1, 3])})
    for include in (0, 1):
        places = {"sizes": [3, 2], "strides": [3, 2], "pads": [(1, 1), (0, 0)], "counts": [3, 5]}
        both_ways(cases, f"averagepool_ceil_{include}",
                  node("AveragePool", "x", kernel_shape=[3, 2], strides=[3, 2], pads=[1, 0, 1, 0],
                       ceil_mode=1, count_include_pad=include), {"x": x},
                  {"y": average(x, include=bool(include), **places)})
    for mode in ("SAME_UPPER", "SAME_LOWER"):
        places = {"sizes": [4, 3], "strides": [2, 2], "pads": [mode] * 2}
        given = {"kernel_shape": [4, 3], "strides": [2, 2], "auto_pad": mode}
        both_ways(cases, f"maxpool_{mode.lower()}", node("MaxPool", "x", **given), {"x": x},
                  {"y": pool(x, np.max, -np.inf, **places)})
        both_ways(cases, f"averagepool_{mode.lower()}", node("AveragePool", "x", **given), {"x": x},
                  {"y": average(x, **places)})
    line, box = normal(2, 5, 12), normal(1, 3, 3, 4, 5)
    both_ways(cases, "maxpool_1d", node("MaxPool", "x", kernel_shape=[3], strides=[3]), {"x": line},
              {"y": pool(line, np.max, 0, [3], [3])}, rank=3)
    both_ways(cases, "averagepool_3d", node("AveragePool", "x", kernel_shape=[2, 3, 2]), {"x": box},
              {"y": average(box, [2, 3, 2])}, rank=5)
    for op, value in (("GlobalMaxPool", x.max((2, 3), keepdims=True)),
                      ("GlobalAveragePool", np.asarray(x, np.float64).mean((2, 3), keepdims=True)),
                      ("GlobalLpPool", np.sqrt((np.asarray(x, np.float64) ** 2).sum((2, 3), keepdims=True)))):
        both_ways(cases, op.lower(), node(op, "x"), {"x": x}, {"y": value})


def padding(cases):
    x = normal(1, 10, 4, 9)
    for mode in ("constant", "reflect", "edge", "wrap"):
        for name, pads in (("last", [(0, 0), (0, 0), (0, 0), (2, 3)]), ("rows", [(0, 0), (0, 0), (3, 1), (0, 0)]),
                           ("all", [(0, 0), (2, 1), (1, 2), (1, 5)])):
            both_ways(cases, f"pad_{mode}_{name}", node("Pad", "x p", mode=mode), {"x": x},
                      {"y": np.pad(x, pads, mode=mode)}, {"p": np.int64(flat(pads))}, opset=19)
        cut = x[:, :, 1:, :-2]
        both_ways(cases, f"pad_{mode}_negative", node("Pad", "x p", mode=mode), {"x": x},
                  {"y": np.pad(cut, [(0, 0), (0, 0), (0, 2), (3, 0)], mode=mode)},
                  {"p": np.int64([0, 0, -1, 3, 0, 0, 2, -2])}, opset=19)
    border = [(0, 0), (0, 0), (1, 1), (1, 2)]
    for name, value in (("minus_infinity", -np.inf), ("infinity", np.inf)):
        both_ways(cases, f"pad_{name}", node("Pad", "x p v"), {"x": x},
                  {"y": np.pad(x, border, constant_values=value)},
                  {"p": np.int64(flat(border)), "v": np.float32(value)}, opset=13)
    wide = np.lib.stride_tricks.sliding_window_view(np.pad(x, border, constant_values=-np.inf), (3, 3), (2, 3))
    both_ways(cases, "pad_minus_infinity_pooled", [node("Pad", "x p v", "h"), node("MaxPool", "h", kernel_shape=[3, 3])],
              {"x": x}, {"y": wide.max((4, 5))}, {"p": np.int64(flat(border)), "v": np.float32(-np.inf)}, opset=13)
    both_ways(cases, "pad_value", node("Pad", "x p v"), {"x": x},
              {"y": np.pad(x, [(0, 0), (0, 0), (0, 0), (1, 2)], constant_values=3)},
              {"p": np.int64([0, 0, 0, 1, 0, 0, 0, 2]), "v": np.float32(3)}, opset=13)
    both_ways(cases, "pad_axes", node("Pad", "x p v a"), {"x": x},
              {"y": np.pad(x, [(0, 0), (0, 0), (2, 0), (1, 2)], constant_values=-1)},
              {"p": np.int64([1, 2, 2, 0]), "v": np.float32(-1), "a": np.int64([-1, 2])}, opset=18)
    both_ways(cases, "pad_attributes",
              node("Pad", "x", pads=[0, 0, 1, 0, 0, 0, 0, 2], value=2.5), {"x": x},
              {"y": np.pad(x, [(0, 0), (0, 0), (1, 0), (0, 2)], constant_values=2.5)}, opset=7)
    w = normal(4, 10, 3, 3) / np.float32(8)
    for mode in ("constant", "reflect"):
        both_ways(cases, f"pad_conv_{mode}",
                  [node("Pad", "x p", "h", mode=mode), node("Conv", "h w")], {"x": x},
                  {"y": conv(np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], mode=mode), w)},
                  {"p": np.int64([0, 0, 1, 1, 0, 0, 1, 1]), "w": w})


def depth(cases):
    x = normal(1, 12, 3, 4)
    for mode, order, split in (("DCR", (0, 3, 4, 1, 5, 2), (1, 2, 2, 3, 3, 4)),
                               ("CRD", (0, 1, 4, 2, 5, 3), (1, 3, 2, 2, 3, 4))):
        cases.add(f"depth_to_space_{mode.lower()}", node("DepthToSpace", "x", blocksize=2, mode=mode),
                  {"x": x}, {"y": x.reshape(split).transpose(order).reshape(1, 3, 6, 8)})
    z = normal(1, 3, 6, 8)
    cases.add("space_to_depth", node("SpaceToDepth", "x", blocksize=2), {"x": z},
              {"y": z.reshape(1, 3, 3, 2, 4, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 12, 3, 4)})
    w = normal(12, 3, 3, 3) / np.float32(4)
    cases.add("sub_pixel", [node("Conv", "x w", "h", pads=[1] * 4),
                            node("DepthToSpace", "h", blocksize=2, mode="CRD")], {"x": z[:, :, :3, :4]},
              {"y": conv(z[:, :, :3, :4], w, pads=[(1, 1), (1, 1)]).reshape(1, 3, 2, 2, 3, 4)
               .transpose(0, 1, 4, 2, 5, 3).reshape(1, 3, 6, 8)}, {"w": w})


def window_cases(cases):
    for family in (convolutions, chains, transposed, pooling, padding, depth):
        family(cases)


def long_signals(cases):
    """Feature maps that together are more than four times the tensor memory of c2b8: 1,280 rows."""
    x, nodes, weights = normal(1, 8, 1300), [], {}
    v = x
    for layer in range(4):
        w, b = normal(8, 8, 3) / np.float32(5), normal(8) / np.float32(5)
        weights.update({f"w{layer}": w, f"b{layer}": b})
        nodes += [node("Conv", f"x{layer} w{layer} b{layer}", f"c{layer}", pads=[1, 1]),
                  node("Relu", f"c{layer}", f"x{layer + 1}")]
        v = np.maximum(conv(v, w, b, pads=[(1, 1)]), 0)
    cases.add("conv_long_signal", nodes, {"x0": x}, {"x4": v}, weights)
    # A shortcut that needs lines longer, a stride, and a layer that reads all.
    x = normal(1, 6, 900)
    w = [v / np.float32(d) for v, d in ((normal(8, 6, 5), 5), (normal(8, 8, 3), 5), (normal(8, 8, 3), 5),
                                        (normal(8 * 450, 5), 60))]
    a = np.maximum(conv(x, w[0], pads=[(2, 2)]), 0)
    b = a + conv(a, w[1], dilations=[4], pads=[(4, 4)])
    c = np.maximum(conv(b, w[2], strides=[2], pads=[(1, 1)]), 0)
    cases.add("conv_long_shortcut",
              [node("Conv", "x w0", "c0", pads=[2, 2]), node("Relu", "c0", "a"),
               node("Conv", "a w1", "c1", dilations=[4], pads=[4, 4]), node("Add", "a c1", "b"),
               node("Conv", "b w2", "c2", strides=[2], pads=[1, 1]), node("Relu", "c2", "c"),
               node("Flatten", "c", "f"), node("MatMul", "f w3")],
              {"x": x}, {"y": c.reshape(1, -1) @ w[3]}, {f"w{i}": v for i, v in enumerate(w)})
