"""A model whose part between named tensors is compiled; onnxruntime runs the rest."""
from __future__ import annotations

import importlib
import inspect
from typing import Any, Dict, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from .engine import Array, Given
from .errors import KeywordError, argument
from .program import Program, compile as compile_model, compile_parts
from .tool import Model, check_keywords

_TYPES = {"float": "float32", "double": "float64"}


class _Session:
    """A part of the rest, run by onnxruntime."""

    def __init__(self, data: bytes) -> None:
        try:
            runtime = importlib.import_module("onnxruntime")
        except ImportError:
            raise argument("E0601", "the rest of the model needs onnxruntime in this interpreter: "
                                    "pip install onnxruntime") from None
        self._session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
        self.inputs = tuple(port.name for port in self._session.get_inputs())
        self.outputs = tuple(port.name for port in self._session.get_outputs())
        self._types = {port.name: port.type[len("tensor("):-1] for port in self._session.get_inputs()}

    def run(self, values: Mapping[str, Any]) -> Dict[str, Array]:
        """Returns the outputs by name. Inputs become arrays of the declared types."""
        given = {}
        for name in self.inputs:
            kind = self._types[name]
            array = np.asarray(values[name])
            declared = np.dtype(_TYPES.get(kind, kind))
            if not np.can_cast(array.dtype, declared, "same_kind"):
                raise argument("E0604", f"input '{name}' has elements of type {array.dtype}, allowed: {declared}")
            given[name] = array.astype(declared, copy=False)
        return dict(zip(self.outputs, self._session.run(list(self.outputs), given)))


class Pipeline:
    """A model in up to three parts: the nodes before the tensors `inputs`, the program between `inputs` and `outputs`, and
    the nodes behind. onnxruntime runs the first and the last. The other options are those of `compile`.

    >>> pipeline = Pipeline(example_model(), outputs=["y"], target="c2b8")
    >>> pipeline.run(x=np.ones((1, 8)))["y"].shape
    (1, 8)
    """

    def __init__(self, model: Model, example_inputs: Any = None, *, inputs: Optional[Sequence[str]] = None,
                 outputs: Optional[Sequence[str]] = None, **options: Any) -> None:
        given = {**options, "inputs": inputs, "outputs": outputs}
        signature = inspect.signature(compile_model)
        check_keywords("Pipeline", list(signature.parameters), given)
        bound = signature.bind(model, example_inputs, **given)
        bound.apply_defaults()
        parts = compile_parts(bound.arguments, rest=bool(inputs or outputs))
        self.program: Program = parts.program
        self._before = _Session(parts.before) if parts.before else None
        self._behind = _Session(parts.behind) if parts.behind else None
        self.inputs, self.outputs = parts.inputs, parts.outputs

    def run(self, *inputs: Given, **named: npt.ArrayLike) -> Dict[str, Array]:
        """Runs one inference and returns the outputs of the model by name, in their declared types. Give inputs in the order
        of the model, by name, or as one mapping."""
        values: Dict[str, Any] = self._named(inputs, named)
        if self._before:
            values.update(self._before.run(values))
        values.update(self.program.run({port.name: values[port.name] for port in self.program.inputs}))
        if self._behind:
            values.update(self._behind.run(values))
        return {name: np.asarray(values[name]) for name in self.outputs}

    __call__ = run

    def _named(self, arrays: Sequence[Given], named: Mapping[str, npt.ArrayLike]) -> Dict[str, Any]:
        given: Dict[str, Any]
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            given = dict(arrays[0])
        elif len(arrays) <= len(self.inputs):
            given = dict(zip(self.inputs, arrays))
        else:
            raise argument("E0602", f"{len(arrays)} inputs are given, allowed: {len(self.inputs)} "
                                    f"({', '.join(self.inputs)})", KeywordError)
        for name in named:
            if name in given:
                raise argument("E0603", f"input '{name}' is given twice", KeywordError)
        given.update(named)
        for name in given:
            if name not in self.inputs:
                raise argument("E0602", f"the model has no input '{name}', allowed: {', '.join(self.inputs)}", KeywordError)
        for name in self.inputs:
            if name not in given:
                raise argument("E0603", f"input '{name}' is not given", KeywordError)
        return given


__all__ = ["Pipeline"]
