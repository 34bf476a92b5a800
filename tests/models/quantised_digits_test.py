#!/usr/bin/env python3
"""Networks for digits in the quantised forms that five exporters write: every integer is compared with onnxruntime, and the
accuracy with that of the float network.

usage: quantised_digits_test.py SLUICE DIGITS [unittest arguments]      (python of tools/test_environment.sh)

DIGITS has digits.onnx, a perceptron of three layers, and heldout.csv, images that it was not trained on. The convolution has
random filters, and a last layer that fits half of the images. The forms are those that the documentation of the exporters
describes; onnxruntime's quantiser makes its two itself. Every test prints both accuracies and how many integers differ.
"""
import functools
import logging
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from folder import Folder, main  # noqa: E402
from node_by_node import session  # noqa: E402

DIGITS = pathlib.Path(sys.argv[2]).resolve()
TABLE = np.loadtxt(DIGITS / "heldout.csv", delimiter=",").astype(np.float32)
PIXELS, LABELS = TABLE[:, 1:] / 16, TABLE[:, 0].astype(int)
HALF = len(TABLE) // 2  # the images behind are not looked at before they are classified
LIMITS = {kind: np.iinfo(kind) for kind in (np.int8, np.uint8)}


class Graph:
    """A graph of one input 'x' and one output 'scores'."""

    def __init__(self, shape):
        self.nodes, self.constants, self.shape, self.count = [], [], shape, 0

    def constant(self, value):
        self.count += 1
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"c{self.count}"))
        return f"c{self.count}"

    def __call__(self, op, *inputs, **attributes):
        """The result of a node; inputs that are no names become constants."""
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        self.count += 1
        self.nodes.append(helper.make_node(op, names, [f"{op.lower()}{self.count}"], f"{op}_{self.count}", **attributes))
        return self.nodes[-1].output[0]

    def model(self, last, opset, outputs=10):
        self.nodes.append(helper.make_node("Identity", [last], ["scores"], "last"))
        graph = helper.make_graph(self.nodes, "digits", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, outputs])], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def dense_layers():
    weights = {i.name: numpy_helper.to_array(i) for i in onnx.load(DIGITS / "digits.onnx").graph.initializer}
    return [(weights[f"fc{i}.weight"] * (16 * weights["scale"] if i == 1 else 1), weights[f"fc{i}.bias"]) for i in (1, 2, 3)]


def filters():
    rng = np.random.default_rng(3)
    return rng.normal(0, 0.5, (12, 1, 3, 3)).astype(np.float32), rng.normal(0, 0.3, 12).astype(np.float32)


def results(model, images, shape):
    """The outputs of onnxruntime for each image."""
    run = session(model)
    return np.concatenate([run.run(None, {"x": image.reshape(shape)})[0] for image in images])


def dense_float():
    graph = Graph([1, 64])
    value = "x"
    for i, (weight, bias) in enumerate(dense_layers()):
        value = graph("Gemm", value, weight, bias)
        value = graph("Relu", value) if i < 2 else value
    return graph.model(value, 17)


def convolution_float(last=None):
    """Conv, Relu, MaxPool, and a layer of the weights and bias `last`; without it, all that is before the layer."""
    graph = Graph([1, 1, 8, 8])
    value = graph("Conv", "x", *filters(), pads=[1, 1, 1, 1])
    value = graph("Flatten", graph("MaxPool", graph("Relu", value), kernel_shape=[2, 2], strides=[2, 2]))
    if last is None:
        return graph.model(value, 17, 192)
    return graph.model(graph("Gemm", value, *last), 17)


@functools.cache
def fitted():
    """Weights and bias of the last layer of the convolution, by least squares over half of the images."""
    features = results(convolution_float(), PIXELS[:HALF], (1, 1, 8, 8)).reshape(HALF, -1)
    rows = np.hstack([features, np.ones((HALF, 1))])
    wanted = np.eye(10)[LABELS[:HALF]]
    weights = np.linalg.solve(rows.T @ rows + 3 * np.eye(rows.shape[1]), rows.T @ wanted).astype(np.float32)
    return weights[:-1], weights[-1]


def observed(model, shape):
    """The least and the largest value of every tensor of a float model over half of the images."""
    watched = onnx.ModelProto.FromString(model.SerializeToString())
    del watched.graph.output[:]
    names = ["x"] + [name for node in model.graph.node for name in node.output]
    watched.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names[1:])
    run = session(watched)
    ranges = {"x": (0.0, 1.0)}
    for image in PIXELS[:HALF]:
        for name, value in zip(names[1:], run.run(None, {"x": image.reshape(shape)})):
            low, high = ranges.get(name, (0.0, 0.0))
            ranges[name] = (min(low, float(value.min())), max(high, float(value.max())))
    return [ranges[name] for name in names]


