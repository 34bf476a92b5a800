#!/usr/bin/env python3
"""Writes random graphs of selections and random trees of merges as the backend tests of ONNX lay them out.

usage: make_random_algebra_cases.py FOLDER FIRST COUNT

Case N follows from N alone. An even one is a graph of up to 12 views, with a function behind them: transposed, reversed,
sliced, rotated, repeated, tiled, padded, taken apart and interleaved. An odd one reduces a tensor in parts of any size and
merges them by a monoid, in a tree of any shape. Expected values are numpy's, in double.
"""
import numpy as np

from make_random_cases import RandomModel, Tensor, main, rounded

BORDERS = ("constant", "edge", "reflect")  # ONNX and numpy have the same words


class Selections(RandomModel):
    opset = 13

    def __init__(self, seed):
        self.random = np.random.default_rng([7, seed])
        self.nodes, self.constants, self.inputs, self.tensors = [], {}, {}, []
        for _ in range(self.integer(1, 2)):
            self.add_input()
        for _ in range(self.integer(1, 12)):
            self.step()
        self.node("Relu", [self.tensors[-1]], lambda v: np.maximum(v, 0))

    def step(self):
        x = self.pick()
        if x.ndim == 0:
            return
        axis = self.integer(0, x.ndim - 1)
        self.one_of((self.transpose, self.slice, self.slice, self.concat, self.reshape, self.expand, self.tile,
                     lambda x: self.reverse(x, axis), lambda x: self.rotate(x, axis), lambda x: self.gather(x, axis),
                     lambda x: self.repeat(x, axis), lambda x: self.interleave(x, axis), lambda x: self.phases(x, axis),
                     lambda x: self.pad(x, axis), self.choose))(x)

    def part(self, x, axis, first, last, step=1):
        """x[first:last:step] along an axis, none of it negative, as a tensor."""
        key = (slice(None),) * axis + (slice(first, last, step),)
        before = len(self.nodes)
        self.node("Slice", [x], lambda v: v[key], [[first], [last], [axis], [step]])
        return self.tensors[-1] if len(self.nodes) > before else None

    def join(self, parts, axis):
        if all(parts):
            self.node("Concat", parts, lambda *v: np.concatenate(v, axis), axis=axis)

    def reverse(self, x, axis):
        end = -x.shape[axis] - 1
        key = (slice(None),) * axis + (slice(None, None, -1),)
        self.node("Slice", [x], lambda v: v[key], [[-1], [end], [axis], [-1]])

    def rotate(self, x, axis):
        if x.shape[axis] > 1:
            by = self.integer(1, x.shape[axis] - 1)
            self.join([self.part(x, axis, by, x.shape[axis]), self.part(x, axis, 0, by)], axis)

    def gather(self, x, axis):
        """By an array of indices, or by one, which takes the axis away."""
        many = self.integer(0, 2)
        indices = self.random.integers(0, x.shape[axis], self.integer(1, x.shape[axis] + 2)) if many else np.int64(
            self.integer(0, x.shape[axis] - 1))
        self.node("Gather", [x], lambda v: np.take(v, indices, axis), [indices], axis=axis)

    def repeat(self, x, axis):
        """Each element so many times."""
        times = self.integer(2, 3)
        if x.size * times > 400 or x.ndim > 4:
            return
        if self.integer(0, 1):
            places = np.repeat(np.arange(x.shape[axis]), times)
            self.node("Gather", [x], lambda v: np.take(v, places, axis), [places], axis=axis)
            return
        shape = [*x.shape[:axis + 1], times, *x.shape[axis + 1:]]
        flat = [*x.shape[:axis], x.shape[axis] * times, *x.shape[axis + 1:]]
        self.node("Unsqueeze", [x], lambda v: np.expand_dims(v, axis + 1), [[axis + 1]])
        self.node("Expand", [self.tensors[-1]], lambda v: np.broadcast_to(v, shape), [shape])
        self.node("Reshape", [self.tensors[-1]], lambda v: v.reshape(flat), [flat])

    def woven(self, parts, axis):
        shape = list(parts[0].shape)
        if parts[0].ndim > 4 or parts[0].size * len(parts) > 400:
            return
        stacked = []
        for part in parts:
            self.node("Unsqueeze", [part], lambda v: np.expand_dims(v, axis + 1), [[axis + 1]])
            stacked.append(self.tensors[-1])
        self.join(stacked, axis + 1)
        flat = shape[:axis] + [shape[axis] * len(parts)] + shape[axis + 1:]
        self.node("Reshape", [self.tensors[-1]], lambda v: v.reshape(flat), [flat])

    def interleave(self, x, axis):
        self.woven([x, self.one_of([t for t in self.tensors if t.shape == x.shape])], axis)

    def phases(self, x, axis):
        """Taken apart, and together again."""
        count = self.integer(2, 3)
        if x.shape[axis] % count == 0:
            parts = [self.part(x, axis, phase, x.shape[axis], count) for phase in range(count)]
            if all(parts):
                self.woven(parts, axis)

    def pad(self, x, axis):
        mode = self.one_of(BORDERS)
        most = x.shape[axis] - 1 if mode == "reflect" else 3
        low, high = self.integer(0, min(most, 3)), self.integer(0, min(most, 3))
        if low + high == 0:
            return
        widths = [(low, high) if a == axis else (0, 0) for a in range(x.ndim)]
        pads = [w[0] for w in widths] + [w[1] for w in widths]
        self.node("Pad", [x], lambda v: np.pad(v, widths, mode), [pads], mode=mode)

    def choose(self, x):
        y = self.one_of([t for t in self.tensors if t.shape == x.shape])
        op, function = self.one_of((("Max", np.maximum), ("Min", np.minimum)))
        self.node(op, [x, y], function)


