"""Operators with random numbers, against Philox 4x32-10 written down once more."""
import numpy as np
from onnx import TensorProto

from cases.common import node, normal


def philox(elements, seed):
    """Four words for each element of a field of this seed."""
    mask = 0xFFFFFFFF
    bits = int(np.float64(seed).view(np.uint64))
    words = np.zeros((elements, 4), np.uint64)
    for i in range(elements):
        c, k = [i & mask, i >> 32, 0, 0], [bits & mask, bits >> 32]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(b >> 32) ^ c[1] ^ k[0], b & mask, (a >> 32) ^ c[3] ^ k[1], a & mask]
            k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
        words[i] = c
    return words


def uniforms(shape, seed):
    words = philox(int(np.prod(shape)), seed)
    both = (words[:, 0::2] << np.uint64(32) | words[:, 1::2]) >> np.uint64(11)
    return (both[:, 0] * 2.0 ** -53).reshape(shape), (both[:, 1] * 2.0 ** -53).reshape(shape)


def normals(shape, seed):
    u, v = uniforms(shape, seed)
    return np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)


def fields(cases):
    x, shape = normal(3, 21), (3, 21)
    cases.add("random_normal", [node("RandomNormal", "", "r", shape=shape, seed=4.5, mean=1.0, scale=2.0),
                                node("Add", "x r")], {"x": x}, {"y": x + 1 + 2 * normals(shape, 4.5)})
    cases.add("random_uniform_like", [node("RandomUniformLike", "x", "r", seed=7.0, low=-1.0, high=3.0),
                                      node("Mul", "x r")], {"x": x}, {"y": x * (4 * uniforms(shape, 7)[0] - 1)})
    cases.add("random_uniform", [node("RandomUniform", "", "r", shape=shape, seed=2.5, high=3.0), node("Mul", "x r")],
              {"x": x}, {"y": x * 3 * uniforms(shape, 2.5)[0]})
    # A slice of a field, on other lanes than the whole.
    cases.add("random_slice", [node("RandomNormalLike", "x", "r", seed=3.0), node("Slice", "r b e a", "s"),
                               node("Slice", "x b e a", "t"), node("Add", "s t")],
              {"x": x}, {"y": (x + normals(shape, 3))[1:, 5:16]},
              {"b": np.int64([1, 5]), "e": np.int64([3, 16]), "a": np.int64([0, 1])})
    p = np.round(256 / (1 + np.exp(-2 * x))) / 256
    cases.add("bernoulli_runtime", node("Bernoulli", "x", seed=11.0), {"x": p},
              {"y": np.float64(uniforms(shape, 11)[0] < p)})
    u = uniforms((2, 5, 9), 13)[0]
    logits = np.round(normal(2, 9) * 4) / 4
    cases.add("multinomial", node("Multinomial", "x", sample_size=5, seed=13.0, dtype=7), {"x": logits},
              {"y": (logits[:, None] - np.log(-np.log1p(-u))).argmax(-1)}, result=TensorProto.INT64)
    kept = uniforms(shape, 5)[0] < 1 - np.float64(np.float32(0.3))
    cases.add("dropout_training", node("Dropout", "x ratio mode", seed=5), {"x": x},
              {"y": np.where(kept, x / 0.7, 0)}, {"ratio": np.float32(0.3), "mode": np.bool_(True)})
