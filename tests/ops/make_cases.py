#!/usr/bin/env python3
"""Writes cases of operators as the backend tests of ONNX lay them out.

usage: make_cases.py FOLDER

What those tests leave out: constant operands on both sides and of every rank,
extents that do not divide the lanes, selections along and off the data
dimension, several outputs, old versions of operators, operators newer than the
package. Expected values are
numpy's, in double.
"""
import math
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(20)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def node(op, inputs, outputs="y", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


class Cases:
    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def add(self, name, nodes, inputs, outputs, constants=None, opset=17,
            result=TensorProto.FLOAT, flags=()):
        """Inputs, outputs and constants are arrays by name; `result` is the outputs' type,
        flags are of sluice compile."""
        def infos(tensors, kind):
            return [helper.make_tensor_value_info(k, kind, np.shape(v))
                    for k, v in tensors.items()]

        initializers = [numpy_helper.from_array(np.asarray(v), k)
                        for k, v in (constants or {}).items()]
        graph = helper.make_graph(nodes if isinstance(nodes, list) else [nodes], name,
                                  infos(inputs, TensorProto.FLOAT), infos(outputs, result),
                                  initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 8
        data = self.folder / name / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, str(self.folder / name / "model.onnx"))
        if flags:
            (self.folder / name / "flags.txt").write_text("\n".join(flags) + "\n")
        for kind, tensors in (("input", inputs), ("output", outputs)):
            for i, value in enumerate(tensors.values()):
                proto = numpy_helper.from_array(np.asarray(value, np.float32))
                (data / f"{kind}_{i}.pb").write_bytes(proto.SerializeToString())
        self.count += 1

    def unary(self, name, op, function, x, opset=17, **attributes):
        self.add(name, node(op, "x", **attributes), {"x": x}, {"y": function(np.asarray(x, np.float64))},
                 opset=opset)


def linear(cases):
    x, w, b = normal(1, 19), normal(19, 11), normal(11)
    cases.add("gemm_bias", node("Gemm", "x w b"), {"x": x}, {"y": x @ w + b}, {"w": w, "b": b})
    cases.add("gemm_no_bias", node("Gemm", "x w"), {"x": x}, {"y": x @ w}, {"w": w})
    cases.add("gemm_alpha_beta", node("Gemm", "x w b", alpha=0.3, beta=-2.5, transB=1),
              {"x": x}, {"y": np.float32(0.3) * (x @ w) - 2.5 * b}, {"w": w.T.copy(), "b": b})
    cases.add("gemm_opset7", node("Gemm", "x w b"), {"x": x}, {"y": x @ w + b},
              {"w": w, "b": b}, opset=7)
    batch = normal(3, 19)
    cases.add("gemm_rows", node("Gemm", "x w b"), {"x": batch}, {"y": batch @ w + b},
              {"w": w, "b": b})
    cases.add("gemm_rows_bias_matrix", node("Gemm", "x w b"), {"x": batch},
              {"y": batch @ w + np.arange(33).reshape(3, 11) / 9},
              {"w": w, "b": (np.arange(33).reshape(3, 11) / 9).astype(np.float32)})
    cases.add("gemm_transA", node("Gemm", "x w b", transA=1), {"x": batch.T.copy()},
              {"y": batch @ w + b}, {"w": w, "b": b})
    right = normal(11, 2)
    cases.add("gemm_left_constant", node("Gemm", "w x"), {"x": right}, {"y": w @ right}, {"w": w})
    cases.add("matmul_left_constant", node("MatMul", "w x"), {"x": right}, {"y": w @ right},
              {"w": w})
    cases.add("matmul_right_constant", node("MatMul", "x w"), {"x": batch}, {"y": batch @ w},
              {"w": w})
    vector = normal(19)
    cases.add("matmul_vector_right_constant", node("MatMul", "x w"), {"x": vector},
              {"y": vector @ w}, {"w": w})
    cases.add("matmul_vector_left_constant", node("MatMul", "w x"), {"x": vector},
              {"y": w.T @ vector}, {"w": w.T.copy()})
    cases.add("matmul_constant_vector", node("MatMul", "x w"), {"x": batch},
              {"y": batch @ vector}, {"w": vector})
    cases.add("matmul_dot", node("MatMul", "x w"), {"x": vector}, {"y": vector @ vector[::-1]},
              {"w": vector[::-1].copy()})
    deep = normal(2, 3, 19)
    cases.add("matmul_rank3", node("MatMul", "x w"), {"x": deep}, {"y": deep @ w}, {"w": w})
    stack = normal(2, 19, 5)
    cases.add("matmul_rank3_both", node("MatMul", "x w"), {"x": deep}, {"y": deep @ stack},
              {"w": stack})
    cases.add("matmul_rank3_constant", node("MatMul", "x w"), {"x": batch}, {"y": batch @ stack},
              {"w": stack})
    cases.add("matmul_rank3_left", node("MatMul", "w x"), {"x": stack}, {"y": w.T @ stack},
              {"w": w.T.copy()})
    wide, tall = normal(1, 100), normal(100, 70)
    cases.add("gemm_many_blocks", node("Gemm", "x w"), {"x": wide}, {"y": wide @ tall},
              {"w": tall})
    # Three rows of sixteen blocks over two cores: one of them is split.
    even, share, third = normal(1, 128), normal(128, 24), normal(24)
    total = even @ share + third
    cases.add("gemm_row_split", node("Gemm", "x w b"), {"x": even}, {"y": total},
              {"w": share, "b": third})
    cases.add("gemm_row_split_relu", [node("Gemm", "x w b", "g"), node("Relu", "g")], {"x": even},
              {"y": np.maximum(total, 0)}, {"w": share, "b": third})
    cases.add("gemm_row_split_tanh", [node("Gemm", "x w b", "g"), node("Tanh", "g")],
              {"x": even / 8}, {"y": np.tanh((total - third) / 8 + third)}, {"w": share, "b": third})
    cases.add("gemm_row_split_added", [node("Gemm", "x w b", "g"), node("Add", "g z")],
              {"x": even, "z": 3 * third[None]}, {"y": total + 3 * third}, {"w": share, "b": third})
    cases.add("gemm_one_by_one", node("Gemm", "x w b"), {"x": normal(1, 1) * 0 + 3},
              {"y": [[3 * 1.5 - 2]]}, {"w": np.float32([[1.5]]), "b": np.float32([-2])})
    h = np.maximum(x @ w + b, 0)
    v = normal(11, 6)
    cases.add("two_layers", [node("Gemm", "x w b", "g"), node("Relu", "g", "r"),
                             node("MatMul", "r v")],
              {"x": x}, {"y": h @ v}, {"w": w, "b": b, "v": v})
    cases.add("two_outputs", [node("Gemm", "x w b", "g"), node("Relu", "g", "r"),
                              node("MatMul", "r v")],
              {"x": x}, {"y": h @ v, "r": h, "g": x @ w + b}, {"w": w, "b": b, "v": v})
    cases.add("output_twice", [node("Relu", "x"), node("Identity", "y", "z")],
              {"x": x}, {"y": np.maximum(x, 0), "z": np.maximum(x, 0)})
    cases.add("two_inputs_added", [node("MatMul", "x w", "a"), node("Add", "a z")],
              {"x": x, "z": normal(1, 11) * 0 + 1}, {"y": x @ w + 1}, {"w": w})


def activations(cases):
    x = np.concatenate([normal(2, 13) * 4, np.float32([[0.0] * 13, [-60.0, 60.0] * 6 + [1e-3]])])
    for name, a in (("small", 0.25), ("one", 1.0), ("large", 3.0), ("negative", -0.5),
                    ("zero", 0.0)):
        cases.unary(f"leaky_relu_{name}", "LeakyRelu", lambda v: np.where(v < 0, a * v, v), x,
                    alpha=a)
        cases.unary(f"elu_{name}", "Elu",
                    lambda v: np.where(v < 0, a * np.expm1(np.minimum(v, 0)), v), x, alpha=a)
    cases.unary("sigmoid", "Sigmoid", lambda v: 1 / (1 + np.exp(-v)), x)
    cases.unary("tanh", "Tanh", np.tanh, x)
    cases.unary("tanh_opset7", "Tanh", np.tanh, x, opset=7)
    cases.unary("neg", "Neg", lambda v: -v, x)
    cases.unary("clip_attributes", "Clip", lambda v: np.clip(v, -1.5, 2), x, opset=7, min=-1.5,
                max=2.0)
    for name, inputs, low, high in (("both", "x low high", -1.5, 2), ("low", "x low", -1.5, 1e9)):
        cases.add(f"clip_{name}", node("Clip", inputs), {"x": x}, {"y": np.clip(x, low, high)},
                  {"low": np.float32(low), "high": np.float32(high)})
    cases.add("clip_high", helper.make_node("Clip", ["x", "", "high"], ["y"]), {"x": x},
              {"y": np.minimum(x, 2)}, {"high": np.float32(2)})
    cases.add("clip_crossed", node("Clip", "x low high"), {"x": x}, {"y": np.full_like(x, -3)},
              {"low": np.float32(2), "high": np.float32(-3)})
    for name, slope in (("scalar", np.float32([0.25])), ("lanes", normal(13)),
                        ("rows", normal(4, 1))):
        cases.add(f"prelu_{name}", node("PRelu", "x a"), {"x": x},
                  {"y": np.where(x < 0, slope * x, x)}, {"a": slope})
    cases.add("prelu_runtime", node("PRelu", "x a"), {"x": x, "a": x[::-1].copy()},
              {"y": np.where(x < 0, x[::-1] * x, x)})
    cases.unary("shrink", "Shrink",
                lambda v: np.where(v < -1.5, v + 0.5, np.where(v > 1.5, v - 0.5, 0)), x,
                lambd=1.5, bias=0.5)
    cases.add("silu", [node("Sigmoid", "x", "s"), node("Mul", "x s")], {"x": x},
              {"y": x / (1 + np.exp(-np.float64(x)))})
    cases.unary("relu_scalar", "Relu", lambda v: np.maximum(v, 0), np.float32(-2.5))
    cases.unary("sigmoid_vector", "Sigmoid", lambda v: 1 / (1 + np.exp(-v)), normal(21))


def softmax(cases):
    def exact(v, axes):
        e = np.exp(v - v.max(axis=axes, keepdims=True))
        return e / e.sum(axis=axes, keepdims=True)

    for width in (1, 3, 7, 8, 9, 16, 21, 64):
        cases.unary(f"softmax_{width}", "Softmax", lambda v: exact(v, -1), normal(1, width) * 3)
    cases.unary("softmax_rows", "Softmax", lambda v: exact(v, -1), normal(5, 11) * 3)
    cases.unary("softmax_columns", "Softmax", lambda v: exact(v, 0), normal(5, 11) * 3, axis=0)
    cases.unary("softmax_flat", "Softmax", lambda v: exact(v, (1, 2)), normal(2, 3, 5), opset=11)
    cases.unary("softmax_large", "Softmax", lambda v: exact(v, -1),
                np.float32([[300, 299, 0, -300, 298, 250, 1, 2, 3, 300]]))
    for width in (1, 3, 8, 21, 64):
        cases.unary(f"log_softmax_{width}", "LogSoftmax", lambda v: np.log(exact(v, -1)),
                    normal(2, width) * 3)
    cases.unary("log_softmax_columns", "LogSoftmax", lambda v: np.log(exact(v, 0)),
                normal(5, 11) * 3, axis=0)
    cases.unary("log_softmax_flat", "LogSoftmax", lambda v: np.log(exact(v, (1, 2))),
                normal(2, 3, 5), opset=11)
    cases.unary("softmax_vector", "Softmax", lambda v: exact(v, -1), normal(13))


def arithmetic(cases):
    x, z = normal(3, 13), normal(3, 13)
    away = np.where(np.abs(z) < 0.2, 0.5, z).astype(np.float32)
    functions = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
    for op, f in functions.items():
        low = op.lower()
        cases.add(f"{low}_tensors", node(op, "x z"), {"x": x, "z": away}, {"y": f(x, away)})
        cases.add(f"{low}_same", node(op, "z z"), {"z": away}, {"y": f(away, away)})
        for name, c in (("scalar", np.float32(-1.75)), ("one", np.float32([0.3])),
                        ("row", away[0]), ("column", away[:, :1]), ("full", away[::-1].copy()),
                        ("wider", np.stack([away, away + 4]))):
            cases.add(f"{low}_constant_{name}", node(op, "x c"), {"x": x}, {"y": f(x, c)},
                      {"c": c})
            cases.add(f"{low}_constant_{name}_left", node(op, "c z"), {"z": away},
                      {"y": f(c, away)}, {"c": c})
        cases.add(f"{low}_row", node(op, "x z"), {"x": x, "z": away[0]}, {"y": f(x, away[0])})
        cases.add(f"{low}_column", node(op, "x z"), {"x": x, "z": away[:, :1]},
                  {"y": f(x, away[:, :1])})
        cases.add(f"{low}_runtime_scalar", node(op, "x z"), {"x": x, "z": away[0, 0]},
                  {"y": f(x, away[0, 0])})
        cases.add(f"{low}_scalars", node(op, "x z"), {"x": np.float32(1.25), "z": np.float32(-3)},
                  {"y": f(1.25, -3.0)})
    cases.add("affine_chain", [node("Sub", "x mean", "a"), node("Div", "a std", "b"),
                               node("MatMul", "b w")],
              {"x": x}, {"y": (x - away[0]) / (1 + away[0] ** 2) @ z.T},
              {"mean": away[0], "std": (1 + away[0] ** 2).astype(np.float32), "w": z.T.copy()})


def selections(cases):
    x = normal(3, 21)
    slices = {"off": np.s_[1:3], "off_reversed": np.s_[::-1], "along": np.s_[:, 2:9],
              "along_aligned": np.s_[:, 8:16], "along_step": np.s_[:, 1:20:3],
              "along_reversed": np.s_[:, ::-1], "along_step_back": np.s_[:, 19:2:-4],
              "both": np.s_[2:0:-1, 20:3:-2], "last": np.s_[:, -1:]}
    for name, index in slices.items():
        parts = index if isinstance(index, tuple) else (index,)
        bounds = [s.indices(n) for s, n in zip(parts, x.shape)]
        far = np.iinfo(np.int64).min
        values = {"s": [b[0] for b in bounds],
                  "e": [far if b[2] < 0 and b[1] < 0 else b[1] for b in bounds],
                  "a": list(range(len(bounds))), "t": [b[2] for b in bounds]}
        cases.add(f"slice_{name}", node("Slice", "x s e a t"), {"x": x}, {"y": x[index]},
                  {k: np.int64(v) for k, v in values.items()})
    cases.add("slice_attributes", node("Slice", "x", starts=[1, -5], ends=[3, 1000]), {"x": x},
              {"y": x[1:3, -5:]}, opset=9)
    for name, axis, sizes in (("along", 1, [3, 8, 10]), ("off", 0, [1, 2])):
        parts = np.split(x, np.cumsum(sizes)[:-1], axis)
        names = [f"y{i}" for i in range(len(sizes))]
        cases.add(f"split_{name}", node("Split", "x n", " ".join(names), axis=axis), {"x": x},
                  dict(zip(names, parts)), {"n": np.int64(sizes)})
    cases.add("split_opset11", node("Split", "x", "a b c", axis=1, split=[7, 7, 7]), {"x": x},
              dict(zip("abc", np.split(x, 3, 1))), opset=11)
    cases.add("split_uneven", node("Split", "x", "a b", axis=1, num_outputs=2), {"x": x},
              {"a": x[:, :11], "b": x[:, 11:]}, opset=18)
    cases.add("split_used_partly", [node("Split", "x n", "a b", axis=1), node("Relu", "b")],
              {"x": x}, {"y": np.maximum(x[:, 5:], 0)}, {"n": np.int64([5, 16])})
    z = normal(3, 6)
    cases.add("concat_along", node("Concat", "x z", axis=1), {"x": x, "z": z},
              {"y": np.concatenate([x, z], 1)})
    cases.add("concat_constant", node("Concat", "c x c", axis=-1), {"x": x},
              {"y": np.concatenate([z, x, z], 1)}, {"c": z})
    cases.add("concat_off", node("Concat", "x z", axis=0), {"x": x, "z": x[:2] + 1},
              {"y": np.concatenate([x, x[:2] + 1], 0)})
    w = normal(27, 5)
    cases.add("concat_into_matmul", [node("Concat", "x z", "c", axis=1), node("MatMul", "c w")],
              {"x": x, "z": z}, {"y": np.concatenate([x, z], 1) @ w}, {"w": w})
    cases.add("reshape_chain", [node("Unsqueeze", "x ax", "u"), node("Squeeze", "u ax")],
              {"x": x}, {"y": x}, {"ax": np.int64([0])})
    six = normal(6, 7)
    cases.add("reshape_leading", node("Reshape", "x s"), {"x": six}, {"y": six.reshape(2, 3, 7)},
              {"s": np.int64([2, -1, 7])})
    cases.add("reshape_merging", node("Reshape", "x s"), {"x": six}, {"y": six.reshape(42)},
              {"s": np.int64([-1])})
    cases.add("flatten_row", node("Flatten", "x", axis=1), {"x": normal(1, 21) * 0 + x[:1]},
              {"y": x[:1]})
    cases.add("dropout", node("Dropout", "x"), {"x": x}, {"y": x}, opset=12)


def functions(cases):
    x = np.concatenate([normal(2, 13) * 4, np.float32([[0.0] * 13, [-60.0, 60.0] * 6 + [1e-3]])])
    positive = np.abs(x) + np.float32(1e-3)
    erf = np.vectorize(math.erf)

    def softplus(v):
        return np.maximum(v, 0) + np.log1p(np.exp(-np.abs(v)))

    for name, f, v in (
            ("Abs", np.abs, x), ("Exp", np.exp, x / 8), ("Log", np.log, positive),
            ("Sqrt", np.sqrt, positive), ("Reciprocal", np.reciprocal, positive + 1),
            ("Erf", erf, x), ("Softplus", softplus, x), ("Softsign", lambda v: v / (1 + abs(v)), x),
            ("Sin", np.sin, x), ("Cos", np.cos, x), ("Tan", np.tan, x), ("Atan", np.arctan, x),
            ("Asin", np.arcsin, np.tanh(x)), ("Acos", np.arccos, np.tanh(x)),
            ("Atanh", np.arctanh, np.tanh(x) * np.float32(0.9)), ("Sinh", np.sinh, x / 8),
            ("Cosh", np.cosh, x / 8), ("Sign", np.sign, x), ("Floor", np.floor, np.round(x * 8) / 8),
            ("Ceil", np.ceil, np.round(x * 8) / 8), ("Round", np.rint, np.round(x * 2) / 2),
            ("HardSwish", lambda v: v * np.clip(v / 6 + 0.5, 0, 1), x)):
        cases.unary(name.lower(), name, f, v)
    cases.unary("hard_sigmoid", "HardSigmoid", lambda v: np.clip(v / 4 + 0.25, 0, 1), x,
                alpha=0.25, beta=0.25)
    cases.unary("mish", "Mish", lambda v: v * np.tanh(softplus(v)), x, opset=18)
    cases.unary("selu", "Selu", lambda v: 1.5 * np.where(v < 0, 2 * np.expm1(np.minimum(v, 0)), v),
                x, alpha=2.0, gamma=1.5)
    cases.unary("celu", "Celu", lambda v: np.where(v < 0, 2 * np.expm1(np.minimum(v, 0) / 2), v),
                x, alpha=2.0)
    cases.unary("thresholded_relu", "ThresholdedRelu", lambda v: np.where(v > 2, v, 0),
                np.round(x * 4) / 4, alpha=2.0)
    cases.unary("gelu", "Gelu", lambda v: v / 2 * (1 + erf(v / np.sqrt(2))), x, opset=20)
    cases.unary("gelu_tanh", "Gelu",
                lambda v: v / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v ** 3))), x,
                opset=20, approximate="tanh")
    cases.add("softplus_decomposed", [node("Exp", "x", "e"), node("Add", "e one", "s"),
                                      node("Log", "s")],
              {"x": x}, {"y": softplus(np.float64(x))}, {"one": np.float32(1)})
    half = [node("Div", "x r", "d"), node("Erf", "d", "e"), node("Add", "e one", "s"),
            node("Mul", "x s", "m"), node("Mul", "m half")]
    cases.add("gelu_decomposed", half, {"x": x}, {"y": x / 2 * (1 + erf(x / np.sqrt(2)))},
              {"r": np.float32(np.sqrt(2)), "one": np.float32(1), "half": np.float32(0.5)})
    for exponent in (-2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4):
        cases.add(f"pow_{exponent}", node("Pow", "x e"), {"x": positive / 8},
                  {"y": np.float64(positive / 8) ** exponent}, {"e": np.float32(exponent)})
    cases.add("pow_negative_base", node("Pow", "x e"), {"x": x}, {"y": np.float64(x) ** 3},
              {"e": np.int64([3])})