def affine(low, high, kind, fewest=None, most=None):
    """Scale and zero point of a range, which has 0."""
    least, largest = fewest if fewest is not None else LIMITS[kind].min, most if most is not None else LIMITS[kind].max
    scale = np.float32(max(high - low, 1e-6) / (largest - least))
    return scale, kind(np.clip(round(least - low / float(scale)), least, largest))


def symmetric(weight, axis, most):
    """Integers of at most `most` and the scale of each index of an axis, which no other shares."""
    others = tuple(i for i in range(weight.ndim) if i != axis)
    scale = (np.abs(weight).max(others) / most).astype(np.float32)
    shape = [-1 if i == axis else 1 for i in range(weight.ndim)]
    return np.clip(np.round(weight / scale.reshape(shape)), -most, most).astype(np.int8), scale


def torch_fx():
    """torch.ao.quantization.convert_fx and torch.onnx.export, with the settings for x86: activations of 7 bits, weights for
    each channel; the bias is made an integer by nodes of the graph."""
    ranges = observed(dense_float(), (1, 64))
    graph, value = Graph([1, 64]), "x"
    scale, zero = affine(*ranges[0], np.uint8, most=127)
    value = graph("QuantizeLinear", value, scale, zero)
    for i, (weight, bias) in enumerate(dense_layers()):
        integers, scales = symmetric(weight.T, 0, 127)
        inputs = graph("DequantizeLinear", value, scale, zero)
        weights = graph("DequantizeLinear", integers, scales, np.zeros(len(scales), np.int8), axis=0)
        bias_scale = graph("Mul", scales, scale)
        bias_integers = graph("Cast", graph("Div", bias, bias_scale), to=TensorProto.INT32)
        bias_value = graph("DequantizeLinear", bias_integers, bias_scale, np.zeros(len(scales), np.int32), axis=0)
        value = graph("Add", graph("MatMul", inputs, graph("Transpose", weights, perm=[1, 0])), bias_value)
        value = graph("Relu", value) if i < 2 else value
        scale, zero = affine(*ranges[2 * i + 2 if i < 2 else -1], np.uint8, most=127)
        value = graph("QuantizeLinear", value, scale, zero)
    return graph.model(graph("DequantizeLinear", value, scale, zero), 13)


def tensorflow_lite():
    """The full-integer quantisation of TensorFlow Lite, through tf2onnx: images with the channels last, int8 throughout,
    weights for each channel without a zero point, biases of 32 bits, and a softmax of scale 1/256."""
    model = convolution_float(fitted())
    ranges = observed(model, (1, 1, 8, 8))
    weight, bias = filters()
    graph = Graph([1, 8, 8, 1])

    def requantised(value, span):
        scale, zero = affine(*span, np.int8)
        return graph("DequantizeLinear", graph("QuantizeLinear", value, scale, zero), scale, zero), scale

    def layer(weights, biases, axis, scale):
        integers, scales = symmetric(weights, axis, 127)
        zeros = np.zeros(len(scales), np.int8)
        whole = np.round(biases / (scale * scales)).astype(np.int32)
        return (graph("DequantizeLinear", integers, scales, zeros, axis=axis),
                graph("DequantizeLinear", whole, scale * scales, np.zeros(len(scales), np.int32), axis=0))

    value, scale = requantised("x", ranges[0])
    value = graph("Conv", graph("Transpose", value, perm=[0, 3, 1, 2]), *layer(weight, bias, 0, scale), pads=[1, 1, 1, 1])
    value, scale = requantised(graph("Transpose", graph("Relu", value), perm=[0, 2, 3, 1]), ranges[2])
    value = graph("MaxPool", graph("Transpose", value, perm=[0, 3, 1, 2]), kernel_shape=[2, 2], strides=[2, 2])
    value, scale = requantised(graph("Transpose", value, perm=[0, 2, 3, 1]), ranges[2])
    last, bias = fitted()  # its rows are channels first
    last = last.reshape(12, 4, 4, 10).transpose(1, 2, 0, 3).reshape(-1, 10)
    weights, biases = layer(last.T.copy(), bias, 0, scale)
    value = graph("MatMul", graph("Reshape", value, np.int64([1, -1])), graph("Transpose", weights, perm=[1, 0]))
    value, _ = requantised(graph("Add", value, biases), ranges[5])
    value = graph("QuantizeLinear", graph("Softmax", value, axis=1), np.float32(1 / 256), np.int8(-128))
    return graph.model(graph("DequantizeLinear", value, np.float32(1 / 256), np.int8(-128)), 15)


