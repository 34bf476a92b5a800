"""Attention, embeddings of positions, and what onnxruntime fuses, as com.microsoft."""
import math

import numpy as np

from cases.common import node, normal

MICROSOFT = "com.microsoft"
DYNAMIC = ("--allow-dynamic-weights",)


def softmax(x):
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


def attend(q, k, v, added=0.0, scale=None, softcap=0):
    """Of [batch, heads, positions, size], in double."""
    q, k, v = (np.asarray(x, float) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.swapaxes(2, 3) * (1 / np.sqrt(q.shape[3]) if scale is None else scale)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    return softmax(scores + added) @ v


def split(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def merge(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def hidden(keep):
    return np.where(keep, 0.0, -np.inf)


def attention(cases):
    q, k, v = normal(1, 2, 4, 8), normal(1, 2, 6, 8), normal(1, 2, 6, 5)
    qkv = {"q": q, "k": k, "v": v}

    def case(name, y, inputs=qkv, operands="q k v", constants=None, outputs=None, opset=24, **attributes):
        results = {"y": y, **(outputs or {})}
        cases.add(f"attention_{name}", node("Attention", operands, " ".join(results), **attributes), inputs, results,
                  constants, opset=opset, flags=DYNAMIC)

    case("4d", attend(q, k, v), opset=23)
    case("scaled", attend(q, k, v, scale=0.25), scale=0.25)
    case("softcap", attend(q, k, v, softcap=2.0), softcap=2.0)
    case("causal", attend(q, k, v, hidden(np.tri(4, 6))), is_causal=1)
    keep = np.random.default_rng(3).random((4, 6)) < 0.6
    keep[:, 2] = True
    case("bool_mask", attend(q, k, v, hidden(keep)), operands="q k v m", constants={"m": keep})
    floats = np.where(keep, normal(4, 6), -np.inf).astype(np.float32)
    case("float_mask", attend(q, k, v, floats), operands="q k v m", constants={"m": floats})
    bias = normal(1, 2, 4, 6)
    case("runtime_mask", attend(q, k, v, bias), {**qkv, "m": bias}, "q k v m")
    flat = {"q": normal(2, 4, 12), "k": normal(2, 5, 6), "v": normal(2, 5, 8)}
    parts = [split(flat["q"], 4), split(flat["k"], 2), split(flat["v"], 2)]
    case("grouped", merge(attend(*parts)), flat, q_num_heads=4, kv_num_heads=2)
    past = {"pk": normal(1, 2, 3, 8), "pv": normal(1, 2, 3, 5)}
    keys, values = np.concatenate([past["pk"], k], 2), np.concatenate([past["pv"], v], 2)
    cases.add("attention_past", node("Attention", "q k v m pk pv", "y a b", is_causal=1),
              {**qkv, **past},
              {"y": attend(q, keys, values, hidden(np.tri(4, 9, 3))), "a": keys, "b": values},
              {"m": np.ones((4, 9), bool)}, opset=23, flags=DYNAMIC)


def turned(x, cos, sin, pairs):
    """x [batch, positions, heads, size] turned by angles [batch, positions, half]."""
    half = cos.shape[-1]
    part, rest = x[..., :2 * half].astype(float), x[..., 2 * half:]
    a, b = (part[..., ::2], part[..., 1::2]) if pairs else (part[..., :half], part[..., half:])
    cos, sin = cos[:, :, None], sin[:, :, None]
    real, imaginary = a * cos - b * sin, a * sin + b * cos
    both = np.stack([real, imaginary], -1).reshape(part.shape) if pairs else np.concatenate([real, imaginary], -1)
    return np.concatenate([both, rest], -1)


def rotary(cases):
    angles = np.arange(10)[:, None] / 50.0 ** (np.arange(4) / 4)
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    ids = np.int64([[3, 4, 5], [0, 9, 2]])
    x = normal(2, 3, 16)
    apart = x.reshape(2, 3, 2, 8)
    for name, pairs in (("halves", 0), ("pairs", 1)):
        cases.add(f"rotary_{name}", node("RotaryEmbedding", "x c s i", num_heads=2, interleaved=pairs), {"x": x},
                  {"y": turned(apart, cos[ids], sin[ids], pairs).reshape(x.shape)}, {"c": cos, "s": sin, "i": ids},
                  opset=23)
    cases.add("rotary_part", node("RotaryEmbedding", "x c s", rotary_embedding_dim=4),
              {"x": apart.swapaxes(1, 2), "c": cos[ids][..., :2], "s": sin[ids][..., :2]},
              {"y": turned(apart, cos[ids][..., :2], sin[ids][..., :2], 0).swapaxes(1, 2)}, opset=23)
    first = np.tile(np.arange(4, 7), (2, 1))
    cases.add("microsoft_rotary", node("RotaryEmbedding", "x i c s", domain=MICROSOFT), {"x": x},
              {"y": turned(apart, cos[first], sin[first], 0).reshape(x.shape)},
              {"c": cos, "s": sin, "i": np.int64([4])})


def gelu(x):
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_by_tanh(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def layer_norm(x, gamma, beta, axes=-1, epsilon=1e-12):
    x = np.asarray(x, float)
    distance = x - x.mean(axes, keepdims=True)
    return distance / np.sqrt((distance ** 2).mean(axes, keepdims=True) + epsilon) * gamma + beta


def microsoft(cases):
    def case(name, op, operands, inputs, y, constants=None, outputs=None, flags=(), **attributes):
        results = {"y": y, **(outputs or {})}
        cases.add(f"microsoft_{name}", node(op, operands, " ".join(results), domain=MICROSOFT, **attributes), inputs, results,
                  constants, flags=flags)

    x, w = normal(3, 12), normal(9, 12)
    b = normal(9)
    exact = x.astype(float)
    case("fused_matmul", "FusedMatMul", "x w", {"x": x}, 0.5 * exact @ w.T, {"w": w}, transB=1, alpha=0.5)
    left, right = np.random.default_rng(22).standard_normal((2, 4, 3, 8)), np.random.default_rng(23).standard_normal((8, 4, 3, 5))
    left, right = left.astype(np.float32), right.astype(np.float32)
    case("fused_matmul_batches", "FusedMatMul", "x w", {"x": left},
         np.transpose(left, (1, 2, 0, 3)).astype(float) @ np.transpose(right, (1, 2, 0, 3)), {"w": right},
         transBatchA=1, transBatchB=1)
    case("fused_matmul_turned_batch", "FusedMatMul", "x w", {"x": left},
         np.transpose(left, (1, 2, 3, 0)).astype(float) @ right[0, 0, 0, 0:2].reshape(2, 1), {"w": right[0, 0, 0, 0:2].reshape(2, 1)},
         transBatchA=1, transA=1)
    case("fused_gemm", "FusedGemm", "x w b", {"x": x}, np.where((z := exact @ w.T + b) < 0, 0.25 * z, z),
         {"w": w, "b": b}, transB=1, activation="LeakyRelu", activation_alpha=0.25)
    image, kernel, z = normal(1, 3, 6, 6), normal(4, 3, 1, 1), normal(1, 4, 6, 6)
    sums = np.einsum("bchw,fc->bfhw", image.astype(float), kernel[:, :, 0, 0])
    case("fused_conv", "FusedConv", "x w b z", {"x": image, "z": z}, np.clip(sums + b[:4, None, None] + z, -0.5, 1),
         {"w": kernel, "b": b[:4]}, activation="Clip", activation_params=[-0.5, 1.0])
    bias = normal(12)
    case("gelu", "Gelu", "x", {"x": x}, gelu(exact))
    case("bias_gelu", "BiasGelu", "x b", {"x": x}, gelu(exact + bias), {"b": bias})
    case("fast_gelu", "FastGelu", "x b", {"x": x}, gelu_by_tanh(exact + bias), {"b": bias})
    case("quick_gelu", "QuickGelu", "x", {"x": x}, exact * sigmoid(1.5 * exact), alpha=1.5)

    x, skip, gamma, beta, bias = normal(2, 3, 12), normal(2, 3, 12), normal(12), normal(12), normal(12)
    given = {"g": gamma, "b": beta}
    total = x.astype(float) + skip + bias
    case("layer_norm", "LayerNormalization", "x g b", {"x": x}, layer_norm(x, gamma, beta, epsilon=1e-5), given)
    rms = x / np.sqrt((x.astype(float) ** 2).mean(-1, keepdims=True) + 1e-5) * gamma
    case("simplified_layer_norm", "SimplifiedLayerNormalization", "x g", {"x": x}, rms, {"g": gamma})
    case("skip_layer_norm", "SkipLayerNormalization", "x k g b s", {"x": x, "k": skip}, layer_norm(total, gamma, beta),
         {**given, "s": bias})
    rms = total / np.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-5) * gamma
    case("skip_simplified_layer_norm", "SkipSimplifiedLayerNormalization", "x k g s", {"x": x, "k": skip}, rms,
         {"g": gamma, "s": bias}, epsilon=1e-5)
    words, places, segments = normal(7, 12), normal(5, 12), normal(2, 12)
    ids, kinds = np.int32([[1, 6, 0]]), np.int32([[0, 1, 1]])
    row = words[ids] + places[:3] + segments[kinds]
    case("embed_layer_norm", "EmbedLayerNormalization", "i k w p s g b", {"g": gamma}, layer_norm(row, gamma, beta),
         {"i": ids, "k": kinds, "w": words, "p": places, "s": segments, "b": beta})
    image, scale, shift = normal(1, 4, 3, 8), normal(8), normal(8)
    grouped = layer_norm(image.reshape(1, 4, 3, 2, 4), scale.reshape(2, 4), shift.reshape(2, 4), (1, 2, 4), 1e-5)
    grouped = grouped.reshape(image.shape)
    case("group_norm", "GroupNorm", "x g b", {"x": image}, grouped * sigmoid(grouped), {"g": scale, "b": shift},
         groups=2, activation=1)

    x, weights, bias = normal(2, 4, 8), normal(8, 24), normal(24)
    parts = [split(x.astype(float) @ weights[:, i:i + 8] + bias[i:i + 8], 2) for i in (0, 8, 16)]
    ends = np.int32([3, 4])
    valid = hidden(np.arange(4) < ends[:, None])[:, None, None, :]
    case("attention", "Attention", "x w b m", {"x": x}, merge(attend(*parts, valid)),
         {"w": weights, "b": bias, "m": ends}, flags=DYNAMIC, num_heads=2)
    case("attention_causal", "Attention", "x w b", {"x": x}, merge(attend(*parts, hidden(np.tri(4)))),
         {"w": weights, "b": bias}, flags=DYNAMIC, num_heads=2, unidirectional=1)
    q, k, v, added = normal(1, 3, 8), normal(1, 5, 8), normal(1, 5, 6), normal(1, 2, 3, 5)
    seen = np.int32([[1, 1, 0, 1, 0]])
    bias = normal(22)
    parts = [split(q + bias[:8], 2), split(k + bias[8:16], 2), split(v + bias[16:], 2)]
    case("multi_head_attention", "MultiHeadAttention", "q k v b m a", {"q": q, "k": k, "v": v, "a": added},
         merge(attend(*parts, added + hidden(seen != 0))), {"b": bias, "m": seen}, flags=DYNAMIC, num_heads=2)


def packed_heads(cases):
    """Queries, keys and values of MultiHeadAttention in one tensor, or keys and values."""
    def case(name, operands, inputs, y, outputs=None, constants=None):
        results = {"y": y, **(outputs or {})}
        cases.add(f"microsoft_packed_{name}", node("MultiHeadAttention", operands, " ".join(results), domain=MICROSOFT,
                                                   num_heads=2), inputs, results, constants, flags=DYNAMIC)

    every = normal(2, 4, 2, 3, 5)
    q, k, v = (every[:, :, :, i].swapaxes(1, 2) for i in range(3))
    case("all", "x", {"x": every}, merge(attend(q, k, v)), {"k": k, "v": v})
    query, pair = normal(1, 3, 8), normal(1, 5, 2, 2, 4)
    keys, values = (pair[:, :, :, i].swapaxes(1, 2) for i in range(2))
    case("keys", "q p", {"q": query, "p": pair}, merge(attend(split(query, 2), keys, values)))
