"""Functions of one value."""
import math

import numpy as np

from cases.common import node, normal


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
            ("Asinh", np.arcsinh, x * np.abs(x) ** 3), ("Acosh", np.arccosh, 1 + positive ** 4),
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