def reductions(cases):
    x = normal(2, 3, 11)
    wide = normal(1, 70)
    functions = {
        "ReduceSum": np.sum, "ReduceMean": np.mean, "ReduceMax": np.max, "ReduceMin": np.min,
        "ReduceSumSquare": lambda v, **k: np.sum(v * v, **k),
        "ReduceL1": lambda v, **k: np.sum(abs(v), **k),
        "ReduceL2": lambda v, **k: np.sqrt(np.sum(v * v, **k)),
        "ReduceProd": np.prod,
        "ReduceLogSumExp": lambda v, **k: np.log(np.sum(np.exp(v), **k))}
    for op, f in functions.items():
        low = op[6:].lower()
        for name, axes in (("last", [-1]), ("middle", [1]), ("two", [0, 2]), ("all", [0, 1, 2])):
            for keep in (0, 1):
                if op == "ReduceSum":
                    nodes, constants = node(op, "x a", keepdims=keep), {"a": np.int64(axes)}
                else:
                    nodes, constants = node(op, "x", axes=axes, keepdims=keep), None
                cases.add(f"reduce_{low}_{name}_{keep}", nodes, {"x": x},
                          {"y": f(np.float64(x), axis=tuple(axes), keepdims=bool(keep))},
                          constants)
        cases.add(f"reduce_{low}_wide", node(op, "x"), {"x": wide},
                  {"y": f(np.float64(wide), axis=(0, 1), keepdims=True)})
        cases.add(f"reduce_{low}_opset18", node(op, "x a"), {"x": wide},
                  {"y": f(np.float64(wide), axis=1, keepdims=True)}, {"a": np.int64([1])},
                  opset=18)
    tied = np.round(normal(2, 3, 13) * 2)
    for op, f, most in (("ArgMax", np.argmax, 256), ("ArgMin", np.argmin, 100)):
        distinct = RANDOM.permutation(most)[None].astype(np.float32)
        for axis in range(3):
            for keep in (0, 1):
                first = f(tied, axis=axis, keepdims=bool(keep))
                last = tied.shape[axis] - 1 - f(np.flip(tied, axis), axis=axis, keepdims=bool(keep))
                for i, (name, index) in enumerate((("first", first), ("last", last))):
                    cases.add(f"{op.lower()}_{name}_{axis}_{keep}",
                              node(op, "x", axis=axis, keepdims=keep, select_last_index=i),
                              {"x": tied}, {"y": index}, result=TensorProto.INT64)
        lanes = np.round(normal(3, 7) * 2) - 9
        cases.add(f"{op.lower()}_lanes", node(op, "x", axis=1), {"x": lanes},
                  {"y": f(lanes, axis=1, keepdims=True)}, result=TensorProto.INT64)
        cases.add(f"{op.lower()}_opset11", node(op, "x", axis=-1), {"x": tied},
                  {"y": f(tied, axis=-1, keepdims=True)}, opset=11, result=TensorProto.INT64)
        cases.add(f"{op.lower()}_wide", node(op, "x", axis=1), {"x": distinct},
                  {"y": f(distinct, axis=1, keepdims=True)}, result=TensorProto.INT64)
    cases.add("reduce_logsum", node("ReduceLogSum", "x", axes=[1]), {"x": np.abs(wide) + 1},
              {"y": np.log(np.sum(np.abs(np.float64(wide)) + 1, 1, keepdims=True))})
    cases.add("reduce_logsumexp_large", node("ReduceLogSumExp", "x", axes=[1]), {"x": wide + 300},
              {"y": np.log(np.sum(np.exp(np.float64(wide)), 1, keepdims=True)) + 300})
    cases.add("reduce_nothing", node("ReduceSum", "x a", noop_with_empty_axes=1), {"x": wide},
              {"y": wide}, {"a": np.zeros(0, np.int64)})


