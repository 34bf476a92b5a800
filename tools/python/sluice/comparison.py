"""Compares the layers of a compiled model with the model or with another runtime."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from .display import Table
from .errors import Node, argument, of_problems, problems_of
from .onnx_runtime import layers_of
from .program import Program
from .tool import Extents, Model, StrPath, Workspace, names_keywords, read_arguments

_Arrays = Mapping[str, npt.ArrayLike]


@dataclass(frozen=True)
class Comparison:
    """How far the layers of a program are from the model. True if each is within the bound of its number formats."""
    ok: bool
    samples: int
    layers: Table = field(repr=False)
    outputs: Table = field(repr=False)
    first_wrong: Optional[Node]
    accuracy: Optional[Dict[str, Any]]
    required: Sequence[Dict[str, Any]]  # the limits, with the value and whether it is met
    text: str = field(repr=False)  # as the command prints it

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.layers._repr_html_() + self.outputs._repr_html_()


def _node(entry: Optional[Dict[str, Any]]) -> Optional[Node]:
    return Node(entry["index"], entry["name"], entry["op"], entry.get("source")) if entry else None


def _layers(entries: List[Dict[str, Any]]) -> Table:
    same = ("max_abs_error", "bound", "share_of_bound", "snr_db", "range", "doublings_to_overflow")
    return Table([{"node": str(_node(one["node"]) or ""), "tensor": one["tensor"], **{name: one[name] for name in same},
                   "unchecked": one["unchecked"] / one["elements"] if one["elements"] else 0.0,
                   "verdict": "ok" if one["ok"] else "wrong"} for one in entries])


@names_keywords
def compare(model: Model, example_inputs: Any = None, *, # pylint: disable=unused-argument
            data: Union[int, StrPath, _Arrays] = 4, against: Union[StrPath, _Arrays, None] = None,
            labels: Union[StrPath, npt.ArrayLike, None] = None, steps: int = 1,
            program: Union[StrPath, Program, None] = None, require: Union[str, Sequence[str]] = (),
            target: StrPath = "c6b32", inputs: Optional[Sequence[str]] = None,
            outputs: Optional[Sequence[str]] = None, input_shape: Optional[Mapping[str, Extents]] = None,
            bind: Optional[_Arrays] = None, state: Optional[Mapping[str, str]] = None,
            data_dim: Optional[Mapping[str, int]] = None, core_partition: Optional[Mapping[str, Extents]] = None,
            allow_dynamic_weights: bool = False, rewrite_layout: bool = False, fix: bool = False,
            fixed_random: bool = False, without_rewrite: Union[str, Sequence[str]] = (),
            external_data: Optional[StrPath] = None, name: Optional[str] = None, effort: str = "default",
            fit_seconds: int = 1) -> Comparison:
    """Compares every layer of the compiled model with the model in double precision, or with tensors of another runtime.
    `data` are arrays by input with the samples as their first axis, the path of such a file, or a number of random
    samples. `against` are arrays by tensor, the path of such a file, or "onnxruntime", which then runs the model here.

    >>> found = compare(example_model(), data={"x": np.ones((3, 1, 8))}, target="c2b8")
    >>> found.ok, found.samples
    (True, 3)
    """
    model, options = read_arguments({key: value for key, value in locals().items() if key not in (
        "data", "against", "labels", "steps", "program", "require")})
    words: List[str] = ["--steps", str(steps)] if steps != 1 else []
    with Workspace() as workspace:
        words += ["--data", f"random:{data}" if isinstance(data, int) else workspace.file_of(data, "data")]
        if isinstance(against, str) and against == "onnxruntime":
            if isinstance(data, int) or any(options[name] for name in ("inputs", "outputs", "state", "bind")):
                raise argument("E0601", "against='onnxruntime' needs data with arrays, and a whole model without state and "
                                        "bind")
            quick: Dict[str, Any] = {**options, "effort": "fast"}
            against = layers_of(model, data, [one["tensor"] for one in compare(model, data=data, **quick).layers])
        for flag, value in (("against", against), ("labels", labels)):
            if value is not None:
                words += [f"--{flag}", workspace.file_of(value, flag)]
        if isinstance(program, Program):
            program.save(workspace.path / "program.sluice")
        if program is not None:
            words += ["--program", "program.sluice" if isinstance(program, Program) else str(Path(program).resolve())]
        word, stdin = workspace.model(model)
        found, out, said = workspace.json(["compare", word, *words, *workspace.flags({**options, "require": require})], stdin,
                                          check=False)
    if "layers" not in found:
        raise of_problems(problems_of(found["errors"]), said)
    return Comparison(found["ok"], found["samples"], _layers(found["layers"]), Table(found["outputs"]),
                      _node(found["first_wrong"]), found["accuracy"], tuple(found.get("required", ())),
                      (out + said).rstrip("\n"))


__all__ = ["Comparison", "compare"]
