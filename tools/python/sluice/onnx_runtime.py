"""Runs models with the onnxruntime of the interpreter, to compare layers with."""
from __future__ import annotations

import importlib
import os
from typing import Any, Dict, List, Mapping, Sequence

import numpy as np

from .errors import argument
from .tool import Model

_TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(bool)": "bool"}


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise argument("E0601", f"against='onnxruntime' needs the package {name} in this interpreter") from None


def _proto(model: Model, onnx: Any) -> Any:
    """Returns a copy of the model, whose outputs can be changed."""
    if isinstance(model, (str, os.PathLike)):
        return onnx.load(model)
    data = model.SerializeToString() if hasattr(model, "SerializeToString") else bytes(model)
    return onnx.load_model_from_string(data)


def layers_of(model: Model, data: Any, tensors: Sequence[str]) -> Dict[str, Any]:
    """Returns these tensors of the model for every sample, along a new first axis."""
    onnx, runtime = _module("onnx"), _module("onnxruntime")
    proto = _proto(model, onnx)
    made = {name for node in proto.graph.node for name in node.output if name}
    wanted = [name for name in tensors if name in made]
    known = {output.name for output in proto.graph.output}
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted if name not in known)
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = runtime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    arrays: Mapping[str, Any] = data if isinstance(data, Mapping) else np.load(data)
    samples: Dict[str, Any] = {}
    for port in session.get_inputs():
        kind = _TYPES.get(port.type, port.type[len("tensor("):-1])
        array = np.asarray(arrays[port.name]).astype(kind)
        samples[port.name] = array if array.ndim > len(port.shape) else array[None]
    found: List[List[Any]] = [session.run(wanted, {name: array[sample] for name, array in samples.items()})
                              for sample in range(min(map(len, samples.values())))]
    return {name: np.stack([one[index] for one in found]) for index, name in enumerate(wanted)}
