#!/usr/bin/env python3
"""Writes random convolution networks as the backend tests of ONNX lay them out.

usage: make_random_window_cases.py FOLDER FIRST COUNT

Case N follows from N alone. A model is a chain of convolutions, poolings, pads and
maps, with branches, over tensors of a few elements; the input's data dimension is
one of its axes. Expected values are numpy's, in double (cases/windows.py).
"""
import numpy as np

from cases.windows import average, axis_pads, conv, conv_transpose, flat, pool
from make_random_cases import MAPS, RandomModel, Tensor, main, rounded


class RandomNetwork(RandomModel):
    def __init__(self, seed):
        super().__init__(seed)
        shape = self.inputs["x0"].shape
        axis = self.one_of([a for a in range(1, len(shape)) if shape[a] > 1] or [1])
        self.flags = ("--rewrite-layout", f"--data-dim x0={axis}")

    def add_input(self):
        if self.inputs:
            return
        line = self.integer(0, 2) == 0
        shape = [self.integer(1, 2) if self.integer(0, 3) == 0 else 1, self.one_of((1, 3, 4, 8, 10))]
        shape += [self.integer(6, 24)] if line else [self.integer(3, 8), self.integer(3, 9)]
        self.input(shape)

    def step(self):
        self.one_of((self.conv, self.conv, self.conv, self.conv_transpose, self.max_pool,
                     self.average_pool, self.pad, self.map, self.join, self.normalise))(self.pick())

    def window(self, x, pooling=False):
        """Attributes as the functions of cases/windows.py take them, and as ONNX does; or nothing."""
        count = x.ndim - 2
        sizes = [self.one_of((1, 2, 3, 3, 5)) for _ in range(count)]
        strides = [self.one_of((1, 1, 2, 3)) for _ in range(count)]
        dilations = [self.one_of((1, 1, 1, 2)) for _ in range(count)]
        reach = [(k - 1) * d + 1 for k, d in zip(sizes, dilations)]
        mode = self.one_of(("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER"))
        if mode == "NOTSET":
            most = [min(r - 1, 3) if pooling else 3 for r in reach]
            pads = [(self.integer(0, m), self.integer(0, m)) for m in most]
        else:
            pads = [mode] * count
        placed = [axis_pads(*a) for a in zip(x.shape[2:], sizes, strides, dilations, pads)]
        if min(p[2] for p in placed) < 1:
            return None
        own = {"strides": strides, "dilations": dilations, "pads": pads}
        given = {"strides": strides, "dilations": dilations, "kernel_shape": sizes}
        given.update({"auto_pad": mode} if mode != "NOTSET" else {"pads": flat(pads)})
        return sizes, own, given

    def weights_of(self, shape, products):
        return self.weights(shape, products ** -0.5)

    def groups(self, channels):
        return self.one_of([g for g in range(1, channels + 1) if channels % g == 0 and (g < 3 or g == channels)])

    def conv(self, x):
        window = self.window(x)
        if not window:
            return
        sizes, own, given = window
        group = self.groups(x.shape[1])
        features = group * self.integer(1, max(12 // group, 1))
        w = self.weights_of((features, x.shape[1] // group, *sizes), x.shape[1] // group * np.prod(sizes))
        operands = [x, w] + ([self.weights((features,))] if self.integer(0, 1) else [])
        self.node("Conv", operands, lambda v, *c: conv(v, *c, group=group, **own), group=group, **given)

    def conv_transpose(self, x):
        count = x.ndim - 2
        sizes = [self.one_of((1, 2, 3)) for _ in range(count)]
        strides = [self.one_of((1, 2, 2, 3)) for _ in range(count)]
        dilations = [self.one_of((1, 1, 2)) for _ in range(count)]
        more = [self.integer(0, max(s, d) - 1) for s, d in zip(strides, dilations)]
        pads = [(self.integer(0, 1), self.integer(0, 1)) for _ in range(count)]
        extents = [s * (e - 1) + m + (k - 1) * d + 1 - sum(p) for s, e, m, k, d, p in
                   zip(strides, x.shape[2:], more, sizes, dilations, pads)]
        if min(extents) < 1:
            return
        group = self.groups(x.shape[1])
        features = self.integer(1, max(8 // group, 1))
        w = self.weights_of((x.shape[1], features, *sizes), x.shape[1] // group * np.prod(sizes))
        self.node("ConvTranspose", [x, w],
                  lambda v, c: conv_transpose(v, c, None, group, strides, dilations, pads, more),
                  group=group, strides=strides, dilations=dilations, output_padding=more, pads=flat(pads))

    def pooled(self, op, x, dilated, function, **attributes):
        window = self.window(x, pooling=True)
        if not window:
            return
        sizes, own, given = window
        if not dilated:
            own["dilations"] = [1] * len(sizes)
            del given["dilations"]
            if "pads" in given:
                own["pads"] = [(min(a, k - 1), min(b, k - 1)) for (a, b), k in zip(own["pads"], sizes)]
                given["pads"] = flat(own["pads"])
        self.node(op, [x], lambda v: function(v, sizes, own), **given, **attributes)

    def max_pool(self, x):
        self.pooled("MaxPool", x, True, lambda v, sizes, own: pool(v, np.max, -1e30, sizes, **own))

    def average_pool(self, x):
        include = self.integer(0, 1)

        def function(v, sizes, own):
            if include and isinstance(own["pads"][0], str):
                places = zip(v.shape[2:], sizes, own["strides"], own["dilations"], own["pads"])
                own = {**own, "pads": [axis_pads(*a)[:2] for a in places]}
            return average(v, sizes, include=bool(include), **own)

        self.pooled("AveragePool", x, False, function, count_include_pad=include)

    def pad(self, x):
        mode = self.one_of(("constant", "reflect", "edge"))
        borders = [(0, 0)] + [(self.integer(0, 2), self.integer(0, 2)) if self.integer(0, 1) else (0, 0)
                              for _ in x.shape[1:]]
        if mode == "reflect":
            borders = [(min(a, e - 1), min(b, e - 1)) for (a, b), e in zip(borders, x.shape)]
        self.node("Pad", [x], lambda v: np.pad(v, borders, mode=mode), [flat(borders)], mode=mode)

    def join(self, x):
        """With another tensor: the sum, or next to each other."""
        for other in reversed(self.tensors[:-1]):
            if other.shape == x.shape and other.name != x.name:
                if self.integer(0, 1):
                    return self.node("Add", [x, other], np.add)
                return self.node("Concat", [x, other], lambda *v: np.concatenate(v, 1), axis=1)
        return self.map(x)

    def map(self, x):
        op = self.one_of(MAPS)
        self.node(op, [x], MAPS[op])

    def normalise(self, x):
        features = x.shape[1]
        column = (-1,) + (1,) * (x.ndim - 2)
        scale, shift, mean = (self.weights((features,), 0.5) for _ in range(3))
        spread = np.abs(self.random.standard_normal(features)).astype(np.float32) + 1
        variance = Tensor(self.constant(spread), spread.astype(np.float64), rounded(spread))

        def function(v, scale, shift, mean, variance):
            root = np.sqrt(variance + 1e-5)
            return ((v - mean.reshape(column)) * (scale / root).reshape(column)) + shift.reshape(column)

        self.node("BatchNormalization", [x, scale, shift, mean, variance], function)


if __name__ == "__main__":
    main(RandomNetwork)
