#!/usr/bin/env python3
"""Random graphs that only select: views with constant attributes, masks and indices, up to eight deep. Values must be exact bit for bit,
whatever the elements that nothing reads hold, and the host should send no row of which nothing is read. Labels, carried along by NumPy,
tell what is read. At most 2 % of the graphs may send such rows, and only where merged axes save more: without the rewrite merge-axes,
the host sends no such row, but more rows in all.

usage: selections.py SLUICE [--seeds FIRST:END] [--target NAME] [--keep FOLDER]
"""
import json
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from seeds import SeedSearch, search_of

LANES = {"c2b8": 8, "c6b32": 32}
MOST = 4096  # elements of a tensor
DEPTH = 8


class Graph:
    """A graph under way: each tensor has values and labels. Label 0 is a constant, n + 1 element n of all inputs."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.tensors = [], [], {}, []
        self.masked = []  # labels that a mask of elements may drop from a row
        labels = 1
        for i in range(self.random.integers(1, 4)):
            shape = tuple(int(self.random.integers(1, 21 if axis == 0 else 9)) for axis in range(self.random.integers(1, 4)))
            count = int(np.prod(shape))
            values = self.random.integers(-127, 128, shape).astype(np.float32)
            self.inputs[f"x{i}"] = (values, np.arange(labels, labels + count).reshape(shape))
            self.tensors.append((f"x{i}", *self.inputs[f"x{i}"]))
            labels += count
        self.labels = labels

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, op, inputs, select, **attributes):
        """Adds a node; `select` computes its result of values and of labels."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self.tensors.append((name, select(1), select(2)))

    def pick(self):
        """A tensor, more often a late one."""
        return self.tensors[-1 - min(int(self.random.geometric(0.5)) - 1, len(self.tensors) - 1)]

    def step(self):
        kinds = ("slice", "slice", "transpose", "reshape", "concat", "gather", "tile", "expand", "pad", "unsqueeze", "flip", "where",
                 "scatter", "trilu", "compress", "split")
        getattr(self, str(self.random.choice(kinds)))(self.pick())

    def ints(self, values):
        return self.constant(np.asarray(values, np.int64))

    def axis(self, x):
        return int(self.random.integers(x[1].ndim))

    def slice(self, x):
        axis, shape = self.axis(x), x[1].shape
        start = int(self.random.integers(shape[axis]))
        end = int(self.random.integers(start, shape[axis])) + 1
        step = int(self.random.integers(1, 4))
        index = (slice(None),) * axis + (slice(start, end, step),)
        self.add("Slice", [x[0], self.ints([start]), self.ints([end]), self.ints([axis]), self.ints([step])], lambda i: x[i][index])

    def flip(self, x):
        axis = self.axis(x)
        self.add("Slice", [x[0], self.ints([-1]), self.ints([-2**31]), self.ints([axis]), self.ints([-1])], lambda i: np.flip(x[i], axis))

    def split(self, x):
        """Slices of both halves, joined in the other order."""
        axis = self.axis(x)
        extent = x[1].shape[axis]
        at = int(self.random.integers(extent + 1))
        if at in (0, extent):
            return self.flip(x)
        head, tail = f"t{len(self.nodes)}", f"t{len(self.nodes) + 1}"
        for start, end in ((0, at), (at, extent)):
            index = (slice(None),) * axis + (slice(start, end),)
            self.add("Slice", [x[0], self.ints([start]), self.ints([end]), self.ints([axis])], lambda i, index=index: x[i][index])
        self.add("Concat", [tail, head], lambda i: np.roll(x[i], -at, axis), axis=axis)

    def transpose(self, x):
        order = [int(a) for a in self.random.permutation(x[1].ndim)]
        self.add("Transpose", [x[0]], lambda i: np.transpose(x[i], order), perm=order)

    def reshape(self, x):
        factors = []
        rest = x[1].size
        while rest > 1 and len(factors) < 4:
            divisors = [d for d in range(2, rest + 1) if rest % d == 0]
            factors.append(int(self.random.choice(divisors)))
            rest //= factors[-1]
        shape = [int(f) for f in self.random.permutation([*factors[:3], rest * int(np.prod(factors[3:]))])]
        self.add("Reshape", [x[0], self.ints(shape)], lambda i: x[i].reshape(shape))

    def unsqueeze(self, x):
        axis = int(self.random.integers(x[1].ndim + 1))
        if x[1].ndim > 3:
            return
        self.add("Unsqueeze", [x[0], self.ints([axis])], lambda i: np.expand_dims(x[i], axis))

    def concat(self, x):
        axis = self.axis(x)
        fits = [t for t in self.tensors if t[1].ndim == x[1].ndim and all(
            a == b for k, (a, b) in enumerate(zip(t[1].shape, x[1].shape)) if k != axis)]
        parts = [fits[int(self.random.integers(len(fits)))] for _ in range(self.random.integers(1, 3))] + [x]
        self.add("Concat", [p[0] for p in parts], lambda i: np.concatenate([p[i] for p in parts], axis), axis=axis)

    def gather(self, x):
        axis = self.axis(x)
        index = self.random.integers(0, x[1].shape[axis], self.random.integers(1, 6))
        self.add("Gather", [x[0], self.ints(index)], lambda i: np.take(x[i], index, axis), axis=axis)

    def tile(self, x):
        counts = [int(c) for c in self.random.integers(1, 3, x[1].ndim)]
        self.add("Tile", [x[0], self.ints(counts)], lambda i: np.tile(x[i], counts))

    def expand(self, x):
        if 1 not in x[1].shape:
            return self.tile(x)
        shape = [int(self.random.integers(1, 5)) if n == 1 else n for n in x[1].shape]
        self.add("Expand", [x[0], self.ints(shape)], lambda i: np.broadcast_to(x[i], shape))

    def pad(self, x):
        pads = [(int(a), int(b)) for a, b in self.random.integers(0, 3, (x[1].ndim, 2))]
        value = float(self.random.integers(-8, 9))
        self.add("Pad", [x[0], self.ints([a for a, _ in pads] + [b for _, b in pads]), self.constant(np.float32(value))],
                 lambda i: np.pad(x[i], pads, constant_values=value if i == 1 else 0))

    def other(self, x):
        """A tensor of the same shape: another one, or a constant."""
        fits = [t for t in self.tensors if t[1].shape == x[1].shape and t[0] != x[0]]
        if fits and self.random.random() < 0.7:
            return fits[int(self.random.integers(len(fits)))]
        values = self.random.integers(-8, 9, x[1].shape).astype(np.float32)
        return self.constant(values), values, np.zeros(x[1].shape, np.int64)

    def where(self, x):
        """By a mask of rows, of one axis, or of single elements."""
        other = self.other(x)
        shape = [n if self.random.random() < 0.5 else 1 for n in x[1].shape]
        mask = self.random.random(shape) < 0.5
        self.masked += [x[2], other[2]]
        self.add("Where", [self.constant(mask), x[0], other[0]], lambda i: np.where(mask, x[i], other[i]))

    def scatter(self, x):
        """Some rows of a tensor replace others."""
        count = int(self.random.integers(1, x[1].shape[0] + 1))
        rows = self.random.permutation(x[1].shape[0])[:count]
        start = int(self.random.integers(x[1].shape[0] - count + 1))
        updates = f"t{len(self.nodes)}"
        other = self.other(x)
        self.masked += [x[2], other[2]]
        self.add("Slice", [other[0], self.ints([start]), self.ints([start + count]), self.ints([0])], lambda i: other[i][start:start + count])

        def written(i):
            result = np.array(x[i])
            result[rows] = other[i][start:start + count]
            return result
        self.add("ScatterND", [x[0], self.ints(rows[:, None]), updates], written)

    def trilu(self, x):
        if x[1].ndim < 2:
            return self.pad(x)
        upper, k = int(self.random.integers(2)), int(self.random.integers(-2, 3))
        cut = np.triu if upper else np.tril
        self.masked.append(x[2])
        self.add("Trilu", [x[0], self.constant(np.int64(k))], lambda i: cut(x[i], k), upper=upper)

    def compress(self, x):
        axis = self.axis(x)
        mask = self.random.random(x[1].shape[axis]) < 0.6
        if not mask.any():
            return self.flip(x)
        self.add("Compress", [x[0], self.constant(mask)], lambda i: np.compress(mask, x[i], axis), axis=axis)

    def finish(self):
        """Steps until the graph is deep enough and reads something. What nothing reads becomes NaN or infinite."""
        depth = int(self.random.integers(1, DEPTH + 1))
        while len(self.nodes) < depth or (len(self.nodes) < 2 * DEPTH and not any(t[2].any() for t in self.tensors if t[0].startswith("t"))):
            before = len(self.nodes), len(self.tensors)
            self.step()
            if any(t[1].size > MOST or t[1].ndim > 4 for t in self.tensors[before[1]:]):
                del self.nodes[before[0]:], self.tensors[before[1]:]
        used = {name for node in self.nodes for name in node.input}
        self.outputs = [t for t in self.tensors if t[0] not in used and t[0].startswith("t")]
        read = np.zeros(self.labels, bool)
        for _, _, labels in self.outputs:
            read[labels] = True
        read[0] = False
        self.read = read
        # Moving a row to other lanes is a sum: an element that a mask drops afterwards must be finite (docs/numerics.md).
        finite = read.copy()
        for labels in self.masked:
            finite[labels] = True
        self.fed = {}
        for name, (values, labels) in self.inputs.items():
            given = values.copy()
            unread = ~finite[labels]
            given[unread] = self.random.choice(np.float32([np.nan, np.inf, -np.inf]), unread.sum())
            self.fed[name] = given

    def model(self):
        def info(name, values):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, values.shape)
        graph = helper.make_graph(self.nodes, "selections", [info(n, v) for n, (v, _) in self.inputs.items()],
                                  [info(t[0], t[1]) for t in self.outputs], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def rows_sent(io, graph, lanes):
    """Rows that the host sends, and those of them that hold no element which an output reads."""
    sent = useless = 0
    for one in io["inputs"]:
        whole = one["name"].split("[")[0]
        read = graph.read[graph.inputs[whole][1].reshape(-1)]
        shape = np.array(one["shape"] or [1])
        selection = one["selection"] or {"first": 0, "strides": [int(np.prod(shape[i + 1:])) for i in range(len(shape))]}
        elements = selection["first"] + sum(
            (np.arange(n) * stride).reshape([-1 if j == i else 1 for j in range(len(shape))])
            for i, (n, stride) in enumerate(zip(shape, selection["strides"])))
        if one["packed"]:  # neighbouring axes are one: that of the data dimension follows from the number of rows
            elements = np.asarray(elements).reshape(one["packed"])
            dim = next(axis for axis, extent in enumerate(one["packed"]) if elements.size // extent * -(-extent // lanes) == one["rows"])
        else:
            dim = one["data_dim"]
        along = np.moveaxis(read[elements], dim, -1)
        along = np.pad(along, [(0, 0)] * (along.ndim - 1) + [(0, -along.shape[-1] % lanes)])
        rows = along.reshape(-1, lanes).any(axis=1)
        assert len(rows) == one["rows"], (one, len(rows))
        sent += len(rows)
        useless += int((~rows).sum())
    return sent, useless


class Search(SeedSearch):
    def run(self, folder, *words):
        return subprocess.run([self.sluice, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=300, check=False)

    def fail(self, seed, what, folder):
        self.failures.append(f"seed {seed}: {what}")
        self.keep_model(seed, folder)

    def one(self, seed, folder):
        graph = Graph(seed)
        graph.finish()
        onnx.save(graph.model(), folder / "m.onnx")
        for name, values in graph.fed.items():
            np.save(folder / f"{name}.npy", values)
        if not graph.read.any():
            self.counts["left out, because they are constant"] += 1
            return
        done = self.run(folder, "compile", "m.onnx", "--target", self.target, "--apply-fixes", "-o", "m.sluice")
        if done.returncode != 0:
            code = done.stderr.split("error[")[-1][:5]
            self.counts[f"rejected, {code}"] += 1
            if done.returncode not in (3, 4):
                self.fail(seed, f"compile ends with {done.returncode}: {done.stderr.splitlines()[:1]}", folder)
            return
        self.counts["compiled"] += 1
        engines = json.loads(self.run(folder, "version", "--json").stdout)["engines"]["rtl"]
        words = [w for name in graph.fed for w in ("--input", f"{name}=@{name}.npy")]
        words += [w for t in graph.outputs for w in ("--output", f"{t[0]}=@{t[0]}.npy")]
        done = self.run(folder, "run", "m.sluice", "--engine", "both" if self.target in engines else "vm", *words)
        if done.returncode != 0:
            return self.fail(seed, f"run ends with {done.returncode}: {done.stderr.splitlines()[:1]}", folder)
        for name, values, _ in graph.outputs:
            found = np.load(folder / f"{name}.npy")
            if found.shape != values.shape or not np.array_equal(found, values):
                self.fail(seed, f"{name} differs in {int((found != values).sum())} of {values.size} elements", folder)
        sent, useless = self.rows_sent("m.sluice", graph, folder)
        self.counts["rows sent"] += sent
        self.counts["rows sent that nothing reads"] += useless
        if useless:
            self.counts["graphs that send a row that nothing reads"] += 1
            self.run(folder, "compile", "m.onnx", "--target", self.target, "--apply-fixes", "--without-rewrite", "merge-axes", "-o", "apart.sluice")
            apart, without = self.rows_sent("apart.sluice", graph, folder)
            print(f"seed {seed}: {useless} of {sent} rows are not read, {without} of {apart} without merged axes")
            if without or apart <= sent:
                self.fail(seed, f"{useless} of {sent} rows are sent for nothing", folder)

    def rows_sent(self, program, graph, folder):
        io = json.loads(self.run(folder, "inspect", program, "--io", "--json").stdout)["models"][0]
        return rows_sent(io, graph, LANES[self.target])


def main():
    search = search_of(__doc__, Search, "0:1000")
    if search.counts["graphs that send a row that nothing reads"] > max(1, 0.02 * search.counts["compiled"]):
        search.failures.append("more than 2 % of the graphs send rows for nothing")
    print("\n".join(search.failures) or "all values are exact")
    return 1 if search.failures else 0


if __name__ == "__main__":
    sys.exit(main())
