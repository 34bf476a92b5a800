"""Says which layers of two programs differ in cycles, rows and blocks, and why."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy.typing as npt

from .display import Table
from .program import Program
from .tool import Extents, Model, StrPath, Workspace, names_keywords, read_arguments
from .torch_module import is_module


@dataclass(frozen=True)
class Difference:
    """Where the cycles of two programs differ. True if a layer differs."""
    cycles: Tuple[int, int]  # of a and b
    targets: Tuple[str, str]
    layers: Table = field(repr=False)  # the layers that differ
    same: int  # the number of layers without a difference
    text: str = field(repr=False)  # as the command prints it

    def __bool__(self) -> bool:
        return bool(self.layers)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        more = self.cycles[1] - self.cycles[0]
        return (f"<p>a: {self.cycles[0]} cycles on {self.targets[0]}, b: {self.cycles[1]} cycles on {self.targets[1]}, "
                f"change {more:+}</p>{self.layers._repr_html_()}")


def _row(entry: Dict[str, Any]) -> Dict[str, Any]:
    nodes = entry["nodes"]
    row: Dict[str, Any] = {"nodes": [one["name"] or str(one["index"]) for one in nodes],
                           "operators": [one["op"] for one in nodes]}
    for figure in ("cycles", "rows", "blocks"):
        for side in "ab":
            row[f"{figure}_{side}"] = entry[side][figure] if entry[side] else None
        if figure == "cycles":
            row["change"] = (row["cycles_b"] or 0) - (row["cycles_a"] or 0)
    return {**row, "why": entry["why"]}


def _argument(workspace: Workspace, side: str, value: Union[Model, Program], example_inputs: Any,
              options: Dict[str, Any]) -> str:
    """Returns the path of a program or a model. One that is in memory is written. A module sets its name."""
    if isinstance(value, Program):
        data: Optional[bytes] = bytes(value)
        word = f"{side}.sluice"
    else:
        model, read = read_arguments({**options, "model": value, "example_inputs": example_inputs})
        options["name"] = read["name"]
        word, data = workspace.model(model)
        word = f"{side}.onnx" if data is not None else word
    if data is not None:
        (workspace.path / word).write_bytes(data)
    return word


@names_keywords
def diff(a: Union[Model, Program], b: Union[Model, Program], example_inputs: Any = None, *,
         model: Optional[str] = None, # pylint: disable=unused-argument
         target: Optional[StrPath] = None, target_b: Optional[StrPath] = None, inputs: Optional[Sequence[str]] = None,
         outputs: Optional[Sequence[str]] = None, input_shape: Optional[Mapping[str, Extents]] = None,
         bind: Optional[Mapping[str, npt.ArrayLike]] = None, state: Optional[Mapping[str, str]] = None,
         stream: Optional[Mapping[str, Extents]] = None, stream_delay: Optional[int] = None,
         data_dim: Optional[Mapping[str, int]] = None, core_partition: Optional[Mapping[str, Extents]] = None,
         allow_dynamic_weights: bool = False, rewrite_layout: bool = False, fix: bool = False,
         fixed_random: bool = False, io_only: bool = False, without_rewrite: Union[str, Sequence[str]] = (),
         external_data: Optional[StrPath] = None, name: Optional[str] = None, effort: Optional[str] = None,
         fit_seconds: Optional[int] = None) -> Difference:
    """Says which layers of two programs differ, and why. `a` and `b` are programs, paths of program files, or models,
    which are compiled with the options. `model` selects a model, if a program file has several.

    >>> found = diff(example_model(), example_model(), target="c2b8", target_b="c6b32")
    >>> found.targets, found.layers[0]["why"]
    (('c2b8', 'c6b32'), 'blocks of 8 / 32 lanes')
    """
    options = {key: value for key, value in locals().items() if key not in ("a", "b", "model", "example_inputs")}
    has_module = is_module(a) or is_module(b)
    with Workspace() as workspace:
        words: List[str] = []
        for side, value in (("a", a), ("b", b)):
            given = None if has_module and not is_module(value) else example_inputs
            words.append(_argument(workspace, side, value, given, options))
        flags = workspace.flags({**options, "model": model})
        found, out, said = workspace.json(["diff", *words, *flags])
    changed = [_row(one) for one in found["layers"] if one["why"]]
    cycles, targets = found["cycles"], found["targets"]
    return Difference((cycles["a"], cycles["b"]), (targets["a"], targets["b"]), Table(changed),
                      len(found["layers"]) - len(changed), (out + said).rstrip("\n"))


__all__ = ["Difference", "diff"]