def normalisations(cases):
    x = normal(3, 13) * 3 + 1
    scale, bias, mean, variance = normal(13), normal(13), normal(13), np.abs(normal(13)) + 0.5
    constants = {"s": scale, "b": bias, "m": mean, "v": variance}
    expected = (x - mean) / np.sqrt(variance + 1e-5) * scale + bias
    cases.add("batch_norm", node("BatchNormalization", "x s b m v"), {"x": x}, {"y": expected},
              constants)
    cases.add("batch_norm_opset9", node("BatchNormalization", "x s b m v", momentum=0.5),
              {"x": x}, {"y": expected}, constants, opset=9)
    w = normal(7, 13)
    cases.add("gemm_batch_norm", [node("Gemm", "z w", "g", transB=0),
                                  node("BatchNormalization", "g s b m v", epsilon=0.25)],
              {"z": x[:, :7]},
              {"y": (x[:, :7] @ w - mean) / np.sqrt(variance + 0.25) * scale + bias},
              {"w": w, **constants})
    deep = normal(2, 13, 3)
    side = (slice(None), None)
    cases.add("batch_norm_channels", node("BatchNormalization", "x s b m v"), {"x": deep},
              {"y": (deep - mean[side]) / np.sqrt(variance[side] + 1e-5) * scale[side] +
               bias[side]}, constants)

    def layer(v, axes, s, b):
        d = v - v.mean(axis=axes, keepdims=True)
        return d / np.sqrt((d * d).mean(axis=axes, keepdims=True) + 1e-5) * s + b

    for width in (1, 8, 13, 64):
        v, s, b = normal(2, width) * 2, normal(width), normal(width)
        cases.add(f"layer_norm_{width}", node("LayerNormalization", "x s b"), {"x": v},
                  {"y": layer(np.float64(v), 1, s, b)}, {"s": s, "b": b})
    s = normal(13, 3)
    cases.add("layer_norm_axis", node("LayerNormalization", "x s", axis=1), {"x": deep},
              {"y": layer(np.float64(deep), (1, 2), s, 0)}, {"s": s})
    for name, axes in (("lanes", [1]), ("rows", [0]), ("all", [0, 1])):
        cases.add(f"mean_variance_{name}", node("MeanVarianceNormalization", "x", axes=axes),
                  {"x": x}, {"y": layer(np.float64(x), tuple(axes), 1, 0)})
    for name, axis in (("lanes", -1), ("rows", 0)):
        for order, size in ((1, np.abs(x).sum(axis, keepdims=True)),
                            (2, np.sqrt((x * x).sum(axis, keepdims=True)))):
            cases.add(f"lp_norm_{order}_{name}", node("LpNormalization", "x", axis=axis, p=order),
                      {"x": x}, {"y": x / size})
    wide = normal(2, 6, 11)
    s6, b6, s3, b3 = normal(6), normal(6), normal(3), normal(3)
    cases.add("instance_norm", node("InstanceNormalization", "x s b"), {"x": wide},
              {"y": layer(np.float64(wide), 2, s6[:, None], b6[:, None])}, {"s": s6, "b": b6})
    grouped = layer(np.float64(wide).reshape(2, 3, 2, 11), (2, 3), 1, 0)
    cases.add("group_norm_18", node("GroupNormalization", "x s b", num_groups=3), {"x": wide},
              {"y": (grouped * s3[:, None, None] + b3[:, None, None]).reshape(wide.shape)},
              {"s": s3, "b": b3}, opset=18)
    cases.add("group_norm_21", node("GroupNormalization", "x s b", num_groups=3), {"x": wide},
              {"y": grouped.reshape(wide.shape) * s6[:, None] + b6[:, None]},
              {"s": s6, "b": b6}, opset=21)
    root = np.sqrt((np.float64(x) ** 2).mean(-1, keepdims=True) + 1e-5)
    cases.add("rms_norm_operator", node("RMSNormalization", "x s"), {"x": x},
              {"y": x / root * scale}, {"s": scale}, opset=23)
    both = np.sqrt((np.float64(deep) ** 2).mean((1, 2), keepdims=True) + 1e-5)
    cases.add("rms_norm_axes", node("RMSNormalization", "x s", axis=1), {"x": deep},
              {"y": deep / both * s}, {"s": s}, opset=23)
    rms = [node("Mul", "x x", "q"), node("ReduceMean", "q", "a", axes=[-1]),
           node("Add", "a e", "f"), node("Sqrt", "f", "r"), node("Div", "x r", "d"),
           node("Mul", "d s")]
    cases.add("rms_norm", rms, {"x": x}, {"y": x / root * scale},
              {"e": np.float32(1e-5), "s": scale})
    rms[0] = node("Pow", "x two", "q")
    cases.add("rms_norm_pow", rms, {"x": x}, {"y": x / root * scale},
              {"e": np.float32(1e-5), "s": scale, "two": np.float32(2)})


