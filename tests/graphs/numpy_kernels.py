"""Operators that onnxruntime has no kernel for, or whose kernel leaves the standard."""
import pathlib
import sys

import numpy as np
from onnx import helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "ops"))
from cases import recurrences  # noqa: E402 pylint: disable=wrong-import-position


def attributes(node):
    found = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return {k: v.decode() if isinstance(v, bytes) else [w.decode() if isinstance(w, bytes) else w for w in v]
            if isinstance(v, list) else v for k, v in found.items()}


def recurrence(node, operands):
    """LSTM, GRU and RNN with given activations, whose parameters onnxruntime takes for 0 by default, or with a limit, which it
    applies to other values, too."""
    given = attributes(node)
    given.pop("hidden_size", None)
    order = ["x", "w", "r", "b", "lengths", "h0", "c0", "p"]
    values = {k: v for k, v in zip(order, operands) if v is not None}
    with np.errstate(all="ignore"):
        return [np.asarray(v, np.float32) for v in recurrences.recurrence(node.op_type, **values, **given)]


def dynamic_quantize_zeros(_node, operands):
    """onnxruntime gives a scale of 1 where the range is empty."""
    return [np.zeros(operands[0].shape, np.uint8), np.float32(0), np.uint8(0)]


def norm(v, axes, epsilon):
    mean = v.mean(axes, keepdims=True)
    return (v - mean) / np.sqrt(((v - mean) ** 2).mean(axes, keepdims=True) + epsilon)


def group_norm(node, operands):
    """com.microsoft.GroupNorm: channels come last."""
    x, gamma, beta = (np.asarray(v, np.float64) for v in operands[:3])
    given = attributes(node)
    last = given.get("channels_last", 1)
    x = x if last else np.moveaxis(x, 1, -1)
    groups = given["groups"]
    split = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    y = norm(split, (1, 3), given.get("epsilon", 1e-5)).reshape(x.shape) * gamma + beta
    y = y / (1 + np.exp(-y)) if given.get("activation", 0) else y
    return [(y if last else np.moveaxis(y, -1, 1)).astype(np.float32)]


def layer_norm(node, operands):
    """onnxruntime takes the variance for a difference of squares."""
    x, given = np.asarray(operands[0], np.float64), attributes(node)
    axis = given.get("axis", -1)
    y = norm(x, tuple(range(axis % x.ndim, x.ndim)), given.get("epsilon", 1e-5)) * operands[1]
    return [(y if len(operands) < 3 or operands[2] is None else y + operands[2]).astype(np.float32)]


def simplified_layer_norm(node, operands):
    x, given = np.asarray(operands[0], np.float64), attributes(node)
    axis = given.get("axis", -1)
    axes = tuple(range(axis % x.ndim, x.ndim))
    y = x / np.sqrt((x * x).mean(axes, keepdims=True) + given.get("epsilon", 1e-5)) * operands[1]
    return [y.astype(np.float32)]


def lp_norm(node, operands):
    """onnxruntime forgets the magnitudes where p is 1."""
    x, given = np.asarray(operands[0], np.float64), attributes(node)
    p, axis = given.get("p", 2), given.get("axis", -1)
    total = (np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    return [np.where(total == 0, 0, x / np.where(total == 0, 1, total)).astype(np.float32)]


def window_of(*factors):
    """A window function: a sum of cosines, in double."""
    def kernel(node, operands):
        size = int(operands[0])
        turn = 2 * np.pi * np.arange(size) / (size if attributes(node).get("periodic", 1) else size - 1)
        return [sum(f * np.cos(k * turn) for k, f in enumerate(factors)).astype(np.float32)]
    return kernel


def swish(node, operands):
    x = np.asarray(operands[0], np.float64)
    return [(x / (1 + np.exp(-attributes(node).get("alpha", 1.0) * x))).astype(np.float32)]


def cumprod(node, operands):
    """CumProd of opset 26."""
    x, axis, given = operands[0], int(operands[1]), attributes(node)
    x = np.flip(x, axis) if given.get("reverse", 0) else x
    y = np.cumprod(x, axis, dtype=x.dtype)
    if given.get("exclusive", 0):
        y = np.concatenate([np.ones_like(np.take(y, [0], axis)), np.take(y, range(x.shape[axis] - 1), axis)], axis)
    return [np.flip(y, axis) if given.get("reverse", 0) else y]


def einsum(node, operands):
    """onnxruntime forgets to transpose the sum of one operand."""
    values = [np.asarray(v, np.float64) for v in operands]
    return [np.einsum(attributes(node)["equation"], *values).astype(np.float32)]


def mean_variance_norm(node, operands):
    """onnxruntime takes the root of a difference of squares, which may be negative."""
    x, given = np.asarray(operands[0], np.float64), attributes(node)
    axes = tuple(given.get("axes", [0, 2, 3]))
    mean = x.mean(axes, keepdims=True)
    return [((x - mean) / (np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True)) + 1e-9)).astype(np.float32)]


def instance_norm(node, operands):
    """The sum of squares of onnxruntime overflows."""
    x, scale, bias = (np.asarray(v, np.float64) for v in operands)
    turned = [-1] + [1] * (x.ndim - 2)
    y = norm(x, tuple(range(2, x.ndim)), attributes(node).get("epsilon", 1e-5))
    return [(y * scale.reshape(turned) + bias.reshape(turned)).astype(np.float32)]


def dft(node, operands):
    """The products of onnxruntime's transform of lengths that are no power of two overflow. The axis is 1."""
    x, given = np.asarray(operands[0], np.float64), attributes(node)
    sums = np.arange(x.shape[1] // 2 + 1 if given.get("onesided", 0) else x.shape[1])
    angles = -2 * np.pi * np.outer(sums, np.arange(x.shape[1])) / x.shape[1]
    with np.errstate(all="ignore"):
        parts = [np.einsum("kn,bn->bk", part, x[..., 0]) for part in (np.cos(angles), np.sin(angles))]
        return [np.stack(parts, -1).astype(np.float32)]


def quantised_softmax(node, operands):
    """onnxruntime adds exponentials that it has rounded."""
    codes, scale, zero, out, shift = operands
    x = (np.asarray(codes, np.float64) - np.float64(zero)) * np.float64(scale)
    named = attributes(node)
    axis = named.get("axis", -1)
    if named["opset"] < 13:
        axis = tuple(range(axis % x.ndim, x.ndim))
    shares = np.exp(x - x.max(axis, keepdims=True))
    shares /= shares.sum(axis, keepdims=True)
    limits = np.iinfo(shift.dtype)
    return [np.clip(np.round(shares / np.float64(out)) + np.float64(shift), limits.min, limits.max).astype(shift.dtype)]


KERNELS = {("", "DFT"): dft, ("", "HannWindow"): window_of(0.5, -0.5), ("", "HammingWindow"): window_of(25 / 46, -21 / 46),
           ("", "BlackmanWindow"): window_of(0.42, -0.5, 0.08),
           ("com.microsoft", "GroupNorm"): group_norm,
           ("com.microsoft", "LayerNormalization"): layer_norm,
           ("", "LayerNormalization"): layer_norm,
           ("", "MeanVarianceNormalization"): mean_variance_norm, ("", "InstanceNormalization"): instance_norm, ("", "Einsum"): einsum,
           ("com.microsoft", "QLinearSoftmax"): quantised_softmax,
           ("com.microsoft", "SimplifiedLayerNormalization"): simplified_layer_norm,
           ("", "SimplifiedLayerNormalization"): simplified_layer_norm,
           ("", "LpNormalization"): lp_norm, ("", "Swish"): swish, ("", "CumProd"): cumprod}
