"""Shrinks a model that shows a failure to a small model that shows it too."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from .display import pairs_html
from .errors import printable
from .tool import Extents, Model, StrPath, Workspace, names_keywords, read_arguments, without_files

_Arrays = Mapping[str, npt.ArrayLike]


@dataclass(frozen=True)
class Reduction:
    """A small model that shows the same failure as a larger one."""
    failure: Dict[str, Optional[str]]  # kind (error, wrong, crash or timeout), code, rule, op, signal, stage, message
    before: int  # nodes of the larger model
    after: int  # nodes of the small model
    trials: int
    command: str  # shows the failure, after save("reduced.onnx")
    model: bytes = field(repr=False)
    inputs: Optional[Dict[str, Any]] = field(repr=False)  # arrays that show a wrong value, by input
    text: str = field(repr=False)  # as the command prints it

    def __bytes__(self) -> bytes:
        return self.model

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        facts: Dict[str, Any] = {**self.failure, "nodes before": self.before, "nodes after": self.after,
                                 "models tried": self.trials}
        return pairs_html("reduced model", {name: value for name, value in facts.items() if value is not None})

    def save(self, path: StrPath) -> None:
        """Writes the small model, and its inputs, if it has some, to an .npz file beside it."""
        Path(path).write_bytes(self.model)
        if self.inputs is not None:
            np.savez(Path(path).with_suffix(".npz"), **self.inputs)


@names_keywords
def reduce(model: Model, example_inputs: Any = None, *, # pylint: disable=unused-argument
           keep: Optional[str] = None, data: Union[StrPath, _Arrays, None] = None, bundle: Optional[StrPath] = None,
           timeout: int = 60, trials: int = 2000, check: Optional[int] = None, target: Optional[StrPath] = None,
           inputs: Optional[Sequence[str]] = None, outputs: Optional[Sequence[str]] = None,
           input_shape: Optional[Mapping[str, Extents]] = None, bind: Optional[_Arrays] = None,
           state: Optional[Mapping[str, str]] = None, stream: Optional[Mapping[str, Extents]] = None,
           stream_delay: Optional[int] = None, data_dim: Optional[Mapping[str, int]] = None,
           core_partition: Optional[Mapping[str, Extents]] = None, allow_dynamic_weights: bool = False,
           rewrite_layout: bool = False, fix: bool = False, fixed_random: bool = False, io_only: bool = False,
           without_rewrite: Union[str, Sequence[str]] = (), external_data: Optional[StrPath] = None,
           name: Optional[str] = None, effort: Optional[str] = None, fit_seconds: Optional[int] = None) -> Reduction:
    """Shrinks a model that shows a failure. The model may be the folder that an internal error wrote. `keep` is an error
    code, "wrong", "crash" or "timeout"; without it, the first failure that the model shows. `data` are arrays by input,
    or the path of such a file, that show a wrong value.

    >>> found = reduce(sensors_model(), target="c2b8")
    >>> found.failure["code"], found.failure["op"], found.after
    ('E0302', 'MatMul', 2)
    """
    model, options = read_arguments({key: value for key, value in locals().items() if key not in (
        "data", "bundle")})
    with Workspace() as workspace:
        words: List[str] = [] if data is None else ["--data", workspace.file_of(data, "data")]
        if bundle is not None:
            words += ["--bundle", str(Path(bundle).resolve())]
        word, stdin = workspace.model(model)
        found, out, said = workspace.json(["reduce", word, *words, *workspace.flags(options)], stdin)
        small = (workspace.path / found["output"]).read_bytes()
        arrays = None
        if found["inputs"]:
            with np.load(workspace.path / found["inputs"]) as file:
                arrays = dict(file)
    return Reduction(found["failure"], found["nodes"]["before"], found["nodes"]["after"], found["trials"],
                     printable(found["command"]), small, arrays, (without_files(out) + said).rstrip("\n"))


__all__ = ["Reduction", "reduce"]