def comparisons(cases):
    x, z = np.round(normal(3, 13) * 2), np.round(normal(3, 13) * 2)
    tests = {"Equal": np.equal, "Greater": np.greater, "Less": np.less,
             "GreaterOrEqual": np.greater_equal, "LessOrEqual": np.less_equal}
    for op, f in tests.items():
        cases.add(f"where_{op.lower()}", [node(op, "x z", "t"), node("Where", "t x c")],
                  {"x": x, "z": z}, {"y": np.where(f(x, z), x, 7)}, {"c": np.float32(7)})
        cases.add(f"output_{op.lower()}", node(op, "x z"), {"x": x, "z": z}, {"y": f(x, z)},
                  result=TensorProto.BOOL)
        cases.add(f"cast_{op.lower()}", [node(op, "x c", "t"), node("Cast", "t", to=1)],
                  {"x": x}, {"y": f(x, 1)}, {"c": np.float32(1)})
    logic = {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}
    for op, f in logic.items():
        cases.add(f"logic_{op.lower()}", [node("Greater", "x c", "p"), node("Less", "z c", "q"),
                                          node(op, "p q", "t"), node("Where", "t x z")],
                  {"x": x, "z": z}, {"y": np.where(f(x > 1, z < 1), x, z)}, {"c": np.float32(1)})
    cases.add("logic_not", [node("Greater", "x z", "p"), node("Not", "p", "t"),
                            node("Where", "t x z")],
              {"x": x, "z": z}, {"y": np.minimum(x, z)})
    mask = RANDOM.random((3, 13)) < 0.5
    cases.add("where_constant_mask", node("Where", "m x z"), {"x": x, "z": z},
              {"y": np.where(mask, x, z)}, {"m": mask})
    cases.add("where_constant_row", node("Where", "m x c"), {"x": x},
              {"y": np.where(mask[0], x, -2)}, {"m": mask[0], "c": np.float32([-2])})
    for op, f in (("Max", np.maximum), ("Min", np.minimum)):
        low = op.lower()
        cases.add(f"{low}_two", node(op, "x z"), {"x": x, "z": z}, {"y": f(x, z)})
        cases.add(f"{low}_three", node(op, "x c z"), {"x": x, "z": z}, {"y": f(f(x, 1), z)},
                  {"c": np.float32(1)})
        cases.add(f"{low}_one", node(op, "x"), {"x": x}, {"y": x})
        cases.add(f"{low}_row", node(op, "c x"), {"x": x}, {"y": f(x, z[0])}, {"c": z[0]})
    cases.add("sum_three", node("Sum", "x c z"), {"x": x, "z": z}, {"y": x + z[0] + z},
              {"c": z[0]})
    cases.add("mean_three", node("Mean", "x c z"), {"x": x, "z": z}, {"y": (x + z[0] + z) / 3},
              {"c": z[0]})
    cases.add("mean_outer", node("Mean", "r q"), {"r": x[:, :1].copy(), "q": z[:1]},
              {"y": (x[:, :1] + z[:1]) / 2})
    square = normal(2, 9, 9)
    for name, function, upper, k in (("upper", np.triu, 1, 0), ("lower", np.tril, 0, 0),
                                     ("above", np.triu, 1, 3), ("below", np.tril, 0, -2)):
        cases.add(f"trilu_{name}", node("Trilu", "x k", upper=upper), {"x": square},
                  {"y": function(square, k)}, {"k": np.int64(k)})
    causal = [node("Constant", "", "l", value=numpy_helper.from_array(np.int64([9, 9]))),
              node("ConstantOfShape", "l", "o", value=numpy_helper.from_array(np.bool_([True]))),
              node("Trilu", "o", "m", upper=0), node("Where", "m x c")]
    cases.add("trilu_causal_mask", causal, {"x": square},
              {"y": np.where(np.tril(np.ones((9, 9))) > 0, square, -100)}, {"c": np.float32(-100)})
    broken = x.copy()
    broken[1, 3:5] = np.nan
    cases.add("is_nan_where", [node("IsNaN", "x", "t"), node("Where", "t c x")], {"x": broken},
              {"y": np.nan_to_num(broken, nan=0.5)}, {"c": np.float32(0.5)})
    cases.add("cast_float", node("Cast", "x", to=1), {"x": x}, {"y": x})


