"""Comparisons, logic, Where, Max, Min, Sum, Mean, Trilu."""
import numpy as np
from onnx import TensorProto, numpy_helper

from cases.common import RANDOM, node, normal


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
