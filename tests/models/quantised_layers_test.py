#!/usr/bin/env python3
"""The operators that onnxruntime's quantiser writes, on both engines, compared with onnxruntime: every operator with
random shapes and attributes, models that the quantiser makes of float models, and models of others.

usage: quantised_layers_test.py SLUICE FOLDER [unittest arguments]      (python of tools/test_environment.sh)

FOLDER has models of others, NAME.onnx with NAME.x.npy and NAME.ref_y.npy. Tests of them are skipped if it is not there.
Every test prints how many integers differ from onnxruntime's.
"""
import itertools
import logging
import pathlib
import sys

import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from folder import Folder, main  # noqa: E402
from node_by_node import session  # noqa: E402

FOLDER = pathlib.Path(sys.argv[2]).resolve()
MICROSOFT = "com.microsoft"
KINDS = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8, np.float32: TensorProto.FLOAT}
BYTES = (np.uint8, np.int8)


class Case:
    """A model of one node; every input is a constant of its own, or an input of the model."""

    def __init__(self, op, **attributes):
        self.op, self.attributes, self.names, self.inputs, self.known = op, attributes, [], {}, {}

    def run_time(self, value):
        self.names.append(f"x{len(self.names)}")
        self.inputs[self.names[-1]] = value
        return self

    def constant(self, *values):
        for value in values:
            self.names.append(f"c{len(self.names)}")
            self.known[self.names[-1]] = np.asarray(value)
        return self

    def none(self):
        self.names.append("")
        return self

    def model(self, kind):
        node = helper.make_node(self.op, self.names, ["y"], name="layer", domain=MICROSOFT, **self.attributes)
        inputs = [helper.make_tensor_value_info(name, KINDS[value.dtype.type], value.shape) for name, value in self.inputs.items()]
        output = helper.make_tensor_value_info("y", KINDS[kind], None)
        graph = helper.make_graph([node], "layer", inputs, [output], [numpy_helper.from_array(v, k) for k, v in self.known.items()])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)], ir_version=9)


def scale(rng):
    return np.float32(rng.uniform(0.005, 0.05))


def some(rng, kind, shape=()):
    """Integers over all of the type, as an array of it."""
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max + 1, shape).astype(kind)


def integers_near(rng, kind, shape, most):
    """Integers about the middle of the type. With weights up to 60, onnxruntime saturates no sums on any machine."""
    middle = 128 if kind is np.uint8 else 0
    return (middle + rng.integers(-most, most + 1, shape)).astype(kind)


class Compared(Folder):
    def ran(self, *words):
        """What the command prints; it may say more on standard error."""
        code, out, err = self.sluice(*words)
        self.assertEqual(code, 0, err)
        return out.decode()

    def found(self, path, inputs, *flags, outputs=("y",), target="c2b8"):
        """The outputs of both engines, which are equal."""
        self.ran("compile", path, "--target", target, "-o", "m.sluice", *flags)
        words = []
        for name, value in inputs.items():
            np.save(self.dir / f"{name}.npy", value)
            words += ["--input", f"{name}=@{name}.npy"]
        for name in outputs:
            words += ["--output", f"{name}=@{name}.npy"]
        self.assertIn("engines agree: equal bits, equal cycles\n", self.ran("run", "m.sluice", "--engine", "both", *words))
        return [np.load(self.dir / f"{name}.npy") for name in outputs]

    def both(self, case, kind, *flags):
        model = case.model(kind)
        onnx.save(model, str(self.dir / "m.onnx"))
        wanted = session(model).run(None, case.inputs)[0]
        found = self.found("m.onnx", case.inputs, *flags)[0]
        self.assertEqual((found.dtype, found.shape), (wanted.dtype, wanted.shape))
        return found, wanted


