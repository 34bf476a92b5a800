"""Values that several nodes read: what is fused with one of them changes none of the others."""
import numpy as np

from cases.common import node, normal


def products(cases):
    """A product, sum or mean that is read with a bias and without it."""
    x, w, b = normal(2, 4), normal(4, 11), normal(11)
    p = x @ w
    add = node("Add", "p b", "t")
    for name, rest, y in (
            ("tanh", [node("Tanh", "t", "g"), node("Add", "g p")], np.tanh(p + b) + p),
            ("itself", [node("Add", "t p")], p + b + p),
            ("times_itself", [node("Mul", "t p")], (p + b) * p),
            ("maximum", [node("Max", "p t")], np.maximum(p, p + b)),
            ("difference", [node("Relu", "t", "g"), node("Sub", "g p")], np.maximum(p + b, 0) - p)):
        cases.add(f"matmul_bias_and_{name}", [node("MatMul", "x w", "p"), add, *rest], {"x": x}, {"y": y},
                  {"w": w, "b": b})
    image, kernel, offset = normal(1, 2, 5, 5), normal(3, 2, 1, 1), normal(3, 1, 1)
    c = np.einsum("nchw,dcij->ndhw", image, kernel)
    cases.add("conv_bias_and_residual", [node("Conv", "x k", "p"), add, node("Relu", "t", "g"), node("Add", "g p")],
              {"x": image}, {"y": np.maximum(c + offset, 0) + c}, {"k": kernel, "b": offset})
    left, right = normal(2, 3), normal(2, 2)
    both, shift = np.concatenate([left, right], 1), normal(5)
    cases.add("concat_bias_and_residual",
              [node("Concat", "x z", "p", axis=1), add, node("Tanh", "t", "g"), node("Add", "g p")],
              {"x": left, "z": right}, {"y": np.tanh(both + shift) + both}, {"b": shift})
    long, step = normal(2, 21), normal(10)
    cases.add("slice_bias_and_residual",
              [node("Slice", "x s e a n", "p"), add, node("Tanh", "t", "g"), node("Add", "g p")],
              {"x": long}, {"y": np.tanh(long[:, 1::2] + step) + long[:, 1::2]},
              {"b": step, "s": np.int64([1]), "e": np.int64([21]), "a": np.int64([1]), "n": np.int64([2])})
    block, line = normal(9, 2, 8), normal(9, 1)
    for op, kept in (("ReduceMean", block.mean(1)), ("ReduceSum", block.sum(1))):
        reduced = node(op, "x", "p", axes=[1], keepdims=0) if op == "ReduceMean" else node(op, "x a", "p", keepdims=0)
        constants = {"b": line} if op == "ReduceMean" else {"b": line, "a": np.int64([1])}
        cases.add(f"{op.lower()}_bias_and_itself", [reduced, add, node("Add", "t p")], {"x": block},
                  {"y": kept + line + kept}, constants)
    pooled = image[:, :, :4, :4].reshape(1, 2, 2, 2, 2, 2).mean((3, 5))
    plane = normal(2, 1, 1)
    cases.add("averagepool_bias_and_residual",
              [node("AveragePool", "x", "p", kernel_shape=[2, 2], strides=[2, 2]), add, node("Tanh", "t", "g"),
               node("Add", "g p")], {"x": image}, {"y": np.tanh(pooled + plane) + pooled}, {"b": plane})
