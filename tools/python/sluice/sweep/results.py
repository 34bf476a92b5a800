"""The finished points of a sweep, one line of JSON each, in a file that survives the end of the sweep at any moment."""
from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Dict

from .failure import Failure
from .task import Outcome, is_valid


class Results:
    """Holds the file open and locked. `known` has the outcome of each finished point by its key."""

    def __init__(self, path: Path) -> None:
        self.path, self.known = path, {} # type: Path, Dict[str, Outcome]
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as wrong:
            raise Failure("E0516", f"cannot write '{path}': {wrong.strerror}") from None
        if not path.is_file():
            os.close(self._file)
            raise Failure("E0516", f"cannot write '{path}': it is not a regular file")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise Failure("E0621", f"another sweep writes to '{path}'; wait for its end, or give another folder") from None
        self._read()

    def _read(self) -> None:
        data = self.path.read_bytes()
        for line in data.split(b"\n"):
            try:
                entry = json.loads(line)
            except ValueError: # damaged: the point is compiled again
                continue
            if isinstance(entry, dict) and isinstance(entry.get("key"), str) and is_valid(entry.get("outcome")):
                self.known[entry["key"]] = entry["outcome"]
        if data and not data.endswith(b"\n"): # the end of a damaged line
            self._write(b"\n")

    def _write(self, data: bytes) -> None:
        try:
            if os.write(self._file, data) != len(data):
                raise OSError(28, "No space left on device")
            os.fsync(self._file)
        except OSError as wrong:
            raise Failure("E0516", f"cannot write '{self.path}': {wrong.strerror}") from None

    def add(self, key: str, about: Dict[str, object], outcome: Outcome, attempts: int) -> None:
        """Appends a finished point as one line, in one write."""
        line = json.dumps({"schema": 1, "key": key, **about, "outcome": outcome, "attempts": attempts})
        self._write(line.encode() + b"\n")
        self.known[key] = outcome

    def close(self) -> None:
        os.close(self._file)
