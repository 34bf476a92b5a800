"""Other spellings of a graph: nodes written out, reduced axes that come back, transposes and axes of extent 1 that come and
go, constants that nodes compute. A spelling follows from the graph and a seed alone."""
import numpy as np
from onnx import TensorProto, helper

from graph import Graph
from oracle import attribute, is_float

RULES = {}  # by operator: functions that write a node otherwise
# Whose constants may be computed by other nodes; the importer, too, wants to know those of the others.
ANY_OPERANDS = {"Add", "Sub", "Mul", "Div", "MatMul", "Gemm", "Conv", "Max", "Min", "Sum", "Mean", "Concat", "Where", "PRelu",
                "LayerNormalization", "Einsum"}


class Unfit(Exception):
    """The rule does not apply to the node."""


def spells(*operators):
    def register(function):
        for op in operators:
            RULES.setdefault(op, []).append(function)
        return function
    return register


class Speller:
    """Writes a graph again. `env` has the values of the original by name."""

    def __init__(self, graph, env, seed):
        self.old, self.env, self.random = graph, env, np.random.default_rng([seed, 23])
        self.graph = Graph(graph.opset)
        self.graph.inferences = [dict(one) for one in graph.inferences[:1]]
        self.graph.constants = dict(graph.constants)
        self.graph.outputs, self.opset = list(graph.outputs), graph.opset
        self.names = {}  # what stands for a name of the original
        self.applied = []  # names of rules
        self.count = 0

    # Random choices.
    def chance(self, probability):
        return self.random.random() < probability

    def one_of(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    # Values.
    def shape(self, name):
        return np.shape(self.env[name])

    def known(self, name):
        """A constant's value."""
        if name not in self.old.constants:
            raise Unfit("no constant")
        return self.old.constants[name]

    def axes(self, node, place=1):
        """Axes of a reduction, ascending, from an input or an attribute."""
        given = self.known(node.input[place]).tolist() if len(node.input) > place and node.input[place] else attribute(node, "axes")
        rank = len(self.shape(node.input[0]))
        if not given:
            raise Unfit("all axes, or none")
        return sorted(a % rank for a in given)

    def constant(self, value):
        name = f"c_s{len(self.graph.constants)}"
        self.graph.constants[name] = np.asarray(value)
        return name

    def scalar(self, value):
        return self.constant(np.float32(value))

    def ints(self, *values):
        return self.constant(np.int64(values))

    # Nodes.
    def emit(self, op, *operands, outputs=None, **attributes):
        """Adds a node; its output, or outputs. Operands are names of the new graph."""
        self.count += 1
        names = outputs or [f"s{self.count}"]
        self.graph.nodes.append(helper.make_node(op, list(operands), names, name=f"m{self.count}",
                                                 **{k: v for k, v in attributes.items() if v is not None}))
        return names[0] if len(names) == 1 else names

    def unsqueeze(self, x, axes):
        return self.emit("Unsqueeze", x, self.ints(*axes)) if self.opset >= 13 else self.emit("Unsqueeze", x, axes=axes)

    def squeeze(self, x, axes):
        return self.emit("Squeeze", x, self.ints(*axes)) if self.opset >= 13 else self.emit("Squeeze", x, axes=axes)

    def reduce(self, op, x, axes, keepdims=1):
        if self.opset >= (13 if op == "ReduceSum" else 18):
            return self.emit(op, x, self.ints(*axes), keepdims=keepdims)
        return self.emit(op, x, axes=list(axes), keepdims=keepdims)

    def slice(self, x, axis, begin, end):
        return self.emit("Slice", x, self.ints(begin), self.ints(end), self.ints(axis))

    def reshape(self, x, shape):
        return self.emit("Reshape", x, self.ints(*shape))

    def clip(self, x, low, high):
        return self.emit("Clip", x, self.scalar(low), self.scalar(high))

    # The graph.
    def spell(self, share=0.6):
        """The graph with this share of its nodes written otherwise, where a rule knows how."""
        for name in self.old.inferences[0]:
            self.names[name] = self.detour(name, name, share / 3)
        for name, value in self.old.constants.items():
            self.names[name] = self.computed(name, value) if self.chance(share / 3) else name
        for node in self.old.nodes:
            self.write(node, share)
        self.graph.prune()
        return self.graph

    def write(self, node, share):
        rules = RULES.get(node.op_type, []) if node.domain == "" else []
        start, constants = len(self.graph.nodes), dict(self.graph.constants)
        results = None
        if rules and self.chance(share):
            rule = self.one_of(rules)
            try:
                results = rule(self, node, [self.names.get(name, name) for name in node.input])
                self.applied.append(rule.__name__)
            except Unfit:
                del self.graph.nodes[start:]
                self.graph.constants = constants
        if results is None:
            copy = type(node)()
            copy.CopyFrom(node)
            copy.input[:] = [self.names.get(name, name) if self.may_compute(node, i) else name for i, name in enumerate(node.input)]
            self.graph.nodes.append(copy)
            results = node.output
        for name, result in zip(node.output, [results] if isinstance(results, str) else results):
            if name and result != name:
                self.emit("Identity", result, outputs=[name])
            if name:
                self.names[name] = self.detour(name, name, share / 3)

    def may_compute(self, node, place):
        """Whether an operand need not be a constant."""
        name = node.input[place]
        if not is_float(self.env.get(name)):
            return False
        return place == 0 or node.op_type in ANY_OPERANDS or name not in self.old.constants

    def computed(self, name, value):
        """Nodes that compute a constant's floats, exactly."""
        if not is_float(value) or value.dtype != np.float32 or not value.size:
            return name
        ways = [lambda: self.emit("Neg", self.constant(-value)),
                lambda: self.emit("Mul", self.constant(value * 2), self.scalar(0.5)),
                lambda: self.reshape(self.constant(value.reshape(-1)), value.shape)]
        if value.ndim >= 2:
            turned = [int(a) for a in self.random.permutation(value.ndim)]
            back = [int(a) for a in np.argsort(turned)]
            ways.append(lambda: self.emit("Transpose", self.constant(value.transpose(turned)), perm=back))
        if value.ndim and value.shape[0] > 1:
            ways.append(lambda: self.emit("Concat", self.constant(value[:1]), self.constant(value[1:]), axis=0))
        self.applied.append("computed")
        return self.one_of(ways)()

    def detour(self, name, original, probability):
        """The same value behind views that undo each other."""
        value = self.env[original]
        if not is_float(value) or value.dtype != np.float32 or not self.chance(probability):
            return name
        rank = value.ndim
        if rank >= 2 and self.chance(0.5):
            turned = [int(a) for a in self.random.permutation(rank)]
            self.applied.append("transposes")
            return self.emit("Transpose", self.emit("Transpose", name, perm=turned), perm=[int(a) for a in np.argsort(turned)])
        axis = int(self.random.integers(rank + 1))
        self.applied.append("extent_one")
        if self.chance(0.7):
            return self.squeeze(self.unsqueeze(name, [axis]), [axis])
        return self.reshape(self.unsqueeze(name, [axis]), value.shape)
