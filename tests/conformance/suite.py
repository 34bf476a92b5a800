"""The cases of the ONNX v1.12 backend suite, and what of each is given when compiling.

922 node cases are made by the onnx package; the others (PyTorch's and the simple ones) are
read from a folder. A case passes every operand at run time. An operand becomes an initializer
where it is of integers or bool, which the accelerator does not have, or where the operator
wants to know it, or what it is computed from, at import (`sluice ops` says which).

A program takes and gives tensors. A sequence that a case passes is the tensors in it, which a node
in front of the model makes a sequence of; of one that it gives, nodes behind it take every tensor.
"""
import json
import pathlib
import re
import subprocess
import types

import numpy as np

for alias in ("float", "int", "bool", "object"):  # removed from numpy, used by onnx 1.12
    if not hasattr(np, alias):
        setattr(np, alias, __builtins__[alias])

import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
EXTENTS = ("Shape", "Size", "SequenceLength", "OptionalHasElement")  # know without a value what they give
GROUPS = ("pytorch-converted", "pytorch-operator", "simple")  # folders beside the node cases


def load(path, value):
    """The tensor in a .pb file, or the tensors of the sequence in it."""
    if value.type.HasField("sequence_type"):
        sequence = onnx.SequenceProto()
        sequence.ParseFromString(path.read_bytes())
        return numpy_helper.to_list(sequence)
    tensor = TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def stored(folder):
    """The cases of a folder as the suite stores them."""
    for path in sorted(folder.glob("*/model.onnx")):
        model = onnx.load(str(path))
        data = path.parent / "test_data_set_0"
        known = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in known]
        yield types.SimpleNamespace(
            name=path.parent.name, model=model,
            data_sets=[([load(data / f"input_{i}.pb", v) for i, v in enumerate(inputs)],
                        [load(data / f"output_{i}.pb", v) for i, v in enumerate(model.graph.output)])])


def cases(folder):
    """(group, name, case) of every case; names are made unique."""
    seen = set()

    def named(group, case):
        name = case.name
        while name in seen:
            name += "_again"
        seen.add(name)
        return group, name, case

    for case in sorted(collect_testcases(None), key=lambda case: case.name):
        yield named("node", case)
    for group in GROUPS:
        if folder is not None and (folder / group).is_dir():
            for case in stored(folder / group):
                yield named(group, case)


class Known:
    """Which operands an operator wants to know at import."""

    def __init__(self, sluice):
        ops = subprocess.run([sluice, "ops", "--json"], check=True, capture_output=True)
        self.rows = {}
        for row in json.loads(ops.stdout)["operators"]:
            first = [sentence for sentence in row["requirements"] if sentence.startswith("inputs: ")]
            names = re.findall(r"'([^']*)'", first[0]) if first else []
            known = {names.index(found[1]) for sentence in row["requirements"]
                     if (found := re.match(r"input '([^']*)' must be known at compile time", sentence))}
            self.rows.setdefault((row["domain"], row["op"]), []).append((row["opsets"], known))

    def of(self, model):
        """The names of the graph's inputs that some node wants to know."""
        opsets = {opset.domain.replace("ai.onnx", ""): opset.version for opset in model.opset_import}
        names = set()
        for node in reversed(model.graph.node):  # after those that read what it computes
            if names.intersection(node.output) and node.op_type not in EXTENTS:
                names.update(node.input)
            for (first, last), known in self.rows.get((node.domain, node.op_type), ()):
                if first <= opsets.get(node.domain, 1) <= last:
                    names.update(name for i, name in enumerate(node.input) if i in known)
        return names


def numbers(value, data):
    """An operand as NumPy has numbers: the suite keeps bfloat16 as the bits of it."""
    data = np.asarray(data)
    is_bits = value.type.tensor_type.elem_type == TensorProto.BFLOAT16 and data.dtype == np.uint16
    return (data.astype(np.uint32) << 16).view(np.float32) if is_bits else data


def is_tensor(data):
    return isinstance(data, (np.ndarray, np.generic))


def largest(case):
    """The largest finite magnitude among the case's inputs and outputs."""
    arrays = [np.abs(x.astype(np.float64)) for side in case.data_sets[0] for x in side
              if is_tensor(x) and np.asarray(x).dtype.kind == "f"]
    return max((x[np.isfinite(x)].max(initial=0) for x in map(np.atleast_1d, arrays)), default=0)


def initializer(value, data):
    data = np.asarray(data)
    tensor = numpy_helper.from_array(data, value.name)
    tensor.data_type = value.type.tensor_type.elem_type  # bfloat16 is stored as its bits
    return tensor