def views(cases):
    x = normal(3, 4, 11)
    for perm in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0)):
        name = "".join(map(str, perm))
        cases.add(f"transpose_{name}", node("Transpose", "x", perm=perm), {"x": x},
                  {"y": x.transpose(perm)})
    cases.add("transpose_default", node("Transpose", "x"), {"x": x}, {"y": x.T})
    short, w = normal(2, 3, 11), normal(2, 4)
    cases.add("transpose_matmul", [node("Transpose", "x", "t", perm=[2, 1, 0]),
                                   node("MatMul", "t w")],
              {"x": short}, {"y": short.T @ w}, {"w": w})
    for name, shape, wanted in (("rows", (1, 11), (4, 11)), ("lanes", (3, 1), (3, 10)),
                                ("rank", (11,), (2, 3, 11)), ("back", (3, 11), (1, 1)),
                                ("scalar", (), (2, 9))):
        v = normal(*shape)
        cases.add(f"expand_{name}", node("Expand", "x s"), {"x": v},
                  {"y": v * np.ones(wanted, np.float32)}, {"s": np.int64(wanted)})
    # Views between maps, whose constants are reordered to let them be one.
    c = normal(4, 3, 11)
    t = np.tanh(x).transpose(1, 0, 2)
    between = [node("Tanh", "x", "h"), node("Transpose", "h", "t", perm=[1, 0, 2]),
               node("Mul", "t c", "m"), node("Reshape", "m s", "r")]
    cases.add("views_between_maps", [*between, node("Add", "r d", "a"), node("Sigmoid", "a")],
              {"x": x}, {"y": 1 / (1 + np.exp(-((t * c).reshape(2, 6, 11) + c.reshape(2, 6, 11))))},
              {"c": c, "d": c.reshape(2, 6, 11), "s": np.int64([2, 6, 11])})
    cases.add("views_between_maps_two_readers",
              [*between, node("Exp", "r", "e"), node("Relu", "m")], {"x": x},
              {"e": np.exp((t * c).reshape(2, 6, 11)), "y": np.maximum(t * c, 0)},
              {"c": c, "s": np.int64([2, 6, 11])})
    for name, shape, repeats in (("lanes", (3, 5), (1, 3)), ("rows", (3, 11), (4, 1)),
                                 ("both", (3, 5), (2, 2)), ("ones", (1, 5, 1), (3, 1, 2)),
                                 ("vector", (11,), (2,)), ("once", (3, 5), (1, 1))):
        v = normal(*shape)
        cases.add(f"tile_{name}", node("Tile", "x r"), {"x": v}, {"y": np.tile(v, repeats)},
                  {"r": np.int64(repeats)})