class Layers(Compared):
    """Layers whose result is quantised: no integer is off by more than one step (of a softmax two), and few are off at all."""

    def compare(self, cases, most_share, most_steps=1):
        """`most_share` is the largest share of integers that may differ, by `most_steps` at most; 0: none may."""
        total = differing = 0
        for case, kind in cases:
            with self.subTest(op=case.op, attributes=case.attributes, kind=kind.__name__):
                found, wanted = self.both(case, kind)
                steps = np.abs(found.astype(int) - wanted.astype(int))
                self.assertLessEqual(steps.max(), most_steps)
                self.assertGreater(np.unique(wanted).size, 4, "the case says nothing")
                total, differing = total + steps.size, differing + int(np.count_nonzero(steps))
        print(f"{self._testMethodName[5:]}: {differing} of {total} integers differ, by {most_steps} at most")
        self.assertLessEqual(differing, most_share * total)

    @staticmethod
    def binary(op, seed):
        shapes = [((3, 20), (3, 20)), ((2, 3, 10), (10,)), ((4, 1, 6), (1, 5, 6)), ((30,), ()), ((2, 24), (2, 1))]
        rng = np.random.default_rng(seed)
        for (a, b), kind, known in zip(shapes * 2, itertools.cycle(BYTES), itertools.cycle((False, False, True))):
            sa, sb = scale(rng), scale(rng)
            sc = np.float32(rng.uniform(0.9, 1.1)) * np.float32(sa + sb if op == "QLinearAdd" else 100 * sa * sb)
            case = Case(op).run_time(some(rng, kind, a)).constant(sa, integers_near(rng, kind, (), 60))
            x = some(rng, kind, b)
            (case.constant(x) if known else case.run_time(x)).constant(sb, integers_near(rng, kind, (), 60), sc, integers_near(rng, kind, (), 40))
            yield case, kind

    def test_add(self):
        self.compare(self.binary("QLinearAdd", 1), 0.1)

    def test_add_of_one_shape(self):
        def cases():
            rng = np.random.default_rng(20)
            for kind in BYTES * 2:
                sa, sb = scale(rng), scale(rng)
                case = Case("QLinearAdd").run_time(some(rng, kind, (4, 50))).constant(sa, integers_near(rng, kind, (), 60))
                case.run_time(some(rng, kind, (4, 50))).constant(sb, integers_near(rng, kind, (), 60))
                yield case.constant(np.float32(rng.uniform(0.9, 1.1)) * (sa + sb), integers_near(rng, kind, (), 40)), kind
        self.compare(cases(), 0)

    def test_mul(self):
        self.compare(self.binary("QLinearMul", 2), 0.12)

    @staticmethod
    def unary(op, seed, **attributes):
        rng = np.random.default_rng(seed)
        for kind in BYTES:
            every = np.arange(np.iinfo(kind).min, np.iinfo(kind).max + 1).astype(kind).reshape(4, 64)
            for shape in ((), (1,)):
                sx = scale(rng)
                sy, zy = (np.float32(1 / 256), np.iinfo(kind).min) if op == "QLinearSigmoid" else (sx * np.float32(rng.uniform(0.7, 0.9)), 3)
                zero = integers_near(rng, kind, (), 60)
                yield Case(op, **attributes).run_time(every).constant(
                    np.full(shape, sx, np.float32), np.full(shape, zero, kind), np.full(shape, sy, np.float32),
                    np.full(shape, zy, kind)), kind
        yield Case(op, **attributes).run_time(every).constant(sx).none().constant(sy).none(), kind

    def test_sigmoid(self):
        self.compare(self.unary("QLinearSigmoid", 3), 0)

    def test_leaky_relu(self):
        self.compare(self.unary("QLinearLeakyRelu", 4), 0)
        self.compare(self.unary("QLinearLeakyRelu", 5, alpha=0.3), 0)

    def test_softmax(self):
        def cases():
            rng = np.random.default_rng(18)
            drawn = ((13, -1), (4, 30)), ((13, 1), (2, 9, 5)), ((12, 1), (3, 4, 5)), ((13, 0), (6, 10)), ((12, -2), (2, 3, 5)), \
                ((12, 0), (4, 6)), ((13, None), (3, 4, 8)), ((12, None), (3, 4, 8))  # without an axis it is the last, of any opset
            for kind, ((opset, axis), shape) in zip(itertools.cycle(BYTES), drawn):
                yield Case("QLinearSoftmax", opset=opset, **({} if axis is None else {"axis": axis})).run_time(some(rng, kind, shape)).constant(
                    np.float32(0.02), some(rng, kind), np.float32(1 / 256), kind(np.iinfo(kind).min)), kind
        self.compare(cases(), 0.1, most_steps=2)  # exponentials, their sum and the quotient are bf16 numbers

    def test_concat(self):
        def cases():
            rng = np.random.default_rng(6)
            for kind, axis, extents in zip(itertools.cycle(BYTES), (1, -1, 0, 2), ((3, 5), (4, 2, 7), (1, 2), (6, 6))):
                y = scale(rng), some(rng, kind)
                case = Case("QLinearConcat", axis=axis).constant(*y)
                for i, extent in enumerate(extents):
                    shape = [2, 3, 8]
                    shape[axis] = extent
                    own = y if i == 0 else (y[0] * np.float32(rng.uniform(0.4, 1.4)), integers_near(rng, kind, (), 60))
                    (case.constant(some(rng, kind, shape)) if i == 2 else case.run_time(some(rng, kind, shape))).constant(*own)
                yield case, kind
        self.compare(cases(), 0)

    @staticmethod
    def pools():
        rng = np.random.default_rng(7)
        drawn = [dict(kernel_shape=[2, 2], strides=[2, 2]), dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
                 dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1), dict(kernel_shape=[3, 2], strides=[2, 1]),
                 dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), dict(kernel_shape=[2, 3], auto_pad="SAME_UPPER"),
                 dict(kernel_shape=[4])]
        for (i, attributes), last in itertools.product(enumerate(drawn), (0, 1)):
            kind, axes = BYTES[(i + last) % 2], len(attributes["kernel_shape"])
            shape = [1, 5, *(int(n) for n in rng.integers(6, 9, axes))]
            if last:
                shape.append(shape.pop(1))
            s = scale(rng)
            yield Case("QLinearAveragePool", channels_last=last, **attributes).run_time(some(rng, kind, shape)).constant(
                s, integers_near(rng, kind, (), 40), s * np.float32(rng.uniform(0.5, 0.7)), integers_near(rng, kind, (), 30)), kind

    def test_average_pool(self):
        self.compare(self.pools(), 0)

    def test_global_average_pool(self):
        def cases():
            rng = np.random.default_rng(8)
            for kind, last, shape in zip(itertools.cycle(BYTES), (0, 1, 0, 1), ([2, 40, 5, 5], [2, 6, 7, 40], [1, 64, 9], [1, 3, 2, 64])):
                s = scale(rng)
                yield Case("QLinearGlobalAveragePool", channels_last=last).run_time(some(rng, kind, shape)).constant(
                    s, integers_near(rng, kind, (), 20), s * np.float32(rng.uniform(0.2, 0.4)), integers_near(rng, kind, (), 30)), kind
        self.compare(cases(), 0)

    @staticmethod
    def gemms(quantised):
        rng = np.random.default_rng(9)
        for (a, b), (turn_a, turn_b), each, alpha in zip(
                ((np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8), (np.uint8, np.int8)), itertools.product((0, 1), (0, 1)), (True, False, True, False), (1.0, 1.0, 0.5, 0.75)):
            m, k, n = (int(v) for v in rng.integers(4, 20, 3))
            sa, sb = scale(rng), np.float32(rng.uniform(0.005, 0.02, n)) if each else scale(rng)
            zero = integers_near(rng, b, (n,) if each else (), 3)
            case = Case("QGemm", transA=turn_a, transB=turn_b, alpha=alpha)
            case.run_time(some(rng, a, (k, m) if turn_a else (m, k))).constant(sa, some(rng, a))
            case.constant(integers_near(rng, b, (n, k) if turn_b else (k, n), 60), sb, zero)
            case.constant(rng.integers(-3000, 3000, n).astype(np.int32)) if m % 2 else case.none()
            if quantised:
                out = np.float32(alpha * sa * np.max(sb) * 60 * np.sqrt(k))
                case.constant(out, integers_near(rng, a, (), 20))
            yield case, a if quantised else np.float32

    def test_gemm(self):
        self.compare(self.gemms(True), 0)


