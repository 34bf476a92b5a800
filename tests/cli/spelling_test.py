#!/usr/bin/env python3
"""One network, one plan: models that exporters write apart take the same cycles, without a flag.

usage: spelling_test.py SLUICE [unittest arguments]
"""
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import Folder, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "ops"))
from cases.recurrences import GATES, recurrence  # noqa: E402 pylint: disable=wrong-import-position


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), [output], name=output, **attributes)


def values(*shape):
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def gates(source, count):
    return [node("Slice", f"{source} from{i} from{i + 1} ax", f"{source}{'abcd'[i]}") for i in range(count)]


def lstm_nodes(t):
    """A step from z, the part of the input, and the states h and c before it."""
    z = f"s{t}"
    return [node("MatMul", f"h{t} rt", f"p{t}"), node("Add", f"z{t} p{t}", z), *gates(z, 4),
            node("Sigmoid", f"{z}a", f"i{t}"), node("Sigmoid", f"{z}b", f"o{t}"), node("Sigmoid", f"{z}c", f"f{t}"),
            node("Tanh", f"{z}d", f"g{t}"), node("Mul", f"f{t} c{t}", f"k{t}"), node("Mul", f"i{t} g{t}", f"n{t}"),
            node("Add", f"k{t} n{t}", f"c{t + 1}"), node("Tanh", f"c{t + 1}", f"e{t}"), node("Mul", f"o{t} e{t}", f"h{t + 1}")]


def gru_nodes(t):
    return [node("MatMul", f"h{t} rt", f"m{t}"), node("Add", f"m{t} rb", f"p{t}"), *gates(f"p{t}", 3), *gates(f"z{t}", 3),
            node("Add", f"z{t}a p{t}a", f"q{t}"), node("Sigmoid", f"q{t}", f"u{t}"),
            node("Add", f"z{t}b p{t}b", f"v{t}"), node("Sigmoid", f"v{t}", f"r{t}"),
            node("Mul", f"r{t} p{t}c", f"k{t}"), node("Add", f"z{t}c k{t}", f"n{t}"), node("Tanh", f"n{t}", f"g{t}"),
            node("Sub", f"one u{t}", f"l{t}"), node("Mul", f"l{t} g{t}", f"i{t}"), node("Mul", f"u{t} h{t}", f"o{t}"),
            node("Add", f"i{t} o{t}", f"h{t + 1}")]


def rnn_nodes(t):
    return [node("MatMul", f"h{t} rt", f"p{t}"), node("Add", f"z{t} p{t}", f"s{t}"), node("Tanh", f"s{t}", f"h{t + 1}")]