def brevitas():
    """Brevitas in QCDQ form: QuantizeLinear, Clip to the integers of fewer bits, DequantizeLinear; weights of 5 bits and
    activations of 8, 7 and 6."""
    ranges = observed(dense_float(), (1, 64))
    graph, value = Graph([1, 64]), "x"

    def clipped(value, scale, zero, low, high, **axis):
        integers = graph("QuantizeLinear", value, scale, zero, **axis)
        kind = zero.dtype.type
        return graph("DequantizeLinear", graph("Clip", integers, kind(low), kind(high)), scale, zero, **axis)

    for i, (weight, bias) in enumerate(dense_layers()):
        most = (255, 127, 63)[i]
        scale = np.float32(ranges[2 * i][1] / most)
        value = clipped(value, scale, np.uint8(0), 0, most)
        scales = (np.abs(weight).max(0) / 15).astype(np.float32)
        weights = clipped(weight.T.copy(), scales, np.zeros(len(scales), np.int8), -15, 15, axis=0)
        value = graph("Gemm", value, weights, bias, transB=1)
        value = graph("Relu", value) if i < 2 else value
    return graph.model(value, 17)


class Images(quantization.CalibrationDataReader):
    def __init__(self, shape):
        self.images = iter([{"x": image.reshape(shape)} for image in PIXELS[:HALF]])

    def get_next(self):
        return next(self.images, None)


class Digits(Folder):
    def scores(self, images, engine):
        np.save(self.dir / "x.npy", images)
        out = self.ok("run", "m.sluice", "--engine", engine, "--steps", str(len(images)),
                      "--input", "x=@x.npy", "--output", "scores=@scores.npy")
        if engine == "both":
            self.assertIn("engines agree: equal bits, equal cycles\n", out)
        return np.load(self.dir / "scores.npy").reshape(-1, 10)

    def classified(self, model, shape, differing=0.0, most=0.0):
        """Of the images that were not used, 1 % at most are lost against the float network and against onnxruntime. At most the
        share `differing` of the outputs differ from onnxruntime's, by `most` of their range."""
        onnx.save(model, str(self.dir / "m.onnx"))
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c6b32", "-o", "m.sluice")
        self.assertEqual(code, 0, err)  # there may be a warning of what is not checked
        images = PIXELS[HALF:].reshape(-1, *shape)
        found = self.scores(images, "vm")
        np.testing.assert_array_equal(self.scores(images[:24], "both"), found[:24])
        wanted = results(model, PIXELS[HALF:], shape)
        floats = (convolution_float(fitted()), (1, 1, 8, 8)) if len(shape) == 4 else (dense_float(), (1, 64))
        plain = results(floats[0], PIXELS[HALF:], floats[1])
        right, theirs, of_floats = (int((one.argmax(1) == LABELS[HALF:]).sum()) for one in (found, wanted, plain))
        different, worst = np.count_nonzero(found != wanted), np.abs(found - wanted).max() / np.ptp(wanted)
        print(f"{self._testMethodName[5:]}: {right} of {len(images)} right, onnxruntime {theirs}, float {of_floats}; "
              f"{different} of {found.size} outputs differ, by at most {100 * worst:.2f} % of the range")
        self.assertGreaterEqual(right, max(theirs, of_floats) - 0.01 * len(images))
        self.assertLessEqual(different, differing * found.size)
        self.assertLessEqual(worst, most)

    def test_torch_fx(self):
        self.classified(torch_fx(), (1, 64))

    def test_tensorflow_lite(self):
        # The softmax is computed in bf16, and its result is an integer again: some are off by one step.
        self.classified(tensorflow_lite(), (1, 8, 8, 1), 0.15, 0.02)

    def test_brevitas(self):
        # Nothing quantises the scores: they are bf16 numbers.
        self.classified(brevitas(), (1, 64), 1, 0.004)

    def quantised(self, float_model, quantise):
        logging.disable(logging.WARNING)
        onnx.save(float_model, str(self.dir / "float.onnx"))
        quantise(str(self.dir / "float.onnx"), str(self.dir / "quantised.onnx"))
        return onnx.load(str(self.dir / "quantised.onnx"))

    def test_onnxruntime_static(self):
        def quantise(source, target):
            quantization.quantize_static(source, target, Images((1, 1, 8, 8)), per_channel=True,
                                         activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8)
        self.classified(self.quantised(convolution_float(fitted()), quantise), (1, 1, 8, 8))

    def test_onnxruntime_dynamic(self):
        # Scales are computed from the values, in bf16.
        self.classified(self.quantised(dense_float(), quantization.quantize_dynamic), (1, 64), 1, 0.02)


if __name__ == "__main__":
    main(2)
