"""Blocks, borders, grids, caches and regions: elements put to places, and taken from them."""
import itertools

import numpy as np

from cases.common import node
from cases.sampling import sampled

RANDOM = np.random.default_rng(23)
DYNAMIC = ("--allow-dynamic-weights",)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def positions(extents, sizes, strides, dilations, pads):
    axes = len(extents)
    return [(extents[i] + pads[i] + pads[axes + i] - dilations[i] * (sizes[i] - 1) - 1) // strides[i] + 1
            for i in range(axes)]


def put_back(columns, image, block, strides, dilations, pads):
    """The sum of what every element of every block adds, one by one."""
    axes = len(image)
    counts = positions(image, block, strides, dilations, pads)
    x = columns.reshape(columns.shape[0], -1, *block, *counts).astype(float)
    out = np.zeros((*x.shape[:2], *image))
    for element, place in itertools.product(np.ndindex(*block), np.ndindex(*counts)):
        at = tuple(place[i] * strides[i] + element[i] * dilations[i] - pads[i] for i in range(axes))
        if all(0 <= at[i] < image[i] for i in range(axes)):
            out[(slice(None), slice(None), *at)] += x[(slice(None), slice(None), *element, *place)]
    return out


def blocks(cases):
    for name, image, block, about in (
            ("whole", (5, 5), (1, 5), {}), ("overlapping", (6, 7), (3, 3), {"pads": [1, 1, 1, 1]}),
            ("apart", (8, 7), (2, 2), {"strides": [3, 3]}),
            ("dilated", (8, 9), (3, 2), {"dilations": [2, 3], "pads": [2, 0, 1, 2]}),
            ("strided", (9, 8), (4, 3), {"strides": [2, 3], "pads": [1, 2, 0, 1]}),
            ("dilated_strided", (11, 10), (3, 3), {"strides": [2, 3], "dilations": [3, 2]}),
            ("signal", (21,), (6,), {"strides": [2]}), ("volume", (3, 4, 5), (2, 2, 3), {"pads": [0, 1, 1, 1, 0, 1]})):
        axes = len(image)
        rule = [about.get(key, [default] * count) for key, default, count in
                (("strides", 1, axes), ("dilations", 1, axes), ("pads", 0, 2 * axes))]
        x = normal(2, 3 * int(np.prod(block)), int(np.prod(positions(image, block, *rule))))
        cases.add(f"col2im_{name}", node("Col2Im", "x i b", **about), {"x": x}, {"y": put_back(x, image, block, *rule)},
                  {"i": np.int64(image), "b": np.int64(block)}, opset=18)
    columns, x = normal(1, 8, 9), normal(4)
    cases.add("col2im_of_constants", [node("Col2Im", "c i b", "k"), node("Add", "k x")], {"x": x},
              {"y": put_back(columns, (4, 4), (2, 2), (1, 1), (1, 1), (0,) * 4) + x},
              {"c": columns, "i": np.int64([4, 4]), "b": np.int64([2, 2])}, opset=18)


def borders(cases):
    x = normal(3, 8, 5)
    for name, shape, axes, expected in (
            ("cropped", [2, 5, 5], None, x[:2, 1:6]), ("padded", [4, 8, 8], None, np.pad(x, ((0, 1), (0, 0), (1, 2)))),
            ("some", [7, 9], [-1, 1], np.pad(x, ((0, 0), (0, 1), (1, 1)))),
            ("both", [5, 5], [2, 1], x[:, 1:6]), ("each_way", [6, 3, 2], None, np.pad(x[:, 2:5, 1:3], ((1, 2), (0, 0), (0, 0))))):
        about = {"axes": axes} if axes else {}
        cases.add(f"centered_{name}", node("CenterCropPad", "x s", **about), {"x": x}, {"y": expected},
                  {"s": np.int64(shape)}, opset=18)


def products(cases):
    x = normal(3, 7, 5)
    def expected(axis, exclusive, reverse):
        y = np.flip(x, axis) if reverse else x
        y = np.cumprod(y.astype(float), axis)
        if exclusive:
            y = np.concatenate([np.ones_like(y.take([0], axis)), y.take(range(y.shape[axis] - 1), axis)], axis)
        return np.flip(y, axis) if reverse else y

    for axis, exclusive, reverse in itertools.product((0, 1, -1), (0, 1), (0, 1)):
        cases.add(f"cumprod_{axis % 3}_{exclusive}_{reverse}", node("CumProd", "x a", exclusive=exclusive, reverse=reverse),
                  {"x": x}, {"y": expected(axis, exclusive, reverse)}, {"a": np.int64(axis)}, opset=26)
    cases.add("cumprod_of_nothing", node("CumProd", "x a", exclusive=1), {"x": x[:1]}, {"y": np.ones((1, 7, 5))},
              {"a": np.int64([0])}, opset=26)


