"""The cases of the ONNX v1.12 backend suite, and what of each is given when compiling.

922 node cases are made by the onnx package; the others (PyTorch's and the simple ones) are
read from a folder. A case passes every operand at run time. An operand becomes an initializer
where it is of integers or bool, which the accelerator does not have, or where the operator
wants to know it at import (`sluice ops` says which).
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
GROUPS = ("pytorch-converted", "pytorch-operator", "simple")  # folders beside the node cases


def load(path, value):
    """The tensor in a .pb file; None if the value is a sequence or an optional."""
    if not value.type.HasField("tensor_type"):
        return None
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
                     if (found := re.match(r"input '([^']*)' is known at import", sentence))}
            self.rows.setdefault((row["domain"], row["op"]), []).append((row["opsets"], known))

    def of(self, model):
        """The names of the graph's inputs that some node wants to know."""
        opsets = {opset.domain.replace("ai.onnx", ""): opset.version for opset in model.opset_import}
        names = set()
        for node in model.graph.node:
            for (first, last), known in self.rows.get((node.domain, node.op_type), ()):
                if first <= opsets.get(node.domain, 1) <= last:
                    names.update(name for i, name in enumerate(node.input) if i in known)
        return names


def numbers(value, data):
    """An operand as NumPy has numbers: the suite keeps bfloat16 as the bits of it."""
    data = np.asarray(data)
    is_bits = value.type.tensor_type.elem_type == TensorProto.BFLOAT16 and data.dtype == np.uint16
    return (data.astype(np.uint32) << 16).view(np.float32) if is_bits else data


def largest(case):
    """The largest finite magnitude among the case's inputs and outputs."""
    arrays = [np.abs(x.astype(np.float64)) for side in case.data_sets[0] for x in side
              if isinstance(x, (np.ndarray, np.generic)) and np.asarray(x).dtype.kind == "f"]
    return max((x[np.isfinite(x)].max(initial=0) for x in map(np.atleast_1d, arrays)), default=0)


def initializer(value, data):
    data = np.asarray(data)
    tensor = numpy_helper.from_array(data, value.name)
    tensor.data_type = value.type.tensor_type.elem_type  # bfloat16 is stored as its bits
    return tensor


def bind(case, known):
    """A copy of the case's model with the operands given, and the inputs that remain."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    held = {tensor.name for tensor in graph.initializer}
    values = [value for value in graph.input if value.name not in held]
    wanted = known.of(model)
    kept = []
    for value, data in zip(values, case.data_sets[0][0]):
        tensor = value.type.HasField("tensor_type") and isinstance(data, (np.ndarray, np.generic))
        if tensor and (value.type.tensor_type.elem_type not in FLOATS or value.name in wanted):
            graph.initializer.append(initializer(value, data))
            held.add(value.name)
        else:
            kept.append((value.name, numbers(value, data) if tensor else data))
    remaining = [value for value in graph.input if value.name not in held]
    del graph.input[:]
    graph.input.extend(remaining)
    if not kept:  # a program needs an input
        graph.input.append(helper.make_tensor_value_info("unused", TensorProto.FLOAT, [1]))
    return model, kept