class Trees(RandomModel):
    """y: one monoid over an axis or two, in parts."""
    opset = 17

    def __init__(self, seed):
        self.random = np.random.default_rng([8, seed])
        self.nodes, self.constants, self.inputs, self.tensors = [], {}, {}, []
        while True:
            shape = [self.integer(1, 14) for _ in range(self.integer(1, 3))]
            if 2 <= np.prod(shape) <= 400:
                break
        self.axis = self.integer(0, len(shape) - 1)
        kind = self.one_of(("sum", "product", "max", "min", "mean", "sum of squares", "l1", "log-sum-exp"))
        x = self.input(shape)
        if kind == "product":  # near 1, so that it stays in range
            near = np.float32(1 + x.value / 16)
            self.inputs[x.name] = near
            x = Tensor(x.name, near.astype(np.float64), rounded(near))
        self.kind = kind
        result = self.tree(x, x.shape[self.axis])[0]
        if kind == "log-sum-exp":
            most, total = result
            self.node("Log", [total], np.log)
            self.node("Add", [self.tensors[-1], most], np.add)
        else:
            self.node("Identity", [result], lambda v: v)

    def made(self, op, tensors, function, extra=(), **attributes):
        before = len(self.nodes)
        self.node(op, tensors, function, extra, **attributes)
        if len(self.nodes) == before:
            raise OverflowError(op)
        return self.tensors[-1]

    def tree(self, x, extent):
        """The partial result of x, and its number of elements."""
        if extent == 1 or self.integer(0, 3) == 0:
            return self.leaf(x), extent
        first = self.integer(1, extent - 1)
        parts = []
        for begin, end in ((0, first), (first, extent)):
            key = (slice(None),) * self.axis + (slice(begin, end),)
            part = self.made("Slice", [x], lambda v, k=key: v[k], [[begin], [end], [self.axis]])
            parts.append(self.tree(part, end - begin))
        if self.integer(0, 1):
            parts.reverse()
        return self.merge(*parts), extent

    def reduced(self, x, op, function):
        axis = self.axis
        if op == "ReduceSum":
            return self.made(op, [x], lambda v: function(v, axis=axis, keepdims=True), [[axis]], keepdims=1)
        return self.made(op, [x], lambda v: function(v, axis=axis, keepdims=True), axes=[axis], keepdims=1)

    def leaf(self, x):
        simple = {"sum": ("ReduceSum", np.sum), "product": ("ReduceProd", np.prod), "max": ("ReduceMax", np.max),
                  "min": ("ReduceMin", np.min), "mean": ("ReduceMean", np.mean),
                  "sum of squares": ("ReduceSumSquare", lambda v, **how: np.sum(v * v, **how)),
                  "l1": ("ReduceL1", lambda v, **how: np.sum(np.abs(v), **how))}
        if self.kind in simple:
            return self.reduced(x, *simple[self.kind])
        most = self.reduced(x, "ReduceMax", np.max)
        apart = self.made("Sub", [x, most], np.subtract)
        return most, self.reduced(self.made("Exp", [apart], np.exp), "ReduceSum", np.sum)

    def merge(self, a, b):
        """Of two partial results, each with its number of elements."""
        (a, n), (b, m) = a, b
        if self.kind == "mean":
            # Weighted by how many there are.
            parts = [self.made("Mul", [one, self.number(count / (n + m))], np.multiply) for one, count in ((a, n), (b, m))]
            return self.made("Add", parts, np.add)
        if self.kind != "log-sum-exp":
            op, function = {"product": ("Mul", np.multiply), "max": ("Max", np.maximum),
                            "min": ("Min", np.minimum)}.get(self.kind, ("Add", np.add))
            return self.made(op, [a, b], function)
        most = self.made("Max", [a[0], b[0]], np.maximum)
        sums = []
        for high, total in (a, b):
            factor = self.made("Exp", [self.made("Sub", [high, most], np.subtract)], np.exp)
            sums.append(self.made("Mul", [factor, total], np.multiply))
        return most, self.made("Add", sums, np.add)

    def number(self, value):
        value = np.float32(value).reshape([1])
        return Tensor(self.constant(value), value.astype(np.float64), value.astype(np.float64))


def case(seed):
    return Trees(seed) if seed % 2 else Selections(seed)


if __name__ == "__main__":
    main(case)