def grid_of(theta, size, corners):
    """Of every place the affine map of its coordinates."""
    out = np.zeros((size[0], *size[2:], len(size) - 2))
    for place in np.ndindex(*size[2:]):
        at = [(2 * i / (n - 1) - 1 if n > 1 else 0) if corners else (2 * i + 1) / n - 1 for i, n in zip(place, size[2:])]
        out[(slice(None), *place)] = theta.astype(float) @ [*at[::-1], 1]
    return out


def affine_grids(cases):
    flat, deep = normal(2, 2, 3), normal(1, 3, 4)
    for corners in (0, 1):
        for name, theta, size in (("plane", flat, (2, 3, 4, 6)), ("volume", deep, (1, 2, 2, 3, 1))):
            cases.add(f"affine_grid_{name}_{corners}", node("AffineGrid", "t s", align_corners=corners), {"t": theta},
                      {"y": grid_of(theta, size, corners)}, {"s": np.int64(size)}, opset=20)
    x = normal(2, 3, 4, 5)
    turned = np.float32([[[0.8, 0.3, 0.1], [-0.2, 0.9, 0]], [[0, 1, 0], [1, 0, 0.25]]])
    grid = grid_of(turned, (2, 3, 3, 4), 0).astype(np.float32)
    cases.add("affine_grid_sampled", [node("AffineGrid", "t s", "g"), node("GridSample", "x g")], {"x": x},
              {"y": sampled(x, grid, "linear", "zeros", 0)}, {"t": turned, "s": np.int64([2, 3, 3, 4])}, opset=20)


def caches(cases):
    cache, update = normal(3, 2, 6, 4), normal(3, 2, 2, 4)
    for name, mode, places in (("same", "linear", [1, 1, 1]), ("each", "linear", [4, 0, 2]), ("around", "circular", [5, 0, 4]),
                               ("around_all", "circular", [5, 5, 5]), ("first", "linear", None)):
        y = cache.copy()
        for batch, i in itertools.product(range(3), range(2)):
            y[batch, :, ((places or [0] * 3)[batch] + i) % 6] = update[batch, :, i]
        known = {"w": np.int64(places)} if places else None
        cases.add(f"cache_{name}", node("TensorScatter", "c u w" if places else "c u", mode=mode), {"c": cache, "u": update},
                  {"y": y}, known, opset=24)
    turned = cache.transpose(0, 2, 1, 3).copy()
    turned[:, 3:5] = update.transpose(0, 2, 1, 3)
    cases.add("cache_along_axis_1", node("TensorScatter", "c u w", axis=1),
              {"c": cache.transpose(0, 2, 1, 3), "u": update.transpose(0, 2, 1, 3)}, {"y": turned}, {"w": np.int64([3] * 3)},
              opset=24)


def bilinear(image, at):
    """Of every channel the number at a place, 0 outside."""
    out = np.zeros(image.shape[0])
    first = np.floor(at).astype(int)
    for corner in itertools.product(*((int(f), int(f) + 1) for f in first)):
        if all(0 <= c < n for c, n in zip(corner, image.shape[1:])):
            out += np.prod([1 - abs(c - a) for c, a in zip(corner, at)]) * image[(slice(None), *corner)]
    return out


def deformed(x, w, offset, b, mask, rule, group, groups):
    """The convolution, product by product."""
    strides, dilations, pads = rule
    axes = x.ndim - 2
    kernel, counts = w.shape[2:], offset.shape[2:]
    taps, each = int(np.prod(kernel)), x.shape[1] // groups
    offset = offset.reshape(x.shape[0], groups, taps, axes, *counts).astype(float)
    out = np.zeros((x.shape[0], w.shape[0], *counts))
    for n, place in itertools.product(range(x.shape[0]), np.ndindex(*counts)):
        seen = np.zeros((x.shape[1], taps))
        for g, (tap, element) in itertools.product(range(groups), enumerate(np.ndindex(*kernel))):
            at = np.array([place[i] * strides[i] + element[i] * dilations[i] - pads[i] for i in range(axes)], float)
            at += offset[(n, g, tap, slice(None), *place)]
            share = 1 if mask is None else mask.reshape(x.shape[0], groups, taps, *counts)[(n, g, tap, *place)]
            seen[g * each:(g + 1) * each, tap] = share * bilinear(x[n, g * each:(g + 1) * each].astype(float), at)
        for f in range(w.shape[0]):
            first = f // (w.shape[0] // group) * w.shape[1]
            out[(n, f, *place)] = np.sum(seen[first:first + w.shape[1]] * w[f].reshape(w.shape[1], taps))
    return out if b is None else out + b.reshape(-1, *[1] * axes)


