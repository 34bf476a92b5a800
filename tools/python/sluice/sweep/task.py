"""One point of a sweep: a compilation in a child process. This module uses the standard library alone, because it is sent to
Dask workers as it is: they need the command `sluice`, but not this package."""
from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

# What became of a point: {"exit": 0, "figures": {...}}, {"exit": 3, "code": "E0302", "message": "..."}, or, where the child
# process gave no answer, {"lost": "timed out after 60 s"}.
Outcome = Dict[str, Any]
# The contents of files by name, relative to a folder of their own; "" is the name of a folder.
Contents = Dict[str, bytes]

ANSWERS = (0, 2, 3, 4, 5) # exit codes after which another attempt ends in the same way
FIGURES = ("spaced", "contiguous", "period", "macs", "parameters", "peak_mac_per_cycle")
_FILE = re.compile("\0([0-9a-f]+)\0")


def mark(bundle: str) -> str:
    """Returns the text that stands in the arguments of a point for the path of a file."""
    return f"\0{bundle}\0"


def is_valid(outcome: Any) -> bool:
    """Whether this is an outcome that `compile_point` returns, and not damage."""
    if not isinstance(outcome, dict):
        return False
    if set(outcome) == {"lost"}:
        return isinstance(outcome["lost"], str)
    if outcome.get("exit") == 0:
        figures = outcome.get("figures")
        return (set(outcome) == {"exit", "figures"} and isinstance(figures, dict) and set(figures) == {*FIGURES, "error_percent"}
                and all(type(figures[name]) is int and figures[name] >= 0 for name in FIGURES)
                and (figures["error_percent"] is None or isinstance(figures["error_percent"], (int, float))))
    return (set(outcome) == {"exit", "code", "message"} and outcome["exit"] in ANSWERS and isinstance(outcome["message"], str)
            and isinstance(outcome["code"], str) and re.fullmatch("E[0-9]{4}", outcome["code"]) is not None)


class Children:
    """The child processes that run, so that the end of the sweep ends them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: List["subprocess.Popen[bytes]"] = []
        self._ended = False

    @contextlib.contextmanager
    def start(self, words: Sequence[str], folder: str) -> Iterator["subprocess.Popen[bytes]"]:
        with self._lock:
            if self._ended:
                raise RuntimeError("the sweep has ended")
            process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, start_new_session=True)
            self._running.append(process)
        try:
            yield process
        finally:
            self.kill(process)
            with self._lock:
                self._running.remove(process)

    @staticmethod
    def kill(process: "subprocess.Popen[bytes]") -> None:
        """Ends the process and those that it started, unless it has ended."""
        if process.returncode is not None: # its number may be that of another process
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def end(self) -> None:
        with self._lock:
            self._ended = True
            for process in self._running:
                self.kill(process)


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def _outcome(code: int, text: Optional[str]) -> Outcome:
    """Returns the outcome that a child process reports by its exit code and its JSON."""
    try:
        found = json.loads(text or "")
        if code == 0:
            checked = found["checked"]
            figures = {**found["latency"], **found}
            outcome: Outcome = {"exit": 0, "figures": {name: figures[name] for name in FIGURES}}
            outcome["figures"]["error_percent"] = checked and checked["max_error_percent"]
        else:
            outcome = {"exit": code, "code": found["errors"][0]["code"], "message": found["errors"][0]["message"]}
    except (ValueError, KeyError, IndexError, TypeError):
        return {"lost": f"{_ending(code)}, and no readable result"}
    if code not in ANSWERS:
        return {"lost": f"{_ending(code)}, {outcome['code']}: {outcome['message']}"}
    return outcome if is_valid(outcome) else {"lost": f"{_ending(code)}, and a result that is not valid"}


def compile_point(command: str, words: Sequence[str], paths: Mapping[str, str], seconds: float, work: str,
                  children: Optional[Children] = None) -> Outcome:
    """Compiles a point in a child process, which has so many seconds, in a folder of its own in `work`. `paths` has the path of
    each file that the arguments mark."""
    arguments = [_FILE.sub(lambda found: paths[found[1]], word) for word in words]
    with tempfile.TemporaryDirectory(dir=work) as folder:
        result = Path(folder) / "result.json"
        call = [command, "compile", *arguments, "-o", "program.sluice", f"--json={result.name}", "--progress=never"]
        try:
            with (children or Children()).start(call, folder) as process:
                try:
                    code = process.wait(seconds)
                except subprocess.TimeoutExpired:
                    return {"lost": f"timed out after {seconds:g} s"}
        except OSError as wrong:
            return {"lost": f"cannot start {command}: {wrong.strerror}"}
        try:
            text: Optional[str] = result.read_text()
        except (OSError, ValueError):
            text = None
        return _outcome(code, text)


def _unpack(folder: Path, bundle: str, contents: Contents) -> None:
    """Writes the files of a bundle into the folder unless they are there."""
    if (folder / bundle).exists():
        return
    with tempfile.TemporaryDirectory(dir=folder) as new:
        for name, data in contents.items():
            path = Path(new) / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        with contextlib.suppress(OSError): # another thread of this worker was faster
            os.rename(Path(new) / "files", folder / bundle)


def _command_here(command: str, version: str) -> Tuple[Optional[str], str]:
    """Returns the command of this machine with that version, or why there is none."""
    named = os.environ.get("SLUICE")
    path = named or (command if os.access(command, os.X_OK) else shutil.which("sluice"))
    if not path:
        return None, "the worker has no command 'sluice'"
    try:
        found = json.loads(subprocess.run([path, "version", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, timeout=60, check=True).stdout)["version"]
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError):
        return None, f"cannot start {path} on the worker"
    return (path, "") if found == version else (None, f"the worker has sluice {found}, the sweep needs {version}")


def compile_on_worker(command: str, version: str, words: Sequence[str], names: Sequence[Tuple[str, str]], seconds: float,
                      *contents: Contents) -> Outcome:
    """Compiles a point on a Dask worker. `names` has the bundle and the name of the main file for each of `contents`."""
    from distributed import get_worker  # type: ignore
    path, wrong = _command_here(command, version)
    if path is None:
        return {"lost": wrong}
    folder = Path(get_worker().local_directory) / "sluice-sweep"
    folder.mkdir(parents=True, exist_ok=True)
    for (bundle, _), files in zip(names, contents):
        _unpack(folder, bundle, files)
    return compile_point(path, words, {bundle: str(folder / bundle / main) for bundle, main in names}, seconds, str(folder))
