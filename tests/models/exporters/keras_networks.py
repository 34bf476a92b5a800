#!/usr/bin/env python3
"""Exports networks of Keras, on PyTorch, with model.export(format="onnx").

usage: keras_networks.py FOLDER
"""
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras  # noqa: E402 pylint: disable=wrong-import-position
import numpy as np  # noqa: E402 pylint: disable=wrong-import-position
import torch  # noqa: E402 pylint: disable=wrong-import-position
from keras import layers as L  # noqa: E402 pylint: disable=wrong-import-position

from stored import save, write_all  # noqa: E402 pylint: disable=wrong-import-position


def residual(x):
    return L.Add()([x, L.Dense(x.shape[-1])(L.Dense(32, activation="gelu")(L.LayerNormalization()(x)))])


def attention(x):
    return L.Dense(3)(L.GlobalAveragePooling1D()(L.LayerNormalization()(x + L.MultiHeadAttention(2, 8)(x, x))))


def networks():
    """(title, shape of the input without the batch, function of the input)"""
    yield "dense layers, ReLU", (16,), lambda x: L.Dense(4)(L.Dense(32, activation="relu")(x))
    yield "dense layers, softmax", (16,), lambda x: L.Dense(5, activation="softmax")(L.Dense(32, activation="swish")(x))
    yield "Normalization, dense layers", (8,), lambda x: L.Dense(2)(L.Normalization(mean=[0.5] * 8, variance=[2.0] * 8)(x))
    yield "BatchNormalization, Dropout", (12,), lambda x: L.Dense(3)(L.Dropout(0.2)(L.ReLU()(L.BatchNormalization()(L.Dense(24)(x)))))
    yield "residual block, LayerNormalization", (16,), residual
    yield "Conv1D, pooling", (32, 2), lambda x: L.Dense(3)(L.GlobalMaxPooling1D()(L.Conv1D(8, 3, activation="relu")(L.MaxPooling1D()(L.Conv1D(8, 5, padding="same", activation="relu")(x)))))
    yield "Conv1D, causal, dilated", (24, 3), lambda x: L.Conv1D(4, 3, padding="causal", dilation_rate=2)(L.Conv1D(8, 3, padding="causal", activation="relu")(x))
    yield "Conv2D, Flatten", (12, 12, 1), lambda x: L.Dense(5)(L.Flatten()(L.MaxPooling2D()(L.Conv2D(6, 3, activation="relu")(x))))
    yield "SeparableConv2D", (10, 10, 3), lambda x: L.Dense(4)(L.GlobalAveragePooling2D()(L.SeparableConv2D(8, 3, padding="same", activation="relu")(x)))
    yield "Conv2DTranspose", (6, 6, 4), lambda x: L.Conv2DTranspose(2, 2, strides=2)(x)
    yield "LSTM", (10, 6), lambda x: L.Dense(3)(L.LSTM(12)(x))
    yield "GRU, all steps", (10, 6), lambda x: L.Dense(2)(L.GRU(12, return_sequences=True)(x))
    yield "Bidirectional LSTM", (8, 6), lambda x: L.Dense(3)(L.Bidirectional(L.LSTM(8))(x))
    yield "SimpleRNN", (10, 6), lambda x: L.Dense(3)(L.SimpleRNN(12)(x))
    yield "MultiHeadAttention", (8, 16), attention


def writer(shape, function):
    def write(folder):
        keras.utils.set_random_seed(1)
        inputs = keras.Input(shape, batch_size=1)
        model = keras.Model(inputs, function(inputs))
        x = torch.randn((1, *shape)).bfloat16().float().cpu()
        with torch.no_grad():
            y = model(x, training=False)
        model.export(str(folder / "model.onnx"), format="onnx", verbose=False,
                     input_signature=[keras.InputSpec(shape=(1, *shape), dtype="float32")])
        save(folder, [x.numpy()], [y.detach().cpu().numpy()])
    return write


if __name__ == "__main__":
    print("Keras", keras.__version__, "on PyTorch", torch.__version__.split("+")[0], "NumPy", np.__version__)
    write_all([(title, writer(shape, function)) for title, shape, function in networks()], sys.argv[1])