class ToFloat(Compared):
    """Layers whose result is restored."""

    def compare(self, cases, tolerance, *flags):
        for case in cases:
            with self.subTest(op=case.op, attributes=case.attributes):
                found, wanted = self.both(case, np.float32, *flags)
                self.assertLessEqual(np.abs(found - wanted).max(), tolerance * np.ptp(wanted))

    def test_gemm(self):
        self.compare((case for case, _ in Layers.gemms(False)), 2 ** -8)

    @staticmethod
    def products(op):
        rng = np.random.default_rng(10)
        dynamic = op == "DynamicQuantizeMatMul"
        for a, b, each, biased in zip((np.uint8, np.int8, np.uint8, np.int8), (np.int8, np.int8, np.uint8, np.int8),
                                      (True, False, True, False), (True, True, False, False)):
            rows, k, n = [2, 3] if each else [5], int(rng.integers(8, 30)), int(rng.integers(4, 20))
            case = Case(op).run_time(rng.normal(size=(*rows, k)).astype(np.float32) if dynamic else some(rng, a, (*rows, k)))
            sb = np.float32(rng.uniform(0.005, 0.02, n)) if each else scale(rng)
            case.constant(integers_near(rng, b, (k, n), 60))
            if dynamic:
                case.constant(sb)
            else:
                case.constant(scale(rng), sb, some(rng, a))
            case.constant(integers_near(rng, b, (n,) if each else (), 3))
            if biased:
                case.constant(rng.normal(size=n).astype(np.float32))
            yield case

    def test_product(self):
        self.compare(self.products("MatMulIntegerToFloat"), 2 ** -8)

    def test_dynamic_product(self):
        """The scale is a bf16 number here, so that other integers stand for the same numbers."""
        self.compare(self.products("DynamicQuantizeMatMul"), 0.01)

    def test_attention(self):
        def cases():
            rng = np.random.default_rng(19)
            for a, b, each, hidden in ((np.uint8, np.int8, True, 0), (np.uint8, np.uint8, False, 1), (np.uint8, np.int8, False, 0)):
                case = Case("QAttention", num_heads=2, unidirectional=hidden).run_time(some(rng, a, (1, 5, 12)))
                case.constant(integers_near(rng, b, (12, 48), 60), rng.normal(size=48).astype(np.float32), scale(rng))
                case.constant(np.float32(rng.uniform(0.001, 0.004, 48)) if each else np.float32(0.002))
                case.constant(np.int32([4])) if each else case.none()
                case.constant(integers_near(rng, a, (), 40), integers_near(rng, b, (48,) if each and b is np.uint8 else (), 0))
                yield case
        self.compare(cases(), 0.02, "--allow-dynamic-weights")

    def test_product_with_a_computed_scale(self):
        """The scale and the zero point of a dynamic quantisation, as onnxruntime's optimiser writes it."""
        rng = np.random.default_rng(11)
        nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
                 helper.make_node("MatMulIntegerToFloat", ["q", "w", "s", "t", "z", "", "b"], ["y"], domain=MICROSOFT)]
        known = {"w": integers_near(rng, np.int8, (12, 7), 60), "t": np.float32(rng.uniform(0.005, 0.02, 7)),
                 "b": rng.normal(size=7).astype(np.float32)}
        values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)] for name, shape in (("x", [3, 12]), ("y", [3, 7]))]
        graph = helper.make_graph(nodes, "g", *values, [numpy_helper.from_array(v, k) for k, v in known.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)], ir_version=9)
        onnx.save(model, str(self.dir / "m.onnx"))
        x = rng.normal(size=(3, 12)).astype(np.float32)
        wanted, found = session(model).run(None, {"x": x})[0], self.found("m.onnx", {"x": x})[0]
        self.assertLessEqual(np.abs(found - wanted).max(), 0.01 * np.ptp(wanted))


