"""Builds ONNX models from NumPy weights: what the networks of the gallery share.

Weights are random numbers of a fixed seed, scaled so that activations keep their size.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """A graph under construction. An operation returns the name of its output; constants get names of their own."""

    def __init__(self, name, seed=1):
        self.name, self.random = name, np.random.default_rng(seed)
        self.inputs, self.nodes, self.constants = [], [], []

    def input(self, name, *shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def normal(self, *shape, scale=1.0):
        return self.constant((self.random.normal(size=shape) * scale).astype(np.float32))

    def __call__(self, op, *inputs, outputs=1, **attributes):
        name = f"{op.lower()}_{len(self.nodes)}"
        names = [name, *(f"{name}_{i}" for i in range(1, outputs))]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=name, **attributes))
        return name if outputs == 1 else names

    def dense(self, x, inner, outer, activation=None, gain=1.0):
        """A product with weights, a bias, and an activation of one operation."""
        y = self("Add", self("MatMul", x, self.normal(inner, outer, scale=gain / np.sqrt(inner))), self.normal(outer, scale=0.1))
        return self(activation, y) if activation else y

    def convolution(self, x, inner, outer, size, group=1, activation="Relu", **attributes):
        """A convolution with a bias; `size` has an extent for each axis. Batch norms are part of its weights."""
        fan = inner // group * int(np.prod(size))
        y = self("Conv", x, self.normal(outer, inner // group, *size, scale=np.sqrt(2 / fan)), self.normal(outer, scale=0.1),
                 kernel_shape=list(size), group=group, **attributes)
        return self(activation, y) if activation else y

    def norm(self, x, width):
        return self("LayerNormalization", x, self.constant(np.ones(width, np.float32)),
                    self.constant(np.zeros(width, np.float32)), axis=-1)

    def recurrence(self, kind, x, inner, units):
        """All states [1, steps, units] of an LSTM or GRU over x [1, steps, inner]."""
        gates = {"LSTM": 4, "GRU": 3}[kind] * units
        weights = [self.normal(1, gates, inner, scale=inner ** -0.5), self.normal(1, gates, units, scale=units ** -0.5),
                   self.normal(1, 2 * gates, scale=0.1)]
        states = self(kind, self("Transpose", x, perm=[1, 0, 2]), *weights, hidden_size=units,
                      **({"linear_before_reset": 1} if kind == "GRU" else {}))
        return self("Transpose", self("Squeeze", states, self.integers(1)), perm=[1, 0, 2])

    def attention(self, x, tokens, width, heads, mask=None):
        """Attention of every token to all tokens of x [1, tokens, width], with weights and biases; `mask` is added to
        the scores."""
        per = width // heads
        shape = self.integers(1, tokens, heads, per)
        q, k, v = (self("Transpose", self("Reshape", self.dense(x, width, width), shape), perm=perm)
                   for perm in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
        scores = self("Div", self("MatMul", q, k), self.constant(np.float32(np.sqrt(per))))
        scores = self("Add", scores, mask) if mask else scores
        mixed = self("Transpose", self("MatMul", self("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.dense(self("Reshape", mixed, self.integers(1, tokens, width)), width, width)

    def model(self, **outputs):
        """The model whose outputs are these values."""
        nodes = [helper.make_node("Identity", [value], [name], name=name) for name, value in outputs.items()]
        graph = helper.make_graph(self.nodes + nodes, self.name, self.inputs,
                                  [onnx.ValueInfoProto(name=name) for name in outputs], self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return onnx.shape_inference.infer_shapes(made)


def main(build, about):
    if len(sys.argv) != 2:
        sys.exit(about)
    onnx.save(build(), sys.argv[1])
