"""Activations, softmax and log-softmax."""
import numpy as np
from onnx import helper

from cases.common import node, normal


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
    # The softmax of a long line is computed in parts, some of them of minus infinity.
    # Distances from a maximum are exact.
    long = np.float32(np.round(np.random.default_rng(7).standard_normal((1, 1024)) * 32) / 8)
    for name, line in (("long", long), ("long_far_apart", np.where(np.arange(1024) < 600, long, long - 300)),
                       ("long_minus_infinity", np.where(np.arange(1024) < 600, -np.inf, long))):
        line = line.astype(np.float32)
        cases.unary(f"softmax_{name}", "Softmax", lambda v: exact(v, -1), line)
        finite = np.where(np.isinf(line), np.float32(-1e4), line)
        cases.unary(f"log_softmax_{name}", "LogSoftmax",
                    lambda v: v - v.max() - np.log(np.exp(v - v.max()).sum()), finite)
    cases.unary("softmax_long_all_minus_infinity", "Softmax", lambda v: v * np.nan, np.full((1, 1024), -np.inf, np.float32))
    written = [node("ReduceMax", "x", "m", axes=[1]), node("Sub", "x m", "d"), node("Exp", "d", "e"),
               node("ReduceSum", "e a", "s"), node("Div", "e s")]
    e = np.exp(np.float64(long) - long.max())
    cases.add("softmax_long_written_out", [*written[:4], node("Div", "e s"), node("Log", "s", "z")], {"x": long},
              {"y": e / e.sum(), "z": np.log(e.sum(keepdims=True)), "m": long.max(keepdims=True)}, {"a": np.int64([1])})
    cases.add("softmax_long_exponentials_read", written, {"x": long}, {"y": e / e.sum(), "e": e}, {"a": np.int64([1])})
    cases.unary("softmax_vector", "Softmax", lambda v: exact(v, -1), normal(13))
