"""Integers that the program computes: exact, whatever is computed of them."""
import numpy as np
from onnx import TensorProto

from cases.common import RANDOM, node, normal

INT64 = TensorProto.INT64


def counts(cases):
    x = normal(3, 256)
    x[1] = np.abs(x[1]) + 1  # as many as bf16 can count
    to_ones = [node("Greater", "x c", "t"), node("Cast", "t", "i", to=INT64)]
    zero = {"c": np.float32(0)}
    ones = (x > 0).astype(np.int64)
    cases.add("integers_counted", [*to_ones, node("ReduceSum", "i a", keepdims=0)], {"x": x},
              {"y": ones.sum(1)}, {**zero, "a": np.int64([1])}, result=INT64)
    # Positions of those that a mask leaves, as exporters of language models write them.
    positions = np.where(ones == 0, 1, np.cumsum(ones, 1) - 1)
    cases.add("integers_positions",
              [*to_ones, node("CumSum", "i a", "s"), node("Sub", "s o", "p"), node("Equal", "i z", "m"),
               node("Where", "m o p")], {"x": x}, {"y": positions},
              {**zero, "a": np.int64(1), "o": np.int64(1), "z": np.int64(0)}, result=INT64)
    weights = RANDOM.integers(-2, 3, (13, 5))
    cases.add("integers_multiplied",
              [node("Greater", "x c", "t"), node("Cast", "t", "i", to=INT64), node("MatMul", "i w")],
              {"x": x[:, :13].copy()}, {"y": ones[:, :13] @ weights}, {**zero, "w": weights}, result=INT64)


def ranges(cases):
    x = np.round(normal(4, 7) * 90)
    whole = x.astype(np.int64)
    clipped = [node("Cast", "x", "i", to=INT64), node("Clip", "i l h", "k")]
    limits = {"l": np.int64(-16), "h": np.int64(9)}
    k = np.clip(whole, -16, 9)
    row = RANDOM.integers(-240, 241, 7)
    for op, with_row, expected in (("Add", row, k + row), ("Sub", row, k - row),
                                   ("Mul", np.int64([-11]), k * -11)):
        cases.add(f"integers_{op.lower()}", [*clipped, node(op, "k r")], {"x": x}, {"y": expected},
                  {**limits, "r": with_row}, result=INT64)
    cases.add("integers_squared", [*clipped, node("Mul", "k k")], {"x": x}, {"y": k * k}, limits, result=INT64)
    cases.add("integers_prelu", [*clipped, node("PRelu", "k r")], {"x": x},
              {"y": np.where(k < 0, k * -15, k)}, {**limits, "r": np.int64([-15])}, result=INT64)
    squares = np.clip(whole, -4, 6)
    small = {"l": np.int64(-4), "h": np.int64(6)}
    for op, expected in (("ReduceSumSquare", (squares**2).sum(1)), ("ReduceL1", np.abs(squares).sum(1))):
        cases.add(f"integers_{op.lower()}", [*clipped, node(op, "k", axes=[1], keepdims=0)], {"x": x},
                  {"y": expected}, small, result=INT64)
    bits = np.clip(whole, 1, 2)
    cases.add("integers_reduceprod", [*clipped, node("ReduceProd", "k", axes=[1], keepdims=0)], {"x": x},
              {"y": bits.prod(1)}, {"l": np.int64(1), "h": np.int64(2)}, result=INT64)


def selections(cases):
    x = np.float32(np.round(normal(4, 7) * 4) * 2.0**20)  # exact, and far beyond what can be counted
    whole = x.astype(np.int64)
    cast = node("Cast", "x", "i", to=INT64)
    for op, expected in (("ReduceMax", whole.max(1)), ("ReduceMin", whole.min(1))):
        cases.add(f"integers_{op.lower()}", [cast, node(op, "i", axes=[1], keepdims=0)], {"x": x},
                  {"y": expected}, result=INT64)
    for op, expected in (("Neg", -whole), ("Abs", np.abs(whole)), ("Sign", np.sign(whole))):
        cases.add(f"integers_{op.lower()}", [cast, node(op, "i")], {"x": x}, {"y": expected}, result=INT64)
    large = np.int64([2**40, -2**33, 0, 5, 96, -7, 2**21])
    cases.add("integers_max", [cast, node("Max", "i r")], {"x": x}, {"y": np.maximum(whole, large)},
              {"r": large}, result=INT64)
    cases.add("integers_joined", [cast, node("Concat", "i r", axis=0)], {"x": x},
              {"y": np.concatenate([whole, large[None]])}, {"r": large[None]}, result=INT64)
    cases.add("integers_padded", [cast, node("Pad", "i p v")], {"x": x},
              {"y": np.pad(whole, ((1, 0), (0, 2)), constant_values=-192)},
              {"p": np.int64([1, 0, 0, 2]), "v": np.int64(-192)}, result=INT64)
    cases.add("integers_argmax", [cast, node("ArgMax", "i", axis=1, keepdims=0)], {"x": x},
              {"y": whole.argmax(1)}, result=INT64)
    cases.add("integers_next", [node("ArgMax", "x", "i", axis=1), node("Add", "i o")], {"x": x},
              {"y": x.argmax(1)[:, None] + 1}, {"o": np.int64(1)}, result=INT64)
    cases.add("integers_topk", [cast, node("TopK", "i k", "y j", axis=1)], {"x": x},
              {"y": -np.sort(-whole, 1)[:, :3]}, {"k": np.int64([3])}, result=INT64)
    cases.add("integers_resized",
              [cast, node("Resize", "i none s", coordinate_transformation_mode="asymmetric", nearest_mode="floor")],
              {"x": x}, {"y": whole.repeat(2, 0).repeat(3, 1)},
              {"none": np.zeros(0, np.float32), "s": np.float32([2, 3])}, result=INT64)
    blocks = np.float32(RANDOM.integers(-9, 9, (1, 8, 2, 3)))
    cases.add("integers_depth_to_space", [cast, node("DepthToSpace", "i", blocksize=2, mode="CRD")],
              {"x": blocks},
              {"y": blocks.reshape(1, 2, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 4, 6)},
              result=INT64)
