"""A random graph: an ONNX model, the flags to compile it with, and the values of its inputs."""
import copy
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT, ML = "com.microsoft", "ai.onnx.ml"


def type_info(name, value):
    """The type of a value: an array, a list of arrays (a sequence) or None (an empty optional)."""
    if isinstance(value, list):
        kind = helper.np_dtype_to_tensor_dtype(value[0].dtype) if value else TensorProto.FLOAT
        return helper.make_tensor_sequence_value_info(name, kind, None)
    value = np.asarray(value)
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


class Graph:
    """Nodes in order, constants and inputs by name. `inferences` has the inputs of each inference."""

    def __init__(self, opset=17):
        self.opset = opset
        self.nodes, self.constants, self.inferences = [], {}, [{}]
        self.outputs = []  # names
        self.flags = []  # such as ("--data-dim", "x0=1")
        self.states = {}  # name of an input: name of the output that it is in the next inference
        self.stream = {}  # name of an input: its axis along time
        self.evaluator = None  # that has evaluated the nodes before

    def copy(self):
        other = copy.copy(self)
        other.nodes = [copy.deepcopy(node) for node in self.nodes]
        other.constants = dict(self.constants)
        other.inferences = [dict(one) for one in self.inferences]
        other.outputs, other.flags = list(self.outputs), list(self.flags)
        other.states, other.stream = dict(self.states), dict(self.stream)
        return other

    def model(self, types):
        """The model; `types` has a value of every output, of which the type and the shape count."""
        constants = [numpy_helper.from_array(np.asarray(v), k) for k, v in self.constants.items()]
        graph = helper.make_graph(self.nodes, "random", [type_info(k, v) for k, v in self.inferences[0].items()],
                                  [type_info(name, types[name]) for name in self.outputs], constants)
        domains = sorted({node.domain for node in self.nodes} - {""})
        opsets = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8
        return model

    def used(self):
        """Names that nodes read, their inner graphs too."""
        return {name for node in self.nodes for name in reads(node)} | set(self.outputs)

    def prune(self):
        """Removes the nodes, constants and inputs that no output depends on."""
        wanted, kept = set(self.outputs), []
        for node in reversed(self.nodes):
            if wanted & set(node.output) - {""}:
                wanted |= reads(node)
                kept.append(node)
        self.nodes = kept[::-1]
        self.constants = {k: v for k, v in self.constants.items() if k in wanted}
        gone = [k for k in self.inferences[0] if k not in wanted and k not in self.states]
        for one in self.inferences:
            for name in gone:
                del one[name]

    def operators(self):
        return [node.op_type for node in self.nodes]

    def flag_words(self):
        return [word for flag in self.flags for word in flag]


def reads(node):
    """Names that a node reads: its inputs, and values outside of the graphs in its attributes."""
    names = set(node.input) - {""}
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            inner = attribute.g
            own = {i.name for i in inner.input} | {i.name for i in inner.initializer} | \
                {o for n in inner.node for o in n.output}
            names |= {name for n in inner.node for name in reads(n)} - own
            names |= {o.name for o in inner.output} - own
    return names


def save(graph, reference, folder, note=""):
    """Writes the model, its inputs, flags and reference outputs, one .npy file each, with all
    inferences along a new first axis where there are several."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(graph.model(reference[0]), str(folder / "model.onnx"))
    (folder / "flags.txt").write_text("\n".join(" ".join(flag) for flag in graph.flags) + "\n")
    several = len(graph.inferences) > 1
    for name in graph.inferences[0]:
        if name not in graph.states:
            values = [np.asarray(one[name]) for one in graph.inferences]
            np.save(folder / f"{name}.npy", np.stack(values) if several else values[0])
    for name in graph.outputs:
        values = [np.asarray(one[name]) for one in reference]
        np.save(folder / f"{name}.expected.npy", np.stack(values) if several else values[0])
    if note:
        (folder / "README.md").write_text(note)


def load(folder):
    """The graph that `save` wrote."""
    folder = pathlib.Path(folder)
    model = onnx.load(str(folder / "model.onnx"))
    graph = Graph(next(o.version for o in model.opset_import if not o.domain))
    names = {i.name: i.name if i.name[0] == "c" else f"c_{i.name}" for i in model.graph.initializer}
    graph.constants = {names[i.name]: numpy_helper.to_array(i) for i in model.graph.initializer}
    for node in model.graph.node:
        node.input[:] = [names.get(k, k) for k in node.input]
        graph.nodes.append(node)
    graph.outputs = [o.name for o in model.graph.output]
    for line in (folder / "flags.txt").read_text().splitlines():
        words = line.split()
        if words:
            graph.flags.append(tuple(words))
        if words and words[0] in ("--state", "--stream"):
            name, value = words[1].split("=")
            (graph.states if words[0] == "--state" else graph.stream)[name] = value if words[0] == "--state" else int(value)
    shapes = {i.name: tuple(d.dim_value for d in i.type.tensor_type.shape.dim) for i in model.graph.input}
    values = {k: np.load(folder / f"{k}.npy") for k in shapes if k not in graph.states}
    several = [len(v) for k, v in values.items() if v.shape != shapes[k]]
    count = several[0] if several else 1
    graph.inferences = [{k: np.zeros(s, np.float32) if k in graph.states else values[k][i] if several else values[k]
                         for k, s in shapes.items()} for i in range(count)]
    return graph
