"""Runs the command `sluice` in a process of its own, so that the compiler cannot affect the memory or the signals
of Python, and Ctrl-C stops it."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np

from .errors import Error, Problem, argument, of_problems, problems_of

# A path, the bytes of an ONNX file, or an onnx.ModelProto.
Model = Union[str, "os.PathLike[str]", bytes, Any]


def executable() -> str:
    """Returns the path of the command: $SLUICE, else that of the same prefix, of the same folder (pip install --target),
    or on the PATH."""
    package = Path(__file__).resolve().parent
    known = [os.environ.get("SLUICE"), *(package.parents[up] / "bin" / "sluice" for up in (3, 0))]
    for path in known:
        if path and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("sluice")
    if found is None:
        raise FileNotFoundError("the command 'sluice' is not found: set SLUICE to its path, or add its folder to PATH")
    return found


class ProgressLine:
    """A progress line on a terminal or in a notebook, overwritten until the command ends."""

    _START = "progress: "

    def __init__(self) -> None:
        self._width = 0

    @staticmethod
    def is_watched() -> bool:
        return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())

    def show(self, said: str) -> bool:
        """Shows a line if it reports progress. Returns whether it does."""
        if not said.startswith(self._START):
            return False
        self._write(said[len(self._START):].rstrip("\n"))
        return True

    def end(self) -> None:
        if self._width > 0:
            self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width) + ("" if text else "\r"))
        sys.stderr.flush()
        self._width = len(text)


def _listen(stream: IO[bytes], said: List[str]) -> None:
    """Shows progress lines, and collects all other lines in `said`."""
    progress = ProgressLine()
    with stream:
        for line in stream:
            text = line.decode()
            if not progress.show(text):
                said.append(text)
    progress.end()


class Workspace:
    """A temporary folder for the files of one command."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sluice-")
        self.path = Path(self._folder.name)

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self._folder.cleanup()

    def call(self, arguments: Sequence[str], stdin: Optional[bytes] = None) -> Tuple[int, str, str]:
        """Runs the command. Returns its exit code, standard output and standard error."""
        words = [executable(), f"--progress={'always' if ProgressLine.is_watched() else 'never'}", *arguments]
        with subprocess.Popen(words, cwd=self.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            said: List[str] = []
            listener = threading.Thread(target=_listen, args=(process.stderr, said))
            try:
                listener.start()
                process.stderr = None # what the thread reads is no longer communicate's
                out, _ = process.communicate(stdin or b"")
            except BaseException: # Ctrl-C: the command is gone before anything else goes on
                process.kill()
                process.wait()
                raise
            finally:
                if listener.is_alive():
                    listener.join()
        return process.returncode, out.decode(), "".join(said)

    def json(self, arguments: Sequence[str], stdin: Optional[bytes] = None,
             check: bool = True) -> Tuple[Dict[str, Any], str]:
        """Runs the command. Returns its JSON result and its messages; raises its problems."""
        report = self.path / "report.json"
        code, _, said = self.call([*arguments, f"--json={report.name}"], stdin)
        found: Dict[str, Any] = json.loads(report.read_text()) if report.exists() else {}
        problems = problems_of(found.get("errors", []))
        if not found:
            message = said.strip() or f"the command ended with exit code {code}"
            raise Error(message, [Problem("E0611", message)])
        if check and code != 0:
            raise of_problems(problems, said)
        return found, said

    def model(self, model: Model) -> Tuple[str, Optional[bytes]]:
        """Returns the argument that names the model, and the bytes for standard input."""
        if isinstance(model, (str, os.PathLike)):
            return str(Path(model).resolve()), None
        if hasattr(model, "SerializeToString"):
            return "-", model.SerializeToString()
        if isinstance(model, (bytes, bytearray, memoryview)):
            return "-", bytes(model)
        raise argument("E0601", f"the model is a {type(model).__name__}, allowed: a path, bytes or an onnx.ModelProto")

    def flags(self, options: "Options") -> List[str]:
        """Returns the options as command line flags. Writes arrays to files."""
        words: List[str] = []
        for name, value in options.given.items():
            flag = "--" + {"name": "model-name"}.get(name, name.replace("_", "-"))
            if value is None or value is False:
                continue
            if value is True:
                words.append(flag)
            elif isinstance(value, Mapping):
                for key, one in value.items():
                    words += [flag, f"{key}={self._value(one, name)}"]
            elif name == "external_data" or Path(str(value)).suffix == ".json":
                words += [flag, str(Path(value).resolve())]
            else:
                words += [flag, str(value)]
        return words

    def _value(self, value: Any, name: str) -> str:
        """Returns the text after KEY=. An array of a bound input is written to a file."""
        if isinstance(value, (bool, int, float, str)):
            return str(value).lower() if isinstance(value, bool) else str(value)
        if name != "bind":
            return (":" if name == "stream" else ",").join(map(str, value))
        file = f"bind{len(list(self.path.glob('bind*.npy')))}.npy"
        np.save(self.path / file, np.asarray(value))
        return f"@{file}"


class Options:
    """The options of `sluice compile`, under the same names. `more` passes on options of a newer command that this
    list does not have."""

    def __init__(self, *, target: Union[str, "os.PathLike[str]"] = "c6b32",
                 input_shape: Optional[Mapping[str, Union[int, Sequence[int]]]] = None,
                 bind: Optional[Mapping[str, Any]] = None, state: Optional[Mapping[str, str]] = None,
                 stream: Optional[Mapping[str, Union[int, Tuple[int, int]]]] = None, stream_delay: int = 0,
                 data_dim: Optional[Mapping[str, int]] = None, allow_dynamic_weights: bool = False,
                 rewrite_layout: bool = False, fix: bool = False, fixed_random: bool = False,
                 effort: str = "default",
                 external_data: Optional[Union[str, "os.PathLike[str]"]] = None, name: Optional[str] = None,
                 **more: Any) -> None:
        self.given: Dict[str, Any] = {
            "target": target, "input_shape": input_shape, "bind": bind, "state": state, "stream": stream,
            "stream_delay": stream_delay, "data_dim": data_dim,
            "allow_dynamic_weights": allow_dynamic_weights, "rewrite_layout": rewrite_layout, "apply_fixes": fix,
            "fixed_random": fixed_random, "effort": effort,
            "external_data": external_data, "name": name, **more}