class Written(Compared):
    """What the quantiser writes of float models."""

    class Reader:
        """Inputs to calibrate with."""

        def __init__(self, inputs):
            self.inputs = iter(inputs)

        def get_next(self):
            return next(self.inputs, None)

    def quantised(self, model, mode, inputs, **options):
        source, out = str(self.dir / "float.onnx"), str(self.dir / f"{mode}.onnx")
        onnx.save(model, source)
        options["reduce_range"] = True  # without it onnxruntime saturates sums on some machines
        if mode == "dynamic":
            quantization.quantize_dynamic(source, out, **options)
        else:
            quantization.quantize_static(source, out, self.Reader(inputs), quant_format=quantization.QuantFormat[mode], **options)
        return out, {node.op_type for node in onnx.load(out).graph.node}

    def compare(self, model, mode, inputs, must_have, tolerance, **options):
        path, ops = self.quantised(model, mode, inputs, **options)
        self.assertLessEqual(must_have, ops)
        wanted = session(path).run(None, inputs[0])[0]
        found = self.found(path, inputs[0], target="c6b32")[0]
        error = np.abs(found - wanted).max() / np.ptp(wanted)
        print(f"{self._testMethodName[5:]} {mode}: the largest error is {100 * error:.2f} % of the range; {', '.join(sorted(ops))}")
        self.assertLessEqual(error, tolerance)

    @staticmethod
    def model(nodes, shape, known):
        made = [helper.make_node(op, ins, outs, name=f"{op}_{outs[0]}", **attributes) for op, ins, outs, attributes in nodes]
        values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        graph = helper.make_graph(made, "g", *values, [numpy_helper.from_array(v, k) for k, v in known.items()])
        return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))

    @classmethod
    def mlp(cls):
        rng = np.random.default_rng(12)
        known = {name: (rng.normal(size=shape) * size).astype(np.float32)
                 for name, shape, size in (("a", (24, 16), 0.3), ("p", (24,), 0.1), ("b", (24, 12), 0.3), ("c", (12, 5), 0.4), ("q", (5,), 0.1))}
        return cls.model([("Gemm", ["x", "a", "p"], ["h"], {"transB": 1}), ("LeakyRelu", ["h"], ["i"], {"alpha": 0.1}),
                          ("MatMul", ["i", "b"], ["j"], {}), ("Sigmoid", ["j"], ["k"], {}), ("MatMul", ["k", "c"], ["l"], {}),
                          ("Add", ["l", "q"], ["y"], {})], [4, 16], known)

    @classmethod
    def cnn(cls):
        rng = np.random.default_rng(13)
        known = {name: (rng.normal(size=shape) * size).astype(np.float32)
                 for name, shape, size in (("a", (8, 3, 3, 3), 0.3), ("p", (8,), 0.1), ("b", (8, 8, 3, 3), 0.15), ("q", (8,), 0.1),
                                           ("c", (6, 16), 0.3), ("r", (6,), 0.1))}
        same = {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}
        return cls.model([("Conv", ["x", "a", "p"], ["h"], same), ("Relu", ["h"], ["i"], {}), ("Conv", ["i", "b", "q"], ["j"], same),
                          ("Add", ["i", "j"], ["k"], {}), ("Sigmoid", ["k"], ["g"], {}), ("Mul", ["k", "g"], ["l"], {}),
                          ("Concat", ["i", "l"], ["m"], {"axis": 1}),
                          ("AveragePool", ["m"], ["n"], {"kernel_shape": [2, 2], "strides": [2, 2]}),
                          ("GlobalAveragePool", ["n"], ["o"], {}), ("Flatten", ["o"], ["f"], {}),
                          ("Gemm", ["f", "c", "r"], ["y"], {"transB": 1})], [1, 3, 8, 8], known)

    @classmethod
    def lstm(cls, direction):
        rng, hidden, width = np.random.default_rng(16), 10, 12
        directions = 2 if direction == "bidirectional" else 1
        known = {name: (rng.normal(size=(directions, *shape)) * size).astype(np.float32)
                 for name, shape, size in (("w", (4 * hidden, width), 0.3), ("r", (4 * hidden, hidden), 0.3), ("b", (8 * hidden,), 0.2))}
        return cls.model([("LSTM", ["x", "w", "r", "b"], ["y"], {"hidden_size": hidden, "direction": direction})], [5, 2, width], known)

    @classmethod
    def inputs(cls, shape, seed):
        rng = np.random.default_rng(seed)
        return [{"x": rng.normal(size=shape).astype(np.float32)} for _ in range(8)]

    def test_mlp(self):
        inputs = self.inputs((4, 16), 14)
        self.compare(self.mlp(), "QOperator", inputs, {"QGemm", "QLinearLeakyRelu", "QLinearMatMul", "QLinearSigmoid", "QLinearAdd"}, 0.02)
        self.compare(self.mlp(), "QDQ", inputs, {"QuantizeLinear", "DequantizeLinear", "Gemm"}, 0.02)
        self.compare(self.mlp(), "dynamic", inputs, {"DynamicQuantizeLinear", "MatMulInteger"}, 0.02)
        self.compare(self.mlp(), "QOperator", inputs, {"QGemm"}, 0.02, per_channel=True)

    def test_cnn(self):
        inputs = self.inputs((1, 3, 8, 8), 15)
        self.compare(self.cnn(), "QOperator", inputs, {"QLinearConv", "QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearConcat",
                                                       "QLinearAveragePool", "QLinearGlobalAveragePool", "QGemm"}, 0.03)
        self.compare(self.cnn(), "QDQ", inputs, {"QuantizeLinear", "DequantizeLinear", "Conv"}, 0.03)
        # onnxruntime runs ConvInteger with weights of uint8 alone.
        self.compare(self.cnn(), "dynamic", inputs, {"DynamicQuantizeLinear", "ConvInteger", "MatMulInteger"}, 0.03,
                     weight_type=quantization.QuantType.QUInt8)


    def test_lstm(self):
        inputs = self.inputs((5, 2, 12), 17)
        for direction in ("forward", "reverse", "bidirectional"):
            for per_channel in (False, True) if direction == "forward" else (True,):
                with self.subTest(direction=direction, per_channel=per_channel):
                    self.compare(self.lstm(direction), "dynamic", inputs, {"DynamicQuantizeLSTM"}, 0.02, per_channel=per_channel)