def einsum(cases):
    def case(name, equation, x, w=None, constants=True):
        operands = [v for v in (x, w) if v is not None]
        y = np.einsum(equation, *map(np.float64, operands))
        weights = {} if w is None else {"w": w}
        cases.add(f"einsum_{name}", node("Einsum", "x w" if weights else "x", equation=equation),
                  {"x": x, **({} if constants else weights)}, {"y": y},
                  weights if constants else None)

    x, heads = normal(5, 9), normal(2, 5, 9)
    case("transpose", "ij->ji", x)
    case("row_sums", "ij->i", x)
    case("column_sums", "ij->j", x)
    case("implied", "ji", x)
    case("ellipsis_sum", "...j->...", heads)
    case("ellipsis_transpose", "i...j -> j...i", heads)
    case("dense", "ij,jk->ik", x, normal(9, 4))
    case("dense_transposed", "ij,kj->ik", x, normal(4, 9))
    case("dense_implied", "ij,jk", x, normal(9, 4))
    case("dense_turned", "ij,jk->ki", x, normal(9, 4))
    case("ellipsis_dense", "...j,jk->...k", heads, normal(9, 4))
    case("projection", "bsd,dhk->bshk", heads, normal(9, 3, 2))
    case("projection_heads_first", "bsd,dhk->bhsk", heads, normal(9, 3, 2))
    case("merge_heads", "bshk,hkd->bsd", normal(1, 3, 2, 4), normal(2, 4, 7))
    case("weights_left", "ij,jk->ik", normal(9, 4).T.copy(), normal(9, 3))
    case("batched_weights", "bij,bjk->bik", heads, normal(2, 9, 3))
    case("vector", "ij,j->i", x, normal(9))
    case("inner", "i,i->", normal(9), normal(9))
    case("product", "ij,ij->ij", x, normal(5, 9))
    case("scaled_rows", "ij,i->ij", x, normal(5))
    case("outer", "i,j->ij", normal(5), normal(9))
    case("sum_of_product", "ij,ik->i", x, normal(5, 3))
    q, k = normal(1, 2, 4, 8), normal(1, 2, 5, 8)
    case("dynamic_scores", "bhid,bhjd->bhij", q, k, False)
    case("dynamic_values", "bhij,bhjd->bhid", q[..., :5].copy(), k, False)


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