class Spelling(Folder):
    def cycles(self, nodes, x, y, constants, *flags, opset=20):
        """Returns the cycles of a model from x to y, and compares it with y on both engines."""
        tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
        graph = helper.make_graph(nodes, "spelling", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, y.shape)], tensors)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9),
                  self.dir / "m.onnx")
        np.save(self.dir / "x.npy", x)
        np.save(self.dir / "y.npy", y.astype(np.float32))
        self.ok("--json=c.json", "compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice", *flags)
        self.right("p.sluice")
        return json.loads((self.dir / "c.json").read_text())["latency"]["spaced"]

    def same(self, spellings, x, y, constants, *flags, apart=0, **kwargs):
        found = {name: self.cycles(nodes, x, y, constants, *flags, **kwargs) for name, nodes in spellings.items()}
        self.assertLessEqual(max(found.values()) - min(found.values()), apart, found)

    def test_axes_that_come_back(self):
        """The reduced axis returns, by any operator."""
        for batch in 1, 4:
            x, a, b = values(batch, 16), values(16, 24), values(24, 8)
            constants = {"A": a, "B": b, "ax": np.int64([1]), "s": np.int64([batch, 1])}
            before, after = [node("MatMul", "x A", "h")], [node("Sub", "h m", "d"), node("MatMul", "d B", "y")]
            h = x @ a
            for op, reference in (("ReduceMean", np.mean), ("ReduceMax", np.max)):
                y = (h - reference(h, 1, keepdims=True)) @ b
                self.same({
                    "keepdims": [*before, node(op, "h ax", "m", keepdims=1), *after],
                    "unsqueeze": [*before, node(op, "h ax", "r", keepdims=0), node("Unsqueeze", "r ax", "m"), *after],
                    "reshape": [*before, node(op, "h ax", "r", keepdims=0), node("Reshape", "r s", "m"), *after],
                }, x, y, constants)

    def test_axes_of_extent_one(self):
        """They decide nothing, wherever they are inserted."""
        x, a, b = values(1, 16), values(16, 8), values(8, 8)
        y = np.maximum(x @ a, 0) @ b
        plain = [node("MatMul", "x A", "h"), node("Relu", "h", "r"), node("MatMul", "r B", "y")]
        spellings = {"plain": plain}
        for axis in 0, 1, 2:
            spellings[axis] = [node("MatMul", "x A", "h"), node("Unsqueeze", f"h a{axis}", "u"), node("Relu", "u", "v"),
                               node("Squeeze", f"v a{axis}", "r"), node("MatMul", "r B", "y")]
        self.same(spellings, x, y, {"A": a, "B": b, **{f"a{axis}": np.int64([axis]) for axis in range(3)}})

    def test_one_hot_of_the_largest(self):
        x, a, b = values(1, 16), values(16, 4), values(4, 8)
        y = np.eye(4)[np.argmax(x @ a, 1)] @ b
        constants = {"A": a, "B": b, "n": np.int64(4), "v": np.float32([0, 1]), "w": np.int64([0, 1]), "places": np.arange(4),
                     "ax": np.int64([1]), "one": np.float32(1), "zero": np.float32(0)}
        equal = [node("Unsqueeze", "k ax", "u"), node("Equal", "u places", "e")]
        spellings = {"OneHot": [node("OneHot", "k n v", "o", axis=-1)],
                     "OneHot of integers": [node("OneHot", "k n w", "i", axis=-1), node("Cast", "i", "o", to=TensorProto.FLOAT)],
                     "Equal": [*equal, node("Cast", "e", "o", to=TensorProto.FLOAT)],
                     "Equal by way of integers": [*equal, node("Cast", "e", "i", to=TensorProto.INT64),
                                                  node("Cast", "i", "o", to=TensorProto.FLOAT)],
                     "Where": [*equal, node("Where", "e one zero", "o")]}
        self.same({name: [node("MatMul", "x A", "h"), node("ArgMax", "h", "k", axis=-1, keepdims=0), *nodes,
                          node("MatMul", "o B", "y")] for name, nodes in spellings.items()}, x, y, constants)

    def test_weights_that_constants_make(self):
        x, w = values(1, 8, 16), values(8, 1, 4)
        padded = np.pad(x, ((0, 0), (0, 0), (3, 0)))
        y = np.stack([sum(w[:, 0, k] * padded[0, :, t + k] for k in range(4)) for t in range(16)], 1)[None]
        parts = values(8, 1, 4, 3)
        parts[..., 0] += w - parts.sum(3)
        conv = node("Conv", "x w", "y", group=8, pads=[3, 0])
        constants = {"parts": parts, "ax": np.int64([3]), "two": np.float32(2), "twice": 2 * w,
                     "left": values(8, 1, 1) * 0 + 1, "w0": w}
        self.same({
            "stored": [node("Identity", "w0", "w"), conv],
            "sum": [node("ReduceSum", "parts ax", "w", keepdims=0), conv],
            "quotient": [node("Div", "twice two", "w"), conv],
            "product": [node("MatMul", "left w0", "w"), conv],
        }, x, y, constants)

    def test_transposes_between_reshapes(self):
        x = values(1, 4, 16)
        heads = x.reshape(1, 4, 2, 8).transpose(0, 2, 1, 3)
        y = heads @ heads.transpose(0, 1, 3, 2)
        split = [node("Reshape", "x s4", "h"), node("Transpose", "h", "q", perm=[0, 2, 1, 3])]
        self.same({
            "transpose": [*split, node("Transpose", "q", "k", perm=[0, 1, 3, 2]), node("MatMul", "q k", "y")],
            "reshapes": [*split, node("Reshape", "q s3", "a"), node("Transpose", "a", "b", perm=[0, 2, 1]),
                         node("Reshape", "b t4", "k"), node("MatMul", "q k", "y")],
        }, x, y, {"s4": np.int64([1, 4, 2, 8]), "s3": np.int64([-1, 4, 8]), "t4": np.int64([1, 2, 8, 4])},
            "--allow-dynamic-weights")

    def test_windows(self):
        """Selects windows by indices, or by slices that a concat stacks."""
        x, w = values(2, 12), values(3, 5)
        starts = [0, 4, 8]
        y = np.stack([x[:, start:start + 4] for start in starts], 2) @ w
        constants = {"w": w, "ax": np.int64([1]), "new": np.int64([2]), "where": np.add.outer(np.arange(4), starts),
                     **{f"at{i}": np.int64([i]) for i in (0, 4, 8, 12)}}
        slices = [node("Slice", f"x at{i} at{i + 4} ax", f"s{i}") for i in starts]
        self.same({
            "indices": [node("Gather", "x where", "g", axis=1), node("MatMul", "g w", "y")],
            "slices": [*slices, *(node("Unsqueeze", f"s{i} new", f"u{i}") for i in starts),
                       node("Concat", "u0 u4 u8", "g", axis=2), node("MatMul", "g w", "y")],
        }, x, y, constants)

    def test_cells_step_by_step(self):
        """LSTM, GRU and RNN as operators; with one product for all gates, whose parts are selected behind the sum."""
        steps, inputs, hidden = 4, 5, 5
        for op, cell in (("LSTM", lstm_nodes), ("GRU", gru_nodes), ("RNN", rnn_nodes)):
            width = GATES[op] * hidden
            x, w, r, b = values(steps, 1, inputs), values(1, width, inputs) / 3, values(1, width, hidden) / 3, values(1, 2 * width)
            y = recurrence(op, x, w, r, b, h0=x[:1], c0=x[:1], linear_before_reset=1)[0][-1][0]
            own, recurrent = np.split(b[0], 2)
            constants = {"w": w, "r": r, "b": b, "wt": w[0].T, "rt": r[0].T, "wb": own, "rb": recurrent, "both": own + recurrent,
                         "zero": np.int64([0]), "ax": np.int64([1]), "one": np.float32(1), "last": np.int64(-1),
                         **{f"at{t}": np.int64(t) for t in range(steps)},
                         **{f"from{i}": np.int64([i * hidden]) for i in range(5)}}
            more = {"linear_before_reset": 1} if op == "GRU" else {}
            state = [node("Slice", "x zero ax zero", "first")]
            given = "x w r b  first first".split(" ")[:7 if op == "LSTM" else 6]
            spellings = {"operator": [*state, helper.make_node(op, given, ["all"], name=op, hidden_size=hidden, **more),
                                      node("Gather", "all last", "h", axis=0), node("Squeeze", "h zero", "y")]}
            state += [node("Squeeze", "first zero", "h0"), node("Squeeze", "first zero", "c0")]
            for together in True, False:
                nodes = list(state)
                if together:
                    nodes += [node("MatMul", "x wt", "m"), node("Add", f"m {'wb' if op == 'GRU' else 'both'}", "xs")]
                for t in range(steps):
                    if together:
                        nodes.append(node("Gather", f"xs at{t}", f"z{t}", axis=0))
                    else:
                        nodes += [node("Gather", f"x at{t}", f"x{t}", axis=0),
                                  node("Gemm", f"x{t} wt {'wb' if op == 'GRU' else 'both'}", f"z{t}")]
                    nodes += cell(t)
                spellings["steps" if together else "products of each step"] = [*nodes, node("Identity", f"h{steps}", "y")]
            # The products of the steps do not depend on each other: their rows are in another order.
            self.same(spellings, x, y, constants, apart=1)

    def test_batch_norms(self):
        """Behind a layer they are its weights and bias, in any form."""
        mean, scale, shift, variance = values(6), values(6) + 1, values(6) / 2, np.abs(values(6)) + 0.5
        spread = np.sqrt(variance + 1e-5)
        for layer, x, w, y, tail in (
                ("Conv", values(1, 3, 8), values(6, 3, 3), lambda x, w: np.stack([sum(w[:, :, k] @ x[0, :, t:t + 3][:, k] for k in range(3))
                                                                                for t in range(6)], 1)[None], (1,)),
                ("MatMul", values(2, 5), values(5, 6), lambda x, w: x @ w, ())):
            column = lambda value: value.reshape(-1, *tail).astype(np.float32)  # noqa: E731 pylint: disable=cell-var-from-loop
            y = (y(x.astype(float), w) - mean.reshape(-1, *tail)) * (scale / spread).reshape(-1, *tail) + shift.reshape(-1, *tail)
            y = np.maximum(y, 0)
            constants = {"w": w, "s": scale, "b": shift, "m": mean, "v": variance.astype(np.float32), "mc": column(mean),
                         "factor": column(scale / spread), "sc": column(scale), "bc": column(shift), "spread": column(spread),
                         "offset": column(shift - mean * scale / spread), "vc": column(variance), "eps": np.float32(1e-5)}
            first, last = node(layer, "x w", "a"), node("Relu", "n", "y")
            self.same({
                "operator": [first, node("BatchNormalization", "a s b m v", "n"), last],
                "sub, mul, add": [first, node("Sub", "a mc", "d"), node("Mul", "d factor", "f"), node("Add", "f bc", "n"), last],
                "mul, add": [first, node("Mul", "a factor", "f"), node("Add", "f offset", "n"), last],
                "div": [first, node("Sub", "a mc", "d"), node("Div", "d spread", "q"), node("Mul", "q sc", "f"), node("Add", "f bc", "n"), last],
                "sqrt": [first, node("Sub", "a mc", "d"), node("Add", "vc eps", "e"), node("Sqrt", "e", "r"), node("Div", "d r", "q"),
                         node("Mul", "q sc", "f"), node("Add", "f bc", "n"), last],
                "factor first": [first, node("Add", "vc eps", "e"), node("Sqrt", "e", "r"), node("Div", "sc r", "k"), node("Sub", "a mc", "d"),
                                 node("Mul", "k d", "f"), node("Add", "bc f", "n"), last],
            }, x, y, constants)

    def test_batch_norms_of_activations(self):
        """Where no layer takes their factors, they are one factor and one offset."""
        x, mean, scale, shift, spread = values(3, 20), values(20), values(20) + 1, values(20) / 2, np.abs(values(20)) + 0.5
        y = np.tanh(np.maximum((x.astype(float) - mean) / spread * scale + shift, 0))
        constants = {"s": scale, "b": shift, "m": mean, "v": (spread ** 2 - 1e-5).astype(np.float32), "spread": spread,
                     "factor": scale / spread, "offset": (shift - mean * scale / spread).astype(np.float32),
                     "zero": np.zeros(20, np.float32), "minus": -mean}
        last = [node("Relu", "n", "r"), node("Tanh", "r", "y")]
        self.same({
            "operator": [node("BatchNormalization", "x s b m v", "n"), *last],
            "sub, mul, add": [node("Sub", "x m", "d"), node("Mul", "d factor", "f"), node("Add", "f b", "n"), *last],
            "mul, add": [node("Mul", "x factor", "f"), node("Add", "f offset", "n"), *last],
            "div": [node("Sub", "x m", "d"), node("Div", "d spread", "q"), node("Mul", "q s", "f"), node("Add", "f b", "n"), *last],
            "add": [node("Add", "x minus", "d"), node("Mul", "d factor", "f"), node("Add", "zero f", "g"), node("Add", "g b", "n"), *last],
        }, x, y, constants)

    def test_neutral_constants_and_signs(self):
        x, a = values(2, 16), values(16, 16)
        constants = {"A": a, "zero": np.float32(0), "zeros": np.zeros(16, np.float32), "one": np.float32(1), "m": np.float32(-1)}
        first = node("MatMul", "x A", "h")
        self.same({
            "plain": [first, node("Sub", "h x", "y")],
            "zero": [first, node("Add", "h zero", "i"), node("Add", "zeros i", "j"), node("Sub", "j x", "y")],
            "one": [first, node("Mul", "h one", "i"), node("Div", "i one", "j"), node("Sub", "j x", "y")],
            "negative": [first, node("Neg", "x", "n"), node("Add", "h n", "y")],
            "negative first": [first, node("Mul", "m x", "n"), node("Add", "n h", "y")],
            "two negatives": [first, node("Neg", "h", "g"), node("Neg", "g", "i"), node("Sub", "i x", "y")],
        }, x, x @ a - x, constants)

    def test_reductions_of_one_element(self):
        x, a = values(1, 8), values(8, 8)
        for op in "ReduceLogSumExp", "ReduceMean", "ReduceMax":
            self.same({
                "nothing": [node("MatMul", "x A", "y")],
                "keepdims": [node("MatMul", "x A", "h"), node(op, "h ax", "y", keepdims=1)],
                "unsqueeze": [node("MatMul", "x A", "h"), node(op, "h ax", "r", keepdims=0), node("Unsqueeze", "r ax", "y")],
            }, x, x @ a, {"A": a, "ax": np.int64([0])})

    def test_reduced_axes_that_a_squeeze_removes(self):
        x, ax = values(43, 8), {"ax": np.int64([1])}
        self.same({
            "at once": [node("ReduceMax", "x ax", "y", keepdims=0)],
            "squeeze": [node("ReduceMax", "x ax", "r", keepdims=1), node("Squeeze", "r ax", "y")],
        }, x, x.max(1), ax)

    def test_attention(self):
        """As an operator with a mask of bools, or written out with one of floats."""
        q, k, v = (values(1, 2, 6, 8) * factor for factor in (1, 0.5, 2))
        x = np.concatenate([q, k, v], 1)
        sees = np.tril(np.ones((6, 6), bool))
        scores = np.where(sees, q.astype(float) @ k.transpose(0, 1, 3, 2) / 8 ** 0.5, -np.inf)
        weights = np.exp(scores - scores.max(3, keepdims=True))
        y = weights / weights.sum(3, keepdims=True) @ v
        parts = [node("Slice", f"x from{i} from{i + 1} ax", name) for i, name in enumerate("qkv")]
        constants = {"ax": np.int64([1]), **{f"from{i}": np.int64([2 * i]) for i in range(4)}, "sees": sees,
                     "mask": np.where(sees, 0, np.finfo(np.float32).min / 2).astype(np.float32), "s": np.float32(8 ** -0.5),
                     "r": np.float32(8 ** -0.25)}
        turned = node("Transpose", "k", "t", perm=[0, 1, 3, 2])
        rest = [node("MatMul", "a t", "p"), node("Add", "p mask", "m"), node("Softmax", "m", "w"), node("MatMul", "w v", "y")]
        self.same({
            "operator": [*parts, node("Attention", "q k v sees", "y")],
            "written out": [*parts, turned, node("MatMul", "q t", "a"), node("Mul", "a s", "p"), *rest[1:]],
            "two factors": [*parts, turned, node("Mul", "q r", "a"), node("Mul", "t r", "b"), node("MatMul", "a b", "p"), *rest[1:]],
        }, x, y, constants, "--allow-dynamic-weights", opset=23)
        # A factor of one operand stays there: docs/decisions/one-form-per-network.md.
        queries = [*parts, turned, node("Mul", "q s", "a"), *rest]
        self.assertLessEqual(self.cycles(queries, x, y, constants, "--allow-dynamic-weights", opset=23), 140)

    def test_group_norms(self):
        x, s, b = values(1, 8, 3, 3), values(8), values(8)
        grouped = x.reshape(1, 2, -1).astype(float)
        normal = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + 1e-5)
        y = normal.reshape(x.shape) * s.reshape(8, 1, 1) + b.reshape(8, 1, 1)
        self.same({
            "operator": [node("GroupNormalization", "x s b", "y", num_groups=2)],
            "instances": [node("Reshape", "x r", "a"), node("InstanceNormalization", "a one zero", "n"),
                          node("Reshape", "n q", "e"), node("Mul", "e s3", "f"), node("Add", "f b3", "y")],
        }, x, y, {"s": s, "b": b, "r": np.int64([0, 2, -1]), "q": np.int64(x.shape), "one": np.float32([1, 1]),
                  "zero": np.float32([0, 0]), "s3": s.reshape(8, 1, 1), "b3": b.reshape(8, 1, 1)}, opset=21)

    def test_group_norm_of_rank_two(self):
        x, s, b = values(2, 8), values(8), values(8)
        grouped = x.reshape(2, 2, 4).astype(float)
        normal = (grouped - grouped.mean(2, keepdims=True)) / np.sqrt(grouped.var(2, keepdims=True) + 1e-5)
        self.cycles([node("GroupNormalization", "x s b", "y", num_groups=2)], x, normal.reshape(2, 8) * s + b,
                    {"s": s, "b": b}, opset=21)

    def test_signals_without_an_axis_of_parts(self):
        x = values(1, 32)
        frames = np.stack([x[:, i:i + 8] for i in range(0, 25, 4)], 1)
        spectrum = np.fft.rfft(frames, axis=2)
        y = np.stack([spectrum.real, spectrum.imag], 3)
        constants = {"step": np.int64(4), "size": np.int64(8), "ax": np.int64([2])}
        self.same({
            "rank 2": [helper.make_node("STFT", ["x", "step", "", "size"], ["y"])],
            "rank 3": [node("Unsqueeze", "x ax", "u"), helper.make_node("STFT", ["u", "step", "", "size"], ["y"])],
        }, x, y, constants)


if __name__ == "__main__":
    main()