def content(type_):
    """The type of an optional's value; of another type itself."""
    return type_.optional_type.elem_type if type_.HasField("optional_type") else type_


def of_tensor(name, data, like):
    """A tensor input or output of the type `like`, with the shape of its value."""
    return helper.make_tensor_value_info(name, like.elem_type, np.asarray(data).shape)


def take_apart(graph, value, data, names):
    """Nodes that make of tensors what the case passes; the tensors, which are called `names`."""
    inner = content(value.type)
    if data is None:  # an optional without a value
        graph.node.insert(0, helper.make_node("Optional", [], [value.name], type=inner))
        return []
    if inner.HasField("tensor_type"):
        graph.node.insert(0, helper.make_node("Identity", names, [value.name]))
        return [of_tensor(names[0], data, inner.tensor_type)]
    like = inner.sequence_type.elem_type.tensor_type
    if data:
        graph.node.insert(0, helper.make_node("SequenceConstruct", names, [value.name]))
    else:
        graph.node.insert(0, helper.make_node("SequenceEmpty", [], [value.name], dtype=like.elem_type))
    return [of_tensor(*pair, like) for pair in zip(names, data)]


def put_together(graph, value, data):
    """Nodes that take the tensors out of what the case gives; the outputs."""
    inner = content(value.type)
    if inner.HasField("tensor_type"):
        name = f"{value.name}_value"
        graph.node.append(helper.make_node("OptionalGetElement", [value.name], [name]))
        return [of_tensor(name, data, inner.tensor_type)]
    outputs, sequence = [], value.name
    if value.type.HasField("optional_type"):
        sequence = f"{value.name}_value"
        graph.node.append(helper.make_node("OptionalGetElement", [value.name], [sequence]))
    for i, element in enumerate(data):
        at, name = f"{value.name}_at_{i}", f"{value.name}_{i}"
        graph.initializer.append(numpy_helper.from_array(np.array(i, np.int64), at))
        graph.node.append(helper.make_node("SequenceAt", [sequence, at], [name]))
        outputs.append(of_tensor(name, element, inner.sequence_type.elem_type.tensor_type))
    return outputs


def as_list(value, data):
    """The tensors in a value."""
    if is_tensor(data):
        return [data]
    if data is None:
        return []
    inner = content(value.type)
    return list(data) if inner.HasField("sequence_type") else [data[0]]


def tensors_only(model, inputs, outputs):
    """Has the model take and give tensors; what it takes and gives then."""
    graph, given, wanted = model.graph, [], []
    held = {tensor.name for tensor in graph.initializer}
    values = [value for value in graph.input if value.name not in held]
    kept = [value for value in graph.input if value.name in held]
    for value, data in zip(values, inputs):
        if value.type.HasField("tensor_type"):
            kept.append(value)
            given.append(data)
            continue
        parts = as_list(value, data)
        names = [f"{value.name}_{i}" for i in range(len(parts))]
        sequence = content(value.type).HasField("sequence_type")
        kept += take_apart(graph, value, parts if sequence else (parts or [None])[0], names)
        given += parts
    results = []
    for value, data in zip(list(graph.output), outputs):
        if value.type.HasField("tensor_type"):
            results.append(value)
            wanted.append(data)
            continue
        parts = as_list(value, data)
        sequence = content(value.type).HasField("sequence_type")
        results += put_together(graph, value, parts if sequence else parts[0])
        wanted += parts
    del graph.input[:], graph.output[:]
    graph.input.extend(kept)
    graph.output.extend(results)
    return given, wanted


def is_fixed(value):
    return all(dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim)


def bind(case, known):
    """A copy of the case's model with the operands given, the inputs that remain, and the outputs."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    given, wanted = tensors_only(model, *case.data_sets[0])
    held = {tensor.name for tensor in graph.initializer}
    values = [value for value in graph.input if value.name not in held]
    names = known.of(model)
    kept = []
    for value, data in zip(values, given):
        if is_tensor(data) and (value.type.tensor_type.elem_type not in FLOATS or value.name in names):
            graph.initializer.append(initializer(value, data))
            held.add(value.name)
            continue
        if not is_fixed(value):
            value.CopyFrom(of_tensor(value.name, data, value.type.tensor_type))
        kept.append((value.name, numbers(value, data) if is_tensor(data) else data))
    remaining = [value for value in graph.input if value.name not in held]
    del graph.input[:]
    graph.input.extend(remaining)
    if not kept:  # a program needs an input
        graph.input.append(helper.make_tensor_value_info("unused", TensorProto.FLOAT, [1]))
    return model, kept, [numbers(*pair) for pair in zip(graph.output, wanted)]
