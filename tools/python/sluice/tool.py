"""Runs the command `sluice`, in a process of its own: what the compiler does to its memory and its
signals stays there, and Ctrl-C ends it."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np

from .errors import Error, Problem, argument, of_problems, problems_of

# A path, the bytes of an ONNX file, or an onnx.ModelProto.
Model = Union[str, "os.PathLike[str]", bytes, Any]


def executable() -> str:
    """The command of this package: that of $SLUICE, the wheel's, that of the same prefix, or one on the path."""
    package = Path(__file__).resolve().parent
    known = [os.environ.get("SLUICE"), package / "bin" / "sluice", package.parents[3] / "bin" / "sluice"]
    for path in known:
        if path and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("sluice")
    if found is None:
        raise FileNotFoundError("the command 'sluice' is not installed beside this package, nor on the path")
    return found


class Workspace:
    """A folder for the files of one command."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sluice-")
        self.path = Path(self._folder.name)

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._folder.cleanup()

    def call(self, arguments: Sequence[str], stdin: Optional[bytes] = None) -> Tuple[int, str, str]:
        """Exit code and both streams."""
        done = subprocess.run([executable(), *arguments], cwd=self.path, input=stdin if stdin is not None else b"",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def json(self, arguments: Sequence[str], stdin: Optional[bytes] = None,
             check: bool = True) -> Tuple[Dict[str, Any], str]:
        """What the command writes as JSON, and what it says; raises what it complains of."""
        report = self.path / "report.json"
        code, _, said = self.call([*arguments, f"--json={report.name}"], stdin)
        found: Dict[str, Any] = json.loads(report.read_text()) if report.exists() else {}
        problems = problems_of(found.get("errors", []))
        if not found:
            message = said.strip() or f"the command ended with {code}"
            raise Error(message, [Problem("E0611", message)])
        if check and code != 0:
            raise of_problems(problems, said)
        return found, said

    def model(self, model: Model) -> Tuple[str, Optional[bytes]]:
        """The command's word for the model, and what it is to read."""
        if isinstance(model, (str, os.PathLike)):
            return str(Path(model).resolve()), None
        if hasattr(model, "SerializeToString"):
            return "-", model.SerializeToString()
        if isinstance(model, (bytes, bytearray, memoryview)):
            return "-", bytes(model)
        raise argument("E0601", f"the model is a {type(model).__name__}, allowed: a path, bytes or an onnx.ModelProto")

    def flags(self, options: "Options") -> List[str]:
        """The options as the command's flags; arrays become files."""
        words = ["--target", str(options.target), "--effort", options.effort]
        if Path(str(options.target)).suffix == ".json":
            words[1] = str(Path(options.target).resolve())
        for name, shape in (options.input_shape or {}).items():
            extents = [shape] if isinstance(shape, int) else shape
            words += ["--input-shape", f"{name}={','.join(map(str, extents))}"]
        for number, (name, value) in enumerate((options.bind or {}).items()):
            if isinstance(value, (bool, int, float)): # of all elements
                words += ["--bind", f"{name}={str(value).lower()}"]
                continue
            file = f"bind{number}.npy"
            np.save(self.path / file, np.asarray(value))
            words += ["--bind", f"{name}=@{file}"]
        for name, output in (options.state or {}).items():
            words += ["--state", f"{name}={output}"]
        for name, axis in (options.data_dim or {}).items():
            words += ["--data-dim", f"{name}={axis}"]
        if options.external_data is not None:
            words += ["--external-data", str(Path(options.external_data).resolve())]
        if options.name is not None:
            words += ["--model-name", options.name]
        words += ["--allow-dynamic-weights"] * options.allow_dynamic_weights
        words += ["--rewrite-layout"] * options.rewrite_layout
        return words


class Options:
    """Which model is compiled for what: the flags of `sluice compile`, with their names."""

    def __init__(self, *, target: Union[str, "os.PathLike[str]"] = "c6b32",
                 input_shape: Optional[Mapping[str, Union[int, Sequence[int]]]] = None,
                 bind: Optional[Mapping[str, Any]] = None, state: Optional[Mapping[str, str]] = None,
                 data_dim: Optional[Mapping[str, int]] = None, allow_dynamic_weights: bool = False,
                 rewrite_layout: bool = False, effort: str = "default",
                 external_data: Optional[Union[str, "os.PathLike[str]"]] = None, name: Optional[str] = None) -> None:
        self.target = target
        self.input_shape = input_shape
        self.bind = bind
        self.state = state
        self.data_dim = data_dim
        self.allow_dynamic_weights = allow_dynamic_weights
        self.rewrite_layout = rewrite_layout
        self.effort = effort
        self.external_data = external_data
        self.name = name
