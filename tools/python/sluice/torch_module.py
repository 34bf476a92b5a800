"""Exports modules of PyTorch, with the torch of the interpreter."""
from __future__ import annotations

import inspect
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

from .errors import CompileError, KeywordError, Problem, argument


def is_module(model: Any) -> bool:
    """Whether the model is a torch.nn.Module. Does not import torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _leaves(value: Any, name: str) -> Iterator[Tuple[str, Any]]:
    """Yields the tensors in a value, as torch counts them, and their names: h, or h_0 and h_1 of a tuple."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, str(key))
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from _leaves(one, f"{name}_{index}")
    elif value is not None:
        yield name, value


def _input_names(module: Any, inputs: Tuple[Any, ...]) -> List[str]:
    """Returns the names of the parameters of `forward`."""
    try:
        parameters = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError): # a module that is not Python
        parameters = []
    names = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD or one.kind is one.POSITIONAL_ONLY]
    names += [f"input_{index}" for index in range(len(names), len(inputs))]
    return [leaf for name, value in zip(names, inputs) for leaf, _ in _leaves(value, name)]


def exported(module: Any, example_inputs: Any) -> bytes:
    """Returns the module as an ONNX file, for inputs of the shapes of the examples. Inputs have the names of the
    parameters of `forward`. An output is `output`, and several are `output_0`, `output_1` and so on."""
    torch = sys.modules["torch"]
    if example_inputs is None:
        raise argument("E0601", "a torch.nn.Module needs example_inputs: a tensor, or a tuple of one for each parameter of "
                                "forward", KeywordError)
    inputs = tuple(example_inputs) if isinstance(example_inputs, (list, tuple)) else (example_inputs,)
    modes = [(one, one.training) for one in module.modules()]
    export = torch.onnx.export
    known = inspect.signature(export).parameters
    more: Dict[str, Any] = {"external_data": False} if "external_data" in known else {}
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        file = Path(folder) / "module.onnx"
        try:
            module.eval()
            with torch.no_grad():
                outputs = module(*inputs)
                export(module, inputs, str(file), input_names=_input_names(module, inputs),
                       output_names=[name for name, _ in _leaves(outputs, "output")], **more)
            return file.read_bytes()
        except Exception as error:
            first = (str(error).strip().splitlines() or [""])[0]
            message = f"torch {torch.__version__} cannot export the module: {type(error).__name__}: {first}"
            raise CompileError(f"E0101: {message}", [Problem("E0101", message, kind="model")]) from error
        finally:
            for one, training in modes:
                one.training = training
