"""Add, Sub, Mul and Div: of tensors, constants, scalars, themselves."""
import numpy as np

from cases.common import node, normal


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


def seldom(cases):
    """Operators that neither the suite nor another family has."""
    x = normal(3, 12)
    exact = x.astype(float)
    cases.add("swish", node("Swish", "x", alpha=0.75), {"x": x}, {"y": exact / (1 + np.exp(-0.75 * exact))}, opset=24)
    a, b = np.int64([[12], [10], [-7]]), np.int64(np.arange(12) - 5)
    for op, function in (("And", np.bitwise_and), ("Or", np.bitwise_or), ("Xor", np.bitwise_xor)):
        cases.add(f"bitwise_{op.lower()}", [node(f"Bitwise{op}", "a b", "c"), node("Cast", "c", "d", to=1),
                                            node("Add", "x d")], {"x": x}, {"y": exact + function(a, b)},
                  {"a": a, "b": b}, opset=18)
    cases.add("bitwise_not", [node("BitwiseNot", "b", "c"), node("Cast", "c", "d", to=1), node("Add", "x d")],
              {"x": x}, {"y": exact + ~b}, {"b": b}, opset=18)
    scale = normal(12)
    rms = exact / np.sqrt((exact ** 2).mean(-1, keepdims=True) + 1e-5) * scale
    cases.add("simplified_layer_norm", node("SimplifiedLayerNormalization", "x s"), {"x": x}, {"y": rms}, {"s": scale})
