"""Runs the command `sluice` in a process of its own, so that the compiler cannot affect the memory or the signals
of Python, and Ctrl-C stops it."""
from __future__ import annotations

import difflib
import functools
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union, cast

import numpy as np

from .errors import Error, KeywordError, Problem, argument, flags_of, of_problems, problems_of
from .keywords import flag_of, in_python, is_by_name
from .torch_module import exported, is_module

# A path, the bytes of an ONNX file, an onnx.ModelProto or a torch.nn.Module.
Model = Union[str, "os.PathLike[str]", bytes, Any]

# The options of a command, and the types of some.
Keywords = Mapping[str, Any]
StrPath = Union[str, "os.PathLike[str]"]
Extents = Union[int, Sequence[int]]


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
        self._write(said[len(self._START):].rstrip("\n").replace(" -: ", " <model>: ", 1))
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


class _HeldInterrupt:
    """Holds back Ctrl-C while a process starts: between its start and the statement that ends it, nobody would."""

    def __init__(self) -> None:
        self._came = False
        self._before: Any = None
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is not None:
            self._before = signal.signal(signal.SIGINT, self._hold)

    def _hold(self, _number: int, _frame: Optional[FrameType]) -> None:
        self._came = True

    def release(self) -> None:
        """Raises KeyboardInterrupt, or does what the program does, if Ctrl-C came."""
        if self._before is None:
            return
        signal.signal(signal.SIGINT, self._before)
        self._before = None
        if self._came:
            signal.raise_signal(signal.SIGINT)


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
        interrupt = _HeldInterrupt()
        try:
            process = subprocess.Popen(words, cwd=self.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
        except BaseException:
            interrupt.release()
            raise
        with process:
            assert process.stderr is not None
            said: List[str] = []
            listener = threading.Thread(target=_listen, args=(process.stderr, said))
            try:
                interrupt.release()
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
             check: bool = True) -> Tuple[Dict[str, Any], str, str]:
        """Runs the command. Returns its JSON result, standard output and messages; raises its problems."""
        report = self.path / "report.json"
        code, out, said = self.call([*arguments, f"--json={report.name}"], stdin)
        found: Dict[str, Any] = json.loads(report.read_text()) if report.exists() else {}
        entries = found.get("errors", [])
        problems, said = problems_of(entries), in_python(said, flags_of(entries))
        if stdin is not None:
            out, said = (re.sub("(?m)^(  --> )?-(?=:|$)", r"\1<model>", text) for text in (out, said))
        if not found:
            message = said.strip() or f"the command ended with exit code {code}"
            raise Error(message, [Problem("E0611", message)])
        if check and code != 0:
            raise of_problems(problems, said)
        return found, out, said

    def model(self, model: Model) -> Tuple[str, Optional[bytes]]:
        """Returns the argument that names the model, and the bytes for standard input."""
        if isinstance(model, (str, os.PathLike)):
            return str(Path(model).resolve()), None
        if hasattr(model, "SerializeToString"):
            return "-", model.SerializeToString()
        if isinstance(model, (bytes, bytearray, memoryview)):
            return "-", bytes(model)
        raise argument("E0601", f"the model is of type {type(model).__name__}, allowed: a path, bytes, an onnx.ModelProto or a "
                                "torch.nn.Module")

    def file_of(self, value: Any, name: str) -> str:
        """Returns the path of arrays: of the file that the caller names, or of one that is written here."""
        if isinstance(value, (str, os.PathLike)):
            return str(Path(value).resolve())
        if isinstance(value, Mapping):
            np.savez(self.path / f"{name}.npz", **{key: np.asarray(one) for key, one in value.items()})
            return f"{name}.npz"
        np.save(self.path / f"{name}.npy", np.asarray(value))
        return f"{name}.npy"

    def flags(self, keywords: Keywords) -> List[str]:
        """Returns keywords as flags of the command. Writes arrays to files."""
        words: List[str] = []
        for name, value in keywords.items():
            if name == "check" and isinstance(value, bool):
                value = "auto" if value else "off"
            if value is None or value is False:
                continue
            if value is True:
                words.append(flag_of(name))
                continue
            if is_by_name(name):
                if not isinstance(value, Mapping):
                    raise argument("E0601", f"{name} is {value!r}, allowed: a dict by name")
                values = [f"{key}={self._named(one, name)}" for key, one in value.items()]
            else:
                values = [self._plain(one, name) for one in (value if isinstance(value, (list, tuple)) else (value,))]
            words += [word for text in values for word in (flag_of(name), text)]
        return words

    def _plain(self, value: Any, name: str) -> str:
        """Returns the text of a value. The arrays of calibrate are written to a file, paths become absolute."""
        if isinstance(value, Mapping):
            np.savez(self.path / "calibrate.npz", **{key: np.asarray(one) for key, one in value.items()})
            return "calibrate.npz"
        is_path = name in ("external_data", "calibrate") or name == "target" and Path(str(value)).suffix == ".json"
        return str(Path(value).resolve() if is_path else value)

    def _named(self, value: Any, name: str) -> str:
        """Returns the text after KEY=. An array of a bound input is written to a file."""
        if name == "bind" and isinstance(value, str) and value.startswith("@"):
            return f"@{Path(value[1:]).resolve()}"
        if isinstance(value, (bool, int, float, str)):
            return str(value).lower() if isinstance(value, bool) else str(value)
        if name != "bind":
            return (":" if name == "stream" else ",").join(map(str, value))
        file = f"bind{len(list(self.path.glob('bind*.npy')))}.npy"
        np.save(self.path / file, np.asarray(value))
        return f"@{file}"


def without_files(text: str) -> str:
    """Removes the lines about files that were written to a workspace, which is gone."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("written "))


def read_arguments(arguments: Keywords) -> Tuple[Model, Keywords]:
    """Returns the model among the arguments of a function as the command reads it, and the options. A module is exported,
    under the name of its class."""
    options = {name: value for name, value in arguments.items() if name not in ("model", "example_inputs", "engine", "hold")}
    model, example_inputs = arguments["model"], arguments["example_inputs"]
    if is_module(model):
        return exported(model, example_inputs), {**options, "name": options["name"] or type(model).__name__}
    if example_inputs is not None:
        raise argument("E0601", f"example_inputs are for a torch.nn.Module, the model is of type {type(model).__name__}")
    return model, options


def check_keywords(function: str, known: Sequence[str], keywords: Keywords) -> None:
    """Names the nearest keyword of a function when a call has an unknown one."""
    for word in keywords:
        if word not in known:
            close = difflib.get_close_matches(word, known, 1)
            raise argument("E0601", f"{function}() has no keyword '{word}', " +
                           (f"did you mean '{close[0]}'?" if close else f"allowed: {', '.join(known)}"), KeywordError)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def names_keywords(function: _Function) -> _Function:
    """Lets a function name the nearest keyword when a call has an unknown one."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        check_keywords(function.__name__, known, keywords)
        return function(*arguments, **keywords)

    return cast(_Function, call)