def factors(cases):
    """Norms in front of layers: the compiler may multiply by the root behind them."""
    x, w, v = normal(1, 19), normal(19, 40) / 4, normal(19, 40) / 4
    g, b = 1 + normal(19) / 8, normal(40)
    root = np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    norm = [node("Mul", "x x", "q"), node("ReduceMean", "q", "m", axes=[-1]), node("Add", "m e", "a"),
            node("Sqrt", "a", "r"), node("Div", "x r", "d"), node("Mul", "d g", "n")]
    constants = {"e": np.float32(1e-5), "g": g, "w": w}
    y = x / root * g
    cases.add("norm_relu", norm + [node("Gemm", "n w b", "l"), node("Relu", "l")], {"x": x},
              {"y": np.maximum(y @ w + b, 0)}, {**constants, "b": b})
    cases.add("norm_gate", norm + [node("MatMul", "n w", "u"), node("MatMul", "n v", "l"),
                                   node("Sigmoid", "l", "s"), node("Mul", "u s")], {"x": x},
              {"y": (y @ w) / (1 + np.exp(-(y @ v)))}, {**constants, "v": v})


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
    a, b = normal(4, 4), normal(20, 3)
    mixed = (a @ x[:4, :5]).reshape(1, 20)
    flatten = [node("MatMul", "a x", "h"), node("Flatten", "h", "f", axis=0), node("MatMul", "f b")]
    case("constant", flatten, {"x": x[:4, :5]}, mixed @ b, {}, {"a": a, "b": b})
    case("constant_twice",
         [*flatten[:2], node("MatMul", "f b", "u"), node("MatMul", "f c", "v"), node("Add", "u v")],
         {"x": x[:4, :5]}, mixed @ b + mixed @ b[::-1], {},
         {"a": a, "b": b, "c": b[::-1].copy()})
    case("swapped", node("MatMul", "x z"), {"x": x, "z": z.T.copy()}, x @ z.T,
         {"x": 1, "z": 0, "y": 0}, flags=dynamic)
    case("contracted_on_neither_side", node("MatMul", "x z"), {"x": x, "z": z.T.copy()}, x @ z.T,
         {"x": 0, "z": 1}, flags=dynamic)


def main():
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    cases = Cases(folder)
    for family in (linear, activations, softmax, arithmetic, selections, functions, reductions,
                   normalisations, comparisons, views, einsum,
                   dynamic_weights, factors, rewrites):
        family(cases)
    print(f"{cases.count} cases")


if __name__ == "__main__":
    main()