class Models(Compared):
    """Models of others."""

    def check(self, name, tolerance, separator="."):
        if not FOLDER.exists():
            self.skipTest(f"{FOLDER} is not there")
        x, wanted = (np.load(FOLDER / f"{name}{separator}{what}.npy") for what in ("x", "ref_y"))
        if name == "dynq-matmulinteger":  # its stored output has sums of two products that are saturated to 16 bits
            wanted = onnx.reference.ReferenceEvaluator(onnx.load(FOLDER / f"{name}.onnx")).run(None, {"x": x})[0]
        path = FOLDER / (f"{name}.onnx" if separator == "." else f"{name}{separator}m.onnx")
        found = self.found(path, {"x": x}, target="c6b32")[0]
        error = np.abs(found - wanted).max() / np.ptp(wanted)
        print(f"{name}: the largest error is {100 * error:.2f} % of the range")
        self.assertLessEqual(error, tolerance)

    def test_operators(self):
        for name in ("dynq-convinteger", "dynq-dequantize", "dynq-matmulinteger", "quantize-dynamic-mlp"):
            with self.subTest(name):
                self.check(name, 0.02)

    def test_mlp(self):
        for name, tolerance in (("mlp_dyn", 0.01), ("mlp_qdq", 1e-6), ("mlp_qop", 1e-6)):
            with self.subTest(name):
                self.check(name, tolerance, "-")


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # the quantiser advises to prepare models
    main(2)
