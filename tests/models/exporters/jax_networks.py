#!/usr/bin/env python3
"""Exports networks of JAX, with the layers of Flax, by jax2onnx.

usage: jax_networks.py FOLDER
"""
import importlib.metadata
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402 pylint: disable=wrong-import-position
import jax.numpy as jnp  # noqa: E402 pylint: disable=wrong-import-position
import jax2onnx  # noqa: E402 pylint: disable=wrong-import-position
import numpy as np  # noqa: E402 pylint: disable=wrong-import-position
import onnx  # noqa: E402 pylint: disable=wrong-import-position
from flax import nnx  # noqa: E402 pylint: disable=wrong-import-position

from stored import save, write_all  # noqa: E402 pylint: disable=wrong-import-position


class Chain(nnx.Module):
    def __init__(self, *parts):
        self.parts = nnx.List(list(parts))

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


class Residual(nnx.Module):
    def __init__(self, width, rngs):
        self.norm, self.up, self.down = nnx.LayerNorm(width, rngs=rngs), nnx.Linear(width, 2 * width, rngs=rngs), nnx.Linear(2 * width, width, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.gelu(self.up(self.norm(x))))


class Attention(nnx.Module):
    def __init__(self, width, rngs):
        self.attend, self.out = nnx.MultiHeadAttention(2, width, decode=False, rngs=rngs), nnx.Linear(width, 3, rngs=rngs)

    def __call__(self, x):
        return self.out((x + self.attend(x)).mean(1))


class Pooled(nnx.Module):
    """Convolutions on images, channels last."""

    def __init__(self, rngs):
        self.first, self.second = nnx.Conv(2, 8, (3, 3), rngs=rngs), nnx.Conv(8, 8, (3, 3), strides=2, rngs=rngs)
        self.norm, self.head = nnx.BatchNorm(8, use_running_average=True, rngs=rngs), nnx.Linear(8, 4, rngs=rngs)

    def __call__(self, x):
        x = nnx.max_pool(nnx.relu(self.norm(self.first(x))), window_shape=(2, 2), strides=(2, 2))
        return self.head(nnx.relu(self.second(x)).mean((1, 2)))


def recurrence(w, u, v):
    def function(x):
        def step(h, one):
            h = jnp.tanh(one @ w + h @ u)
            return h, h @ v
        return jax.lax.scan(step, jnp.zeros(u.shape[0]), x)[1]
    return function


def numbers(*shape):
    return jnp.asarray(np.random.default_rng(sum(shape)).standard_normal(shape) * shape[0] ** -0.5, jnp.float32)


def networks():
    rngs = nnx.Rngs(1)
    yield "dense layers, relu", Chain(nnx.Linear(16, 32, rngs=rngs), nnx.relu, nnx.Linear(32, 4, rngs=rngs)), (1, 16)
    yield "dense layers, softmax", Chain(nnx.Linear(16, 32, rngs=rngs), nnx.silu, nnx.Linear(32, 5, rngs=rngs), nnx.softmax), (1, 16)
    yield "residual block, LayerNorm", Residual(16, rngs), (1, 16)
    yield "RMSNorm", Chain(nnx.Linear(12, 16, rngs=rngs), nnx.RMSNorm(16, rngs=rngs), nnx.Linear(16, 3, rngs=rngs)), (1, 12)
    yield "convolutions on a signal", Chain(nnx.Conv(2, 8, (5,), rngs=rngs), nnx.relu, nnx.Conv(8, 4, (3,), padding="VALID", rngs=rngs)), (1, 24, 2)
    yield "convolutions on an image", Pooled(rngs), (1, 12, 12, 2)
    yield "MultiHeadAttention", Attention(16, rngs), (1, 8, 16)
    yield "einsum, logsumexp", lambda x: jax.nn.logsumexp(jnp.einsum("bi,ijk->bjk", x, numbers(8, 4, 6)), axis=-1), (1, 8)
    yield "lax.scan", recurrence(numbers(6, 12), numbers(12, 12), numbers(12, 3)), (10, 6)
    yield "quadratic form", lambda x: jnp.sum((x @ numbers(10, 4)) ** 2, -1, keepdims=True) + x @ numbers(10, 1), (1, 10)


def writer(model, shape):
    def write(folder):
        if isinstance(model, nnx.Module):
            model.eval()
        x = jax.random.normal(jax.random.key(1), shape).astype(jnp.bfloat16).astype(jnp.float32)
        y = model(x)
        converted = jax2onnx.to_onnx(model, [shape])
        onnx.save(converted, str(folder / "model.onnx"))
        save(folder, [np.asarray(x)], [np.asarray(y)])
    return write


if __name__ == "__main__":
    print("JAX", jax.__version__, "jax2onnx", importlib.metadata.version("jax2onnx"))
    write_all([(title, writer(model, shape)) for title, model, shape in networks()], sys.argv[1])
