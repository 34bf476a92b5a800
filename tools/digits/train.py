#!/usr/bin/env python3
"""Trains the digits example: 8x8 handwritten digits, 64-96-48-10 with ReLU.

Writes digits.onnx and heldout.csv to the folder of this script. Each line of
heldout.csv is one image: its label, then 64 pixels from 0 to 16. The data is the
digits set of scikit-learn. A fixed seed chooses the fifth of it that is held out
from training.
"""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

SEED = 7
HIDDEN = (96, 48)


def build_model(network):
    """The trained network as ONNX: pixels 0..16 in, one score per digit out."""
    nodes, initializers, value = [], [], "pixels"
    initializers.append(numpy_helper.from_array(np.float32(1 / 16), "scale"))
    nodes.append(helper.make_node("Mul", [value, "scale"], ["scaled"], name="normalise"))
    value = "scaled"
    layers = list(zip(network.coefs_, network.intercepts_))
    for index, (weight, bias) in enumerate(layers):
        name = f"fc{index + 1}"
        initializers.append(numpy_helper.from_array(weight.astype(np.float32), f"{name}.weight"))
        initializers.append(numpy_helper.from_array(bias.astype(np.float32), f"{name}.bias"))
        last = index == len(layers) - 1
        output = "scores" if last else f"{name}.out"
        nodes.append(helper.make_node("Gemm", [value, f"{name}.weight", f"{name}.bias"], [output], name=name))
        value = output
        if not last:
            nodes.append(helper.make_node("Relu", [value], [f"{name}.relu"], name=f"relu{index + 1}"))
            value = f"{name}.relu"
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="train.py")
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def main():
    digits = load_digits()
    train_x, test_x, train_y, test_y = train_test_split(
        digits.data, digits.target, test_size=0.2, random_state=SEED, stratify=digits.target)
    network = MLPClassifier(HIDDEN, alpha=1e-3, max_iter=400, random_state=SEED)
    network.fit(train_x / 16, train_y)
    print(f"fp32 accuracy on {len(test_y)} held-out images: {network.score(test_x / 16, test_y):.4f}")

    folder = pathlib.Path(__file__).resolve().parent
    onnx.save(build_model(network), folder / "digits.onnx")
    table = np.column_stack([test_y, test_x]).astype(int)
    np.savetxt(folder / "heldout.csv", table, fmt="%d", delimiter=",")


if __name__ == "__main__":
    main()
