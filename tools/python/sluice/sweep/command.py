"""The command `sluice sweep`."""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, NoReturn, Optional, Sequence, Union

from ..tool import executable
from .failure import Failure
from .page import page
from .plan import Plan, Point, read_plan
from .results import Results
from .rows import STATES, counts, csv_text, rows_of, summary
from .run import Clock, Dask, Local, distinct, run
from .task import Outcome


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failure("E0601", f"{message}; see 'sluice sweep --help'")


def _at_least(least: int, kind: Any) -> Any:
    def read(text: str) -> Any:
        value = kind(text)
        if not least <= value < float("inf"):
            raise ValueError
        return value
    read.__name__ = f"number of at least {least}"
    return read


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python3 -m sluice.sweep", description="Compile models for targets with options, and compare them.",
                     allow_abbrev=False)
    parser.add_argument("file", type=Path, help="sweep file (YAML): models, targets and options")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR",
                        help="folder of the results; a sweep that was interrupted continues in it")
    parser.add_argument("--jobs", type=_at_least(1, int), metavar="N", help="points at a time on this machine (its processors)")
    parser.add_argument("--dask", metavar="ADDRESS", help="compile on the workers of the Dask scheduler at this address")
    parser.add_argument("--timeout", type=_at_least(0, float), default=600, metavar="SECONDS", help="time of one compilation (600)")
    parser.add_argument("--retries", type=_at_least(0, int), default=2, metavar="N",
                        help="further attempts at a point whose process crashes, times out or returns damage (2)")
    parser.add_argument("--retry-failed", action="store_true", help="compile points again that failed in an earlier run")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="print the result as JSON, or write it to FILE")
    parser.add_argument("--progress", choices=("auto", "always", "never"), default="auto", help="show progress (auto: on a terminal)")
    return parser


def _ask(command: str, *words: str) -> Dict[str, Any]:
    """Returns the JSON of a short command."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        done = subprocess.run([command, *words, f"--json={result}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        try:
            found: Dict[str, Any] = json.loads(result.read_text())
        except (OSError, ValueError):
            raise Failure("E0621", f"'{command} {words[0]}' returned no result: exit code {done.returncode}") from None
        if done.returncode != 0:
            first = found["errors"][0]
            raise Failure(first["code"], first["message"], done.returncode, first["kind"])
        return found


class _Progress:
    def __init__(self, choice: str, known: int, left: int) -> None:
        self._terminal = choice != "never" and sys.stderr.isatty()
        self._lines = choice == "always" and not self._terminal
        self._known, self._clock, self._said, self.failed = known, Clock(left), "", 0

    def finished(self, outcome: Outcome) -> None:
        self._clock.done += 1
        self.failed += "lost" in outcome

    def show(self) -> None:
        done = self._known + self._clock.done
        failed = f", {self.failed} failed" if self.failed else ""
        text = f"sweep: {done} of {self._known + self._clock.left} points{failed}, {self._clock.text()}"
        if self._terminal:
            sys.stderr.write(f"\r\033[K{text}")
        elif self._lines and text != self._said:
            sys.stderr.write(f"progress: {text}\n")
        sys.stderr.flush()
        self._said = text

    def end(self) -> None:
        if self._terminal and self._said:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


@contextlib.contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM ends the sweep as Ctrl-C does, so that child processes end too."""
    def stop(*_: object) -> None:
        raise KeyboardInterrupt
    old = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


def _write(path: Path, text: str) -> None:
    """Writes a whole file or none."""
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(text)
        os.replace(new, path)
    except OSError as wrong:
        with contextlib.suppress(OSError):
            new.unlink()
        raise Failure("E0516", f"cannot write '{path}': {wrong.strerror}") from None


class _Sweep:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.command = options, executable()
        self.version = str(_ask(self.command, "version")["version"])

    def _compile(self, plan: Plan, results: Results) -> None:
        """Compiles the points that have no outcome yet."""
        options = self.options
        if options.retry_failed:
            results.known = {key: outcome for key, outcome in results.known.items() if "lost" not in outcome}
        points = distinct(plan.points, results.known)
        if not points:
            return
        progress = _Progress(options.progress, len(distinct(plan.points, ())) - len(points), len(points))
        workers: Union[Dask, Local] = Dask(options.dask, self.command, self.version, options.timeout) if options.dask else \
            Local(self.command, options.jobs or len(os.sched_getaffinity(0)), options.timeout, options.output.resolve() / "work")

        def finished(point: Point, outcome: Outcome, attempts: int) -> None:
            results.add(point.key, point.about, outcome, attempts)
            progress.finished(outcome)

        try:
            progress.show()
            run(workers, points, options.retries, finished, progress.show)
        finally:
            progress.end()
            workers.close()

    def run(self) -> int:
        options = self.options
        if options.dask and options.jobs:
            raise Failure("E0601", "--jobs cannot be used with --dask, whose workers have threads of their own")
        plan = read_plan(options.file, self.version)
        shown = {name: _ask(self.command, "targets", "--show", path) for name, path in plan.targets}
        targets = {name: {**answer["target"], "area": answer["area"]} for name, answer in shown.items()}
        try:
            options.output.mkdir(parents=True, exist_ok=True)
        except OSError as wrong:
            raise Failure("E0516", f"cannot write '{options.output}': {wrong.strerror}") from None
        results = Results(options.output / "points.jsonl")
        try:
            with _terminated_like_interrupted():
                self._compile(plan, results)
            return self._report(plan, results, targets)
        finally:
            results.close()

    def _report(self, plan: Plan, results: Results, targets: Dict[str, Dict[str, Any]]) -> int:
        folder = self.options.output
        rows = rows_of(plan.points, results.known, targets)
        states = counts(rows)
        sweep = {"schema": 1, "ok": states[STATES[4]] == 0, "version": self.version, "states": states, "rows": rows}
        text = json.dumps(sweep, indent=2) + "\n"
        files = {"sweep.csv": csv_text(rows), "sweep.json": text, "sweep.html": page(sweep)}
        for name, contents in files.items():
            _write(folder / name, contents)
        if self.options.json == "-":
            sys.stdout.write(text)
        else:
            if self.options.json is not None:
                _write(Path(self.options.json), text)
            sys.stdout.write(summary(rows) + "".join(f"written {folder / name}\n" for name in files))
        sys.stdout.flush()
        return 0 if sweep["ok"] else 1


def _fail(failure: Failure, arguments: Sequence[str]) -> int:
    sys.stderr.write(f"{failure}\n")
    with contextlib.suppress(Failure): # as other commands, also where the arguments are wrong
        target = next((word.partition("=")[2] or "-" for word in arguments if word.partition("=")[0] == "--json"), None)
        problem: Dict[str, object] = {"code": failure.code, "rule": None, "node": None, "message": str(failure.args[0]).split("\n")[0], "notes": [],
                                      "chain": [], "fixes": [], "kind": failure.kind}
        text = json.dumps({"schema": 1, "ok": False, "errors": [problem]}, indent=2) + "\n"
        if target == "-":
            sys.stdout.write(text)
        elif target:
            _write(Path(target), text)
    return failure.exit_code


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the command; returns its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        return _Sweep(_parser().parse_args(words)).run()
    except FileNotFoundError as wrong: # the command is not there
        return _fail(Failure("E0621", str(wrong)), words)
    except Failure as failure:
        return _fail(failure, words)
    except KeyboardInterrupt:
        sys.stderr.write("sweep interrupted; type the command again to go on\n")
        return 130