def deformations(cases):
    def case(name, x, w, about=None, groups=1, group=1, masked=False, bias=False, known=False, flags=DYNAMIC):
        axes = x.ndim - 2
        about = about or {}
        rule = [about.get(key, [default] * count) for key, default, count in
                (("strides", 1, axes), ("dilations", 1, axes), ("pads", 0, 2 * axes))]
        counts = positions(x.shape[2:], w.shape[2:], *rule)
        taps = int(np.prod(w.shape[2:]))
        offset = RANDOM.uniform(-1.5, 1.5, (x.shape[0], groups * taps * axes, *counts)).astype(np.float32)
        mask = RANDOM.uniform(0, 1, (x.shape[0], groups * taps, *counts)).astype(np.float32) if masked else None
        b = normal(w.shape[0]) if bias else None
        given = {"o": offset} | ({"m": mask} if masked else {})
        names = ["x", "w", "o", "b" if bias else "", "m" if masked else ""]
        cases.add(f"deform_conv_{name}", node("DeformConv", "x w o", **about, offset_group=groups, group=group)
                  if not bias and not masked else with_inputs(names, **about, offset_group=groups, group=group),
                  {"x": x} | ({} if known else given), {"y": deformed(x, w, offset, b, mask, rule, group, groups)},
                  {"w": w} | ({"b": b} if bias else {}) | (given if known else {}), opset=19, flags=() if known else flags)

    case("constant", normal(2, 3, 5, 6), normal(4, 3, 3, 3), {"pads": [1, 1, 1, 1]}, masked=True, bias=True, known=True)
    case("run_time", normal(1, 4, 5, 5), normal(6, 4, 2, 2), {}, masked=True, bias=True)
    case("groups", normal(1, 4, 5, 4), normal(4, 2, 2, 3), {"strides": [2, 2], "pads": [1, 0, 0, 1]}, groups=2, group=2)
    case("dilated", normal(2, 2, 7, 6), normal(3, 2, 3, 2), {"dilations": [2, 3]}, known=True)
    case("signal", normal(1, 3, 12), normal(2, 3, 3), {"strides": [2]}, bias=True)


def with_inputs(names, **attributes):
    """A node of DeformConv, some of whose inputs are left out."""
    one = node("DeformConv", "x", **attributes)
    del one.input[:]
    one.input.extend(names)
    return one


def region_maxima(cases):
    x = normal(2, 3, 7, 9)
    rois = np.float32([[0, 0, 0, 8, 6], [1, 2, 1, 6, 5], [0, -3, -2, 4, 4], [1, 7, 5, 12, 11], [0, 4, 4, 3, 2], [1, 20, 0, 30, 4]])
    for scale, size in ((1.0, (2, 3)), (0.5, (3, 2)), (1.0, (1, 1))):
        y = np.zeros((len(rois), 3, *size))
        for i, roi in enumerate(rois):
            left, top, right, bottom = (int(np.floor(abs(v) + 0.5) * np.sign(v)) for v in roi[1:] * np.float32(scale))
            extents = max(bottom - top + 1, 1), max(right - left + 1, 1)
            for bin_ in np.ndindex(*size):
                ends = []
                for axis, start in enumerate((top, left)):
                    step = np.float32(extents[axis]) / np.float32(size[axis])
                    ends.append((max(int(np.floor(bin_[axis] * step)) + start, 0),
                                 min(max(int(np.ceil((bin_[axis] + 1) * step)) + start, 0), x.shape[2 + axis])))
                (a, b), (c, d) = ends
                if a < b and c < d:
                    y[(i, slice(None), *bin_)] = x[int(roi[0]), :, a:b, c:d].max((1, 2))
        cases.add(f"max_roi_pool_{size[0]}_{scale}", node("MaxRoiPool", "x r", pooled_shape=list(size), spatial_scale=scale),
                  {"x": x}, {"y": y}, {"r": rois})


def bits(cases):
    x, words = normal(5), np.int32([0x3F800000, -0x40000000, 0x42280000, 1 << 23, 0])
    cases.add("bit_cast", [node("BitCast", "c", "f", to=1), node("Add", "f x")], {"x": x},
              {"y": words.view(np.float32).astype(float) + x}, {"c": words}, opset=26)
